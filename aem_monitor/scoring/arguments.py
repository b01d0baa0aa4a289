"""Comparing the arguments of a call with those expected: matchers, nested objects, lists, and values at the leaves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import re2

from aem_monitor.golden.matchers import (
    AnyOf,
    Day,
    DayLeeway,
    Exact,
    FreeText,
    Identifier,
    Ignore,
    InAnyOrder,
    Matcher,
    Member,
    Number,
    Parallel,
    Pattern,
    PointInTime,
    TimeLeeway,
    TimeOfDay,
)
from aem_monitor.golden.reference import JSONPath
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import NotScored
from aem_monitor.scoring.align import assign
from aem_monitor.scoring.literals import identical, is_list, within
from aem_monitor.scoring.schemas import UNKNOWN, ValueSchema
from aem_monitor.scoring.values import Comparison, Leeway, reads_as

_WIDEST_LIST = 200
"""Lists that are longer on either side are compared in order, also where any order is allowed: matching is cubic."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One leaf that is not what was expected. ``missing``: the key is not there at all."""

    path: JSONPath
    expected: JSON
    actual: JSON
    rule: str
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether a value is what was expected.

    ``differences`` empty and ``cause`` None: it is. ``cause`` set: some leaf could not be judged; ``differences`` may
    then still hold others that could. ``score`` in [0, 1] is the mean over the leaves.
    """

    score: float
    differences: tuple[Difference, ...] = ()
    uncertain: bool = False
    cause: NotScored | None = None
    rule: str = "equal"

    @property
    def holds(self) -> bool:
        """Nothing differs and everything could be judged."""
        return not self.differences and self.cause is None


class Same(Protocol):
    """Compares two leaves. ``kind`` is one of ``values.KINDS`` where the author names it; ``threshold`` is the
    author's least similarity of this text, ``leeway`` what the author allows a date or time."""

    def __call__(
        self,
        actual: JSON,
        expected: JSON,
        kind: str | None = None,
        threshold: float | None = None,
        leeway: Leeway | None = None,
        /,
    ) -> Comparison:
        """Whether both mean the same."""


class Expectation(Protocol):
    """What is acceptable at one leaf of the expected arguments (a run's own values stand in for golden ones)."""

    def alternatives(self, path: JSONPath, golden: JSON) -> tuple[JSON, ...]:
        """Acceptable values, the most wanted first; empty when nothing is known."""

    def cause(self, path: JSONPath, golden: JSON) -> NotScored | None:
        """Why the leaf cannot be judged, if none of the alternatives is met; None when it can."""


@dataclass(frozen=True, slots=True)
class Literally:
    """Expects the golden values as they are written."""

    def alternatives(self, path: JSONPath, golden: JSON) -> tuple[JSON, ...]:  # noqa: ARG002 - part of the protocol
        """The golden value alone."""
        return (golden,)

    def cause(self, path: JSONPath, golden: JSON) -> NotScored | None:  # noqa: ARG002 - part of the protocol
        """Always judged."""
        return None


@dataclass(frozen=True, slots=True)
class ArgumentComparer:
    """Compares the arguments of one expected call. ``same(actual, expected)`` compares two leaves; ``threshold`` is the
    least similarity of free text in this call, None leaves it to the comparer.

    How a value is compared its matcher says, else ``schema``, what is known of the tool's arguments, else what is
    written in the value.
    """

    same: Same
    match: Mapping[str, Matcher] = field(default_factory=dict)
    expectation: Expectation = field(default_factory=Literally)
    threshold: float | None = None
    schema: ValueSchema = UNKNOWN

    def compare(
        self,
        name: str,
        expected: Mapping[str, JSON],
        actual: Mapping[str, JSON],
        optional: frozenset[str] = frozenset(),
    ) -> Agreement:
        """Compare argument ``name``. Lists that are parallel to it are compared with it."""
        matcher = self.match.get(name)
        if isinstance(matcher, Parallel):
            return self._parallel(name, matcher, expected, actual, optional)
        return self._tree((name,), expected[name], actual[name])

    def stands_for(self, name: str, expected: Mapping[str, JSON]) -> bool:
        """Whether to leave argument ``name`` out is to send what is expected: its default in the schema."""
        default = self.schema.absent(name)
        return default is not NOT_CAPTURED and self._tree((name,), expected[name], default).holds

    def covered(self) -> frozenset[str]:
        """Arguments that are compared as part of another one."""
        return frozenset(
            other for matcher in self.match.values() if isinstance(matcher, Parallel) for other in matcher.parallel
        )

    def _same(
        self,
        actual: JSON,
        expected: JSON,
        kind: str | None = None,
        threshold: float | None = None,
        leeway: Leeway | None = None,
    ) -> Comparison:
        return self.same(actual, expected, kind, self.threshold if threshold is None else threshold, leeway)

    def _tree(self, path: JSONPath, expected: JSON, actual: JSON) -> Agreement:
        matcher = self.match.get(".".join(str(step) for step in path if isinstance(step, str)))
        if matcher is not None and not isinstance(path[-1], int):
            return self._matched(matcher, path, expected, actual)
        return self._plain(path, expected, actual)

    def _plain(self, path: JSONPath, expected: JSON, actual: JSON) -> Agreement:
        if self._unordered_by_schema(path) and is_list(expected) and is_list(actual):
            return self._unordered(path, expected, actual)
        return self._in_order(path, expected, actual)

    def _in_order(self, path: JSONPath, expected: JSON, actual: JSON) -> Agreement:
        if isinstance(expected, Mapping) and isinstance(actual, Mapping):
            return _joined([self._property((*path, key), value, actual) for key, value in expected.items()])
        if is_list(expected) and is_list(actual) and len(expected) == len(actual):
            return _joined(
                [self._tree((*path, at), a, b) for at, (a, b) in enumerate(zip(expected, actual, strict=True))]
            )
        return self._leaf(path, expected, actual)

    def _property(self, path: JSONPath, expected: JSON, holder: Mapping[str, JSON]) -> Agreement:
        key = str(path[-1])
        if key in holder:
            return self._tree(path, expected, holder[key])
        default = self.schema.at(path[:-1]).absent(key)
        if default is not NOT_CAPTURED:
            filled = self._tree(path, expected, default)
            if filled.holds:
                return filled
        return Agreement(0.0, (Difference(path, expected, None, "missing key", missing=True),))

    def _leaf(self, path: JSONPath, expected: JSON, actual: JSON) -> Agreement:
        known = self.schema.at(path)
        best: Comparison | None = None
        shown = expected
        for alternative in self.expectation.alternatives(path, expected):
            comparison = self._as_schema_says(known, alternative, actual)
            if comparison.equivalent:
                return Agreement(comparison.score, uncertain=comparison.uncertain, rule=comparison.rule)
            if best is None:
                best, shown = comparison, alternative
        cause = self.expectation.cause(path, expected)
        if cause is not None:
            return Agreement(0.5, cause=cause, rule="not captured upstream")
        if best is None:
            return Agreement(0.0, (Difference(path, expected, actual, "nothing to compare with"),))
        difference = Difference(path, shown, actual, best.rule)
        return Agreement(best.score, (difference,), uncertain=best.uncertain, rule=best.rule)

    def _as_schema_says(self, known: ValueSchema, expected: JSON, actual: JSON) -> Comparison:
        """A member of a closed set is that member; what is of the kind that the schema names is compared as such.

        An expected value that is neither, as one that is written more freely than the tool would have it, is compared
        by what it says.
        """
        if known.members is not None and any(identical(expected, member) for member in known.members):
            holds = self._is_member(known.members, (expected,), actual)
            return Comparison(holds, float(holds), False, "enum")
        kind = known.kind
        return self._same(actual, expected, kind if kind is not None and reads_as(expected, kind) else None)

    def _unordered_by_schema(self, path: JSONPath) -> bool:
        return self.schema.at(path).unordered

    def _matched(self, matcher: Matcher, path: JSONPath, expected: JSON, actual: JSON) -> Agreement:
        if isinstance(matcher, Ignore):
            return Agreement(1.0, rule="ignored")
        if isinstance(matcher, AnyOf):
            attempts = [self._plain(path, expected, actual)]
            attempts += [_judged(self._same(actual, choice), path, choice, actual) for choice in matcher.any_of]
            return max(attempts, key=lambda attempt: (attempt.holds, attempt.cause is not None, attempt.score))
        if isinstance(matcher, InAnyOrder):
            return self._unordered(path, expected, actual)
        wanted = self.expectation.alternatives(path, expected) or (expected,)
        if isinstance(matcher, Exact):
            holds = any(identical(actual, value) for value in wanted)
            return Agreement(1.0) if holds else self._unless_unknown(path, wanted[0], actual, "not identical")
        if isinstance(matcher, Number):
            holds = any(within(actual, value, matcher.number) for value in wanted)
            return Agreement(1.0) if holds else self._unless_unknown(path, wanted[0], actual, "outside the tolerance")
        if isinstance(matcher, FreeText):
            return self._free_text(matcher, path, wanted, actual)
        if isinstance(matcher, Pattern):
            holds = isinstance(actual, str) and re2.fullmatch(matcher.pattern, actual) is not None
            return Agreement(1.0, rule="pattern") if holds else _differs(path, matcher.pattern, actual, "pattern")
        if isinstance(matcher, Member):
            return self._member(matcher, path, wanted, actual)
        kind = _KIND_OF.get(type(matcher))
        if kind is not None:
            leeway = _leeway(matcher)
            compared = [(value, self._same(actual, value, kind, leeway=leeway)) for value in wanted]
            judged = [_judged(comparison, path, value, actual) for value, comparison in compared]
            best = max(judged, key=lambda one: (one.holds, one.score))
            return best if best.holds else self._or_unknown(best, path, wanted[0])
        return self._in_order(path, expected, actual)

    def _free_text(self, matcher: FreeText, path: JSONPath, wanted: Sequence[JSON], actual: JSON) -> Agreement:
        """A threshold of its own is about likeness alone: what a guard refuses stays refused."""
        threshold = None if matcher.text is True else matcher.text.threshold
        judged = [_judged(self._same(actual, value, "paraphrase", threshold), path, value, actual) for value in wanted]
        best = max(judged, key=lambda one: (one.holds, one.score))
        return best if best.holds else self._or_unknown(best, path, wanted[0])

    def _member(self, matcher: Member, path: JSONPath, wanted: Sequence[JSON], actual: JSON) -> Agreement:
        holds = self._is_member(matcher.enum, wanted, actual)
        return Agreement(1.0, rule="enum") if holds else self._unless_unknown(path, wanted[0], actual, "enum")

    def _is_member(self, members: Sequence[JSON], wanted: Sequence[JSON], actual: JSON) -> bool:
        """The golden member as written, or in other spelling if no other member is written or spelt so."""
        every = [*wanted, *members]
        named = [member for member in every if identical(actual, member)] or [
            member for member in every if self._same(actual, member, "identifier").equivalent
        ]
        return bool(named) and all(any(identical(member, value) for value in wanted) for member in named)

    def _or_unknown(self, best: Agreement, path: JSONPath, expected: JSON) -> Agreement:
        """The nearest miss, with how near it was, unless what is expected is not known."""
        cause = self.expectation.cause(path, expected)
        return best if cause is None else Agreement(0.5, cause=cause, rule="not captured upstream")

    def _unless_unknown(self, path: JSONPath, expected: JSON, actual: JSON, rule: str) -> Agreement:
        cause = self.expectation.cause(path, expected)
        if cause is not None:
            return Agreement(0.5, cause=cause, rule="not captured upstream")
        return Agreement(0.0, (Difference(path, expected, actual, rule),), rule=rule)

    def _unordered(self, path: JSONPath, expected: JSON, actual: JSON) -> Agreement:
        if not is_list(expected) or not is_list(actual):
            return self._in_order(path, expected, actual)
        if max(len(expected), len(actual)) > _WIDEST_LIST:
            return self._in_order(path, expected, actual)
        cells = {
            (i, j): self._plain((*path, i), row, other)
            for i, row in enumerate(expected)
            for j, other in enumerate(actual)
        }
        return self._assigned(path, expected, actual, cells)

    def _assigned(
        self,
        path: JSONPath,
        expected: Sequence[JSON],
        actual: Sequence[JSON],
        cells: Mapping[tuple[int, int], Agreement],
    ) -> Agreement:
        """Entries in any order, paired so that they agree best; ``cells`` compares each with each."""
        pairs = assign({at: (max(cell.score, 0.001) + cell.holds) / 2 for at, cell in cells.items()})
        chosen = [cells[pair] for pair in sorted(pairs.items())]
        lost = [
            Difference((*path, i), expected[i], None, "not in the list") for i in range(len(expected)) if i not in pairs
        ]
        spare = sorted(set(range(len(actual))) - set(pairs.values()))
        extra = [Difference(path, None, actual[j], "not expected in the list") for j in spare]
        joined = _joined(chosen)
        size = max(len(expected), len(actual), 1)
        return Agreement(
            joined.score * len(chosen) / size if chosen else float(not expected and not actual),
            (*joined.differences, *lost, *extra),
            uncertain=joined.uncertain,
            cause=joined.cause,
            rule="in any order",
        )

    def _parallel(
        self,
        name: str,
        matcher: Parallel,
        expected: Mapping[str, JSON],
        actual: Mapping[str, JSON],
        optional: frozenset[str],
    ) -> Agreement:
        names = (name, *matcher.parallel)
        lost = [key for key in names if key in expected and key not in actual and key not in optional]
        if lost:
            return Agreement(
                0.0, tuple(Difference((key,), expected[key], None, "missing", missing=True) for key in lost)
            )
        columns = [[side.get(key) for key in names] for side in (expected, actual)]
        if not all(is_list(column) for side in columns for column in side):
            return _joined([self._plain((key,), expected.get(key), actual.get(key)) for key in names])
        lengths = [{len(column) for column in side if is_list(column)} for side in columns]
        if any(len(widths) > 1 for widths in lengths):
            return Agreement(
                0.0, (Difference((name,), expected[name], actual[name], "parallel lists differ in length"),)
            )
        rows = [list(enumerate(list(row) for row in zip(*side, strict=True))) for side in columns]
        if matcher.ignore_identity:
            rows = [
                [(at, row) for at, row in side if not all(self._same(row[0], cell).equivalent for cell in row[1:])]
                for side in rows
            ]
        wanted, found = ([row for _, row in side] for side in rows)
        if max(len(wanted), len(found)) > _WIDEST_LIST:
            return self._in_order((name,), wanted, found)
        # Each value is expected as what it is in its own list: what a run makes of it hangs on its place there.
        cells = {
            (i, j): _joined([self._plain((key, at), a, b) for key, a, b in zip(names, row, other, strict=True)])
            for i, (at, row) in enumerate(rows[0])
            for j, other in enumerate(found)
        }
        return self._assigned((name,), wanted, found, cells)


_KIND_OF: Final[Mapping[type[Matcher], str]] = {
    Identifier: "identifier",
    Day: "date",
    TimeOfDay: "time",
    PointInTime: "datetime",
}
"""Matchers that name the kind of a value, by which it is then compared alone."""


def _leeway(matcher: Matcher) -> Leeway | None:
    """What the matcher allows a date, a time or a moment; None where any form will do and nothing else."""
    if isinstance(matcher, Day):
        return Leeway(matcher.date.tolerance) if isinstance(matcher.date, DayLeeway) else None
    allowed = None
    if isinstance(matcher, TimeOfDay):
        allowed = matcher.time
    elif isinstance(matcher, PointInTime):
        allowed = matcher.moment
    return Leeway(allowed.tolerance, allowed.zone) if isinstance(allowed, TimeLeeway) else None


def _judged(comparison: Comparison, path: JSONPath, expected: JSON, actual: JSON) -> Agreement:
    if comparison.equivalent:
        return Agreement(comparison.score, uncertain=comparison.uncertain, rule=comparison.rule)
    difference = Difference(path, expected, actual, comparison.rule)
    return Agreement(comparison.score, (difference,), uncertain=comparison.uncertain, rule=comparison.rule)


def _differs(path: JSONPath, expected: JSON, actual: JSON, rule: str) -> Agreement:
    return Agreement(0.0, (Difference(path, expected, actual, rule),), rule=rule)


def _joined(parts: Sequence[Agreement]) -> Agreement:
    if not parts:
        return Agreement(1.0)
    causes = [part.cause for part in parts if part.cause is not None]
    rules = [part.rule for part in parts if part.differences] or [part.rule for part in parts]
    return Agreement(
        sum(part.score for part in parts) / len(parts),
        tuple(difference for part in parts for difference in part.differences),
        uncertain=any(part.uncertain for part in parts),
        cause=causes[0] if causes else None,
        rule=rules[0],
    )
