"""A scripted model behind OpenAI's chat completions: asked for the sales report of the example dialog, it calls the
tools one after the other and tells what they returned. The model called ``bad`` asks for profit instead of revenue."""

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Message = Mapping[str, Any]


class ModelServer:
    """Serves on a free port of loopback until it is closed."""

    def __init__(self) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                message = _next(asked["model"], asked["messages"])
                whole = _completion(asked["model"], message, stream=bool(asked.get("stream")))
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream" if asked.get("stream") else "application/json")
                self.send_header("Content-Length", str(len(whole)))
                self.end_headers()
                self.wfile.write(whole)

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Listen no longer."""
        self._server.shutdown()
        self._server.server_close()


def _text(message: Message) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())


def _next(model: str, messages: Sequence[Message]) -> dict[str, Any]:
    last = max(at for at, message in enumerate(messages) if message["role"] == "user")
    results = [json.loads(_text(message)) for message in messages[last:] if message["role"] == "tool"]
    if "revenue" not in _text(messages[last]):
        return {"role": "assistant", "content": "Which region should the report cover?"}
    if not results:
        return _call(0, "reports__FilterData", {"metric": "profit" if model == "bad" else "revenue", "region": "EU"})
    data = results[0]
    if len(results) == 1:
        return _call(1, "reports__Summarise", {"report": data["report"]})
    if len(results) == 2:
        return _call(2, "reports__ShareReport", {"report": data["report"], "with": ["board@example.com"]})
    total, change = data["total"], results[1]["change_percent"]
    said = f"EU {data['metric']} last quarter was {total} EUR, up {change} %."
    return {"role": "assistant", "content": f"{said} I shared report {data['report']} with the board."}


def _call(number: int, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
    }


def _completion(model: str, message: Mapping[str, Any], *, stream: bool) -> bytes:
    kind = "chat.completion.chunk" if stream else "chat.completion"
    reason = "tool_calls" if "tool_calls" in message else "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    base = {"id": "chatcmpl-1", "object": kind, "created": 1_796_000_000, "model": model}
    if not stream:
        return json.dumps(
            {**base, "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}
        ).encode()
    calls = [{"index": at, **call} for at, call in enumerate(message.get("tool_calls", ()))]
    delta = {**message, **({"tool_calls": calls} if calls else {})}
    chunks = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**base, "choices": [], "usage": usage},
    ]
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"
