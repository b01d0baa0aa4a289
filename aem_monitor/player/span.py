"""The player's own span of one exchange, and the trace context that makes the agent's spans its children.

The span says which dialog is played in which conversation, and what the user said. It names no operation, model, agent
or tool, so that no convention takes it for a turn: what is judged are the agent's own spans below it, and the reply is
not on it.
Sources: W3C Trace Context, W3C Baggage, OpenTelemetry protocol (``trace.proto``).
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urlsplit

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from aem_monitor import __version__
from aem_monitor.player.faults import Outcome
from aem_monitor.strictjson import strict_json

SERVICE: Final = "aem-monitor-canary"
_SCOPE: Final = "aem_monitor.player"
_SAMPLED: Final = 1
"""Trace flags. Whatever is said of sampling elsewhere: a play that nobody sees would be worth nothing."""


@dataclass(frozen=True, slots=True)
class PlaySpan:
    """One exchange as a span. The conversation's id is the run's as well: one play is one conversation."""

    dialog: str
    conversation_id: str
    message: str
    trace_id: str = field(default_factory=lambda: secrets.token_hex(16))
    span_id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def names(self) -> Mapping[str, str]:
        """What recognition reads. The release is not among it: it is the agent's to say."""
        return {
            "aem.dialog.id": self.dialog,
            "aem.run.id": self.conversation_id,
            "gen_ai.conversation.id": self.conversation_id,
        }

    @property
    def _said(self) -> str:
        parts = [{"type": "text", "content": self.message}]
        return strict_json([{"role": "user", "parts": parts}])

    def headers(self) -> dict[str, str]:
        """``traceparent`` and ``baggage`` of the request."""
        return {
            "traceparent": f"00-{self.trace_id}-{self.span_id}-{_SAMPLED:02x}",
            "baggage": ",".join(f"{name}={quote(value, safe='')}" for name, value in self.names.items()),
        }

    def export(
        self, url: str, start_ns: int, end_ns: int, outcome: Outcome, status: int | None, *, last: bool
    ) -> ExportTraceServiceRequest:
        """The export request of the span when it has ended. ``last``: nothing more comes of this conversation, so that
        the monitor need not wait for it."""
        parts = urlsplit(url)
        attributes: dict[str, str | int | bool] = {
            **self.names,
            "gen_ai.input.messages": self._said,
            "http.request.method": "POST",
            "server.address": parts.hostname or "",
        }
        if parts.port is not None:
            attributes["server.port"] = parts.port
        if status is not None:
            attributes["http.response.status_code"] = status
        if last:
            attributes["aem.run.end"] = True
        failed = outcome is not Outcome.ANSWERED
        if failed:
            attributes["error.type"] = outcome.value
        span = Span(
            trace_id=bytes.fromhex(self.trace_id),
            span_id=bytes.fromhex(self.span_id),
            flags=_SAMPLED,
            name="canary exchange",
            kind=Span.SPAN_KIND_CLIENT,
            start_time_unix_nano=start_ns,
            end_time_unix_nano=end_ns,
            attributes=_key_values(attributes),
            status=Status(code=Status.STATUS_CODE_ERROR) if failed else None,
        )
        scoped = ScopeSpans(scope=InstrumentationScope(name=_SCOPE, version=__version__), spans=[span])
        resource = Resource(attributes=_key_values({"service.name": SERVICE, "service.version": __version__}))
        return ExportTraceServiceRequest(resource_spans=[ResourceSpans(resource=resource, scope_spans=[scoped])])


def _key_values(attributes: Mapping[str, str | int | bool]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_any_value(value)) for key, value in attributes.items()]


def _any_value(value: str | int | bool) -> AnyValue:
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    return AnyValue(int_value=value) if isinstance(value, int) else AnyValue(string_value=value)
