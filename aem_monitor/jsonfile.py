"""JSON with the line of every value: the standard decoder tells neither lines nor duplicate keys."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]  # public in CPython, missing from the stubs
from typing import NoReturn

from aem_monitor.model.jsonvalue import JSON

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_NUMBER = 400
_CONSTANTS: tuple[tuple[str, JSON], ...] = (("true", True), ("false", False), ("null", None))


@dataclass(slots=True)
class JsonText:
    """A decoded JSON text: value, 1-based line by key path, faults as (line, message)."""

    value: JSON = None
    lines: dict[tuple[str | int, ...], int] = field(default_factory=dict)
    faults: list[tuple[int, str]] = field(default_factory=list)


def parse_json(text: str, max_depth: int, max_values: int) -> JsonText:
    """Decode one RFC 8259 text. Faults are collected, never raised; after a syntax fault the value is None."""
    result = JsonText()
    parser = _Parser(text, max_depth, max_values, result)
    try:
        result.value = parser.document()
    except _SyntaxFault as fault:
        result.value = None
        result.faults.append((parser.line(fault.position), f"not valid JSON: {fault}"))
    return result


class _SyntaxFault(Exception):  # noqa: N818 - never leaves this module
    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class _Parser:
    """Recursive descent over one text; ``_at`` is the position of the next character."""

    def __init__(self, text: str, max_depth: int, max_values: int, result: JsonText) -> None:
        self._text = text
        self._at = 0
        self._max_depth = max_depth
        self._max_values = max_values
        self._result = result
        self._newlines = [match.start() for match in re.finditer("\n", text)]

    def line(self, position: int) -> int:
        return bisect_right(self._newlines, position - 1) + 1

    def document(self) -> JSON:
        self._skip()
        value = self._value((), 0)
        self._skip()
        if self._at < len(self._text):
            self._fail("text after the end of the value")
        return value

    def _fail(self, message: str) -> NoReturn:
        raise _SyntaxFault(message, self._at)

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._at)
        if match:
            self._at = match.end()

    def _next(self) -> str:
        self._skip()
        if self._at >= len(self._text):
            self._fail("the text ends too early")
        return self._text[self._at]

    def _value(self, path: tuple[str | int, ...], depth: int) -> JSON:
        first = self._next()
        self._result.lines.setdefault(path, self.line(self._at))
        if depth > self._max_depth:
            self._fail(f"nested deeper than {self._max_depth} levels")
        if len(self._result.lines) > self._max_values:
            self._fail(f"more than {self._max_values} values; split the file")
        if first == "{":
            return self._object(path, depth)
        if first == "[":
            return self._array(path, depth)
        if first == '"':
            return self._string()
        for word, value in _CONSTANTS:
            if self._text.startswith(word, self._at):
                self._at += len(word)
                return value
        return self._number()

    def _string(self) -> str:
        try:
            value: str
            value, self._at = scanstring(self._text, self._at + 1, True)
        except JSONDecodeError as error:
            self._at = error.pos
            self._fail(error.msg)
        if _SURROGATE.search(value):
            self._fail("half of a surrogate pair is not a character")
        return value

    def _number(self) -> JSON:
        match = _NUMBER.match(self._text, self._at)
        if not match:
            self._fail(f"unexpected {self._text[self._at]!r}")
        text = match.group()
        if len(text) > _MAX_NUMBER:
            self._fail(f"a number of more than {_MAX_NUMBER} characters")
        self._at = match.end()
        if text.lstrip("-").isdigit():
            return int(text)
        number = float(text)
        if number in (float("inf"), float("-inf")):
            self._fail(f"{text} is too large for a number")
        return number

    def _array(self, path: tuple[str | int, ...], depth: int) -> JSON:
        items: list[JSON] = []
        self._at += 1
        if self._next() == "]":
            self._at += 1
            return items
        while True:
            items.append(self._value((*path, len(items)), depth + 1))
            if self._separator("]"):
                return items

    def _object(self, path: tuple[str | int, ...], depth: int) -> JSON:
        members: dict[str, JSON] = {}
        self._at += 1
        if self._next() == "}":
            self._at += 1
            return members
        while True:
            if self._next() != '"':
                self._fail("a key must be text in double quotes")
            line = self.line(self._at)
            key = self._string()
            if self._next() != ":":
                self._fail("':' expected after a key")
            self._at += 1
            member = (*path, key)
            if key in members:
                first = self._result.lines[member]
                message = f"key {key!r} is written twice (first in line {first}); keep one"
                self._result.faults.append((line, message))
                self._value((*path, f"{key} (repeated)"), depth + 1)
            else:
                self._result.lines[member] = line
                members[key] = self._value(member, depth + 1)
            if self._separator("}"):
                return members

    def _separator(self, closing: str) -> bool:
        """Step over ``,`` (False) or the closing bracket (True)."""
        character = self._next()
        if character not in (",", closing):
            self._fail(f"',' or {closing!r} expected")
        self._at += 1
        return character == closing
