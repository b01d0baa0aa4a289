"""Azure AI projects client (``gen_ai.provider.name`` = ``microsoft.foundry``): a span for each call of the Responses
API.

The agent runs in the service, so that ``invoke_agent`` is one model call of a turn: calls for tools come back with it,
and their results go out with the next one. Messages are GenAI attributes, before them events of the same names with
JSON in ``gen_ai.event.content``; calls and results were nested in the ``content`` of their part then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aem_monitor.conventions.attributes import text
from aem_monitor.conventions.genai import kind_of, read_span
from aem_monitor.conventions.jsontext import parse_nested, to_json
from aem_monitor.conventions.messages import Messages, Role, read_messages
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.model.jsonvalue import JSON, AttributeValue
from aem_monitor.model.span import LogRecord, Span

_PROVIDER: Final = "microsoft.foundry"
_INPUT: Final = "gen_ai.input.messages"
_OUTPUT: Final = "gen_ai.output.messages"


class Foundry:
    """Spans of the Azure AI projects client."""

    name = "azure-ai-projects"
    markers: Sequence[str] = ("gen_ai.",)

    def detect(self, span: Span) -> bool:
        """By the provider's name."""
        return text(span.attributes, "gen_ai.provider.name", "gen_ai.system") == _PROVIDER

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says."""
        kind = kind_of(span.attributes)
        if kind is SpanKind.AGENT or text(span.attributes, "gen_ai.operation.name") == "responses":
            kind = SpanKind.MODEL
        elif kind is SpanKind.STEP:
            # Conversations made, their items listed.
            return SpanReading(self.name, SpanKind.OTHER)
        reading = read_span(self.name, span, logs, kind)
        if kind is not SpanKind.MODEL:
            return reading
        return replace(
            reading, input=_messages(span, _INPUT, Role.USER), output=_messages(span, _OUTPUT, Role.ASSISTANT)
        )


def _messages(span: Span, name: str, role: Role) -> Messages:
    found = _flat(span.attributes.get(name), role)
    for event in span.events:
        if event.name == name:
            found += _flat(event.attributes.get("gen_ai.event.content"), role)
    return found


def _flat(value: AttributeValue, role: Role) -> Messages:
    parsed = parse_nested(to_json(value))
    messages = parsed.value
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        return Messages(truncated=parsed.truncated)
    read = read_messages([_unnested(message) for message in messages], role)
    return Messages(read.items, parsed.truncated or read.truncated)


def _unnested(message: JSON) -> JSON:
    """A message with calls and results as parts, not nested in them: ``{"type": "tool_call", "content": {"type"}}``."""
    parts = message.get("parts") if isinstance(message, Mapping) else None
    if not isinstance(message, Mapping) or not isinstance(parts, Sequence) or isinstance(parts, str):
        return message
    flat: list[JSON] = []
    for part in parts:
        inner = part.get("content") if isinstance(part, Mapping) else None
        flat.append(inner if isinstance(inner, Mapping) and "type" in inner else part)
    return {**message, "parts": flat}
