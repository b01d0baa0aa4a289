"""Google ADK (scope ``gcp.vertex.agent``), in the three forms that its versions write.

1.x: ``invocation`` > ``agent_run [name]`` > ``call_llm`` > ``execute_tool``, contents in ``gcp.vertex.agent.*`` in
Gemini's form. In between (until 2.5, and later with the legacy schema) the agent is ``invoke_agent``, and ``call_llm``
goes around ``generate_content``. Since then GenAI names only. A tool that raises leaves no attributes in 1.x but the
span's name.

Not everything that stands there was captured: ``{}`` takes the place of contents that are switched off,
``<not specified>`` that of an id or a result that never came. Call ids in GenAI messages may be made up from the place
of a part in its message (``report_1``), so that those of a call and of its result differ: they are dropped, and names
and order pair the two. ``execute_tool (merged)`` repeats parallel calls. A sub-agent's history tells what other agents
did as messages of the user.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aem_monitor.conventions.genai import kind_of, read_span
from aem_monitor.conventions.jsontext import to_json
from aem_monitor.conventions.messages import NO_MESSAGES, Message, Messages, Role, mark_cut, read_messages
from aem_monitor.conventions.observations import opened
from aem_monitor.conventions.parts import CallPart, Part, ResultPart, TextPart, read_arguments
from aem_monitor.conventions.reading import SpanKind, SpanReading, ToolReading
from aem_monitor.conventions.results import Unwrapped, unwrap
from aem_monitor.conventions.tooldefinitions import tools_in_request
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import Attributes
from aem_monitor.model.span import LogRecord, Span

SCOPE: Final = "gcp.vertex.agent"
_TRANSFER: Final = "transfer_to_agent"
_ARGUMENTS: Final = "gcp.vertex.agent.tool_call_args"
_RESPONSE: Final = "gcp.vertex.agent.tool_response"
_TOOL_SPAN: Final = "execute_tool "
_MERGED: Final = "(merged"
_UNSET: Final = "<not specified>"
_UNREADABLE: Final = "<not serializable>"
_SWITCHED_OFF: Final = "{}"
_PREAMBLE: Final = "For context:"
_FENCED_PREAMBLE: Final = "For context: below is a transcript of what another agent did"
_MADE_UP_ID: Final = re.compile(r"(.{1,200})_[0-9]{1,6}", re.DOTALL)


class ADK:
    """Spans of the Agent Development Kit."""

    name = "adk"
    markers: Sequence[str] = (SCOPE,)

    def detect(self, span: Span) -> bool:
        """By scope."""
        return span.scope.name == SCOPE

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says."""
        kind, name = _kind(span)
        reading = read_span(self.name, span, logs, kind)
        if kind is SpanKind.TOOL:
            return replace(reading, tool=_tool(reading.tool, span.attributes, name))
        if kind is SpanKind.MODEL:
            incoming = reading.input or _contents(span.attributes, "llm_request", "contents", Role.USER)
            outgoing = reading.output or _contents(span.attributes, "llm_response", "content", Role.ASSISTANT)
            tools = reading.tools or tools_in_request(span.attributes.get(f"{SCOPE}.llm_request"))
            return replace(reading, input=_own(incoming), output=_own(outgoing), tools=tools)
        return replace(reading, agent_name=reading.agent_name or name, input=_own(reading.input))


def _kind(span: Span) -> tuple[SpanKind, str | None]:
    """The kind, and the name of the agent or tool where only the span's name tells it."""
    name = span.name
    if _MERGED in name or _MERGED in str(span.attributes.get("gen_ai.tool.name", "")):
        return SpanKind.OTHER, None
    if "gen_ai.operation.name" in span.attributes:
        return kind_of(span.attributes), None
    if name == "invocation":
        return SpanKind.RUN, None
    if name.startswith("agent_run"):
        return SpanKind.AGENT, name.removeprefix("agent_run").strip(" []") or None
    if name.startswith(_TOOL_SPAN):
        return SpanKind.TOOL, name.removeprefix(_TOOL_SPAN).strip() or None
    return (SpanKind.MODEL if name.startswith("call_llm") else kind_of(span.attributes)), None


def _tool(tool: ToolReading | None, attributes: Attributes, name: str | None) -> ToolReading | None:
    if tool is None:
        return None
    tool = replace(tool, name=tool.name or name or "", call_id=None if tool.call_id == _UNSET else tool.call_id)
    # The same text stands for no arguments at all: only together with an empty response it means that nothing was told.
    told = attributes.get(_ARGUMENTS) != _SWITCHED_OFF or attributes.get(_RESPONSE, _SWITCHED_OFF) != _SWITCHED_OFF
    if told and tool.arguments is None:
        given, cut = read_arguments(to_json(attributes.get(_ARGUMENTS)))
        if given is not None:
            tool = replace(tool, arguments=given, arguments_truncated=cut)
    if told and tool.result is NOT_CAPTURED and _RESPONSE in attributes:
        tool = _with_result(tool, unwrap(_text(attributes, _RESPONSE)))
    if isinstance(tool.result, Mapping) and tool.result.keys() == {"result"}:
        inner = unwrap(tool.result["result"])
        tool = _with_result(tool, replace(inner, truncated=inner.truncated or tool.result_truncated))
    if isinstance(tool.result, str) and tool.result in (_UNSET, _UNREADABLE):
        tool = replace(tool, result=NOT_CAPTURED, result_truncated=False)
    return replace(tool, handoff=tool.handoff or tool.name == _TRANSFER)


def _text(attributes: Attributes, name: str) -> Captured:
    value = attributes[name]
    return value if isinstance(value, str) else NOT_CAPTURED


def _with_result(tool: ToolReading, result: Unwrapped) -> ToolReading:
    failed = tool.failed or bool(result.failed)
    return replace(tool, result=result.value, result_truncated=result.truncated, failed=failed)


def _contents(attributes: Attributes, name: str, key: str, role: Role) -> Messages:
    """The messages of a model call in Gemini's form."""
    value, cut = opened(attributes.get(f"{SCOPE}.{name}"))
    contents = value.get(key) if isinstance(value, Mapping) else None
    items = read_messages(contents, role).items if contents else ()
    return Messages((*items[:-1], mark_cut(items[-1])) if cut and items else items, cut) if items else NO_MESSAGES


def _own(messages: Messages) -> Messages:
    """Without what other agents did, without ids that are made up, results without their wrapping."""
    kept = (message for message in messages.items if not _retold(message))
    return Messages(tuple(map(_plain, kept)), messages.truncated)


def _retold(message: Message) -> bool:
    """Whether a message tells what another agent did. A user may well begin a sentence with the same words."""
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    if message.role is not Role.USER or not texts or texts[0] is None:
        return False
    return texts[0] == _PREAMBLE or texts[0].startswith(_FENCED_PREAMBLE)


def _plain(message: Message) -> Message:
    if not message.calls and not message.results:
        return message
    return Message(message.role, tuple(map(_plain_part, message.parts)), message.finish_reason)


def _plain_part(part: Part) -> Part:
    if isinstance(part, TextPart):
        return part
    made_up = _MADE_UP_ID.fullmatch(part.call_id or "")
    if isinstance(part, CallPart):
        own = made_up is None or part.name != made_up.group(1)
        return part if own else CallPart(part.name, None, part.arguments, part.truncated)
    result = part.result
    if isinstance(result, Mapping) and result.keys() == {"result"}:
        result = result["result"]
    if made_up is None:
        return ResultPart(part.call_id, result, part.name, part.failed, part.truncated)
    return ResultPart(None, result, part.name or made_up.group(1), part.failed, part.truncated)
