"""A tool's arguments out of a recorded function call.

A decorator records ``{"args": [..], "kwargs": {..}}``, LangChain's callbacks an object beside its text (``{"input_str",
"inputs"}``) or only the text, in which Python spells the object.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aem_monitor.conventions.jsontext import parse_nested
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON

_CALL_WRAPPER: Final = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})
_CLASS_NAME: Final = re.compile(r"(?:[A-Z][a-z0-9]{1,40}){2,8}")
_LONGEST_LITERAL: Final = 20_000
_DEEPEST_LITERAL: Final = 40


@dataclass(frozen=True, slots=True)
class CallInput:
    """``arguments`` None: not known by name. ``bare`` is the one value that lost its name, if it is one."""

    arguments: Mapping[str, JSON] | None
    bare: Captured = NOT_CAPTURED


def read_call(given: JSON, schema: JSON = None, *, cut: bool = False) -> CallInput:
    """What a tool was called with. Positional values are named in the order of ``schema`` (a JSON schema, or a mapping
    with the parameters as keys); without one they are not guessed: half of the arguments would look like an error.
    ``cut``: the recorded text was, so that a wrapper may lack its arguments."""
    if isinstance(given, str):
        given = _object_of(given)
    if not isinstance(given, Mapping):
        return CallInput(None, NOT_CAPTURED if given is None else given)
    if "input_str" in given:
        inner = given.get("inputs")
        return CallInput(inner) if isinstance(inner, Mapping) else read_call(given["input_str"], schema, cut=cut)
    named = given.get("kwargs")
    if cut and "kwargs" not in given and given.keys() <= _CALL_WRAPPER:
        return CallInput(None)
    if not isinstance(named, Mapping) or not given.keys() <= _CALL_WRAPPER:
        return CallInput(given)
    args = given.get("args")
    return _named(list(args) if isinstance(args, Sequence) and not isinstance(args, str) else [], named, schema)


def _named(args: list[JSON], named: Mapping[str, JSON], schema: JSON) -> CallInput:
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        names = list(properties if isinstance(properties, Mapping) else schema)
        return CallInput({**dict(zip(names, args, strict=False)), **named})
    if args and (len(args) > 1 or named) and _is_class_name(args[0]):
        args = args[1:]
    if not args:
        return CallInput(named)
    if named or len(args) > 1:
        return CallInput(None)
    return CallInput(args[0]) if isinstance(args[0], Mapping) else CallInput(None, args[0])


def _is_class_name(value: JSON) -> bool:
    """What an encoder leaves of ``self``; a word with one capital may be a value."""
    return isinstance(value, str) and _CLASS_NAME.fullmatch(value) is not None


def _object_of(text: str) -> JSON:
    """The object that a text holds, as JSON or as Python's repr; any other text as it is."""
    value = parse_nested(text).value
    if isinstance(value, Mapping):
        return value
    stripped = text.strip()
    if not stripped.startswith("{") or len(stripped) > _LONGEST_LITERAL:
        return text
    if sum(map(stripped.count, "([{-+~")) > _LONGEST_LITERAL // 20:
        return text
    try:
        literal = ast.literal_eval(stripped)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return literal if isinstance(literal, dict) and _is_json(literal) else text


def _is_json(value: object, depth: int = _DEEPEST_LITERAL) -> bool:
    if depth == 0:
        return False
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item, depth - 1) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(_is_json(item, depth - 1) for item in value)
    return value is None or isinstance(value, str | bool | int | float)
