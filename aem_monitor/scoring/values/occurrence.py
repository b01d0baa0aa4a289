"""Where a value occurs in a JSON tree: the ground of tracing a value back to the result that it came from."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.values.context import ValueContext
from aem_monitor.scoring.values.counted import counts
from aem_monitor.scoring.values.forms import Agreement, Fact, IdentifierForm, QuantityForm
from aem_monitor.scoring.values.identifiers import identifier_key, looks_opaque
from aem_monitor.scoring.values.places import Place, agree_places, read_place
from aem_monitor.scoring.values.scan import scan
from aem_monitor.scoring.values.strings import agree_facts, whole_value
from aem_monitor.scoring.values.text import surface
from aem_monitor.scoring.values.words import STOPWORDS, listed, tokens

Path: TypeAlias = "tuple[str | int, ...]"

_MAX_NODES: Final = 50_000
_MAX_DEPTH: Final = 40
_SHORT_TEXT: Final = 120
_LONGEST_PLACE: Final = 60
TINY: Final = 12
"""Whole numbers up to here are counts, ordinals, months and hours: they occur everywhere by chance."""


def trivial(value: JSON) -> bool:
    """Whether a value is too common to prove where it came from: empty values, booleans, tiny whole numbers without a
    unit (in words, too), function words and words of one or two letters. A list or object is trivial if all it holds
    is. "8.5 %", "5 km" and "3 pm" are short and say much."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        return value != value or (float(value).is_integer() and abs(value) <= TINY)
    if isinstance(value, Mapping):
        return all(trivial(item) for item in value.values())
    if not isinstance(value, str):
        return all(trivial(item) for item in value)
    text = value.strip()
    if re.fullmatch(r"[+-]?\d+(\.0+)?", text):
        return len(text) <= 4 and abs(float(text)) <= TINY
    if text.lower() in _COMMON_WORDS:
        return True
    if looks_opaque(text):
        return False
    measured = _measured(text)
    if measured is not None:
        return not measured
    words = tokens(text)
    return len("".join(words)) <= 2 or all(word in STOPWORDS for word in words)


def _measured(text: str) -> bool | None:
    """Whether a text that is one typed value has decimals, a unit or a size of its own; None for any other text."""
    whole = whole_value(text, None, "")
    if whole is None or whole[1] or len(whole[0]) != 1:
        return None
    form = whole[0][0].form
    if isinstance(form, QuantityForm):
        return bool(form.dimension or form.unit) or form.value.denominator != 1 or abs(form.value) > TINY
    return True if re.search(r"\d", text) else None


_COMMON_WORDS: Final = frozenset(
    listed(
        "true false yes no none null unknown other default all any ok success succeeded failed error active inactive "
        "n/a na"
    )
)


def leaves(tree: JSON) -> Iterator[tuple[Path, JSON]]:
    """The scalar values of a tree with their paths, in order. A string that holds JSON is gone into as well."""
    count = 0
    stack: list[tuple[Path, JSON]] = [((), tree)]
    while stack and count < _MAX_NODES:
        path, value = stack.pop()
        count += 1
        if isinstance(value, str):
            inner = _embedded(value) if len(path) < _MAX_DEPTH else None
            if inner is None:
                yield path, value
            else:
                stack.append((path, inner))
        elif isinstance(value, Mapping):
            stack.extend(((*path, key), value[key]) for key in reversed(list(value)))
        elif isinstance(value, Sequence):
            stack.extend(((*path, index), value[index]) for index in range(len(value) - 1, -1, -1))
        else:
            yield path, value


def _embedded(text: str) -> JSON:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        inner: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return inner if isinstance(inner, Mapping | list) else None


def occurrences(value: JSON, within: JSON, context: ValueContext) -> list[Path]:
    """The paths of the leaves of ``within`` that say ``value``: equal in typed, normal form, or, in a longer text, as
    a whole run of words or as one of its facts. Nothing fuzzy. A list or object occurs where each of its leaves does:
    the paths of all, or none."""
    if isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, str)):
        return _container_occurrences(value, within, context)
    if isinstance(value, str):
        inner = _embedded(value)
        if inner is not None:
            return _container_occurrences(inner, within, context)
    sought = Sought.read(value, context)
    return [path for path, leaf in leaves(within) if sought.at(path, leaf)]


def _container_occurrences(value: JSON, within: JSON, context: ValueContext) -> list[Path]:
    found: dict[Path, None] = {}
    parts = [leaf for _, leaf in leaves(value)]
    haystack = list(leaves(within))
    for part in parts[:200]:
        sought = Sought.read(part, context)
        paths = [path for path, leaf in haystack if sought.within(leaf)]
        if not paths:
            return []
        found.update(dict.fromkeys(paths))
    return list(found)


@dataclass(frozen=True, slots=True)
class Sought:
    """A scalar value made ready to be looked for in many leaves."""

    value: JSON
    text: str
    key: str
    surface: str
    facts: tuple[Fact, ...]
    places: tuple[Place, ...]
    context: ValueContext

    @classmethod
    def read(cls, value: JSON, context: ValueContext) -> "Sought":
        text = "" if value is None or isinstance(value, bool) else str(value).strip()
        whole = whole_value(text, context.reference_date, "")
        facts = whole[0] if whole is not None and not whole[1] else ()
        return cls(value, text, identifier_key(text), surface(text), facts, read_place(text), context)

    def at(self, path: Path, leaf: JSON) -> bool:
        """Whether the leaf at ``path`` is the value, or says it; the key may name the unit ("days_left": 7.5)."""
        return self.within(leaf) or (len(self.facts) == 1 and counts(self.facts[0], path, leaf, TINY))

    def within(self, leaf: JSON) -> bool:
        """Whether a scalar leaf is the value, or a text leaf says it."""
        value = self.value
        if value is None or leaf is None:
            return value is leaf
        if isinstance(value, bool) or isinstance(leaf, bool):
            return isinstance(value, bool) and isinstance(leaf, bool) and value == leaf
        if isinstance(value, int | float) and isinstance(leaf, int | float):
            return value == leaf or (value == value and abs(value - leaf) <= 1e-9 * max(abs(value), abs(leaf)))
        text = str(leaf).strip()
        if not self.text or not text:
            return self.text == text
        if self.text == text or self.key == identifier_key(text):
            return True
        shape = surface(text)
        if self.surface and self.surface == shape:
            return not looks_opaque(self.text)
        if self.surface and isinstance(value, str) and isinstance(leaf, str) and f" {self.surface} " in f" {shape} ":
            return bounded(self.text, text)
        return self._in_facts(text) or self._in_place(text)

    def _in_facts(self, text: str) -> bool:
        return bool(self.facts) and all(says(fact, text, self.context) for fact in self.facts)

    def _in_place(self, text: str) -> bool:
        if not self.places or len(text) > _LONGEST_PLACE:
            return False
        places = read_place(text)
        return bool(places) and agree_places(self.places, places) is Agreement.SAME


def bounded(said: str, text: str) -> bool:
    """Whether a run of words is no part of something larger: "5" in "1.5", "A-1042" in "A-1042-B"."""
    if looks_opaque(said):
        return re.search(rf"(?<![\w-]){re.escape(said)}(?!\w|-\w)", text, re.IGNORECASE) is not None
    if not said[-1].isdigit():
        return True
    return re.search(rf"(?<![\d.,]){re.escape(said)}(?![.,]?\d)", text, re.IGNORECASE) is not None


def says(fact: Fact, text: str, context: ValueContext) -> bool:
    """Whether a text says a fact, in any form and without ambiguity."""
    expected = fact.kind if fact.kind in ("date", "time") and len(text) <= _SHORT_TEXT else ""
    return any(
        agree_facts(fact, other) is Agreement.SAME for other in scan(text, context.reference_date, expected)
    ) or (isinstance(fact.form, QuantityForm | IdentifierForm) and fact.text == text)
