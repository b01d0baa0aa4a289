"""A local chat completions endpoint that behaves, or misbehaves on demand."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, bytes, dict[str, str]]


def completion(content: Any) -> Reply:
    """A chat completion whose message is ``content``, as JSON text unless it is text already."""
    text = content if isinstance(content, str) else json.dumps(content)
    return 200, json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode(), {}


@dataclass
class Endpoint:
    """``answer(asked, number)`` decides each reply: what was asked, and how many requests came before."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answer: Callable[[dict[str, Any], int], Reply] = lambda _asked, _number: completion(
        {"equivalent": True, "confidence": 0.9}
    )
    delay: float = 0.0
    most_at_once: int = 0


@contextmanager
def running() -> Iterator[Endpoint]:
    """An endpoint on loopback while the block runs."""
    endpoint = Endpoint()
    lock = threading.Lock()
    at_once = [0]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                number = len(endpoint.requests)
                endpoint.requests.append(body)
                endpoint.headers.append({key.lower(): value for key, value in self.headers.items()})
                at_once[0] += 1
                endpoint.most_at_once = max(endpoint.most_at_once, at_once[0])
            time.sleep(endpoint.delay)
            status, content, headers = endpoint.answer(json.loads(body["messages"][-1]["content"]), number)
            with lock:
                at_once[0] -= 1
            self.send_response(status)
            for key, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(content)),
                **headers,
            }.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
