"""OpenLLMetry / Traceloop (``traceloop.span.kind``): decorators and instrumentations of model clients and frameworks.

Model messages are flattened (``gen_ai.prompt.N``, ``gen_ai.completion.N``, up to about 0.5x) or GenAI message lists
(0.60 on). Decorated functions have ``traceloop.entity.input`` = ``{"args", "kwargs"}`` and the JSON of the return
value, which for a tool that returns JSON text is a JSON string in a JSON string. Frameworks write ``{"inputs": {..}}``
and ``{"outputs": {..}}`` or ``{"output": ToolMessage}``. CrewAI has the user's text as the description of a task and
the reply as the crew's result. LlamaIndex writes the steps of its agents as tasks, whose outputs are events: a tool's
result, the messages that go to an agent (``{"input", "current_agent_name"}``), the result of the run.

The SDK puts ``traceloop.association.properties`` on every span of the process, also on those of other instrumentations:
they say nothing about who wrote a span.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aem_monitor.conventions.attributes import text
from aem_monitor.conventions.callinput import read_call
from aem_monitor.conventions.flattened import unflatten
from aem_monitor.conventions.genai import kind_of, read_span
from aem_monitor.conventions.jsontext import parse_nested
from aem_monitor.conventions.messages import NO_MESSAGES, Message, Messages, Role, read_content, read_messages
from aem_monitor.conventions.observations import opened, spoken
from aem_monitor.conventions.parts import CallPart, TextPart, call_part
from aem_monitor.conventions.reading import SpanKind, SpanReading, ToolReading
from aem_monitor.conventions.results import Unwrapped, unwrap
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
_BEFORE_OUTPUT: Final = frozenset({"content", "blocks", "tool_name", "raw_input", "tool_kwargs", "tool_id"})
"""Members of what LlamaIndex writes around a tool's value that stand before it."""
_REQUESTS: Final = frozenset({"chat", "completion"})
_SCOPE: Final = "opentelemetry.instrumentation."
_FLAT: Final = ("gen_ai.prompt.0.", "gen_ai.completion.0.")


class Traceloop:
    """Spans of the Traceloop SDK and the OpenLLMetry instrumentations."""

    name = "traceloop"
    markers: Sequence[str] = ("traceloop.", "llm.request.type", "crewai.")

    def detect(self, span: Span) -> bool:
        """By the entity kind, the kind of model request, flattened messages, or a crew."""
        attributes = span.attributes
        if "traceloop.span.kind" in attributes or "llm.request.type" in attributes:
            return True
        if not span.scope.name.startswith(_SCOPE):
            return False
        return any(key.startswith(("crewai.", *_FLAT)) for key in attributes)

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says."""
        attributes = span.attributes
        kind = _kind(span)
        reading = read_span(self.name, span, logs, kind)
        if kind is SpanKind.TOOL:
            return replace(reading, tool=_tool(reading.tool, span))
        if kind is SpanKind.STEP:
            return replace(reading, evidence=reading.evidence + _step(attributes))
        if kind is SpanKind.OTHER:
            return reading
        incoming = reading.input or _flat(span, "gen_ai.prompt", Role.USER)
        outgoing = reading.output or _flat(span, "gen_ai.completion", Role.ASSISTANT)
        if kind is not SpanKind.MODEL:
            incoming = incoming or _crew_input(attributes) or _entity(attributes, "input", Role.USER)
            outgoing = outgoing or _crew_output(attributes) or _entity(attributes, "output", Role.ASSISTANT)
            event = _llama_event(attributes)
            if event is not None:
                incoming, outgoing = _llama_messages(event)
        name = reading.agent_name or text(attributes, "traceloop.association.properties.lc_agent_name")
        if kind in (SpanKind.AGENT, SpanKind.RUN):
            name = name or text(attributes, "traceloop.entity.name")
        return replace(
            reading,
            input=incoming,
            output=outgoing,
            finish_reasons=reading.finish_reasons or _reasons(outgoing),
            agent_name=name,
        )


def _kind(span: Span) -> SpanKind:
    attributes = span.attributes
    by_operation = kind_of(attributes) if "gen_ai.operation.name" in attributes else None
    if by_operation in (SpanKind.MODEL, SpanKind.TOOL):
        return by_operation
    entity = attributes.get("traceloop.span.kind")
    if entity == "task":
        return _task_kind(attributes)
    if isinstance(entity, str) and entity in _KINDS:
        return _KINDS[entity]
    request = attributes.get("llm.request.type")
    if isinstance(request, str):
        return SpanKind.MODEL if request in _REQUESTS else SpanKind.OTHER
    if any(key.startswith("crewai.crew.") for key in attributes):
        return SpanKind.RUN
    if any(key.startswith(_FLAT) for key in attributes):
        return SpanKind.MODEL
    return kind_of(attributes)


def _task_kind(attributes: Attributes) -> SpanKind:
    """LlamaIndex's tools are tasks; so is a crew's task, which has the user's text where the crew has none."""
    if "tool.name" in attributes or _llama_tool(attributes) is not None:
        return SpanKind.TOOL
    is_agent = "crewai.task.description" in attributes or _llama_event(attributes) is not None
    return SpanKind.AGENT if is_agent else SpanKind.STEP


def _reasons(messages: Messages) -> tuple[str, ...]:
    return tuple(message.finish_reason for message in messages.items if message.finish_reason)


def _flat(span: Span, prefix: str, default: Role) -> Messages:
    """Flattened messages; their numbers may have gaps, and texts beside them (``gen_ai.completion.contents``).

    A count limit drops attributes: the newest ones, so that the last messages may be missing, or (Python) the oldest,
    which is seen by the missing first.
    """
    tree = unflatten(span.attributes, prefix)
    items: Sequence[JSON] = ()
    if isinstance(tree, Mapping):
        items = [tree[key] for key in sorted(filter(str.isdecimal, tree), key=int)]
        contents = tree.get("contents")
        if not items and isinstance(contents, Sequence) and not isinstance(contents, str):
            items = [{"content": content} for content in contents if isinstance(content, str)][-1:]
    elif isinstance(tree, Sequence) and not isinstance(tree, str):
        items = tree
    plain = [_plain(item) for item in items if isinstance(item, Mapping) and item]
    if not plain:
        return NO_MESSAGES
    lost_end = span.dropped > 0 and any(key.startswith(f"{prefix}.0.") for key in span.attributes)
    return Messages(read_messages(plain, default).items, lost_end and prefix == "gen_ai.prompt")


def _plain(message: Mapping[str, JSON]) -> JSON:
    """Content is text, the JSON text of content blocks, or ``""`` in quotes beside calls (LangChain)."""
    content = message.get("content")
    if isinstance(content, str) and message.get("role") != "tool":
        content = None if content in ('""', "null", "[]") else read_content(content)[0]
    return {**message, "content": content}


def _entity(attributes: Attributes, side: str, role: Role) -> Messages:
    return spoken(attributes.get(f"traceloop.entity.{side}", attributes.get(f"gen_ai.task.{side}")), role)


def _crew_input(attributes: Attributes) -> Messages:
    """The description of a task, of a crew that of its first one.

    A crew that does not show its tasks has a user text all the same: its tasks are not turns of their own.
    """
    described = text(attributes, "crewai.task.description")
    if described is None and any(key.startswith("crewai.crew.") for key in attributes):
        tasks, _ = opened(attributes.get("crewai.crew.tasks"))
        first = tasks[0] if isinstance(tasks, Sequence) and not isinstance(tasks, str) and tasks else None
        found = first.get("description") if isinstance(first, Mapping) else None
        return Messages((Message(Role.USER, (TextPart(found if isinstance(found, str) else None),)),))
    return Messages((Message(Role.USER, (TextPart(described),)),)) if described else NO_MESSAGES


def _crew_output(attributes: Attributes) -> Messages:
    said = text(attributes, "crewai.crew.result")
    return Messages((Message(Role.ASSISTANT, (TextPart(said),)),)) if said else NO_MESSAGES


def _step(attributes: Attributes) -> Messages:
    """LangGraph's tools node: the calls that it was given and the tool messages that it returned."""
    given, cut = opened(attributes.get("traceloop.entity.input"))
    listed = given.get("inputs") if isinstance(given, Mapping) else None
    if cut or not isinstance(listed, Sequence) or isinstance(listed, str):
        return NO_MESSAGES
    asked = [item for item in listed if isinstance(item, Mapping) and item.get("type") == "tool_call"]
    calls: list[CallPart] = [call for item in asked if (call := call_part(item)) is not None]
    if not calls:
        return NO_MESSAGES
    returned = spoken(attributes.get("traceloop.entity.output"), Role.TOOL)
    results = () if returned.truncated else tuple(message for message in returned.items if message.results)
    return Messages((Message(Role.ASSISTANT, tuple(calls)), *results))


def _tool(tool: ToolReading | None, span: Span) -> ToolReading:
    attributes = span.attributes
    given, cut = _first_of(attributes, "tool.arguments", "gen_ai.tool.call.arguments", "traceloop.entity.input")
    output, output_cut = _first_of(attributes, "gen_ai.tool.call.result", "traceloop.entity.output")
    call = read_call(given, cut=cut)
    result = _returned(output, cut=output_cut)
    name = text(attributes, "gen_ai.tool.name", "tool.name", "gen_ai.completion.tool.name")
    name = name or _llama_tool(attributes) or text(attributes, "traceloop.entity.name") or (tool.name if tool else "")
    return ToolReading(
        name=(name or span.name).removesuffix(".tool"),
        call_id=(tool.call_id if tool else None) or _call_id(given, output),
        arguments=call.arguments,
        arguments_truncated=cut,
        bare=call.bare,
        result=result.value,
        result_truncated=result.truncated or output_cut,
        failed=bool(result.failed),
    )


def _returned(output: JSON, *, cut: bool) -> Unwrapped:
    """LangChain: ``{"output": .., "kwargs"}``. LlamaIndex: a ToolOutput, of a step one in ``tool_output``."""
    result: Captured = NOT_CAPTURED if output is None else output
    if not isinstance(output, Mapping):
        return unwrap(result, cut=cut)
    if "output" in output and output.keys() <= {"output", "kwargs"}:
        return unwrap(output["output"], cut=cut)
    inner = output.get("tool_output", output)
    if isinstance(inner, Mapping):
        said = inner.get("content") or " ".join(_texts(inner.get("blocks")))
        if "raw_output" in inner and "tool_name" in inner:
            value = inner["raw_output"] if inner["raw_output"] is not None else said
            return replace(unwrap(value, cut=cut), failed=inner.get("is_error") is True)
        if cut and inner.keys() <= _BEFORE_OUTPUT:
            return unwrap(said or NOT_CAPTURED, cut=True)
    return unwrap(result, cut=cut)


def _texts(blocks: JSON) -> list[str]:
    listed = blocks if isinstance(blocks, Sequence) and not isinstance(blocks, str) else ()
    return [str(block["text"]) for block in listed if isinstance(block, Mapping) and isinstance(block.get("text"), str)]


def _call_id(given: JSON, output: JSON) -> str | None:
    """LangChain names the call among the keywords of its callback, LlamaIndex beside the result."""
    named = given.get("kwargs") if isinstance(given, Mapping) and "input_str" in given else None
    found = named.get("tool_call_id") if isinstance(named, Mapping) else None
    if found is None and isinstance(output, Mapping):
        found = output.get("tool_id")
    return found if isinstance(found, str) and found else None


def _llama_tool(attributes: Attributes) -> str | None:
    """The tool that a LlamaIndex task ran, by its output."""
    output = attributes.get("traceloop.entity.output")
    if not isinstance(output, str) or '"raw_output"' not in output:
        return None
    value = parse_nested(output).value
    name = value.get("tool_name") if isinstance(value, Mapping) and "raw_output" in value else None
    return name if isinstance(name, str) and name else None


def _llama_event(attributes: Attributes) -> Mapping[str, JSON] | None:
    """What a LlamaIndex agent was given or said in one step, or its run's result."""
    output = attributes.get("traceloop.entity.output")
    if not isinstance(output, str) or '"current_agent_name"' not in output:
        return None
    value, cut = opened(output)
    if cut or not isinstance(value, Mapping):
        return None
    inner = value.get("result")
    found = inner if isinstance(inner, Mapping) else value
    return value if "current_agent_name" in found and ("input" in found or "response" in found) else None


def _llama_messages(event: Mapping[str, JSON]) -> tuple[Messages, Messages]:
    """Input and output; the calls of a run's result are its whole history."""
    result = event.get("result")
    if isinstance(result, Mapping):
        return NO_MESSAGES, spoken({"response": result.get("response")}, Role.ASSISTANT)
    if "input" in event:
        return spoken({"input": event["input"]}, Role.USER), NO_MESSAGES
    asked = event.get("tool_calls")
    calls: list[JSON] = [
        {"id": one.get("tool_id"), "name": one.get("tool_name"), "arguments": one.get("tool_kwargs")}
        for one in (asked if isinstance(asked, Sequence) and not isinstance(asked, str) else ())
        if isinstance(one, Mapping)
    ]
    said = spoken({"response": event.get("response")}, Role.ASSISTANT)
    if calls:
        said += read_messages({"role": "assistant", "tool_calls": calls}, Role.ASSISTANT)
    return NO_MESSAGES, said


def _first_of(attributes: Attributes, *names: str) -> tuple[JSON, bool]:
    return next((opened(attributes[name]) for name in names if attributes.get(name) is not None), (None, False))
