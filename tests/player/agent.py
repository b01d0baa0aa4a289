"""An agent on loopback with telemetry of its own: it goes on with the trace it is called in, as OpenTelemetry's
instrumentation of a web framework does, and reports a run of its framework below that, over OTLP."""

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import SpanKind, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tests.services.agent import Turn


def _messages(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


class LocalAgent:
    """Answers chat completions as ``turns`` say to the last message. ``lose``: names of spans that never arrive."""

    def __init__(self, otlp: str, turns: Sequence[Turn], release: str, lose: Sequence[str] = ()) -> None:
        self.requests: list[dict[str, Any]] = []
        self._turns = {turn.user: turn for turn in turns}
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "shop", "service.version": release}), shutdown_on_exit=False
        )
        exporter = OTLPSpanExporter(f"http://{otlp}/v1/traces")
        self._provider.add_span_processor(SimpleSpanProcessor(_Losing(exporter, lose)))
        self._tracer: Tracer = self._provider.get_tracer("shop.agent")
        agent = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                agent.requests.append({"headers": dict(self.headers), "body": body})
                answer = json.dumps(agent._answer(dict(self.headers), body)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1/chat/completions"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Listen no longer."""
        self._server.shutdown()
        self._server.server_close()
        self._provider.shutdown()

    def _answer(self, headers: dict[str, str], body: Any) -> dict[str, Any]:
        context = TraceContextTextMapPropagator().extract({name.lower(): value for name, value in headers.items()})
        with self._tracer.start_as_current_span("POST /v1/chat/completions", context, SpanKind.SERVER):
            reply = self._act(body["messages"][-1]["content"])
        return {"choices": [{"message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}]}

    def _act(self, said: str) -> str:
        turn = self._turns.get(said, Turn(said, "Pardon?"))
        with self._tracer.start_as_current_span("invoke_agent shop") as root:
            root.set_attributes(
                {
                    "gen_ai.operation.name": "invoke_agent",
                    "gen_ai.agent.name": "shop",
                    # A session of the agent's own for each request, as frameworks make them up.
                    "gen_ai.conversation.id": uuid4().hex,
                    "gen_ai.request.model": "scripted",
                    "gen_ai.input.messages": _messages("user", said),
                    "gen_ai.output.messages": _messages("assistant", turn.response),
                }
            )
            for number, call in enumerate(turn.calls):
                with self._tracer.start_as_current_span(f"execute_tool {call.tool}") as span:
                    span.set_attributes(
                        {
                            "gen_ai.operation.name": "execute_tool",
                            "gen_ai.tool.name": call.tool,
                            "gen_ai.tool.call.id": f"call-{number}",
                            "gen_ai.tool.call.arguments": json.dumps(call.arguments),
                            "gen_ai.tool.call.result": json.dumps(call.result),
                        }
                    )
        return turn.response


class _Losing(OTLPSpanExporter):
    """An exporter on whose way spans of some names are lost."""

    def __init__(self, exporter: OTLPSpanExporter, lose: Sequence[str]) -> None:
        self._exporter = exporter
        self._lose = frozenset(lose)

    def export(self, spans: Any) -> Any:
        return self._exporter.export([span for span in spans if span.name not in self._lose])

    def shutdown(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]
