"""Pydantic AI (scope ``pydantic-ai``): GenAI names since version 2, own attributes besides.

An agent's span has the whole history (``pydantic_ai.all_messages``, before 1.0 ``all_messages_events``) and
``final_result``; the last user message in it begins the turn. Version 0.x has per-message events as one JSON attribute,
``tool_arguments`` / ``tool_response``, and no operation names on agent and tool spans. Logfire may have scrubbed any
attribute, so that ``final_result`` is no reply when only its mark is left.
"""

from collections.abc import Sequence
from dataclasses import replace

from aem_monitor.conventions.attributes import text
from aem_monitor.conventions.genai import kind_of, read_span
from aem_monitor.conventions.genai_events import messages_of, read_events
from aem_monitor.conventions.jsontext import redacted
from aem_monitor.conventions.messages import NO_MESSAGES, Message, Messages, Role, read_messages
from aem_monitor.conventions.observations import opened
from aem_monitor.conventions.parts import TextPart, read_arguments
from aem_monitor.conventions.reading import SpanKind, SpanReading, ToolReading
from aem_monitor.conventions.results import unwrap
from aem_monitor.model.jsonvalue import AttributeValue
from aem_monitor.model.span import LogRecord, Span


class PydanticAI:
    """Spans of Pydantic AI."""

    name = "pydantic-ai"
    markers: Sequence[str] = ("pydantic-ai",)

    def detect(self, span: Span) -> bool:
        """By scope."""
        return span.scope.name == "pydantic-ai"

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says."""
        kind = _kind(span)
        reading = read_span(self.name, span, logs, kind)
        if kind is SpanKind.TOOL:
            return _tool(reading, span)
        if kind is SpanKind.AGENT:
            return _agent(reading, span)
        if kind is SpanKind.MODEL and "events" in span.attributes:
            said = messages_of(read_events(span.attributes["events"]))
            return replace(reading, input=reading.input or said.input, output=reading.output or said.output)
        return reading


def _kind(span: Span) -> SpanKind:
    attributes = span.attributes
    if "gen_ai.operation.name" in attributes or "gen_ai.tool.name" in attributes:
        return kind_of(attributes)
    return SpanKind.AGENT if "agent_name" in attributes else SpanKind.STEP


def _tool(reading: SpanReading, span: Span) -> SpanReading:
    tool = reading.tool
    if tool is None:
        return reading
    attributes = span.attributes
    if tool.arguments is None and isinstance(attributes.get("tool_arguments"), str):
        arguments, cut = read_arguments(str(attributes["tool_arguments"]))
        tool = replace(tool, arguments=arguments, arguments_truncated=cut)
    if "gen_ai.tool.call.result" not in attributes and isinstance(attributes.get("tool_response"), str):
        result = unwrap(str(attributes["tool_response"]))
        tool = replace(tool, result=result.value, result_truncated=result.truncated)
    return replace(reading, tool=tool, error=_reason(reading.error, tool, span))


def _reason(error: str | None, tool: ToolReading, span: Span) -> str | None:
    """A tool that asks the model to try again (``ModelRetry``) raises without a message before 2.0: what it asked for
    is its result."""
    messages = [text(event.attributes, "exception.message") for event in span.events if event.name == "exception"]
    silent = bool(messages) and messages[-1] is None
    return tool.result if error is not None and silent and isinstance(tool.result, str) else error


def _agent(reading: SpanReading, span: Span) -> SpanReading:
    """The history up to the user's last message went in, what follows came out."""
    attributes = span.attributes
    whole = _all_messages(attributes.get("pydantic_ai.all_messages"), attributes.get("all_messages_events"))
    asked = [at for at, m in enumerate(whole.items) if m.role is Role.USER and not m.results]
    cut = asked[-1] + 1 if asked else len(whole.items)
    incoming, outgoing = Messages(whole.items[:cut], whole.truncated), Messages(whole.items[cut:], whole.truncated)
    final = text(attributes, "final_result")
    if final is not None and not redacted(final):
        outgoing += Messages((Message(Role.ASSISTANT, (TextPart(final),)),))
    return replace(
        reading,
        input=reading.input or incoming,
        output=reading.output or outgoing,
        agent_name=reading.agent_name or text(attributes, "agent_name"),
        request_model=reading.request_model or text(attributes, "model_name"),
    )


def _all_messages(current: AttributeValue, old: AttributeValue) -> Messages:
    if current is not None:
        value, cut = opened(current)
        return Messages(read_messages(value, Role.USER).items, cut) if value is not None else NO_MESSAGES
    said = messages_of(read_events(old))
    return said.input + said.output
