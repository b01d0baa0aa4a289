"""References ``${n.result.path}``: the value that golden turn ``n`` returned, wherever a run's own value is expected.

A path is dotted names and ``[i]`` list indexes, ``["a name"]`` for names that hold dots or brackets. ``${n.result}`` is
the whole result. ``${`` that is not followed by a digit is ordinary text.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aem_monitor.document import KeyPath, key_path
from aem_monitor.model.jsonvalue import JSON

JSONPath: TypeAlias = KeyPath
"""Where a value stands in a JSON tree: names of objects and indexes of lists, from the root."""

_STEP = re.compile(r'\.(?P<name>[^.\[\]{}"]+)|\[(?P<index>\d{1,9})\]|\["(?P<quoted>[^"\]]+)"\]')
_REFERENCE = re.compile(r'\$\{(?P<turn>\d{1,9})\.result(?P<path>(?:\.[^.\[\]{}"]+|\[\d{1,9}\]|\["[^"\]]+"\])*)\}')
_CANDIDATE = re.compile(r"\$\{\d[^}]*\}?")


@dataclass(frozen=True, slots=True)
class Reference:
    """A parsed reference: ``path`` inside the result of turn ``turn_no``; ``text`` is how it is written."""

    turn_no: int
    path: JSONPath
    text: str


def parse_reference(text: str) -> Reference | None:
    """The reference that ``text`` as a whole is, or None."""
    found = _REFERENCE.fullmatch(text)
    return _reference(found) if found else None


def references_in(text: str) -> tuple[Reference, ...]:
    """All references embedded in ``text``, in order."""
    if "${" not in text:
        return ()
    return tuple(_reference(found) for found in _REFERENCE.finditer(text))


def malformed_in(text: str) -> tuple[str, ...]:
    """The parts of ``text`` that begin like a reference (``${`` and a digit) but are none."""
    if "${" not in text:
        return ()
    return tuple(part for part in _CANDIDATE.findall(text) if not _REFERENCE.fullmatch(part))


def texts_of(value: JSON, at: JSONPath = ()) -> Iterator[tuple[JSONPath, str]]:
    """All strings of a JSON tree (values, not keys) with their places."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from texts_of(item, (*at, name))
    elif isinstance(value, Sequence):
        for index, item in enumerate(value):
            yield from texts_of(item, (*at, index))


def references_of(value: JSON) -> Iterator[tuple[JSONPath, Reference]]:
    """All references of a JSON tree with the places of the strings that hold them."""
    for at, text in texts_of(value):
        for reference in references_in(text):
            yield at, reference


def resolve(path: JSONPath, value: JSON) -> JSON:
    """The value at ``path``.

    Raises ``LookupError`` that names the step which leads nowhere and what stands there.
    """
    for depth, step in enumerate(path):
        if isinstance(step, str) and isinstance(value, Mapping):
            if step not in value:
                raise LookupError(f"{_spell(path[: depth + 1])} does not exist; there is {_names(value)}")
            value = value[step]
        elif isinstance(step, int) and isinstance(value, Sequence) and not isinstance(value, str):
            if step >= len(value):
                raise LookupError(f"{_spell(path[: depth + 1])} does not exist; the list has {len(value)} entries")
            value = value[step]
        else:
            raise LookupError(f"{_spell(path[: depth + 1])} does not exist; {_spell(path[:depth])} is {_kind(value)}")
    return value


def fill(value: JSON, value_of: Callable[[Reference], JSON]) -> JSON:
    """``value`` with every reference replaced.

    A string that is a reference as a whole becomes the referenced value with its type; one that is embedded in a longer
    text is written into it. What ``value_of`` raises passes through.
    """
    if isinstance(value, str):
        if "${" not in value:
            return value
        whole = parse_reference(value)
        if whole is not None:
            return value_of(whole)
        return _REFERENCE.sub(lambda found: spoken(value_of(_reference(found))), value)
    if isinstance(value, Mapping):
        return {name: fill(item, value_of) for name, item in value.items()}
    if isinstance(value, Sequence):
        return [fill(item, value_of) for item in value]
    return value


def spoken(value: JSON) -> str:
    """A value as it is written into a text: strings as they are, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _spell(path: JSONPath) -> str:
    return key_path(path) or "the result"


def _reference(found: re.Match[str]) -> Reference:
    steps = _STEP.finditer(found["path"])
    path = tuple(int(step["index"]) if step["index"] is not None else step["name"] or step["quoted"] for step in steps)
    return Reference(int(found["turn"]), path, found[0])


def _names(value: Mapping[str, JSON]) -> str:
    names = list(value)
    shown = ", ".join(names[:8]) or "nothing"
    return f"{shown}, ..." if len(names) > 8 else shown


def _kind(value: JSON) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, Sequence):
        return "a list"
    return "null" if value is None else f"the value {json.dumps(value)}"
