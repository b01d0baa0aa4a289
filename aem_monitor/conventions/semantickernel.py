"""Microsoft Semantic Kernel (scopes ``semantic_kernel.*``; .NET ``Microsoft.SemanticKernel*``).

GenAI names with their own forms: a tool is ``plugin-function`` (a plugin's name has no hyphen), messages are
``{"role", "content", "name"}`` without parts, the finish reason is the enum's name (``FinishReason.TOOL_CALLS``), and
what the user says and the models' messages are log records only. Before the GenAI events there were span events
``gen_ai.content.prompt`` and ``gen_ai.content.completion``, and operations named ``chat.completions``. A kernel
function that is the root of a trace without having a call id was called by the application (a prompt function), not by
a model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aem_monitor.conventions.genai import attribute_messages, kind_of, read_span
from aem_monitor.conventions.messages import NO_MESSAGES, Messages, Role
from aem_monitor.conventions.reading import SpanKind, SpanReading, ToolReading
from aem_monitor.model.span import LogRecord, Span

_SCOPES: Final = ("semantic_kernel.", "Microsoft.SemanticKernel")
_FUNCTIONS: Final = "sk.available_functions"
_OLD_OPERATIONS: Final[Mapping[str, SpanKind]] = {
    "chat.completions": SpanKind.MODEL,
    "text.completions": SpanKind.MODEL,
}
_OLD_EVENTS: Final[Mapping[str, tuple[str, Role]]] = {
    "gen_ai.content.prompt": ("gen_ai.prompt", Role.USER),
    "gen_ai.content.completion": ("gen_ai.completion", Role.ASSISTANT),
}


class SemanticKernel:
    """Spans of Semantic Kernel's agents, models and functions."""

    name = "semantic-kernel"
    markers: Sequence[str] = ("semantic_kernel.", "Microsoft.SemanticKernel", _FUNCTIONS)

    def detect(self, span: Span) -> bool:
        """By scope, or by the list of functions on the loop that calls them."""
        return span.scope.name.startswith(_SCOPES) or _FUNCTIONS in span.attributes

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says."""
        kind = _kind(span)
        reading = read_span(self.name, span, logs, kind)
        reasons = tuple(reason for one in reading.finish_reasons for reason in _reasons(one))
        if reading.tool is not None:
            return replace(reading, tool=_named(reading.tool))
        if kind is not SpanKind.MODEL:
            return replace(reading, finish_reasons=reasons)
        incoming, outgoing = reading.input, reading.output
        return replace(
            reading,
            input=incoming or _old_contents(span, "gen_ai.content.prompt"),
            output=outgoing or _old_contents(span, "gen_ai.content.completion"),
            finish_reasons=reasons,
        )


def _kind(span: Span) -> SpanKind:
    operation = span.attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation in _OLD_OPERATIONS:
        return _OLD_OPERATIONS[operation]
    kind = kind_of(span.attributes)
    if kind is SpanKind.TOOL and span.parent_span_id is None and "gen_ai.tool.call.id" not in span.attributes:
        return SpanKind.STEP
    return kind


def _named(tool: ToolReading) -> ToolReading:
    """Plugin and function are a tool and its action."""
    plugin, found, function = tool.name.partition("-")
    return replace(tool, tool=plugin, action=function) if found and plugin and function else tool


def _reasons(value: str) -> list[str]:
    """``FinishReason.STOP,FinishReason.STOP`` is one reason a choice."""
    return [reason.strip().removeprefix("FinishReason.").lower() for reason in value.split(",") if reason.strip()]


def _old_contents(span: Span, event_name: str) -> Messages:
    attribute, role = _OLD_EVENTS[event_name]
    found = NO_MESSAGES
    for event in span.events:
        if event.name == event_name:
            found += attribute_messages(event.attributes.get(attribute), role)
    return found
