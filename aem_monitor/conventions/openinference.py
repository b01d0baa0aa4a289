"""OpenInference (``openinference.span.kind``), by Arize: kinds LLM, TOOL, AGENT, CHAIN and further ones.

Messages of model calls are flattened attributes (``llm.input_messages.N.message.*``); agents and tools have
``input.value`` and ``output.value``, JSON or text by their mime type. Tool arguments are ``input.value``:
``tool.parameters`` is the JSON schema in some instrumentations and the arguments in others. A TOOL span without
``tool.name`` whose input and output are agent names is a hand-off (OpenAI Agents). LangChain gives a tool of one
argument the bare value. CrewAI has the user's text as a task description, a crew's kickoff is a runner. LlamaIndex's
agent workflows are CHAIN spans (``llamaindex``).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from aem_monitor.conventions.attributes import failure, metadata, text
from aem_monitor.conventions.callinput import CallInput, read_call
from aem_monitor.conventions.flattened import unflatten
from aem_monitor.conventions.jsontext import parse_nested, to_json
from aem_monitor.conventions.llamaindex import read_workflow
from aem_monitor.conventions.messages import (
    NO_MESSAGES,
    Message,
    Messages,
    Role,
    mark_cut,
    read_messages,
    without_cut_end,
)
from aem_monitor.conventions.observations import opened, provider_output
from aem_monitor.conventions.parts import CallPart, Part, TextPart, call_part
from aem_monitor.conventions.reading import SpanKind, SpanReading, ToolReading
from aem_monitor.conventions.results import unwrap
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON, Attributes
from aem_monitor.model.span import LogRecord, Span

_KINDS: Final[Mapping[str, SpanKind]] = {
    "AGENT": SpanKind.AGENT,
    "LLM": SpanKind.MODEL,
    "TOOL": SpanKind.TOOL,
    "CHAIN": SpanKind.STEP,
}
_TEXT_KEYS: Final = ("task", "input", "query", "question", "prompt", "user_input", "user_message", "message")
_REPR: Final = re.compile(r"\s*(?:[\w.]+\(|\w+=|<)")
# A smolagents run with ``stream=True`` has the reprs of all that it streamed for its output, one behind the other.
_STREAMED: Final = re.compile(
    r"(?:ToolCall|ToolOutput|ActionOutput|ActionStep|PlanningStep|FinalAnswerStep|ChatMessageStreamDelta)\(\w+="
)


class OpenInference:
    """Spans of the OpenInference instrumentations."""

    name = "openinference"
    markers: Sequence[str] = ("openinference.",)

    def detect(self, span: Span) -> bool:
        """By the span kind attribute; every OpenInference span has it."""
        return isinstance(span.attributes.get("openinference.span.kind"), str)

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:  # noqa: ARG002
        """What the span says."""
        attributes = span.attributes
        kind = _KINDS.get(str(attributes.get("openinference.span.kind")).upper(), SpanKind.OTHER)
        if kind is SpanKind.STEP and "crew_tasks" in attributes:
            kind = SpanKind.RUN
        incoming, outgoing, evidence = _messages(kind, attributes)
        if kind is SpanKind.STEP and (workflow := read_workflow(span)) is not None:
            kind, incoming, outgoing = workflow
        model = text(attributes, "llm.model_name", "gen_ai.response.model", "gen_ai.request.model")
        reason = text(attributes, "llm.finish_reason")
        return SpanReading(
            convention=self.name,
            kind=kind,
            input=incoming,
            output=outgoing,
            evidence=evidence,
            tool=_tool(span) if kind is SpanKind.TOOL else None,
            agent_name=_agent_name(attributes),
            response_model=model,
            finish_reasons=(reason,) if reason and kind is SpanKind.MODEL else (),
            error=failure(span),
            derived=metadata(attributes),
        )


def _agent_name(attributes: Attributes) -> str | None:
    return text(attributes, "agent.name", "graph.node.id", "gen_ai.agent.name") or metadata(attributes).get(
        "metadata.lc_agent_name"
    )


def _messages(kind: SpanKind, attributes: Attributes) -> tuple[Messages, Messages, Messages]:
    """Input, output and evidence of a span that is no tool's."""
    if kind is SpanKind.MODEL:
        incoming = _flat(attributes, "llm.input_messages", Role.USER) or _input(attributes)
        outgoing = _flat(attributes, "llm.output_messages", Role.ASSISTANT)
        return incoming, _with_arguments(outgoing, attributes) if outgoing else _output(attributes), NO_MESSAGES
    if kind is SpanKind.RUN:
        return _crew_input(attributes), _output(attributes), NO_MESSAGES
    if kind is SpanKind.AGENT:
        outgoing = _output(attributes)
        return (
            _input(attributes) or _described(attributes),
            outgoing,
            _flat(attributes, "llm.output_messages", Role.ASSISTANT),
        )
    if kind is SpanKind.STEP:
        return NO_MESSAGES, NO_MESSAGES, _step(attributes)
    return NO_MESSAGES, NO_MESSAGES, NO_MESSAGES


def _with_arguments(flat: Messages, attributes: Attributes) -> Messages:
    """Flattened messages with the arguments that flattening lost (empty ones, objects), from the model's own output."""
    if all(call.arguments is not None for message in flat.items for call in message.calls):
        return flat
    written = _output(attributes)
    if written.truncated:
        return flat
    whole = {call.call_id: call for message in written.items for call in message.calls}
    items = [
        replace(message, parts=tuple(_whole_call(part, whole) for part in message.parts)) for message in flat.items
    ]
    return Messages(tuple(items), flat.truncated)


def _whole_call(part: Part, whole: Mapping[str | None, CallPart]) -> Part:
    if isinstance(part, CallPart) and part.arguments is None:
        found = whole.get(part.call_id)
        return found if found is not None and found.name == part.name else part
    return part


def _flat(attributes: Attributes, prefix: str, default: Role) -> Messages:
    items = unflatten(attributes, prefix)
    if not isinstance(items, Sequence) or isinstance(items, str):
        return NO_MESSAGES
    plain = [_plain(item["message"]) for item in items if isinstance(item, Mapping) and "message" in item]
    return read_messages([item for item in plain if item is not None], default) if plain else NO_MESSAGES


def _plain(message: JSON) -> JSON:
    """A flattened message in the form of an ordinary chat message."""
    if not isinstance(message, Mapping):
        return None
    contents = message.get("contents")
    content = message.get("content")
    if isinstance(contents, Sequence) and not isinstance(contents, str):
        blocks = [item.get("message_content") for item in contents if isinstance(item, Mapping)]
        content = [block for block in blocks if isinstance(block, Mapping)]
    calls = message.get("tool_calls")
    listed = calls if isinstance(calls, Sequence) and not isinstance(calls, str) else ()
    made = [call["tool_call"] for call in listed if isinstance(call, Mapping) and "tool_call" in call]
    found: dict[str, JSON] = {"role": message.get("role"), "content": content, "tool_calls": made}
    if message.get("tool_call_id") is not None:
        found["tool_call_id"] = message["tool_call_id"]
    return found


def _value(attributes: Attributes, name: str) -> tuple[JSON, bool]:
    """``input.value`` or ``output.value``, opened when it is JSON; and whether it was cut."""
    return opened(attributes.get(name))


def _input(attributes: Attributes) -> Messages:
    value, cut = _value(attributes, "input.value")
    return _spoken(_as_text(attributes, "input.value", value), Role.USER, cut=cut)


def _output(attributes: Attributes) -> Messages:
    value, cut = _value(attributes, "output.value")
    if isinstance(value, Mapping) and isinstance(value.get("raw"), str):
        value = value["raw"]
    if isinstance(value, str) and "smolagents.max_steps" in attributes and _STREAMED.match(value):
        return NO_MESSAGES
    return _spoken(_as_text(attributes, "output.value", value), Role.ASSISTANT, cut=cut)


def _as_text(attributes: Attributes, name: str, value: JSON) -> JSON:
    """The text that was said, where it only looks like JSON of messages or the framework wrote a bare value."""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, Sequence) and not isinstance(value, str) and value and all(map(_is_plain, value)):
        said = attributes[name]
        return said if isinstance(said, str) else json.dumps(value, ensure_ascii=False)
    return value


def _is_plain(item: JSON) -> bool:
    """Whether a list item is neither a message nor a batch of them, nor the repr of an object."""
    if isinstance(item, str):
        return _REPR.match(item) is None
    if isinstance(item, Sequence):
        return not any(isinstance(inner, Mapping) for inner in item)
    return not isinstance(item, Mapping)


def _spoken(value: JSON, role: Role, *, cut: bool) -> Messages:
    """Messages of a framework's input or output object, or its text. Reprs of Python objects are no messages."""
    if isinstance(value, str):
        return Messages((Message(role, (TextPart(value, cut),)),)) if value.strip() else NO_MESSAGES
    if role is Role.ASSISTANT and (answered := provider_output(without_cut_end(value) if cut else value)):
        return Messages((*answered.items[:-1], mark_cut(answered.items[-1])), cut) if cut else answered
    listed = value.get("messages") if isinstance(value, Mapping) else value
    if isinstance(listed, Sequence) and not isinstance(listed, str):
        usable = [item for item in listed if not isinstance(item, str)]
        return Messages(read_messages(usable, role).items, cut) if usable else NO_MESSAGES
    if isinstance(value, Mapping):
        said = next((value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)), None)
        if isinstance(said, str) and said.strip() and role is Role.USER:
            return Messages((Message(role, (TextPart(said, cut),)),))
        if "role" in value:
            return Messages(read_messages(value, role).items, cut)
    return NO_MESSAGES


def _described(attributes: Attributes) -> Messages:
    """CrewAI: an agent's result repeats the description of its task."""
    value, cut = _value(attributes, "output.value")
    if isinstance(value, Mapping) and "raw" in value:
        return _spoken(value.get("description"), Role.USER, cut=cut)
    return NO_MESSAGES


def _crew_input(attributes: Attributes) -> Messages:
    tasks, cut = _value(attributes, "crew_tasks")
    if isinstance(tasks, Sequence) and not isinstance(tasks, str) and tasks and isinstance(tasks[0], Mapping):
        return _spoken(tasks[0].get("description"), Role.USER, cut=cut)
    return NO_MESSAGES


def _step(attributes: Attributes) -> Messages:
    """A chain step that lists tool calls or carries tool messages is evidence for them."""
    calls, cut = _value(attributes, "input.value")
    found: list[Message] = []
    if not cut and isinstance(calls, Sequence) and not isinstance(calls, str):
        asked = tuple(_calls(calls))
        found = [Message(Role.ASSISTANT, asked)] if asked else []
    output, cut = _value(attributes, "output.value")
    if found and not cut and isinstance(output, Mapping):
        messages = _spoken(output, Role.TOOL, cut=False)
        found.extend(message for message in messages.items if message.results)
    return Messages(tuple(found))


def _calls(items: Sequence[JSON]) -> Iterator[CallPart]:
    for item in items:
        if isinstance(item, Mapping) and item.get("type") == "tool_call":
            call = call_part(item)
            if call is not None:
                yield call


def _tool(span: Span) -> ToolReading:
    attributes = span.attributes
    given, given_cut = _value(attributes, "input.value")
    returned = to_json(attributes.get("output.value"))
    output: Captured = NOT_CAPTURED if returned is None else returned
    name = text(attributes, "tool.name")
    if name is None and (span.name.startswith("handoff to ") or _names_agents(given, output)):
        return ToolReading(f"transfer_to_{output}" if isinstance(output, str) else span.name, handoff=True)
    call = _call(given, attributes, cut=given_cut)
    result = unwrap(output)
    return ToolReading(
        name=name or span.name,
        call_id=text(attributes, "tool.id", "tool_call.id", "message.tool_call_id") or _message_call_id(output),
        arguments=call.arguments,
        arguments_truncated=given_cut,
        bare=call.bare,
        result=result.value,
        result_truncated=result.truncated,
        failed=bool(result.failed),
    )


def _names_agents(given: JSON, output: Captured) -> bool:
    return isinstance(given, str) and isinstance(output, str) and given.isidentifier() and output.isidentifier()


def _call(given: JSON, attributes: Attributes, *, cut: bool) -> CallInput:
    schema, _ = _value(attributes, "tool.parameters")
    if given is None and isinstance(schema, Mapping) and not _is_schema(schema):
        given = schema
    return read_call(given, schema, cut=cut)


def _is_schema(value: Mapping[str, JSON]) -> bool:
    """Whether ``tool.parameters`` is a JSON schema, of an object or of each argument, and not the arguments."""
    if value.get("type") == "object" or "properties" in value:
        return True
    return bool(value) and all(isinstance(item, Mapping) and "type" in item for item in value.values())


def _message_call_id(output: Captured) -> str | None:
    """A serialised ToolMessage names the call that it answers."""
    value = parse_nested(output).value if isinstance(output, str) else None
    if not isinstance(value, Mapping):
        return None
    inner = value.get("data", value.get("kwargs", value))
    found = inner.get("tool_call_id") if isinstance(inner, Mapping) else None
    return found if isinstance(found, str) and found else None
