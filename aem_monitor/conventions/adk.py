"""Google ADK (scope ``gcp.vertex.agent``).

1.x: ``invocation`` > ``agent_run [name]`` > ``call_llm`` > ``execute_tool``, contents in ``gcp.vertex.agent.*`` in
Gemini's form. 2.x has GenAI names, ``call_llm`` around ``generate_content`` in between. A tool's return value is
wrapped as ``{"result": ..}``. ``execute_tool (merged)`` repeats parallel calls. A sub-agent's history tells other
agents' turns as user messages that begin with "For context:".
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aem_monitor.conventions.genai import kind_of, read_span
from aem_monitor.conventions.messages import NO_MESSAGES, Message, Messages, Role, read_messages
from aem_monitor.conventions.observations import opened
from aem_monitor.conventions.reading import SpanKind, SpanReading, ToolReading
from aem_monitor.conventions.results import unwrap
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import Attributes
from aem_monitor.model.span import LogRecord, Span

SCOPE: Final = "gcp.vertex.agent"
_MERGED: Final = "(merged"
_CONTEXT: Final = "For context:"


class ADK:
    """Spans of the Agent Development Kit."""

    name = "adk"
    markers: Sequence[str] = (SCOPE,)

    def detect(self, span: Span) -> bool:
        """By scope."""
        return span.scope.name == SCOPE

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says."""
        kind, agent_name = _kind(span)
        reading = read_span(self.name, span, logs, kind)
        if kind is SpanKind.TOOL:
            return replace(reading, tool=_tool(reading.tool, span.attributes))
        if kind is SpanKind.MODEL:
            incoming = reading.input or _request(span.attributes)
            outgoing = reading.output or _response(span.attributes)
            return replace(reading, input=_without_context(incoming), output=outgoing)
        return replace(reading, agent_name=reading.agent_name or agent_name, input=_without_context(reading.input))


def _kind(span: Span) -> tuple[SpanKind, str | None]:
    if _MERGED in span.name or _MERGED in str(span.attributes.get("gen_ai.tool.name", "")):
        return SpanKind.OTHER, None
    if "gen_ai.operation.name" in span.attributes:
        return kind_of(span.attributes), None
    if span.name == "invocation":
        return SpanKind.RUN, None
    if span.name.startswith("agent_run"):
        return SpanKind.AGENT, span.name.removeprefix("agent_run").strip(" []") or None
    return (SpanKind.MODEL if span.name.startswith("call_llm") else kind_of(span.attributes)), None


def _tool(tool: ToolReading | None, attributes: Attributes) -> ToolReading | None:
    if tool is None:
        return None
    if tool.arguments is None:
        given, cut = opened(attributes.get("gcp.vertex.agent.tool_call_args"))
        if isinstance(given, Mapping):
            tool = replace(tool, arguments=given, arguments_truncated=cut)
    if tool.result is NOT_CAPTURED:
        answer, cut = opened(attributes.get("gcp.vertex.agent.tool_response"))
        if answer is not None and answer != "<not specified>":
            tool = replace(tool, result=answer, result_truncated=cut)
    if isinstance(tool.result, Mapping) and tool.result.keys() == {"result"}:
        inner = unwrap(tool.result["result"])
        cut = tool.result_truncated or inner.truncated
        tool = replace(tool, result=inner.value, result_truncated=cut, failed=tool.failed or bool(inner.failed))
    return tool


def _request(attributes: Attributes) -> Messages:
    value, cut = opened(attributes.get("gcp.vertex.agent.llm_request"))
    contents = value.get("contents") if isinstance(value, Mapping) else None
    return Messages(read_messages(contents, Role.USER).items, cut) if contents else NO_MESSAGES


def _response(attributes: Attributes) -> Messages:
    value, cut = opened(attributes.get("gcp.vertex.agent.llm_response"))
    content = value.get("content") if isinstance(value, Mapping) else None
    return Messages(read_messages(content, Role.ASSISTANT).items, cut) if content else NO_MESSAGES


def _without_context(messages: Messages) -> Messages:
    return Messages(tuple(message for message in messages.items if not _retold(message)), messages.truncated)


def _retold(message: Message) -> bool:
    part = message.text
    return message.role is Role.USER and part is not None and (part.text or "").startswith(_CONTEXT)
