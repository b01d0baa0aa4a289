"""The text of a golden file as a plain JSON tree in which the line of every key and value is known.

YAML is read by the core schema of YAML 1.2: only ``true``, ``false``, ``null``, ``~`` and JSON-like numbers are more
than text. ``no``, ``1:30``, ``2026-11-30`` and ``007`` stay what was written. Anchors, aliases and tags are refused:
nobody needs them here, and they are how small files become huge. A key that comes twice is an error in both formats.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import yaml
from pydantic import JsonValue

from aem_monitor.golden.reference import JSONPath

MAX_BYTES: Final = 4 * 2**20
"""Longest file that is read."""

MAX_DEPTH: Final = 64
"""Deepest nesting of lists and objects that is read."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,299})")
_FLOAT = re.compile(r"-?(?:0|[1-9]\d{0,299})(?:\.\d{1,300})?(?:[eE][+-]?\d{1,4})?")

Lines: TypeAlias = Mapping[JSONPath, int]


class SourceError(Exception):
    """The text cannot be read. ``line`` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed file: its tree, and the line on which each key (in lists: each entry) begins."""

    value: JsonValue
    lines: Lines

    def line_of(self, path: JSONPath) -> int:
        """The line of ``path``, or of its nearest parent that the file has."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read_source(content: bytes, *, is_json: bool) -> Source:
    """Parse a file. Raises ``SourceError``."""
    if len(content) > MAX_BYTES:
        raise SourceError(1, f"the file has {len(content)} bytes; at most {MAX_BYTES} are read")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SourceError(line, f"byte {error.start} is not UTF-8; save the file as UTF-8") from None
    return _JsonReader(text).read() if is_json else _YamlReader(text).read()


class _YamlReader:
    """Builds the tree from parser events, so that nothing is constructed before it is known to be harmless."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines: dict[JSONPath, int] = {}

    def read(self) -> Source:
        try:
            events: Any = yaml.parse(self._text, Loader=_Loader)
            return self._document(events)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            what = error.problem or error.context or "not YAML"
            raise SourceError(mark.line + 1 if mark else 1, f"not YAML: {what}") from None
        except yaml.YAMLError as error:
            position = getattr(error, "position", 0)
            line = self._text.count("\n", 0, position if isinstance(position, int) else 0) + 1
            raise SourceError(line, f"not YAML: {getattr(error, 'reason', error)}") from None

    def _document(self, events: Any) -> Source:
        documents = 0
        value: JsonValue = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise SourceError(_line(event), "a second document; write one dialog a file")
            elif isinstance(event, yaml.NodeEvent):
                self._lines[()] = _line(event)
                value = self._node(event, events, (), 0)
        if not documents:
            raise SourceError(1, "the file is empty")
        return Source(value, self._lines)

    def _node(self, event: Any, events: Iterator[Any], path: JSONPath, depth: int) -> JsonValue:
        line = _line(event)
        if isinstance(event, yaml.AliasEvent):
            raise SourceError(line, f"the alias *{event.anchor}; write the value itself (aliases are not read)")
        if event.anchor is not None:
            raise SourceError(line, f"the anchor &{event.anchor}; remove it (anchors and aliases are not read)")
        if event.tag is not None and event.tag != "!":
            raise SourceError(line, f"the tag {event.tag}; remove it (a text is written in quotes)")
        if depth > MAX_DEPTH:
            raise SourceError(line, f"nested deeper than {MAX_DEPTH} levels")
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event.value, line) if event.implicit[0] else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, path, depth)
        return self._mapping(events, path, depth)

    def _sequence(self, events: Iterator[Any], path: JSONPath, depth: int) -> list[JsonValue]:
        out: list[JsonValue] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            place = (*path, len(out))
            self._lines[place] = _line(event)
            out.append(self._node(event, events, place, depth + 1))
        return out

    def _mapping(self, events: Iterator[Any], path: JSONPath, depth: int) -> dict[str, JsonValue]:
        out: dict[str, JsonValue] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            line = _line(event)
            if not isinstance(event, yaml.ScalarEvent):
                raise SourceError(line, "a key that is no plain name")
            self._node(event, events, path, depth)
            key = str(event.value)
            place = (*path, key)
            if key in out:
                raise SourceError(line, f"the key {key} comes twice; first on line {self._lines[place]}")
            self._lines[place] = line
            out[key] = self._node(next(events), events, place, depth + 1)
        return out


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _scalar(text: str, line: int) -> JsonValue:
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if text[0] not in "-0123456789":
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return _finite(text, line)
    return text


def _finite(text: str, line: int) -> float:
    number = float(text)
    if math.isinf(number):
        raise SourceError(line, f"{text} is too large for a number; write it in quotes")
    return number


_scan: Any = json.decoder
scanstring: Callable[[str, int], tuple[str, int]] = _scan.scanstring

_SPACE = re.compile(r"[ \t\n\r]*")
_LITERALS: Final = {"true": True, "false": False, "null": None}
_WORD = re.compile(r"true|false|null")


class _JsonReader:
    """A JSON parser (RFC 8259) that keeps lines; the standard one gives none for the keys of a valid document."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._counted = 0
        self._lines: dict[JSONPath, int] = {}

    def read(self) -> Source:
        self._skip()
        if self._at == len(self._text):
            raise SourceError(1, "the file is empty")
        self._lines[()] = self._here()
        value = self._value((), 0)
        self._skip()
        if self._at != len(self._text):
            raise self._error("text after the end of the document; write one dialog a file")
        return Source(value, self._lines)

    def _here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _error(self, message: str) -> SourceError:
        return SourceError(self._here(), f"not JSON: {message}")

    def _skip(self) -> None:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _value(self, path: JSONPath, depth: int) -> JsonValue:
        if depth > MAX_DEPTH:
            raise SourceError(self._here(), f"nested deeper than {MAX_DEPTH} levels")
        char = self._peek()
        if char == "{":
            return self._object(path, depth)
        if char == "[":
            return self._array(path, depth)
        if char == '"':
            return self._string()
        word = _WORD.match(self._text, self._at)
        if word:
            self._at = word.end()
            return _LITERALS[word[0]]
        number = _FLOAT.match(self._text, self._at)
        if not number:
            raise self._error(f"a value is missing before {char!r}" if char else "the document ends early")
        self._at = number.end()
        return int(number[0]) if _INTEGER.fullmatch(number[0]) else _finite(number[0], self._here())

    def _string(self) -> str:
        try:
            text, self._at = scanstring(self._text, self._at + 1)
        except json.JSONDecodeError as error:
            self._at = max(error.pos, self._counted)
            raise self._error(error.msg) from None
        return text

    def _array(self, path: JSONPath, depth: int) -> list[JsonValue]:
        out: list[JsonValue] = []
        self._at += 1
        self._skip()
        while self._peek() != "]":
            if out:
                self._expect(",", "a comma or ]")
            place = (*path, len(out))
            self._lines[place] = self._here()
            out.append(self._value(place, depth + 1))
            self._skip()
        self._at += 1
        return out

    def _object(self, path: JSONPath, depth: int) -> dict[str, JsonValue]:
        out: dict[str, JsonValue] = {}
        self._at += 1
        self._skip()
        while self._peek() != "}":
            if out:
                self._expect(",", "a comma or }")
            line = self._here()
            if self._peek() != '"':
                raise self._error("a key in double quotes is missing")
            key = self._string()
            place = (*path, key)
            if key in out:
                raise SourceError(line, f"the key {key} comes twice; first on line {self._lines[place]}")
            self._lines[place] = line
            self._skip()
            self._expect(":", "a colon")
            out[key] = self._value(place, depth + 1)
            self._skip()
        self._at += 1
        return out

    def _expect(self, char: str, what: str) -> None:
        if self._peek() != char:
            raise self._error(
                f"{what} is missing before {self._peek()!r}" if self._peek() else "the document ends early"
            )
        self._at += 1
        self._skip()
