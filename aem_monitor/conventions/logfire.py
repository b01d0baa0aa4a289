"""Model clients under Logfire (scopes ``logfire.openai`` and ``logfire.anthropic``).

Version 1 of its telemetry has the client's own request and answer as JSON, ``request_data`` and ``response_data``;
version 2 has GenAI messages and leaves a stub of ``request_data``. The Responses API comes as one message an event in
``events``. A streamed answer is a log record in the form of a span, beside the request's own span.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aem_monitor.conventions.genai import kind_of, read_span
from aem_monitor.conventions.genai_events import messages_of, read_events
from aem_monitor.conventions.messages import NO_MESSAGES, Messages, Role, mark_cut, read_messages
from aem_monitor.conventions.observations import opened
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.model.jsonvalue import JSON, Attributes
from aem_monitor.model.span import LogRecord, Span

_SCOPES: Final = ("logfire.openai", "logfire.anthropic")
_SAID: Final = ("messages", "prompt")
_ANSWERED: Final = ("message", "combined_chunk_content", "text")


class Logfire:
    """Spans that Logfire writes around the clients of model providers."""

    name = "logfire"
    markers: Sequence[str] = _SCOPES

    def detect(self, span: Span) -> bool:
        """By scope."""
        return span.scope.name in _SCOPES

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says."""
        attributes = span.attributes
        kind = _kind(attributes)
        reading = read_span(self.name, span, logs, kind)
        if kind is not SpanKind.MODEL:
            return reading
        said = messages_of(read_events(attributes.get("events")))
        incoming = reading.input or said.input or _found(attributes, "request_data", _SAID, Role.USER)
        outgoing = reading.output or said.output or _found(attributes, "response_data", _ANSWERED, Role.ASSISTANT)
        return replace(reading, input=incoming, output=outgoing)


def _kind(attributes: Attributes) -> SpanKind:
    """Before the GenAI names, what was asked for tells a chat from an embedding."""
    if "gen_ai.operation.name" in attributes:
        return kind_of(attributes)
    request, _ = opened(attributes.get("request_data"))
    speaks = isinstance(request, Mapping) and any(key in request for key in _SAID)
    return SpanKind.MODEL if speaks or "events" in attributes else SpanKind.OTHER


def _found(attributes: Attributes, name: str, keys: Sequence[str], role: Role) -> Messages:
    value, cut = opened(attributes.get(name))
    if not isinstance(value, Mapping):
        return NO_MESSAGES
    content: JSON = next((value[key] for key in keys if value.get(key)), None)
    items = read_messages(content, role).items if content is not None else ()
    return Messages((*items[:-1], mark_cut(items[-1])), cut) if cut and items else Messages(items, cut)
