"""OpenLLMetry / Traceloop (``traceloop.span.kind``): decorators and instrumentations of model clients and frameworks.

Model messages are flattened (``gen_ai.prompt.N``, ``gen_ai.completion.N``, up to about 0.5x) or GenAI message lists
(0.60 on). Decorated functions have ``traceloop.entity.input`` = ``{"args", "kwargs"}`` and the JSON of the return
value, which for a tool that returns JSON text is a JSON string in a JSON string. Frameworks write ``{"inputs": {..}}``
and ``{"outputs": {..}}`` or ``{"output": ToolMessage}``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aem_monitor.conventions.attributes import text
from aem_monitor.conventions.flattened import unflatten
from aem_monitor.conventions.genai import kind_of, read_span
from aem_monitor.conventions.messages import NO_MESSAGES, Messages, Role, read_messages
from aem_monitor.conventions.observations import call_arguments, opened, spoken
from aem_monitor.conventions.reading import SpanKind, SpanReading, ToolReading
from aem_monitor.conventions.results import unwrap
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON, Attributes
from aem_monitor.model.span import LogRecord, Span

_KINDS: Final[Mapping[str, SpanKind]] = {
    "workflow": SpanKind.RUN,
    "agent": SpanKind.AGENT,
    "tool": SpanKind.TOOL,
    "task": SpanKind.STEP,
    "handoff": SpanKind.OTHER,
}
_REQUESTS: Final = frozenset({"chat", "completion"})


class Traceloop:
    """Spans of the Traceloop SDK and the OpenLLMetry instrumentations."""

    name = "traceloop"
    markers: Sequence[str] = ("traceloop.", "llm.request.type")

    def detect(self, span: Span) -> bool:
        """By the entity kind, by the kind of model request, or by association properties on a client's span."""
        attributes = span.attributes
        return (
            "traceloop.span.kind" in attributes
            or "llm.request.type" in attributes
            or any(key.startswith("traceloop.") for key in attributes)
        )

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says."""
        attributes = span.attributes
        kind = _kind(attributes)
        reading = read_span(self.name, span, logs, kind)
        if kind is SpanKind.TOOL:
            return replace(reading, tool=_tool(reading.tool, attributes))
        incoming = reading.input or _flat(attributes, "gen_ai.prompt", Role.USER)
        outgoing = reading.output or _flat(attributes, "gen_ai.completion", Role.ASSISTANT)
        if kind in (SpanKind.RUN, SpanKind.AGENT):
            incoming = incoming or _entity(attributes, "input", Role.USER)
            outgoing = outgoing or _entity(attributes, "output", Role.ASSISTANT)
        reasons = reading.finish_reasons or tuple(m.finish_reason for m in outgoing.items if m.finish_reason)
        name = reading.agent_name or (text(attributes, "traceloop.entity.name") if kind is SpanKind.AGENT else None)
        if kind in (SpanKind.STEP, SpanKind.OTHER):
            incoming = outgoing = NO_MESSAGES
        return replace(reading, input=incoming, output=outgoing, finish_reasons=reasons, agent_name=name)


def _kind(attributes: Attributes) -> SpanKind:
    entity = attributes.get("traceloop.span.kind")
    if entity == "task" and ("tool.name" in attributes or attributes.get("gen_ai.operation.name") == "execute_tool"):
        return SpanKind.TOOL
    if isinstance(entity, str) and entity in _KINDS:
        return _KINDS[entity]
    request = attributes.get("llm.request.type")
    if isinstance(request, str):
        return SpanKind.MODEL if request in _REQUESTS else SpanKind.OTHER
    return kind_of(attributes)


def _flat(attributes: Attributes, prefix: str, default: Role) -> Messages:
    items = unflatten(attributes, prefix)
    if not isinstance(items, Sequence) or isinstance(items, str):
        return NO_MESSAGES
    return read_messages([item for item in items if isinstance(item, Mapping) and len(item) > 0], default)


def _entity(attributes: Attributes, side: str, role: Role) -> Messages:
    return spoken(attributes.get(f"gen_ai.task.{side}", attributes.get(f"traceloop.entity.{side}")), role)


def _tool(tool: ToolReading | None, attributes: Attributes) -> ToolReading:
    given, cut = _first_of(attributes, "tool.arguments", "gen_ai.tool.call.arguments", "traceloop.entity.input")
    output, output_cut = _first_of(attributes, "gen_ai.tool.call.result", "traceloop.entity.output")
    result: Captured = NOT_CAPTURED if output is None else output
    if isinstance(output, Mapping) and "output" in output and output.keys() <= {"output", "kwargs"}:
        result = output["output"]
    unwrapped = unwrap(result)
    name = text(attributes, "gen_ai.tool.name", "tool.name", "traceloop.entity.name") or (tool.name if tool else "")
    return ToolReading(
        name=name.removesuffix(".tool"),
        call_id=tool.call_id if tool else None,
        arguments=_arguments(given),
        arguments_truncated=cut,
        result=unwrapped.value,
        result_truncated=unwrapped.truncated or output_cut,
        failed=bool(unwrapped.failed),
    )


def _first_of(attributes: Attributes, *names: str) -> tuple[JSON, bool]:
    return next((opened(attributes[name]) for name in names if attributes.get(name) is not None), (None, False))


def _arguments(given: JSON) -> Mapping[str, JSON] | None:
    if isinstance(given, Mapping) and "input_str" in given:
        # LangChain: the arguments are an object beside their text, in which Python spells them.
        inner = given.get("inputs")
        return inner if isinstance(inner, Mapping) else None
    return call_arguments(given)
