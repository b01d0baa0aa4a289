"""Messages that GenAI instrumentations send as events: on the span, or as log records joined by trace and span id.

Two generations (OpenTelemetry semantic conventions for generative AI): one event a message (``gen_ai.user.message``,
``gen_ai.choice``, .., v1.28 to v1.36), and ``gen_ai.client.inference.operation.details`` (since v1.37), whose
attributes are whole message lists. A log record has the message as its body, a span event as attributes, some with the
JSON text of a body in ``gen_ai.event.content``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aem_monitor.conventions.jsontext import canonical, parse_nested, to_json
from aem_monitor.conventions.messages import (
    NO_MESSAGES,
    Message,
    Messages,
    Role,
    is_content,
    mark_cut,
    read_content,
    read_message,
    read_messages,
)
from aem_monitor.model.jsonvalue import JSON, Attributes, AttributeValue
from aem_monitor.model.span import LogRecord, Span

DETAILS: Final = "gen_ai.client.inference.operation.details"
CHOICE: Final = "gen_ai.choice"
MESSAGE_ROLES: Final[Mapping[str, Role]] = {
    "gen_ai.system.message": Role.SYSTEM,
    "gen_ai.user.message": Role.USER,
    "gen_ai.assistant.message": Role.ASSISTANT,
    "gen_ai.tool.message": Role.TOOL,
}
_RANK: Final = {name: rank for rank, name in enumerate((*MESSAGE_ROLES, CHOICE))}
_INPUT: Final = "gen_ai.input.messages"
_OUTPUT: Final = "gen_ai.output.messages"


@dataclass(frozen=True, slots=True)
class GenAIEvent:
    """One event, wherever it came from; ``fields`` is the body of a log record or the attributes of a span event."""

    name: str
    fields: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class EventMessages:
    """What the events of one span say went in and came out."""

    input: Messages = NO_MESSAGES
    output: Messages = NO_MESSAGES


def events_of(span: Span, logs: Sequence[LogRecord]) -> tuple[GenAIEvent, ...]:
    """All GenAI events of a span: its own in their order, then the log records by time, whatever their arrival."""
    found = [GenAIEvent(event.name, _event_fields(event.attributes)) for event in span.events if _known(event.name)]
    records = [record for record in logs if _known(record.event_name)]
    if len(records) > 1:
        unique = {
            (
                record.time_ns,
                _RANK.get(record.event_name, 0),
                record.event_name,
                canonical(to_json(record.body)),
                canonical(to_json(record.attributes)),
            ): record
            for record in records
        }
        records = [unique[key] for key in sorted(unique)]
    found.extend(GenAIEvent(record.event_name, _log_fields(record)) for record in records)
    return tuple(found)


def read_events(value: AttributeValue) -> tuple[GenAIEvent, ...]:
    """Events of one message each that an attribute lists (Pydantic AI before 1.0, Logfire): objects with
    ``event.name``."""
    plain = to_json(value)
    if isinstance(plain, str):
        plain = parse_nested(plain).value
    if not isinstance(plain, Sequence) or isinstance(plain, str):
        return ()
    named = [(item.get("event.name"), item) for item in plain if isinstance(item, Mapping)]
    return tuple(
        GenAIEvent(name, item)
        for name, item in named
        if isinstance(name, str) and (name in MESSAGE_ROLES or name == CHOICE)
    )


def messages_of(events: Sequence[GenAIEvent]) -> EventMessages:
    """The messages of a model or agent span's events, in the order of the events.

    A message that a ``gen_ai.choice`` of the same span repeats is not told from a real repetition: nothing is removed.
    """
    incoming, outgoing = Messages(), Messages()
    for event in events:
        if event.name == DETAILS:
            incoming += _list(event.fields.get(_INPUT), Role.USER)
            outgoing += _list(event.fields.get(_OUTPUT), Role.ASSISTANT)
        elif event.name == CHOICE:
            outgoing += _choice(event.fields)
        else:
            incoming += _single(event.fields, MESSAGE_ROLES[event.name])
    return EventMessages(incoming, outgoing)


def _known(name: str) -> bool:
    return name in MESSAGE_ROLES or name in (CHOICE, DETAILS)


def _list(value: JSON, default: Role) -> Messages:
    return read_messages(value, default) if value is not None else Messages()


def _choice(fields: Mapping[str, JSON]) -> Messages:
    value = fields.get("message", fields.get("content"))
    if value is None and "tool_calls" in fields:
        value = dict(fields)
    found = _opened(value, Role.ASSISTANT)
    reason = fields.get("finish_reason")
    if not isinstance(reason, str) or not reason:
        return found
    items = found.items or (Message(Role.ASSISTANT, ()),)
    last = items[-1]
    return Messages((*items[:-1], Message(last.role, last.parts, reason)), found.truncated)


def _single(fields: Mapping[str, JSON], role: Role) -> Messages:
    """One message of an event. Span events carry lists as JSON text; a tool's result keeps its own text form."""
    body = dict(fields)
    cut = False
    if isinstance(body.get("content"), str) and role is not Role.TOOL:
        body["content"], cut = read_content(str(body["content"]))
    content = body.get("content")
    if isinstance(content, Mapping) and "parts" in content:
        # Google ADK puts a whole Gemini message there, of whatever role: history comes under the user's name too.
        return _one(read_message(content, role), cut=cut)
    if isinstance(body.get("tool_calls"), str):
        parsed = parse_nested(body["tool_calls"])
        body["tool_calls"], cut = parsed.value, cut or parsed.truncated
    return _one(read_message(body, role), cut=cut)


def _opened(value: JSON, role: Role) -> Messages:
    """A message, its content blocks or text, or the JSON text of one of them."""
    cut = False
    if isinstance(value, str):
        value, cut = read_content(value)
    found = read_messages(value, role) if is_content(value) else _one(read_message(value, role), cut=False)
    return Messages((*found.items[:-1], mark_cut(found.items[-1]))) if cut and found else found


def _one(message: Message | None, *, cut: bool) -> Messages:
    """A cut goes through this message only: what other events say is whole."""
    if message is None:
        return NO_MESSAGES
    return Messages((mark_cut(message) if cut else message,))


def _event_fields(attributes: Attributes) -> Mapping[str, JSON]:
    content = attributes.get("gen_ai.event.content")
    if isinstance(content, str):
        parsed = parse_nested(content).value
        if isinstance(parsed, Mapping):
            return parsed
    return {key: to_json(value) for key, value in attributes.items()}


def _log_fields(record: LogRecord) -> Mapping[str, JSON]:
    body: AttributeValue = record.body
    plain = to_json(body)
    if isinstance(plain, str):
        opened = parse_nested(plain).value
        plain = opened if isinstance(opened, Mapping) else {"content": plain}
    fields = dict(_pairs(record.attributes))
    if isinstance(plain, Mapping):
        fields.update(plain)
    return fields


def _pairs(attributes: Attributes) -> Iterator[tuple[str, JSON]]:
    for key, value in attributes.items():
        yield key, to_json(value)
