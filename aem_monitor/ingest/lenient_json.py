"""JSON text from any emitter, parsed fast when it is strict and carefully when it is not.

orjson refuses NaN and Infinity, invalid UTF-8, lone surrogates, raw control characters, a byte order mark and more
than 1024 levels. One such value in one attribute must not lose the batch, so that a refused text is repaired and
parsed again by the standard library.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import orjson

from aem_monitor.errors import DecodeError
from aem_monitor.ingest.causes import Altered

_MAX_LEVELS: Final = 400
"""Levels that are kept: 64 nested attribute values are three levels each. The standard parser recurses."""

_TOKENS: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)
_BRACKETS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


class JsonSyntaxError(DecodeError):
    """The text is not JSON. ``line`` is 1-based."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(f"not JSON: {problem} (line {line} column {column})")
        self.problem = problem
        self.line = line

    @property
    def more_follows(self) -> bool:
        """Whether a whole JSON value was read and something stands behind it."""
        return self.problem == "Extra data"


def parse_lenient(body: bytes, altered: Counter[str]) -> Any:
    """The JSON value of ``body``; ``altered`` counts repairs.

    Raises:
        JsonSyntaxError: not JSON (``malformed``), with the line where reading stopped.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    text = body.decode("utf-8-sig", errors="replace")
    if "\ufffd" in text and not _is_utf8(body):
        altered[Altered.INVALID_UTF8] += 1
    try:
        value = json.loads(_pruned(text, altered), strict=False)
    except json.JSONDecodeError as error:
        raise JsonSyntaxError(error.msg, error.lineno, error.colno) from error
    except (ValueError, RecursionError) as error:
        # An integer of thousands of digits, or brackets that never close.
        raise JsonSyntaxError("a number or a nesting that cannot be read", 1, 1) from error
    return _without_surrogates(value, altered) if "\\u" in text else value


def documents_in(text: bytes) -> Iterator[tuple[int, int]]:
    """Where the JSON documents of a text lie; what stands between them belongs to the one before."""
    level = 0
    start = 0
    for token in _BRACKETS.finditer(text):
        sign = token[0][:1]
        if sign in (b"[", b"{"):
            if level == 0 and token.start() > start and text[start : token.start()].strip():
                yield start, token.start()
                start = token.start()
            level += 1
        elif sign in (b"]", b"}"):
            level -= 1
    if text[start:].strip():
        yield start, len(text)


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _pruned(text: str, altered: Counter[str]) -> str:
    """The text with ``null`` for every array or object that lies too deep."""
    level = 0
    cut_from = 0
    kept_to = 0
    pieces: list[str] = []
    for token in _TOKENS.finditer(text):
        sign = token[0]
        if sign in ("[", "{"):
            level += 1
            if level == _MAX_LEVELS + 1:
                cut_from = token.start()
        elif sign in ("]", "}"):
            if level == _MAX_LEVELS + 1:
                # The line breaks stay, so that a later error names its true line.
                pieces += (text[kept_to:cut_from], "null", "\n" * text.count("\n", cut_from, token.end()))
                kept_to = token.end()
                altered[Altered.TOO_DEEP] += 1
            level -= 1
    if level > _MAX_LEVELS:
        raise RecursionError
    pieces.append(text[kept_to:])
    return "".join(pieces)


def _without_surrogates(value: Any, altered: Counter[str]) -> Any:
    """The value with replacement characters for surrogates that have no partner: nothing can encode those."""
    if isinstance(value, str):
        if _SURROGATES.search(value):
            altered[Altered.INVALID_UTF8] += 1
            return _SURROGATES.sub("\ufffd", value)
        return value
    if isinstance(value, list):
        return [_without_surrogates(item, altered) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key, altered): _without_surrogates(item, altered) for key, item in value.items()}
    return value
