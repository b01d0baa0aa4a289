"""What makes two texts differ however alike they look: facts, negation, antonyms and roles that conflict."""

import re
from collections import Counter
from datetime import date
from itertools import pairwise
from typing import Final

from aem_monitor.scoring.values.forms import Agreement, Fact, QuantityForm, agree
from aem_monitor.scoring.values.lexicon import ANTONYMS, NEGATIONS
from aem_monitor.scoring.values.places import Place, read_place
from aem_monitor.scoring.values.remember import remembered
from aem_monitor.scoring.values.scan import scan
from aem_monitor.scoring.values.text import names
from aem_monitor.scoring.values.words import STOPWORDS, tokens

_LARGE: Final = 300
"""Thousands of people from which a city is taken for itself when a bare word names it."""

_MAX_FORMS: Final = 200
"""Different facts of one family that are looked at: a text with more is a table, and pairs of them grow with the
square."""

_PREFIXED: Final = 5

_ROLES: Final = re.compile(
    r"\bfrom\s+(?P<source>[\w'.&-]+(?:\s+[\w'.&-]+){0,3}?)\s+to\s+(?P<target>[\w'.&-]+(?:\s+[\w'.&-]+){0,2})"
)
_TARGET_FIRST: Final = re.compile(
    r"\bto\s+(?P<target>[\w'.&-]+(?:\s+[\w'.&-]+){0,3}?)\s+from\s+(?P<source>[\w'.&-]+(?:\s+[\w'.&-]+){0,2})"
)


def fact_families(facts: tuple[Fact, ...]) -> dict[str, list[Fact]]:
    """Facts by what they can be compared with: numbers, money and quantities are one family, durations their own."""
    families: dict[str, list[Fact]] = {}
    for fact in facts:
        family = fact.kind
        if isinstance(fact.form, QuantityForm):
            family = "ordinal" if fact.form.ordinal else "number"
        families.setdefault(family, []).append(fact)
    return families


def unmatched(facts: list[Fact], others: list[Fact]) -> tuple[list[Fact], bool]:
    """The facts that agree with none of the others, and whether any agreement was only probable."""
    left, probable = [], False
    forms = list(dict.fromkeys(other.form for other in others))[:_MAX_FORMS]
    unique = {fact.form: fact for fact in reversed(facts)}
    for fact in list(reversed(unique.values()))[:_MAX_FORMS]:
        best = {agree(fact.form, form) for form in forms}
        if Agreement.SAME in best:
            continue
        if Agreement.PROBABLY in best:
            probable = True
            continue
        left.append(fact)
    return left, probable


def conflicting_facts(a: str, b: str, reference: date | None) -> str:
    """The family of facts of which each text says one that the other does not; "" if there is none."""
    facts_a, facts_b = fact_families(scan(a, reference)), fact_families(scan(b, reference))
    for family in facts_a.keys() & facts_b.keys():
        left_a, _ = unmatched(facts_a[family], facts_b[family])
        left_b, _ = unmatched(facts_b[family], facts_a[family])
        if left_a and left_b:
            return family
    return ""


@remembered(4096)
def negations(text: str) -> int:
    """How many negations a text holds."""
    return sum(1 for token in tokens(text) if token in NEGATIONS)


def antonyms(a: str, b: str) -> tuple[str, str] | None:
    """A word said by one text only whose antonym is said by the other only."""
    words_a, words_b = Counter(tokens(a)), Counter(tokens(b))
    only_b = words_b - words_a
    for word in words_a - words_b:
        prefixed = (f"un{word}", f"non{word}") if len(word) >= _PREFIXED else ()
        for opposite in (*ANTONYMS.get(word, ()), *prefixed, *_undone(word)):
            if opposite in only_b:
                return word, opposite
    return None


def _undone(word: str) -> tuple[str, ...]:
    """What a word with "un" or "non" in front undoes ("uninstalled"); of five letters at least, so that "unless" is
    not the opposite of "less"."""
    return tuple(
        word.removeprefix(prefix)
        for prefix in ("un", "non")
        if word.startswith(prefix) and len(word) - len(prefix) >= _PREFIXED
    )


@remembered(4096)
def _roles(text: str) -> tuple[str, str] | None:
    match = _ROLES.search(text) or _TARGET_FIRST.search(text)
    if match is None:
        return None
    return " ".join(tokens(match["source"])), " ".join(tokens(match["target"]))


def swapped_roles(a: str, b: str) -> bool:
    """Whether "from X to Y" in one text is "from Y to X" in the other, or what one comes from the other goes to."""
    roles_a, roles_b = _roles(a.lower()), _roles(b.lower())
    if roles_a is not None and roles_b is not None and roles_a[0] != roles_a[1]:
        (source_a, target_a), (source_b, target_b) = roles_a, roles_b
        return _starts(source_a, target_b) and _starts(target_a, source_b)
    ways_a, ways_b = _ways(a), _ways(b)
    return any(
        (other, word) in ways_b and (way, word) not in ways_b and (other, word) not in ways_a
        for way, word in ways_a
        for other in ("from", "to")
        if other != way
    )


@remembered(4096)
def _ways(text: str) -> frozenset[tuple[str, str]]:
    words = tokens(text)
    return frozenset(pair for pair in pairwise(words) if pair[0] in ("from", "to") and pair[1] not in STOPWORDS)


def _starts(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def conflicting_places(a: str, b: str) -> bool:
    """Whether each text names a place that the other does not, and neither lies in the other's ("Cairo" for
    "Tunis")."""
    words_a, words_b = set(tokens(a)), set(tokens(b))
    only_a = [place for word in names(a) if words_b.isdisjoint(tokens(word)) for place in _known_place(word)]
    only_b = [place for word in names(b) if words_a.isdisjoint(tokens(word)) for place in _known_place(word)]
    if not only_a or not only_b:
        return False
    return not any(_related(one, other) for one in only_a for other in only_b)


def _known_place(word: str) -> tuple[Place, ...]:
    places = read_place(word.removesuffix("'s"))
    return places if places and (places[0].kind != "city" or places[0].size >= _LARGE) else ()


def _related(one: Place, other: Place) -> bool:
    return one == other or f"{one.kind}:{one.code}" in other.within or f"{other.kind}:{other.code}" in one.within


def guard(a: str, b: str, reference: date | None) -> str:
    """The guard that two free texts violate: facts, negation, antonym, roles, places, or "" where none does.
    Symmetric."""
    if conflicting_facts(a, b, reference):
        return "facts"
    if (negations(a) > 0) != (negations(b) > 0):
        return "negation"
    if antonyms(a, b):
        return "antonym"
    if swapped_roles(a, b):
        return "roles"
    return "places" if conflicting_places(a, b) else ""
