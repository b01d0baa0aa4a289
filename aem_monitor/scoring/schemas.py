"""What the JSON Schema of a tool's arguments says of a value: its kind, its members, its default.

Only what tells how to compare is read; nothing is validated. Drafts differ little there: ``$defs`` and ``definitions``,
``nullable`` (OpenAPI, Gemini) and a type ``null``, types in capitals (Gemini).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, TypeVar

import orjson

from aem_monitor.golden.reference import JSONPath
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.literals import identical
from aem_monitor.strictjson import json_bytes

T = TypeVar("T")

_DEEPEST: Final = 16
_MOST_NODES: Final = 2_000
"""Bounds of one schema: a reference may lead back to where it stands."""

_REMEMBERED: Final = 512
_KIND_OF_FORMAT: Final[Mapping[str, str]] = {
    "date": "date",
    "time": "time",
    "date-time": "datetime",
    "duration": "duration",
    **dict.fromkeys(("uuid", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6"), "identifier"),
    **dict.fromkeys(("uri", "uri-reference", "iri", "iri-reference", "url"), "identifier"),
}
_NUMBERS: Final = frozenset({"integer", "number"})


@dataclass(frozen=True, slots=True)
class ValueSchema:
    """What is known of a value; the empty one knows nothing.

    ``types`` are JSON Schema's names, empty where any will do. ``members`` are those of a closed set, None where the
    set is open. ``default`` is NOT_CAPTURED where none is said. ``unordered``: the items are a set. ``required`` are
    the properties that may not be left out.
    """

    types: frozenset[str] = frozenset()
    format: str | None = None
    members: tuple[JSON, ...] | None = None
    default: Captured = NOT_CAPTURED
    unordered: bool = False
    items: "ValueSchema | None" = None
    properties: Mapping[str, "ValueSchema"] = field(default_factory=dict)
    required: frozenset[str] = frozenset()

    @property
    def kind(self) -> str | None:
        """One of ``values.KINDS`` where type and format tell it."""
        if self.format is not None and self.format in _KIND_OF_FORMAT:
            return _KIND_OF_FORMAT[self.format]
        plain = self.types - {"null"}
        if plain and plain <= _NUMBERS:
            return "number"
        return "boolean" if plain == {"boolean"} else None

    def at(self, path: JSONPath) -> "ValueSchema":
        """What is known of the value at ``path`` inside."""
        found = self
        for step in path:
            inner = found.properties.get(step) if isinstance(step, str) else found.items
            if inner is None:
                return UNKNOWN
            found = inner
        return found

    def absent(self, name: str) -> Captured:
        """What it means that the property is left out: its default, else null where null is a value of it.

        NOT_CAPTURED where the property is unknown, may not be left out, or has neither.
        """
        known = self.properties.get(name)
        if known is None or name in self.required:
            return NOT_CAPTURED
        if known.default is not NOT_CAPTURED:
            return known.default
        return None if "null" in known.types else NOT_CAPTURED

    def says_nothing(self, name: str, value: JSON) -> bool:
        """Whether to give the property this value is to leave it out.

        It is its default, or null where null is a value of it: under strict schemas every property is required, and
        null is how one is left out (OpenAI, function calling in strict mode).
        """
        known = self.properties.get(name)
        if known is None:
            return False
        if known.default is not NOT_CAPTURED and identical(known.default, value):
            return True
        return value is None and "null" in known.types


UNKNOWN: Final = ValueSchema()


def schema_of(texts: Iterable[str]) -> ValueSchema:
    """What all these schemas, as JSON texts, say together of the arguments of one tool; their order does not matter.

    Where one says nothing, the other's word stands; where they contradict each other, nothing is known.
    """
    known = [_read(text) for text in sorted(set(texts))]
    return _agreed(known) if known else UNKNOWN


@lru_cache(maxsize=_REMEMBERED)
def _read(text: str) -> ValueSchema:
    schema: JSON = orjson.loads(text)
    return _Reader(schema).read(schema, _DEEPEST)


@dataclass(slots=True)
class _Reader:
    root: JSON
    left: int = _MOST_NODES

    def read(self, schema: JSON, depth: int) -> ValueSchema:
        if not isinstance(schema, Mapping) or depth <= 0 or self.left <= 0:
            return UNKNOWN
        self.left -= 1
        parts = [self._own(schema, depth)]
        if isinstance(schema.get("$ref"), str):
            parts.append(self.read(self._target(str(schema["$ref"])), depth - 1))
        parts += [self.read(part, depth - 1) for part in _listed(schema.get("allOf"))]
        for key in ("anyOf", "oneOf", "any_of", "one_of"):
            branches = [self.read(part, depth - 1) for part in _listed(schema.get(key))]
            if branches:
                parts.append(_either(branches))
        return parts[0] if len(parts) == 1 else _agreed(parts)

    def _own(self, schema: Mapping[str, JSON], depth: int) -> ValueSchema:
        types = {str(name).lower() for name in _listed(schema.get("type")) or [schema.get("type")] if name}
        if schema.get("nullable") is True and types:
            types.add("null")
        members: tuple[JSON, ...] | None = tuple(_listed(schema.get("enum"))) or None
        if "const" in schema:
            members = (schema["const"],)
        properties, items = schema.get("properties"), schema.get("items")
        named = properties if isinstance(properties, Mapping) else {}
        return ValueSchema(
            types=frozenset(types - {"type_unspecified"}),
            format=said if isinstance(said := schema.get("format"), str) else None,
            members=members,
            default=schema.get("default", NOT_CAPTURED),
            unordered=schema.get("uniqueItems") is True,
            items=self.read(items, depth - 1) if isinstance(items, Mapping) else None,
            properties={str(name): self.read(value, depth - 1) for name, value in named.items()},
            required=frozenset(name for name in _listed(schema.get("required")) if isinstance(name, str)),
        )

    def _target(self, reference: str) -> JSON:
        """Where a reference inside the schema points (RFC 6901); None for any other."""
        if not reference.startswith("#"):
            return None
        found = self.root
        for step in reference[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or name not in found:
                return None
            found = found[name]
        return found


def _agreed(parts: Sequence[ValueSchema]) -> ValueSchema:
    """All of them hold, or tell of the same value: silence leaves the word to the others."""
    if len(parts) == 1:
        return parts[0]
    names = dict.fromkeys(name for part in parts for name in part.properties)
    items = [part.items for part in parts if part.items is not None]
    return ValueSchema(
        types=frozenset().union(*(part.types for part in parts)),
        format=_one([part.format for part in parts if part.format is not None], None),
        members=_union([part.members for part in parts if part.members is not None]),
        default=_one([part.default for part in parts if part.default is not NOT_CAPTURED], NOT_CAPTURED),
        unordered=any(part.unordered for part in parts),
        items=_agreed(items) if items else None,
        properties={
            name: _agreed([part.properties[name] for part in parts if name in part.properties]) for name in names
        },
        required=frozenset().union(*(part.required for part in parts)),
    )


def _either(branches: Sequence[ValueSchema]) -> ValueSchema:
    """One of them holds: only what all say is known. A branch for null adds that null will do."""
    plain = [branch for branch in branches if branch.types != {"null"}]
    nothing = frozenset({"null"}) if len(plain) < len(branches) else frozenset[str]()
    if not plain:
        return ValueSchema(types=nothing)
    names = dict.fromkeys(name for branch in plain for name in branch.properties)
    items = [branch.items for branch in plain if branch.items is not None]
    return ValueSchema(
        types=frozenset().union(nothing, *(branch.types for branch in plain))
        if all(branch.types for branch in plain)
        else frozenset(),
        format=_one([branch.format for branch in plain], None),
        members=_union([branch.members for branch in plain if branch.members is not None])
        if all(branch.members is not None for branch in plain)
        else None,
        default=_one([branch.default for branch in plain], NOT_CAPTURED),
        unordered=all(branch.unordered for branch in plain),
        items=_either(items) if len(items) == len(plain) else None,
        properties={
            name: _either([branch.properties[name] for branch in plain if name in branch.properties]) for name in names
        },
        required=frozenset.intersection(*(branch.required for branch in plain)),
    )


def _one(said: Sequence[Any], otherwise: T) -> Any | T:
    """What all say; ``otherwise`` where nobody says anything or they contradict each other."""
    if not said or any(_canonical(one) != _canonical(said[0]) for one in said[1:]):
        return otherwise
    return said[0]


def _union(sets: Sequence[tuple[JSON, ...]]) -> tuple[JSON, ...] | None:
    if not sets:
        return None
    return tuple({_canonical(member): member for members in sets for member in members}.values())


def _canonical(value: object) -> bytes:
    """Equal for equal JSON values; 1 and 1.0 are equal."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return json_bytes(value, orjson.OPT_SORT_KEYS)


def _listed(value: JSON) -> list[JSON]:
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []
