"""The player's own span of one exchange, and the trace context that makes the agent's spans its children.

The span says which dialog is played in which conversation, and what the user said. It names no operation, model, agent
or tool, so that no convention takes it for a turn: what is judged are the agent's own spans below it, and the reply is
not on it.
Sources: W3C Trace Context, W3C Baggage.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final
from urllib.parse import quote, urlsplit

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, Tracer, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import SpanKind, Status, StatusCode, format_trace_id, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from aem_monitor import __version__
from aem_monitor.errors import UsageError
from aem_monitor.player.faults import Outcome
from aem_monitor.strictjson import strict_json

SERVICE: Final = "aem-monitor-canary"
_SCOPE: Final = "aem_monitor.player"
_UNLIMITED: Final = SpanLimits(
    max_attributes=SpanLimits.UNSET,
    max_span_attributes=SpanLimits.UNSET,
    max_attribute_length=SpanLimits.UNSET,
    max_span_attribute_length=SpanLimits.UNSET,
)
"""Whatever the environment says: part of what the user said is not what the user said."""


@cache
def tracer() -> Tracer:
    """Of the player alone, and sampled always: a play that nobody sees would be worth nothing.

    Raises:
        UsageError: the environment has switched the SDK off.
    """
    provider = TracerProvider(
        sampler=ALWAYS_ON,
        resource=Resource({"service.name": SERVICE, "service.version": __version__}),
        shutdown_on_exit=False,
        span_limits=_UNLIMITED,
    )
    made = provider.get_tracer(_SCOPE, __version__)
    if not isinstance(made, Tracer):
        raise UsageError("OTEL_SDK_DISABLED is set: nobody would know what is played without spans; unset it")
    return made


class PlaySpan:
    """One exchange as a span. The conversation's id is the run's as well: one play is one conversation."""

    def __init__(self, dialog: str, conversation_id: str, message: str) -> None:
        """Begin the span. Raises ``UsageError`` where there can be none."""
        self._names: Final[Mapping[str, str]] = {
            "aem.dialog.id": dialog,
            "aem.run.id": conversation_id,
            "gen_ai.conversation.id": conversation_id,
        }
        said = [{"role": "user", "parts": [{"type": "text", "content": message}]}]
        span = tracer().start_span(
            "canary exchange",
            Context(),
            SpanKind.CLIENT,
            {**self._names, "gen_ai.input.messages": strict_json(said), "http.request.method": "POST"},
        )
        assert isinstance(span, ReadableSpan)
        self._span: Final = span
        self.trace_id: Final = format_trace_id(span.get_span_context().trace_id)

    def headers(self) -> dict[str, str]:
        """``traceparent`` and ``baggage`` of the request. The release is on neither: it is the agent's to say."""
        carrier: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(carrier, set_span_in_context(self._span, Context()))
        # The SDK's propagator writes a space as a plus, which only Python reads back.
        baggage = ",".join(f"{name}={quote(value, safe='')}" for name, value in self._names.items())
        return {**carrier, "baggage": baggage}

    def export(
        self, url: str, seconds: float, outcome: Outcome, status: int | None, *, last: bool
    ) -> ExportTraceServiceRequest:
        """End the span, so many seconds after its beginning; its export request. ``last``: nothing more comes of this
        conversation, so that the monitor need not wait for it."""
        parts = urlsplit(url)
        self._span.set_attribute("server.address", parts.hostname or "")
        if parts.port is not None:
            self._span.set_attribute("server.port", parts.port)
        if status is not None:
            self._span.set_attribute("http.response.status_code", status)
        if last:
            self._span.set_attribute("aem.run.end", True)
        if outcome is not Outcome.ANSWERED:
            self._span.set_attribute("error.type", outcome.value)
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end((self._span.start_time or 0) + round(seconds * 1e9))
        return encode_spans([self._span])
