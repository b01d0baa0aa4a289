"""Vercel AI SDK, v3 to v6 and the legacy telemetry of v7 (``ai.operationId``).

``ai.generateText`` and its kin are the agent's invocation, ``.doGenerate`` / ``.doStream`` its model calls,
``ai.toolCall`` its tools, all of them with JSON text in attributes; until 4.0 answers may be ``ai.result.*``. A tool's
output stands in later prompts with its kind, ``{"type": "error-text", "value": ..}``. Operations that answer nobody
(embeddings, speech, images) have no part in a turn. v7's own telemetry has GenAI names and is read as such.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aem_monitor.conventions.attributes import failure, text, texts
from aem_monitor.conventions.jsontext import redacted, to_json
from aem_monitor.conventions.messages import NO_MESSAGES, Message, Messages, Role
from aem_monitor.conventions.observations import opened, spoken
from aem_monitor.conventions.parts import CallPart, Part, ResultPart, TextPart, call_part, read_arguments
from aem_monitor.conventions.reading import SpanKind, SpanReading, ToolReading
from aem_monitor.conventions.results import unwrap
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import Attributes
from aem_monitor.model.span import LogRecord, Span

_SCOPE: Final = "ai"
_TOOL: Final = "ai.toolCall"
_ANSWERING: Final = ("ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject")
_MODEL_CALLS: Final = (".doGenerate", ".doStream")
_OUTPUT_KINDS: Final = frozenset({"text", "json", "error-text", "error-json", "content", "execution-denied"})
_ASKS: Final = "tool-calls"


class Vercel:
    """Spans of the Vercel AI SDK."""

    name = "vercel"
    markers: Sequence[str] = ("ai.operationId", "ai.toolCall.", "ai.model.id")

    def detect(self, span: Span) -> bool:
        """By the operation id; the first versions have it only as the span's name."""
        return _operation(span) is not None

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:  # noqa: ARG002
        """What the span says."""
        attributes = span.attributes
        kind = _kind(_operation(span) or "")
        speaks = kind in (SpanKind.AGENT, SpanKind.MODEL)
        reasons = texts(attributes.get("gen_ai.response.finish_reasons")) or texts(
            attributes.get("ai.response.finishReason", attributes.get("ai.finishReason"))
        )
        return SpanReading(
            convention=self.name,
            kind=kind,
            input=_input(attributes) if speaks else NO_MESSAGES,
            output=_output(attributes, reasons) if speaks else NO_MESSAGES,
            tool=_tool(attributes) if kind is SpanKind.TOOL else None,
            agent_name=text(attributes, "ai.telemetry.functionId"),
            request_model=text(attributes, "gen_ai.request.model", "ai.model.id"),
            response_model=text(attributes, "gen_ai.response.model", "ai.response.model"),
            finish_reasons=reasons,
            response_id=text(attributes, "gen_ai.response.id", "ai.response.id"),
            error=failure(span),
        )


def _operation(span: Span) -> str | None:
    operation = span.attributes.get("ai.operationId")
    if isinstance(operation, str):
        return operation
    known = span.scope.name == _SCOPE and (span.name == _TOOL or span.name.startswith(_ANSWERING))
    return span.name if known else None


def _kind(operation: str) -> SpanKind:
    if operation == _TOOL:
        return SpanKind.TOOL
    if operation in _ANSWERING:
        return SpanKind.AGENT
    return SpanKind.MODEL if operation.startswith(_ANSWERING) and operation.endswith(_MODEL_CALLS) else SpanKind.OTHER


def _input(attributes: Attributes) -> Messages:
    for name in ("ai.prompt.messages", "ai.prompt"):
        found = spoken(attributes.get(name), Role.USER)
        if found:
            return Messages(tuple(map(_plain, found.items)), found.truncated)
    return NO_MESSAGES


def _plain(message: Message) -> Message:
    """With tool outputs freed from their kind, which tells whether the call failed."""
    if not message.results:
        return message
    parts = (_plain_result(part) if isinstance(part, ResultPart) else part for part in message.parts)
    return Message(message.role, tuple(parts), message.finish_reason)


def _plain_result(part: ResultPart) -> ResultPart:
    output = part.result
    if not isinstance(output, Mapping) or output.get("type") not in _OUTPUT_KINDS:
        return part
    kind = str(output["type"])
    if kind == "execution-denied":
        return ResultPart(part.call_id, output.get("reason"), part.name, failed=True, truncated=part.truncated)
    if "value" not in output:
        return part
    failed = True if kind.startswith("error-") else part.failed
    return ResultPart(part.call_id, output["value"], part.name, failed, part.truncated)


def _output(attributes: Attributes, reasons: Sequence[str]) -> Messages:
    """What was said and asked for. A text beside calls is the reply where the model did not stop for them: the provider
    ran these itself."""
    said = text(attributes, "ai.response.text", "ai.response.object", "ai.result.text", "ai.result.object")
    spoken_parts: tuple[Part, ...] = ()
    if said is not None:
        spoken_parts = (TextPart(None if redacted(said) else said),)
    calls = _calls(attributes)
    if calls and spoken_parts and reasons and _ASKS not in reasons:
        return Messages((Message(Role.ASSISTANT, calls), Message(Role.ASSISTANT, spoken_parts)))
    parts = (*spoken_parts, *calls)
    return Messages((Message(Role.ASSISTANT, parts),)) if parts else NO_MESSAGES


def _calls(attributes: Attributes) -> tuple[Part, ...]:
    listed, cut = opened(attributes.get("ai.response.toolCalls", attributes.get("ai.result.toolCalls")))
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        return ()
    found = [call_part(item) for item in listed if isinstance(item, Mapping)]
    calls = [call for call in found if isinstance(call, CallPart)]
    if cut and calls:
        calls[-1] = replace(calls[-1], truncated=True)
    return tuple(calls)


def _tool(attributes: Attributes) -> ToolReading:
    arguments, cut = read_arguments(to_json(attributes.get("ai.toolCall.args")))
    value = attributes.get("ai.toolCall.result")
    result: Captured = value if isinstance(value, str) else NOT_CAPTURED
    unwrapped = unwrap(result)
    return ToolReading(
        name=text(attributes, "ai.toolCall.name") or "",
        call_id=text(attributes, "ai.toolCall.id"),
        arguments=arguments,
        arguments_truncated=cut,
        result=unwrapped.value,
        result_truncated=unwrapped.truncated,
        failed=bool(unwrapped.failed),
    )
