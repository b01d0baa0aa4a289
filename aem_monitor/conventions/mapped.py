"""Spans of house-made instrumentation, read by a declarative mapping: which attribute is what.

A mapping says by what its spans are known (scope, attributes, a resource's attributes), what kind of span each is, and
where its contents are. A *source* is a place on a span:

=====================  ==================================================================================
``app.question``       an attribute of the span; structured values and JSON text are read alike
``app.args.*``         all attributes below ``app.args``, as one object: ``app.args.order_id``, ..
``app.input#query``    what stands at a path inside the attribute's JSON (``#messages.0.content``)
``event:NAME:ATTR``    an attribute of the last span event of that name
``resource:NAME``      an attribute of the resource
``span:name``          the span's own name
=====================  ==================================================================================

Of several sources for one thing the first one that the span carries wins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aem_monitor.conventions.attributes import failure
from aem_monitor.conventions.flattened import unflatten
from aem_monitor.conventions.jsontext import canonical, parse_nested, redacted, to_json
from aem_monitor.conventions.messages import NO_MESSAGES, Message, Messages, Role, read_messages
from aem_monitor.conventions.parts import TextPart, read_arguments
from aem_monitor.conventions.reading import SpanKind, SpanReading, ToolReading
from aem_monitor.conventions.results import unwrap
from aem_monitor.conventions.tooldefinitions import NO_TOOLS, ToolDefinitions, tools_of
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON, AttributeValue
from aem_monitor.model.span import LogRecord, Span

SPAN_NAME: Final = "span:name"
RESOURCE: Final = "resource:"
EVENT: Final = "event:"
BELOW: Final = ".*"
_ANY: Final = "*"
_CONVERSATION: Final = "gen_ai.conversation.id"
_FALSE: Final = frozenset({"", "false", "0", "no", "none", "null", "ok", "success"})

Sources = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fields:
    """The sources of everything that a span may say; an empty tuple where it says nothing of the kind."""

    conversation_id: Sources = ()
    agent: Sources = ()
    model: Sources = ()
    user: Sources = ()
    response: Sources = ()
    input_messages: Sources = ()
    output_messages: Sources = ()
    finish_reason: Sources = ()
    tool: Sources = ()
    action: Sources = ()
    call_id: Sources = ()
    arguments: Sources = ()
    result: Sources = ()
    error: Sources = ()
    tool_definitions: Sources = ()


@dataclass(frozen=True, slots=True)
class KindRule:
    """What kind of span it is: by the value at ``source`` (None: always ``default``).

    Values may end in ``*``; the longest one that fits wins. None of them: ``default``.
    """

    source: str | None = None
    values: Mapping[str, SpanKind] = field(default_factory=dict)
    default: SpanKind = SpanKind.STEP

    def of(self, span: Span) -> SpanKind:
        """The kind of a span."""
        value = None if self.source is None else as_text(value_at(span, self.source))
        if value is None:
            return self.default
        if value in self.values:
            return self.values[value]
        fitting = [key for key in self.values if key.endswith(_ANY) and value.startswith(key[:-1])]
        return self.values[max(fitting, key=len)] if fitting else self.default


@dataclass(frozen=True, slots=True)
class SpanMapping:
    """One mapping. A span is known by all of ``scope`` (may end in ``*``), ``attributes`` and ``resource``.

    Of an attribute's values any one will do, by its text; ``*`` is any value at all. ``scope`` or ``attributes`` must
    be there: a resource alone is that of every span of a service.
    """

    name: str
    scope: str | None = None
    attributes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    resource: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kind: KindRule = field(default_factory=KindRule)
    fields: Fields = field(default_factory=Fields)


class Mapped:
    """The convention that a mapping describes."""

    def __init__(self, mapping: SpanMapping) -> None:
        self.name: Final = mapping.name
        self._mapping: Final = mapping
        scope = (mapping.scope or "").removesuffix(_ANY)
        # Each of these is on every span of the mapping; the scope or the longest name occurs least elsewhere.
        self.markers: Sequence[str] = (scope or max(mapping.attributes, key=len, default=""),)

    def detect(self, span: Span) -> bool:
        """By everything that the mapping asks for."""
        wanted = self._mapping
        if wanted.scope is not None and not _fits(span.scope.name, wanted.scope):
            return False
        if not all(_among(span.attributes.get(name), values) for name, values in wanted.attributes.items()):
            return False
        return all(_among(span.resource.attributes.get(name), values) for name, values in wanted.resource.items())

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:  # noqa: ARG002
        """What the span says."""
        fields = self._mapping.fields
        kind = self._mapping.kind.of(span)
        incoming = outgoing = NO_MESSAGES
        if kind is not SpanKind.TOOL:
            incoming = _messages(span, fields.input_messages, Role.USER) or _text(span, fields.user, Role.USER)
            outgoing = _messages(span, fields.output_messages, Role.ASSISTANT) or _text(
                span, fields.response, Role.ASSISTANT
            )
        step = kind in (SpanKind.STEP, SpanKind.OTHER)
        reason = _first_text(span, fields.finish_reason)
        conversation = _first_text(span, fields.conversation_id)
        return SpanReading(
            convention=self.name,
            kind=kind,
            input=NO_MESSAGES if step else incoming,
            output=NO_MESSAGES if step else outgoing,
            evidence=incoming + outgoing if step else NO_MESSAGES,
            tool=_tool(span, fields) if kind is SpanKind.TOOL else None,
            agent_name=_first_text(span, fields.agent),
            response_model=_first_text(span, fields.model),
            finish_reasons=(reason,) if reason else (),
            error=_error(span, fields.error),
            derived={} if conversation is None else {_CONVERSATION: conversation},
            tools=_definitions(span, fields.tool_definitions),
        )


def value_at(span: Span, source: str) -> Captured:
    """What a span carries at a source; NOT_CAPTURED when nothing."""
    place, _, path = source.partition("#")
    if place == SPAN_NAME:
        found: AttributeValue = span.name or None
    elif place.startswith(RESOURCE):
        found = span.resource.attributes.get(place.removeprefix(RESOURCE))
    elif place.startswith(EVENT):
        found = _of_event(span, place.removeprefix(EVENT))
    elif place.endswith(BELOW):
        found = unflatten(span.attributes, place.removesuffix(BELOW))
    else:
        found = span.attributes.get(place)
    if found is None:
        return NOT_CAPTURED
    value = to_json(found)
    return _inside(value, path.split(".")) if path else value


def as_text(value: Captured) -> str | None:
    """A name, id or text; numbers and booleans as they are written in JSON. None for anything else and for nothing."""
    if value is NOT_CAPTURED or value is None:
        return None
    if isinstance(value, str):
        return value or None
    return canonical(value) if isinstance(value, bool | int | float) else None


def _of_event(span: Span, place: str) -> AttributeValue:
    name, _, attribute = place.rpartition(":")
    carrying = [
        event.attributes[attribute] for event in span.events if event.name == name and attribute in event.attributes
    ]
    return carrying[-1] if carrying else None


def _inside(value: JSON, path: Sequence[str]) -> Captured:
    current = value
    for key in path:
        if isinstance(current, str):
            current = parse_nested(current).value
        if isinstance(current, Mapping) and key in current:
            current = current[key]
        elif isinstance(current, Sequence) and not isinstance(current, str) and _is_index(key, len(current)):
            current = current[int(key)]
        else:
            return NOT_CAPTURED
    return current


def _is_index(key: str, length: int) -> bool:
    """``-1`` is the last one."""
    digits = key.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= 9 and -length <= int(key) < length


def _fits(value: str, wanted: str) -> bool:
    return value.startswith(wanted[:-1]) if wanted.endswith(_ANY) else value == wanted


def _among(value: AttributeValue, wanted: Sequence[str]) -> bool:
    if value is None:
        return False
    text = as_text(to_json(value))
    return any(one == _ANY or (text is not None and _fits(text, one)) for one in wanted)


def _first(span: Span, sources: Sources) -> Captured:
    return next((value for source in sources if (value := value_at(span, source)) is not NOT_CAPTURED), NOT_CAPTURED)


def _first_text(span: Span, sources: Sources) -> str | None:
    return next((text for source in sources if (text := as_text(value_at(span, source))) is not None), None)


def _text(span: Span, sources: Sources, role: Role) -> Messages:
    text = _first_text(span, sources)
    if text is None:
        return NO_MESSAGES
    return Messages((Message(role, (TextPart(None if redacted(text) else text),)),))


def _messages(span: Span, sources: Sources, role: Role) -> Messages:
    value = _first(span, sources)
    return NO_MESSAGES if value is NOT_CAPTURED else read_messages(value, role)


def _tool(span: Span, fields: Fields) -> ToolReading:
    name, action = _first_text(span, fields.tool) or span.name, _first_text(span, fields.action)
    given = _first(span, fields.arguments)
    arguments, cut = (None, False) if given is NOT_CAPTURED else read_arguments(given)
    bare = given if arguments is None and not cut and not (isinstance(given, str) and redacted(given)) else NOT_CAPTURED
    result = unwrap(_first(span, fields.result))
    return ToolReading(
        name=name if action is None else f"{name}.{action}",
        call_id=_first_text(span, fields.call_id),
        tool=None if action is None else name,
        action=action,
        arguments=arguments,
        arguments_truncated=cut,
        bare=bare,
        result=result.value,
        result_truncated=result.truncated,
        failed=bool(result.failed),
    )


def _definitions(span: Span, sources: Sources) -> ToolDefinitions:
    value = _first(span, sources)
    return NO_TOOLS if value is NOT_CAPTURED else tools_of(value)


def _error(span: Span, sources: Sources) -> str | None:
    """What the mapping's error says, else what every span's status says. A flag that is false is no error."""
    said = failure(span)
    value = _first(span, sources)
    if value is NOT_CAPTURED or value is None or value is False or value == 0:
        return said
    if isinstance(value, str) and value.strip().lower() in _FALSE:
        return said
    if value is True:
        return said or ""
    return value if isinstance(value, str) else canonical(value)
