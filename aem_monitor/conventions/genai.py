"""OpenTelemetry's semantic conventions for generative AI, in all the forms that they have had since v1.28.

Contents: attributes ``gen_ai.input.messages`` / ``gen_ai.output.messages`` (v1.37, JSON text or structured), else
``gen_ai.client.inference.operation.details`` events, else one event a message, on the span or as log records, else the
deprecated ``gen_ai.prompt`` / ``gen_ai.completion`` where they hold JSON. Kinds: by ``gen_ai.operation.name``; a custom
operation is a STEP unless it names a tool.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from aem_monitor.conventions.attributes import failure, metadata, text, texts
from aem_monitor.conventions.genai_events import CHOICE, GenAIEvent, events_of, messages_of
from aem_monitor.conventions.jsontext import parse, to_json
from aem_monitor.conventions.messages import Message, Messages, Role, read_messages
from aem_monitor.conventions.parts import CallPart, TextPart, read_arguments
from aem_monitor.conventions.reading import SpanKind, SpanReading, ToolReading
from aem_monitor.conventions.results import unwrap
from aem_monitor.conventions.tooldefinitions import NO_TOOLS, ToolDefinitions, tools_of
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON, Attributes, AttributeValue
from aem_monitor.model.span import LogRecord, Span

OPERATION_KINDS: Final[Mapping[str, SpanKind]] = {
    "handle_conversation_turn": SpanKind.RUN,
    "invoke_workflow": SpanKind.RUN,
    "invoke_agent": SpanKind.AGENT,
    "chat": SpanKind.MODEL,
    "generate_content": SpanKind.MODEL,
    "text_completion": SpanKind.MODEL,
    "fetch_response": SpanKind.MODEL,
    "realtime_inference": SpanKind.MODEL,
    "execute_tool": SpanKind.TOOL,
    "create_agent": SpanKind.OTHER,
    "embeddings": SpanKind.OTHER,
    "retrieval": SpanKind.OTHER,
    "user_speech": SpanKind.OTHER,
}
_MEMORY_SUFFIXES: Final = ("_memory", "_memory_store")


class GenAI:
    """The generic convention: any span with a GenAI operation, tool or model."""

    name = "genai"
    markers: Sequence[str] = ("gen_ai.",)

    def detect(self, span: Span) -> bool:
        """Any span that names a GenAI operation; older emitters name only the system, the tool or the model."""
        attributes = span.attributes
        return (
            "gen_ai.operation.name" in attributes
            or "gen_ai.system" in attributes
            or "gen_ai.provider.name" in attributes
            or "gen_ai.tool.name" in attributes
        )

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says, by its attributes first and its events where those are silent."""
        return read_span(self.name, span, logs, kind_of(span.attributes))


def kind_of(attributes: Attributes) -> SpanKind:
    """The kind by operation name; without one by what the span names."""
    operation = text(attributes, "gen_ai.operation.name")
    if operation is not None and operation in OPERATION_KINDS:
        return OPERATION_KINDS[operation]
    if "gen_ai.tool.name" in attributes:
        return SpanKind.TOOL
    if operation is not None:
        return SpanKind.OTHER if operation.endswith(_MEMORY_SUFFIXES) else SpanKind.STEP
    if "gen_ai.request.model" in attributes or "gen_ai.response.model" in attributes:
        return SpanKind.MODEL
    return SpanKind.STEP


def read_span(
    convention: str, span: Span, logs: Sequence[LogRecord], kind: SpanKind, *, blocks: bool = False
) -> SpanReading:
    """A span of GenAI attributes and events; ``blocks`` as in ``SpanReading``."""
    attributes = span.attributes
    events = events_of(span, logs)
    incoming = attribute_messages(attributes.get("gen_ai.input.messages"), Role.USER)
    outgoing = attribute_messages(attributes.get("gen_ai.output.messages"), Role.ASSISTANT)
    tool = None
    if kind is SpanKind.TOOL:
        tool = read_tool(attributes, events, incoming, outgoing, blocks=blocks)
        incoming = outgoing = Messages()
    elif not incoming or not outgoing:
        said = messages_of(events)
        incoming = incoming or said.input or _deprecated(attributes.get("gen_ai.prompt"), Role.USER)
        outgoing = outgoing or said.output or _deprecated(attributes.get("gen_ai.completion"), Role.ASSISTANT)
    evidence = Messages()
    if kind in (SpanKind.STEP, SpanKind.OTHER):
        incoming, outgoing, evidence = Messages(), Messages(), incoming + outgoing
    nested = attributes.get("gen_ai.invocation.is_nested")
    return SpanReading(
        convention=convention,
        kind=kind,
        input=incoming,
        output=outgoing,
        evidence=evidence,
        tool=tool,
        agent_name=text(attributes, "gen_ai.agent.name"),
        request_model=text(attributes, "gen_ai.request.model"),
        response_model=text(attributes, "gen_ai.response.model"),
        finish_reasons=_finish_reasons(attributes, outgoing),
        response_id=text(attributes, "gen_ai.response.id"),
        previous_response_id=text(attributes, "gen_ai.request.previous_response.id"),
        error=failure(span),
        nested=nested if isinstance(nested, bool) else None,
        blocks=blocks,
        derived=metadata(attributes),
        tools=_event_tools(events),
    )


def _event_tools(events: Sequence[GenAIEvent]) -> ToolDefinitions:
    """The definitions in an event that holds the details of the operation."""
    stated = (event.fields.get("gen_ai.tool.definitions") for event in events)
    return next((tools_of(value) for value in stated if value), NO_TOOLS)


def attribute_messages(value: AttributeValue, default: Role) -> Messages:
    """Messages of an attribute, JSON text or structured."""
    return Messages() if value is None or value == "" else read_messages(to_json(value), default)


def read_tool(
    attributes: Attributes, events: Sequence[GenAIEvent], incoming: Messages, outgoing: Messages, *, blocks: bool
) -> ToolReading:
    """A tool span: attributes, else its messages, else the events of either generation."""
    said = messages_of(tuple(event for event in events if event.name not in (CHOICE, "gen_ai.tool.message")))
    calls = [call for message in (incoming + said.input).items for call in message.calls]
    results = [result for message in (outgoing + said.output).items for result in message.results]
    arguments, cut = _arguments(attributes, events, calls)
    result: Captured = NOT_CAPTURED
    result_cut = False
    if attributes.get("gen_ai.tool.call.result") is not None:
        result = to_json(attributes["gen_ai.tool.call.result"])
    elif results:
        result, result_cut = results[-1].result, results[-1].truncated
    else:
        result = _event_result(events)
    unwrapped = unwrap(result, blocks=blocks, cut=result_cut)
    return ToolReading(
        name=text(attributes, "gen_ai.tool.name") or next((call.name for call in calls), ""),
        call_id=text(attributes, "gen_ai.tool.call.id") or _event_call_id(events, calls),
        arguments=arguments,
        arguments_truncated=cut,
        result=unwrapped.value,
        result_truncated=unwrapped.truncated or outgoing.truncated,
        failed=bool(unwrapped.failed),
        transport="mcp.method.name" in attributes,
    )


def _arguments(
    attributes: Attributes, events: Sequence[GenAIEvent], calls: Sequence[CallPart]
) -> tuple[Mapping[str, JSON] | None, bool]:
    captured = attributes.get("gen_ai.tool.call.arguments")
    if captured is not None:
        return read_arguments(to_json(captured))
    for call in calls:
        if call.arguments is not None:
            return call.arguments, call.truncated
    for event in events:
        if event.name == "gen_ai.tool.message" and event.fields.get("content") is not None:
            return read_arguments(event.fields["content"])
    return None, False


def _event_result(events: Sequence[GenAIEvent]) -> Captured:
    for event in events:
        if event.name == CHOICE:
            for key in ("message", "content"):
                if event.fields.get(key) is not None:
                    return event.fields[key]
    return NOT_CAPTURED


def _event_call_id(events: Sequence[GenAIEvent], calls: Sequence[CallPart]) -> str | None:
    for event in events:
        call_id = event.fields.get("id")
        if event.name in ("gen_ai.tool.message", CHOICE) and isinstance(call_id, str) and call_id:
            return call_id
    return next((call.call_id for call in calls if call.call_id), None)


def _finish_reasons(attributes: Attributes, outgoing: Messages) -> tuple[str, ...]:
    found = texts(attributes.get("gen_ai.response.finish_reasons"))
    if not found:
        single = text(attributes, "gen_ai.response.finish_reason")
        found = (single,) if single else ()
    return found or tuple(message.finish_reason for message in outgoing.items if message.finish_reason)


def _deprecated(value: AttributeValue, default: Role) -> Messages:
    """``gen_ai.prompt`` and ``gen_ai.completion`` hold JSON of the provider's form, or plain text."""
    if not isinstance(value, str) or not value:
        return Messages()
    if parse(value).is_json:
        return read_messages(value, default)
    return Messages((Message(default, (TextPart(value),)),))
