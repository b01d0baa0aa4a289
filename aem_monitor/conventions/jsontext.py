"""JSON text as instrumentations write it: JSON inside JSON strings, and JSON that an attribute limit cut mid-token.

Nothing here raises, whatever the text; depth is bounded. ``OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT`` and collectors cut JSON
anywhere, so a text that ends inside a value gives the value as far as it goes, flagged ``truncated``.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from aem_monitor.model.jsonvalue import JSON, AttributeValue

MAX_DEPTH: Final = 64
_REDACTION_MARKS: Final = ("[redacted", "<redacted", "__redacted__", "[scrubbed due to", "[filtered]", "<elided>")
_ANY_MARK: Final = re.compile("|".join(map(re.escape, _REDACTION_MARKS)), re.IGNORECASE)
_LONGEST_MARK: Final = 80
_WHITESPACE: Final = " \t\r\n"
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,400})(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,6})?")
_REST_OF_NUMBER: Final = re.compile(r"[-+.eE0-9]{0,400}\Z")
_LITERALS: Final[Mapping[str, JSON]] = {"true": True, "false": False, "null": None}
_CANONICAL: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))
_ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a text was. ``is_json`` False: plain text, ``value`` is the text itself, unchanged."""

    value: JSON
    is_json: bool
    truncated: bool = False


def parse(text: str) -> Parsed:
    """Read one level of JSON; salvage the prefix of a cut JSON object, array or string."""
    start = text.lstrip(_WHITESPACE)[:1]
    if not start or start not in '{["-0123456789tfn':
        return Parsed(text, is_json=False)
    try:
        value = orjson.loads(text)
    except (ValueError, RecursionError):
        return _salvage(text, start)
    return _bounded(text, value)


def parse_nested(value: JSON, levels: int = 3) -> Parsed:
    """Read JSON text in JSON text, up to ``levels`` deep.

    Only text that holds an object, an array or a quoted string is opened: ``"59.9"`` or ``"true"`` inside a value may
    be meant as text.
    """
    opened: Parsed | None = None
    for _ in range(levels):
        if not isinstance(value, str) or value.lstrip(_WHITESPACE)[:1] not in ("{", "[", '"'):
            break
        parsed = parse(value)
        if not parsed.is_json:
            break
        cut = opened is not None and opened.truncated and not parsed.truncated
        opened = Parsed(parsed.value, is_json=True, truncated=True) if cut else parsed
        value = opened.value
    return opened or Parsed(value, is_json=False)


def redacted(text: str) -> bool:
    """Whether a text is the mark that an exporter leaves where it took content away; no content was captured then."""
    return len(text) <= _LONGEST_MARK and text.strip().lower().startswith(_REDACTION_MARKS)


def without_redacted(value: JSON, text: JSON = None) -> tuple[JSON, bool]:
    """A value without the members and items that were taken away, and whether there were any.

    Exporters take single values out of arguments and results (``{"password": "[Scrubbed due to 'password']"}``). What
    is left is known; a caller marks the whole as cut. ``text``: what the value was read from; when that names no mark,
    nothing is searched.
    """
    if isinstance(text, str) and not _ANY_MARK.search(text):
        return value, False
    return _kept(value, MAX_DEPTH)


def _kept(value: JSON, depth: int) -> tuple[JSON, bool]:
    if isinstance(value, str) or depth == 0:
        return value, False
    if isinstance(value, Mapping):
        pairs = {key: _kept(item, depth - 1) for key, item in value.items() if not _taken(item)}
        lost = len(pairs) < len(value) or any(cut for _, cut in pairs.values())
        return ({key: item for key, (item, _) in pairs.items()} if lost else value), lost
    if isinstance(value, Sequence):
        items = [_kept(item, depth - 1) for item in value if not _taken(item)]
        lost = len(items) < len(value) or any(cut for _, cut in items)
        return ([item for item, _ in items] if lost else value), lost
    return value, False


def _taken(value: JSON) -> bool:
    return isinstance(value, str) and redacted(value)


def to_json(value: AttributeValue, depth: int = MAX_DEPTH) -> JSON:
    """An attribute value as JSON: bytes become text, non-finite numbers null, what is too deep null."""
    if isinstance(value, str) or value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if depth == 0:
        return None
    if isinstance(value, (dict, Mapping)):  # ``dict`` first: asking an abstract class takes ten times as long.
        return {key: to_json(item, depth - 1) for key, item in value.items()}
    return [to_json(item, depth - 1) for item in value]


def canonical(value: JSON) -> str:
    """One text for equal values, whatever the order of keys and the spelling of numbers (``1`` and ``1.0``)."""
    try:
        return _CANONICAL.encode(_plain(value))
    except (ValueError, RecursionError):
        return repr(type(value))


def _plain(value: JSON, depth: int = MAX_DEPTH) -> JSON:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, (dict, Mapping)):
        return {str(key): _plain(item, depth - 1) for key, item in value.items()} if depth else None
    if isinstance(value, Sequence):
        return [_plain(item, depth - 1) for item in value] if depth else None
    return value


def _bounded(text: str, value: JSON) -> Parsed:
    if text.count("[") + text.count("{") <= MAX_DEPTH or not _deeper(value, MAX_DEPTH):
        return Parsed(value, is_json=True)
    return Parsed(to_json(value), is_json=True, truncated=True)


def _deeper(value: JSON, depth: int) -> bool:
    """Whether a parsed value holds anything below ``depth`` levels of objects and arrays."""
    level: list[JSON] = [value]
    for _ in range(depth + 1):
        following: list[JSON] = []
        for item in level:
            # The parser makes nothing but these two types, and long histories have a hundred thousand of them.
            if type(item) is dict:
                following.extend(item.values())
            elif type(item) is list:
                following.extend(item)
        if not following:
            return False
        level = following
    return True


def _salvage(text: str, start: str) -> Parsed:
    if start not in '{["':
        return Parsed(text, is_json=False)
    reader = _PrefixReader(text)
    try:
        value = reader.value(0)
    except _NotJSONError:
        return Parsed(text, is_json=False)
    if isinstance(value, _Missing) or (not reader.cut and reader.rest()):
        return Parsed(text, is_json=False)
    return Parsed(value, is_json=True, truncated=reader.cut)


class _NotJSONError(Exception):
    """The text is no JSON, not even the beginning of one."""


class _Missing:
    """No value: the text ended before one."""

    __slots__ = ()


_MISSING: Final = _Missing()


class _PrefixReader:
    """Reads JSON until the text ends; ``cut`` says that it ended inside a value."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.cut = False

    def rest(self) -> str:
        return self.text[self.at :].strip(_WHITESPACE)

    def value(self, depth: int) -> "JSON | _Missing":
        char = self._skip()
        if not char:
            self.cut = True
            return _MISSING
        if char in "{[":
            if depth >= MAX_DEPTH:
                raise _NotJSONError
            return self._object(depth) if char == "{" else self._array(depth)
        if char == '"':
            return self._string()
        return self._scalar()

    def _skip(self) -> str:
        while self.at < len(self.text) and self.text[self.at] in _WHITESPACE:
            self.at += 1
        return self.text[self.at : self.at + 1]

    def _object(self, depth: int) -> dict[str, JSON]:
        self.at += 1
        found: dict[str, JSON] = {}
        while not self.cut:
            char = self._skip()
            if char == "}" or not char:
                break
            if char != '"':
                raise _NotJSONError
            key = self._string()
            char = self._skip()
            if not char:
                # A key without its value, whole or cut: nothing is known under it.
                self.cut = True
                return found
            if char != ":":
                raise _NotJSONError
            self.at += 1
            item = self.value(depth + 1)
            if not isinstance(item, _Missing):
                found[key] = item
            if not self._next("}"):
                break
        self._close()
        return found

    def _array(self, depth: int) -> list[JSON]:
        self.at += 1
        found: list[JSON] = []
        while not self.cut:
            char = self._skip()
            if char == "]" or not char:
                break
            item = self.value(depth + 1)
            if not isinstance(item, _Missing):
                found.append(item)
            if not self._next("]"):
                break
        self._close()
        return found

    def _next(self, closing: str) -> bool:
        if self.cut:
            return False
        char = self._skip()
        if char == ",":
            self.at += 1
            return True
        if char and char != closing:
            raise _NotJSONError
        return False

    def _close(self) -> None:
        if self.cut:
            return
        if self.at >= len(self.text):
            self.cut = True
        else:
            self.at += 1

    def _string(self) -> str:
        self.at += 1
        pieces: list[str] = []
        text = self.text
        while True:
            quote, escape = text.find('"', self.at), text.find("\\", self.at)
            if quote < 0 and escape < 0:
                pieces.append(text[self.at :])
                self.at = len(text)
                self.cut = True
                break
            if escape < 0 or 0 <= quote < escape:
                pieces.append(text[self.at : quote])
                self.at = quote + 1
                break
            pieces.append(text[self.at : escape])
            if not self._escape(escape, pieces):
                break
        return "".join(pieces).encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _escape(self, escape: int, pieces: list[str]) -> bool:
        text = self.text
        code = text[escape + 1 : escape + 2]
        if code == "u":
            digits = text[escape + 2 : escape + 6]
            if len(digits) == 4:
                try:
                    pieces.append(chr(int(digits, 16)))
                except ValueError:
                    raise _NotJSONError from None
                self.at = escape + 6
                return True
            code = ""
        if code in _ESCAPES:
            pieces.append(_ESCAPES[code])
            self.at = escape + 2
            return True
        if code:
            raise _NotJSONError
        self.at = len(text)
        self.cut = True
        return False

    def _scalar(self) -> "JSON | _Missing":
        rest = self.text[self.at : self.at + 820]
        for word, value in _LITERALS.items():
            if rest.startswith(word):
                self.at += len(word)
                return value
            if word.startswith(rest):
                return self._end()
        match = _NUMBER.match(rest)
        if not match:
            if rest == "-":
                return self._end()
            raise _NotJSONError
        if _REST_OF_NUMBER.match(self.text, self.at + match.end()):
            # "12" may be the beginning of "1234", "59." of "59.9": a cut number is worse than none.
            return self._end()
        self.at += match.end()
        number = match.group()
        try:
            return int(number)
        except ValueError:
            value = float(number)
            return value if math.isfinite(value) else None

    def _end(self) -> _Missing:
        self.at = len(self.text)
        self.cut = True
        return _MISSING
