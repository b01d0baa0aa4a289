"""Whether what is wrong in a turn came out of an earlier turn that had failed.

Only a *failed* turn that the judged one depends on explains a value. Wrong values that occur in some healthy result,
such as the second of two orders, are the commonest fault of real agents, and it is the turn's that took them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from aem_monitor.attribution.graph import Echo, Hole, Lift, TurnLinks
from aem_monitor.attribution.lifting import said_for
from aem_monitor.attribution.outcome import Outcome
from aem_monitor.golden.reference import JSONPath
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import Basis
from aem_monitor.scoring.arguments import Difference
from aem_monitor.scoring.jsontree import step_into
from aem_monitor.scoring.oracle import Oracle
from aem_monitor.scoring.responses import Claim
from aem_monitor.scoring.responses.evidence import name_words, significant
from aem_monitor.scoring.values import Fact
from aem_monitor.scoring.values.words import tokens


@dataclass(frozen=True, slots=True)
class Explanation:
    """The failed turns that a wrong value came from, and how that is known; no turns: it is the turn's own fault."""

    turns: tuple[int, ...] = ()
    basis: Basis = Basis.NONE

    def __bool__(self) -> bool:
        return bool(self.turns)


OWN_FAULT = Explanation()


@dataclass(frozen=True, slots=True)
class Healthy:
    """What healthy sources said before the judged turn: results of turns that passed and of allowed calls, the user.

    ``reference`` is what the judged turn is expected to say.
    """

    results: tuple[JSON, ...]
    user_texts: tuple[str, ...]
    reference: str | None = None


class Explains(Protocol):
    """What the checks of a turn ask about what is wrong in it."""

    def differences(self, differences: Sequence[Difference]) -> Explanation:
        """Explains all of them, or none: one own fault makes the whole value the turn's own."""

    def missing(self, path: JSONPath) -> Explanation:
        """A key that is not there."""

    def not_called(self) -> Explanation:
        """A call that never came."""

    def unsaid(self, reply: str, lifts: Sequence[Lift], echoes: Sequence[Echo] = ()) -> Explanation:
        """A fact that the reply leaves out."""

    def claim(self, claim: Claim) -> Explanation:
        """A claim that neither the reference nor any healthy source supports."""


class Explainer:
    """Explains the differences of one turn by the outcomes of earlier ones."""

    def __init__(self, links: TurnLinks, outcomes: Mapping[int, Outcome], evidence: Healthy, oracle: Oracle) -> None:
        self._links = links
        self._outcomes = outcomes
        self._evidence = evidence
        self._oracle = oracle
        self._known: tuple[JSON, ...] = (*evidence.results, *evidence.user_texts, evidence.reference or "")
        self._failed = {
            number: outcome
            for number in _closure(links.depends_on, outcomes)
            if (outcome := outcomes.get(number)) is not None and outcome.failed
        }

    @property
    def any_failed(self) -> bool:
        """Whether the turn depends on any failed turn at all."""
        return bool(self._failed)

    def differences(self, differences: Sequence[Difference]) -> Explanation:
        """Explains all of them, or none: one own fault makes the whole value the turn's own."""
        found = [self.missing(d.path) if d.missing else self.value(d) for d in differences]
        return _all(found)

    def value(self, difference: Difference) -> Explanation:
        """A value that is present and wrong."""
        lifts = self._links.lifts.get(difference.path, ())
        traced = [lift.turn_no for lift in lifts if self._came_from(lift, difference.actual)]
        traced += [
            echo.turn_no
            for echo in self._links.echoes.get(difference.path, ())
            if (real := self._argument(echo)) is not NOT_CAPTURED
            and self._oracle.same(difference.actual, real).equivalent
        ]
        traced += self._woven(difference)
        if not traced and not any(self._has_golden(lift) for lift in lifts):
            traced = self._only_upstream(difference)
        return _explained(traced) or self._uncaptured(lifts)

    def missing(self, path: JSONPath) -> Explanation:
        """A key that is not there: explained if what it is lifted from is absent from the failed turn's real result."""
        lifts = self._links.lifts.get(path, ())
        return _explained(self._absent(lifts)) or self._uncaptured(lifts)

    def not_called(self) -> Explanation:
        """A call that never came: explained if some value that it needs never came out of a failed turn."""
        lifts = [lift for found in self._links.lifts.values() for lift in found]
        return _explained(self._absent(lifts)) or self._uncaptured(lifts)

    def unsaid(self, reply: str, lifts: Sequence[Lift], echoes: Sequence[Echo] = ()) -> Explanation:
        """A fact that the reply leaves out: absent upstream, or replaced by what the failed turn really returned.

        A fact that was the golden argument of the failed turn may as well be replaced by its real one.
        """
        traced = self._absent(lifts)
        for lift in lifts:
            outcome = self._failed.get(lift.turn_no)
            if outcome is not None and any(self._says(reply, value) for value in outcome.real(lift.paths)):
                traced.append(lift.turn_no)
        traced += [echo.turn_no for echo in echoes if self._says(reply, self._argument(echo))]
        return _explained(traced) or self._uncaptured(lifts)

    def claim(self, claim: Claim) -> Explanation:
        """A claim that neither the reference nor any healthy source supports.

        Its facts may come from several sources; it is explained if each is said somewhere, one only by a failed turn.
        """
        if not claim.facts:
            return _explained(self._saying(claim)) or self._uncaptured(())
        traced: set[int] = set()
        for fact in claim.facts:
            told = self._told(fact)
            if told is None:
                return self._uncaptured(())
            traced |= told
        return _explained(traced) or self._uncaptured(())

    def _saying(self, claim: Claim) -> list[int]:
        return [
            number
            for number, outcome in self._failed.items()
            if any(self._oracle.supports(claim, source) for source in _sources(outcome))
        ]

    def _told(self, fact: Fact) -> set[int] | None:
        """The failed turns that a fact rests on; empty if healthy sources say it; None if nobody does."""
        known = self._oracle.evidence(self._known)
        if known.says(fact):
            return set()
        failed = {number: self._oracle.evidence(_sources(outcome)) for number, outcome in self._failed.items()}
        saying = {number for number, evidence in failed.items() if evidence.says(fact)}
        if saying:
            return saying
        name = name_words(fact)
        if name is None:
            return None
        # "Perhaps A Right Royale Tea" for "Perhaps Adieu": a word that the reference has as well is not what is wrong.
        expected = set(tokens(self._evidence.reference or ""))
        left = significant(name) - known.covers(name) - {at for at, word in enumerate(name) if word in expected}
        parts = {number: evidence.covers(name) & left for number, evidence in failed.items()}
        covered = frozenset[int]().union(*parts.values())
        return {number for number, part in parts.items() if part} if left <= covered else None

    def _woven(self, difference: Difference) -> list[int]:
        """The failed turns whose real values make the text what it is, in the place of the golden ones."""
        template = self._links.templates.get(difference.path)
        if template is None or not isinstance(difference.actual, str):
            return []
        for text, turns in template.fillings(self._parts):
            if turns and self._oracle.same(difference.actual, text).equivalent:
                return sorted(turns)
        return []

    def _parts(self, hole: Hole) -> list[tuple[str, int | None]]:
        """What may stand in a hole: the golden form, a passed turn's value, or a failed one's, which is then named."""
        found: list[tuple[str, int | None]] = []
        for lift in hole.lifts:
            outcome = self._outcomes.get(lift.turn_no)
            blamed = lift.turn_no if lift.turn_no in self._failed else None
            if outcome is not None:
                found += [(said_for(hole.golden or "", value), blamed) for value in outcome.real(lift.paths)]
        if hole.golden is not None:
            found = [(hole.golden, None), *(part for part in found if part[0] != hole.golden)]
        return found

    def _came_from(self, lift: Lift, actual: JSON) -> bool:
        outcome = self._failed.get(lift.turn_no)
        if outcome is None:
            return False
        return any(self._oracle.same(actual, real).equivalent for real in outcome.real(lift.paths))

    def _argument(self, echo: Echo) -> Captured:
        """The real argument of a failed turn at the place of an echo."""
        outcome = self._failed.get(echo.turn_no)
        if outcome is None or outcome.call is None or outcome.call.arguments is None:
            return NOT_CAPTURED
        return step_into(outcome.call.arguments, echo.path)

    def _has_golden(self, lift: Lift) -> bool:
        outcome = self._outcomes.get(lift.turn_no)
        return outcome is not None and outcome.golden_result is not NOT_CAPTURED

    def _only_upstream(self, difference: Difference) -> list[int]:
        """Without a golden result: the value occurs in what a failed turn really did, and in nothing healthy."""
        if any(self._oracle.occurs(difference.expected, text) for text in self._evidence.user_texts):
            return []  # the user said the right value; no tool's result excuses another one
        traced = [
            number
            for number, outcome in self._failed.items()
            if any(self._oracle.occurs(difference.actual, source) for source in _sources(outcome))
        ]
        healthy: tuple[JSON, ...] = (*self._evidence.results, *self._evidence.user_texts)
        return [] if traced and any(self._oracle.occurs(difference.actual, source) for source in healthy) else traced

    def _absent(self, lifts: Sequence[Lift]) -> list[int]:
        return [
            lift.turn_no
            for lift in lifts
            if (outcome := self._failed.get(lift.turn_no)) is not None
            and outcome.result is not NOT_CAPTURED
            and not outcome.real(lift.paths)
        ]

    def _uncaptured(self, lifts: Sequence[Lift]) -> Explanation:
        """With nothing captured of a failed turn, the author's word that the judged one depends on it decides."""
        wanted = {lift.turn_no for lift in lifts}
        numbers = [
            number
            for number, outcome in self._failed.items()
            if not outcome.captured and number in self._links.declared and (not wanted or number in wanted)
        ]
        return Explanation(tuple(sorted(numbers)), Basis.DECLARED) if numbers else OWN_FAULT

    def _says(self, reply: str, value: Captured) -> bool:
        return isinstance(value, str | int | float) and self._oracle.mentioned(reply, str(value)).equivalent


def _sources(outcome: Outcome) -> list[JSON]:
    if outcome.call is None:
        return []
    found: list[JSON] = []
    if outcome.call.result is not NOT_CAPTURED:
        found.append(outcome.call.result)
    if outcome.call.arguments is not None:
        found.append(outcome.call.arguments)
    return found


def _closure(numbers: Iterable[int], outcomes: Mapping[int, Outcome]) -> list[int]:
    """The turns themselves and, through turns that failed, those that these rest on: blame passes along cascades."""
    seen: dict[int, None] = {}
    waiting = sorted(numbers, reverse=True)
    while waiting:
        number = waiting.pop()
        if number in seen:
            continue
        seen[number] = None
        outcome = outcomes.get(number)
        if outcome is not None and outcome.failed:
            waiting.extend(outcome.verdict.blames)
    return sorted(seen)


def _explained(numbers: Iterable[int]) -> Explanation:
    turns = tuple(sorted(set(numbers)))
    return Explanation(turns, Basis.PROVENANCE) if turns else OWN_FAULT


def _all(found: Sequence[Explanation]) -> Explanation:
    if not found or not all(found):
        return OWN_FAULT
    basis = Basis.PROVENANCE if any(item.basis is Basis.PROVENANCE for item in found) else Basis.DECLARED
    return Explanation(tuple(sorted({number for item in found for number in item.turns})), basis)
