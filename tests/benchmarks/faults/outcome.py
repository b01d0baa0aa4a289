"""Runs with a known truth, what was said of them, and what simple rules would have said."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aem_monitor.model.verdict import RunResult, TurnVerdict
from tests.benchmarks.faults.kinds import Truth

ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class Said:
    """What was said of a run: roots with their reasons, cascades, extra calls."""

    roots: Mapping[int, str]
    cascades: frozenset[int]
    extras: tuple[str, ...]

    @classmethod
    def of(cls, result: RunResult) -> "Said":
        """Read a result."""
        failed = [turn for turn in result.turns if turn.success is False]
        numbered = [(turn.turn_no, turn) for turn in failed if turn.turn_no is not None]
        return cls(
            {number: _reason(turn) for number, turn in numbered if turn.root_cause},
            frozenset(number for number, turn in numbered if not turn.root_cause),
            tuple(sorted(str(turn.detail) for turn in failed if turn.turn_no is None)),
        )

    def without(self, free: frozenset[int]) -> "Said":
        """Without the turns that the truth does not decide."""
        roots = {number: reason for number, reason in self.roots.items() if number not in free}
        return Said(roots, self.cascades - free, self.extras)

    @property
    def failing(self) -> list[int]:
        """All expected turns that failed, in golden order."""
        return sorted({*self.roots, *self.cascades})


def _reason(turn: TurnVerdict) -> str:
    return str(turn.failure_reason)


@dataclass(frozen=True, slots=True)
class Case:
    """One run: where it comes from, its truth, and what was said; ``said`` is None where there is no verdict."""

    source: str
    kind: str
    name: str
    truth: Truth
    turns: tuple[int, ...]
    said: Said | None

    @property
    def harmless(self) -> bool:
        """Whether nothing may fail."""
        return not self.truth.roots and not self.truth.extras

    @property
    def flagged(self) -> bool:
        """Whether anything failed; a run without a verdict counts as such."""
        return self.said is None or bool(self.said.roots or self.said.cascades or self.said.extras)

    @property
    def roots_right(self) -> bool:
        """Exactly the true roots are roots, extra calls included."""
        if self.said is None:
            return False
        said = self.said.without(self.truth.free)
        return set(said.roots) == set(self.truth.roots) and said.extras == tuple(sorted(self.truth.extras))

    @property
    def cascades_right(self) -> bool:
        """Exactly the true cascades are cascades."""
        return self.said is not None and self.said.without(self.truth.free).cascades == self.truth.cascades

    @property
    def reasons(self) -> tuple[int, int]:
        """How many of the roots that were found have the right reason, and how many were found."""
        found = [number for number in self.truth.roots if self.said is not None and number in self.said.roots]
        return sum(self.said is not None and self.said.roots[n] == self.truth.roots[n] for n in found), len(found)

    @property
    def first_is_root(self) -> bool:
        """The rule "the first failing turn is the root, all later ones cascades", with the same failing turns."""
        if self.said is None:
            return False
        said = self.said.without(self.truth.free)
        return set(said.failing[:1]) == set(self.truth.roots) and said.extras == tuple(sorted(self.truth.extras))

    def is_root_at(self, place: int) -> bool:
        """The rule "the root is always the turn at this place of the dialog", from the end where negative."""
        turns = self.turns
        there = {turns[place]} if -len(turns) <= place < len(turns) else set()
        return there == set(self.truth.roots) and not self.truth.extras


@dataclass(slots=True)
class Figures:
    """Counts over the cases of one source and kind."""

    cases: int = 0
    roots: int = 0
    cascades: int = 0
    reasons: int = 0
    found: int = 0
    first: int = 0
    flagged: int = 0
    places: Counter[int] = field(default_factory=Counter)

    def add(self, case: Case) -> None:
        """Count one case."""
        self.cases += 1
        self.flagged += case.flagged
        self.roots += case.roots_right
        self.cascades += case.cascades_right
        right, found = case.reasons
        self.reasons += right
        self.found += found
        self.first += case.first_is_root
        for place in range(-4, 4):
            self.places[place] += case.is_root_at(place)

    @property
    def constant(self) -> int:
        """The hits of the constant place that does best."""
        return max(self.places.values(), default=0)


def figures(cases: Iterable[Case]) -> dict[tuple[str, str], Figures]:
    """By (source, kind), with ``ALL`` for every source, and for every kind that is a fault."""
    found: dict[tuple[str, str], Figures] = {}
    for case in cases:
        kinds: Sequence[str] = (case.kind,) if case.harmless else (case.kind, ALL)
        for source in (ALL, case.source):
            for kind in kinds:
                found.setdefault((source, kind), Figures()).add(case)
    return found
