"""Chat completions in front of an agent, in the trace of whoever calls: what OpenTelemetry's instrumentations of web
frameworks do, with its API alone."""

import json
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry import propagate, trace
from opentelemetry.context import attach, detach
from opentelemetry.sdk.trace import TracerProvider

Answer = Callable[[Sequence[Mapping[str, Any]]], str]
"""From the messages of the conversation to the reply."""


def serve(answer: Answer, provider: TracerProvider) -> None:
    """Serve on a free port until the end of standard input; the port is written to standard output."""
    tracer = provider.get_tracer("web")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            token = attach(propagate.extract({name.lower(): value for name, value in self.headers.items()}))
            try:
                with tracer.start_as_current_span("POST /v1/chat/completions", kind=trace.SpanKind.SERVER):
                    reply = answer(body["messages"])
            finally:
                detach(token)
            provider.force_flush()
            whole = json.dumps({"choices": [{"message": {"role": "assistant", "content": reply}}]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(whole)))
            self.end_headers()
            self.wfile.write(whole)

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    provider.shutdown()
