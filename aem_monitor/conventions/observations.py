"""Inputs and outputs of whole functions, as tracing SDKs record them: ``{"args", "kwargs"}``, ``{"inputs": {..}}``,
completion objects, message lists, or plain text. What the user or the agent said is somewhere inside."""

from collections.abc import Mapping, Sequence
from typing import Final

from aem_monitor.conventions.jsontext import parse_nested, redacted, to_json
from aem_monitor.conventions.messages import NO_MESSAGES, Message, Messages, Role, mark_cut, read_messages
from aem_monitor.conventions.parts import TextPart
from aem_monitor.model.jsonvalue import JSON, AttributeValue

_MAX_WRAPPERS: Final = 5
_WRAPPERS: Final = ("inputs", "outputs", "input", "output", "kwargs", "state", "update")
_USER_KEYS: Final = ("task", "input", "query", "question", "prompt", "user_input", "user_message", "message", "text")
_REPLY_KEYS: Final = ("raw", "response", "answer", "final_output", "reply", "result", "content", "text", "message")
_CALL_WRAPPER: Final = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})


def opened(value: AttributeValue) -> tuple[JSON, bool]:
    """An attribute's value, read when it is JSON text, and whether it was cut; None where content was taken away."""
    plain = to_json(value)
    if not isinstance(plain, str):
        return plain, False
    if redacted(plain):
        return None, False
    parsed = parse_nested(plain)
    return parsed.value, parsed.truncated


def spoken(value: AttributeValue, role: Role) -> Messages:
    """What an input (``role`` USER) or an output (ASSISTANT) says, as messages; none when nothing is recognised.

    Reprs of Python objects inside message lists are no messages.
    """
    plain, cut = opened(value)
    items = _said(plain, role, _MAX_WRAPPERS).items
    return Messages((*items[:-1], mark_cut(items[-1])), cut) if cut and items else Messages(items, cut)


def _said(value: JSON, role: Role, depth: int) -> Messages:
    if isinstance(value, str):
        return _text(value, role)
    if isinstance(value, Mapping):
        return _from_object(value, role, depth)
    if isinstance(value, Sequence) and value:
        usable = [item for item in value if not isinstance(item, str)]
        return read_messages(usable, role) if usable else NO_MESSAGES
    return NO_MESSAGES


def _text(value: str, role: Role) -> Messages:
    return Messages((Message(role, (TextPart(value),)),)) if value.strip() and not redacted(value) else NO_MESSAGES


def _from_object(value: Mapping[str, JSON], role: Role, depth: int) -> Messages:
    if depth == 0:
        return NO_MESSAGES
    if "messages" in value:
        return _said(value["messages"], role, depth - 1) if not isinstance(value["messages"], str) else NO_MESSAGES
    if "role" in value or "lc" in value or "parts" in value:
        return read_messages(value, role)
    for key in ("choices", "generations"):
        first = _first(_first(value.get(key)) or value.get(key))
        if isinstance(first, Mapping):
            return _said(first.get("message", first.get("text")), role, depth - 1)
    args = value.get("args")
    if isinstance(args, Sequence) and not isinstance(args, str) and "kwargs" in value:
        found = next((one for arg in args if (one := _said(arg, role, depth - 1))), NO_MESSAGES)
        return found or _said(value["kwargs"], role, depth - 1)
    for key in _WRAPPERS:
        if isinstance(value.get(key), Mapping | list):
            found = _said(value[key], role, depth - 1)
            if found:
                return found
    return _keyed_text(value, role)


def _keyed_text(value: Mapping[str, JSON], role: Role) -> Messages:
    for key in _USER_KEYS if role is Role.USER else _REPLY_KEYS:
        if isinstance(value.get(key), str):
            return _text(str(value[key]), role)
    texts = [item for item in value.values() if isinstance(item, str)]
    return _text(texts[0], role) if role is Role.USER and len(texts) == 1 == len(value) else NO_MESSAGES


def _first(value: JSON) -> JSON:
    return value[0] if isinstance(value, Sequence) and not isinstance(value, str) and value else None


def call_arguments(given: JSON, schema: JSON = None) -> Mapping[str, JSON] | None:
    """A tool's arguments out of a recorded function call; None when they are no object.

    ``{"args": [], "kwargs": {..}}`` gives the keywords, and the positional ones in the order of ``schema``.
    """
    if not isinstance(given, Mapping):
        return None
    named = given.get("kwargs")
    if isinstance(named, Mapping) and given.keys() <= _CALL_WRAPPER:
        return {**_positional(given.get("args"), schema), **named}
    return given


def _positional(args: JSON, schema: JSON) -> Mapping[str, JSON]:
    if not isinstance(args, Sequence) or isinstance(args, str) or not isinstance(schema, Mapping):
        return {}
    properties = schema.get("properties")
    return dict(zip(list(properties if isinstance(properties, Mapping) else schema), args, strict=False))
