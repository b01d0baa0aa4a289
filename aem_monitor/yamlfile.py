"""YAML and JSON files as people write them: read safely, with the line of every value.

The dialect is small on purpose. Plain scalars follow JSON: ``true``, ``false``, ``null``, JSON's numbers; everything
else is text, so that ``no``, ``2026-11-02``, ``19:30`` and ``007`` stay what the author sees (YAML 1.1 would make
them a boolean, a date, 1170 and 7). Keys are always text. Anchors, aliases, tags, merge keys and duplicate keys are
refused: they hide content from a reviewer, and aliases can expand without bound.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from aem_monitor.document import Document, KeyPath, key_path
from aem_monitor.errors import DocumentError
from aem_monitor.jsonfile import parse_json
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.validation import explain

__all__ = ["Document", "KeyPath", "explain", "key_path", "parse_document", "read_yaml"]

MAX_BYTES = 8 * 2**20
MAX_DEPTH = 64
MAX_VALUES = 250_000
"""Most values of one file: 8 MiB of empty list items would take a gigabyte of paths and lines."""

_MAX_FAULTS = 50
_NUMBER_CHARS = 400

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
_WORDS: Mapping[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
# libyaml is about ten times as fast, but refuses the surrogate pairs that JSON writers put into escapes.
_FAST_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def read_yaml(path: Path, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> Document:
    """Read one YAML file, or JSON where the name ends in ``.json``.

    Raises ``DocumentError`` with every fault found, each as ``file:line: what, what to do``.
    """
    name = str(path)
    try:
        with path.open("rb") as stream:
            data = stream.read(max_bytes + 1)
    except OSError as error:
        raise DocumentError([f"{name}: cannot be read: {error.strerror or error}"]) from error
    if len(data) > max_bytes:
        raise DocumentError([f"{name}: larger than {max_bytes} bytes; split it"])
    return parse_document(data, name, json=path.suffix.lower() == ".json", max_depth=max_depth)


def parse_document(data: bytes, name: str, *, json: bool = False, max_depth: int = MAX_DEPTH) -> Document:
    """Decode the bytes of a YAML (or JSON) file; ``name`` is what error messages call it. Raises ``DocumentError``."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentError([f"{name}:{line}: not UTF-8; save the file as UTF-8"]) from error
    if json:
        parsed = parse_json(text, max_depth, MAX_VALUES)
        value, lines, found = parsed.value, parsed.lines, parsed.faults
    else:
        builder = _Builder(max_depth)
        value = builder.read(text)
        lines, found = builder.lines, builder.faults
    if found:
        ordered = sorted(found, key=lambda fault: fault[0])[:_MAX_FAULTS]
        raise DocumentError([f"{name}:{line}: {message}" for line, message in ordered])
    return Document(name, value, lines)


class _Stop(Exception):  # noqa: N818 - ends the reading of one file, never leaves this module
    """Reading cannot go on after the fault that was noted."""


class _Builder:
    """Builds the value of one document from parser events, noting lines and faults."""

    def __init__(self, max_depth: int) -> None:
        self.lines: dict[KeyPath, int] = {}
        self.faults: list[tuple[int, str]] = []
        self._max_depth = max_depth

    def read(self, text: str) -> JSON:
        try:
            return self._document(self._events(text))
        except _Stop:
            return None

    def _events(self, text: str) -> Iterator[Any]:
        loader = yaml.SafeLoader if _SURROGATE_ESCAPE.search(text) else _FAST_LOADER
        try:
            yield from yaml.parse(text, Loader=loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            problem = " ".join(part for part in (error.context, error.problem) if part)
            self._stop(mark.line + 1 if mark is not None else 1, f"not valid YAML: {problem}")
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            self._stop(line, "a control character is not allowed here; write it as an escape in double quotes")
        except yaml.YAMLError as error:
            self._stop(1, f"not valid YAML: {error}")

    def _document(self, events: Iterator[Any]) -> JSON:
        value: JSON = None
        documents = 0
        for event in events:
            line = event.start_mark.line + 1
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._stop(line, "a second document begins; write one document a file")
                value = self._node(next(events), events, (), 0)
        return value

    def _node(self, event: Any, events: Iterator[Any], path: KeyPath, depth: int) -> JSON:
        line = event.start_mark.line + 1
        self.lines.setdefault(path, line)
        if depth > self._max_depth:
            self._stop(line, f"nested deeper than {self._max_depth} levels")
        if len(self.lines) > MAX_VALUES:
            self._stop(line, f"more than {MAX_VALUES} values; split the file")
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            self.faults.append((line, "anchors and aliases are not supported; write the value out"))
            if isinstance(event, yaml.AliasEvent):
                return None
        if event.tag is not None and event.tag != "!":
            self.faults.append((line, f"tags ({event.tag}) are not supported; quote the value or leave the tag out"))
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, line)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, path, depth)
        return self._mapping(events, path, depth)

    def _sequence(self, events: Iterator[Any], path: KeyPath, depth: int) -> JSON:
        items: list[JSON] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self._node(event, events, (*path, len(items)), depth + 1))
        return items

    def _mapping(self, events: Iterator[Any], path: KeyPath, depth: int) -> JSON:
        members: dict[str, JSON] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            line = event.start_mark.line + 1
            if not isinstance(event, yaml.ScalarEvent) or event.anchor is not None:
                self._stop(line, "a key must be plain or quoted text")
            key = self._whole(event.value, line)
            member = (*path, key)
            if key == "<<" and event.implicit[0]:
                self.faults.append((line, "merge keys (<<) are not supported; write the keys out"))
            if key in members:
                first = self.lines[member]
                self.faults.append(
                    (line, f"{key_path(member)}: key is written twice (first in line {first}); keep one")
                )
                self._node(next(events), events, (*path, f"{key} (repeated)"), depth + 1)
                continue
            self.lines[member] = line
            members[key] = self._node(next(events), events, member, depth + 1)
        return members

    def _scalar(self, event: Any, line: int) -> JSON:
        text = self._whole(event.value, line)
        if not event.implicit[0]:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if not _FLOAT.match(text):
            return text
        if len(text) > _NUMBER_CHARS:
            self.faults.append((line, f"a number of more than {_NUMBER_CHARS} characters; quote it if it is text"))
            return None
        if _INTEGER.match(text):
            return int(text)
        number = float(text)
        if number in (float("inf"), float("-inf")):
            self.faults.append((line, f"{text} is too large for a number; quote it if it is text"))
            return None
        return number

    def _whole(self, text: str, line: int) -> str:
        """Joins escaped surrogate pairs; half of one is no character."""
        if not _SURROGATE.search(text):
            return text
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self.faults.append((line, "half of a surrogate pair is not a character; remove the escape"))
            return ""

    def _stop(self, line: int, message: str) -> None:
        self.faults.append((line, message))
        raise _Stop
