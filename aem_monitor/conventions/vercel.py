"""Vercel AI SDK, v3 to v6 and the legacy telemetry of v7 (``ai.operationId``).

``ai.generateText`` and its kin are the agent's invocation, ``.doGenerate`` / ``.doStream`` its model calls,
``ai.toolCall`` its tools. v7's own telemetry has GenAI names and is read as such.
"""

from collections.abc import Mapping, Sequence

from aem_monitor.conventions.attributes import failure, text, texts
from aem_monitor.conventions.callinput import call_arguments
from aem_monitor.conventions.messages import NO_MESSAGES, Message, Messages, Role
from aem_monitor.conventions.observations import opened, spoken
from aem_monitor.conventions.parts import CallPart, Part, TextPart, call_part
from aem_monitor.conventions.reading import SpanKind, SpanReading, ToolReading
from aem_monitor.conventions.results import unwrap
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import Attributes
from aem_monitor.model.span import LogRecord, Span


class Vercel:
    """Spans of the Vercel AI SDK."""

    name = "vercel"
    markers: Sequence[str] = ("ai.operationId",)

    def detect(self, span: Span) -> bool:
        """By the operation id; every span of the SDK has it."""
        return isinstance(span.attributes.get("ai.operationId"), str)

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:  # noqa: ARG002
        """What the span says."""
        attributes = span.attributes
        kind = _kind(str(attributes["ai.operationId"]))
        speaks = kind in (SpanKind.AGENT, SpanKind.MODEL)
        reasons = texts(attributes.get("gen_ai.response.finish_reasons")) or texts(
            attributes.get("ai.response.finishReason")
        )
        return SpanReading(
            convention=self.name,
            kind=kind,
            input=_input(attributes) if speaks else NO_MESSAGES,
            output=_output(attributes) if speaks else NO_MESSAGES,
            tool=_tool(attributes) if kind is SpanKind.TOOL else None,
            agent_name=text(attributes, "ai.telemetry.functionId"),
            request_model=text(attributes, "gen_ai.request.model", "ai.model.id"),
            response_model=text(attributes, "gen_ai.response.model", "ai.response.model"),
            finish_reasons=reasons,
            response_id=text(attributes, "gen_ai.response.id", "ai.response.id"),
            error=failure(span),
        )


def _kind(operation: str) -> SpanKind:
    if operation == "ai.toolCall":
        return SpanKind.TOOL
    if "embed" in operation.lower() or "rerank" in operation.lower():
        return SpanKind.OTHER
    return SpanKind.MODEL if operation.endswith((".doGenerate", ".doStream")) else SpanKind.AGENT


def _input(attributes: Attributes) -> Messages:
    for name in ("ai.prompt.messages", "ai.prompt"):
        found = spoken(attributes.get(name), Role.USER)
        if found:
            return found
    return NO_MESSAGES


def _output(attributes: Attributes) -> Messages:
    parts: list[Part] = []
    said = text(attributes, "ai.response.text", "ai.response.object")
    if said is not None:
        parts.append(TextPart(said))
    listed, _ = opened(attributes.get("ai.response.toolCalls"))
    if isinstance(listed, Sequence) and not isinstance(listed, str):
        calls = [call_part(item) for item in listed if isinstance(item, Mapping)]
        parts.extend(call for call in calls if isinstance(call, CallPart))
    return Messages((Message(Role.ASSISTANT, tuple(parts)),)) if parts else NO_MESSAGES


def _tool(attributes: Attributes) -> ToolReading:
    given, cut = opened(attributes.get("ai.toolCall.args"))
    value = attributes.get("ai.toolCall.result")
    result: Captured = value if isinstance(value, str) else NOT_CAPTURED
    unwrapped = unwrap(result)
    return ToolReading(
        name=text(attributes, "ai.toolCall.name") or "",
        call_id=text(attributes, "ai.toolCall.id"),
        arguments=call_arguments(given),
        arguments_truncated=cut,
        result=unwrapped.value,
        result_truncated=unwrapped.truncated,
        failed=bool(unwrapped.failed),
    )
