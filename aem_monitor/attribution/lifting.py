"""What a run's own values make of the golden ones.

If the turn that a value was taken from passed, the run's own value is expected: runs invent ids and data change. If it
failed, the golden value is expected, and what really came out of it only explains a failure. If its result was not
captured, the check is not scored.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aem_monitor.attribution.graph import Lift, Template, TurnLinks
from aem_monitor.attribution.outcome import Outcome
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.reference import JSONPath, Reference, fill, parse_reference, references_of, spoken
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import NotScored
from aem_monitor.scoring.jsontree import step_into
from aem_monitor.scoring.oracle import Oracle
from aem_monitor.scoring.values import unit_said

_NUMERAL: Final = re.compile(r"[+-]?\d[\d.,]*")


@dataclass(frozen=True, slots=True)
class Lifted:
    """The acceptable forms of one expected value, the most wanted first, and why it may be impossible to judge."""

    values: tuple[JSON, ...]
    cause: NotScored | None = None


class Lifting:
    """Resolves expected values of one run against the outcomes of earlier turns."""

    def __init__(self, dialog: Dialog, outcomes: Mapping[int, Outcome], oracle: Oracle) -> None:
        self._dialog = dialog
        self._outcomes = outcomes
        self._oracle = oracle

    def expectation(self, links: TurnLinks) -> "LiftedExpectation":
        """The expectation of a call whose golden arguments have these links."""
        return LiftedExpectation(self, links)

    def lift(self, golden: JSON, lifts: tuple[Lift, ...]) -> Lifted:
        """The forms in which ``golden`` is acceptable in this run."""
        if any(lift.explicit for lift in lifts):
            return self._explicit(golden, lifts)
        values: list[JSON] = []
        cause: NotScored | None = None
        for lift in lifts:
            outcome = self._outcomes.get(lift.turn_no)
            if outcome is None or outcome.failed:
                values.append(golden)
                continue
            result = outcome.result
            if result is NOT_CAPTURED:
                cause = cause or self._why_unknown(outcome)
                continue
            values += outcome.real(lift.paths)
            if self._oracle.occurs(golden, result):
                values.append(golden)
            elif not outcome.real(lift.paths):
                cause = cause or (self._why_unknown(outcome) if outcome.cut else NotScored.UNDETERMINED)
        if not lifts:
            values.append(golden)
        return Lifted(_distinct(values), cause)

    def text(self, golden: str, lifts: tuple[Lift, ...]) -> tuple[tuple[str, ...], NotScored | None]:
        """The same for a text that is said in a reply."""
        lifted = self.lift(golden, lifts)
        return tuple(said_for(golden, value) for value in lifted.values), lifted.cause

    def woven(self, template: Template) -> Lifted:
        """The same for a text whose parts were taken from results: with this run's own parts where they are others."""
        parts: list[str] = []
        cause: NotScored | None = None
        for hole in template.holes:
            golden = template.text[hole.start : hole.end]
            values, why = self.text(golden, hole.lifts)
            cause = cause or why
            if not values and hole.lifts[0].explicit:
                return Lifted((), cause)
            parts.append(golden if golden in values or not values else values[0])
        return Lifted((template.filled(parts),), cause)

    def _explicit(self, golden: JSON, lifts: tuple[Lift, ...]) -> Lifted:
        forms: list[JSON] = []
        cause: NotScored | None = None
        named = [self._outcomes.get(lift.turn_no) for lift in lifts]
        if all(outcome is not None and not outcome.failed for outcome in named):
            try:
                forms.append(fill(golden, self._own_value))
            except LookupError:
                forms += self._by_other_keys(golden, lifts)
                unknown = [o for o in named if o is not None and (o.result is NOT_CAPTURED or o.cut)]
                if not forms:
                    cause = self._why_unknown(unknown[0]) if unknown else NotScored.UNDETERMINED
        else:
            try:
                forms.append(self._dialog.golden_form(golden))
            except LookupError:
                # Neither the run's value nor the golden one is known: only an explanation can tell more.
                cause = NotScored.UNDETERMINED
        return Lifted(tuple(forms), cause)

    def _by_other_keys(self, golden: JSON, lifts: tuple[Lift, ...]) -> list[JSON]:
        """What a reference to an id may stand for that leads through that id: any id that the run has in its place."""
        outcome = self._outcomes.get(lifts[0].turn_no)
        whole = isinstance(golden, str) and parse_reference(golden) is not None
        return outcome.real(lifts[0].paths) if whole and outcome is not None else []

    def _own_value(self, reference: Reference) -> JSON:
        outcome = self._outcomes[reference.turn_no]
        result = outcome.result
        value = NOT_CAPTURED if result is NOT_CAPTURED else step_into(result, reference.path)
        if value is NOT_CAPTURED:
            raise LookupError(reference.text)
        return value

    def _why_unknown(self, outcome: Outcome) -> NotScored:
        if outcome.blocked is not None:
            return outcome.blocked
        if outcome.call is not None and outcome.call.result_truncated:
            return NotScored.CONTENT_TRUNCATED
        if outcome.verdict.not_scored in {NotScored.INCOMPLETE_TRACE, NotScored.PARTIAL}:
            return outcome.verdict.not_scored
        return NotScored.CONTENT_MISSING


@dataclass(frozen=True, slots=True)
class LiftedExpectation:
    """``scoring.arguments.Expectation`` over the lifts of one turn."""

    lifting: Lifting
    links: TurnLinks

    def alternatives(self, path: JSONPath, golden: JSON) -> tuple[JSON, ...]:
        """The run's own value, or the golden one, as the outcome of the turn that it came from demands."""
        return self._lifted(path, golden).values

    def cause(self, path: JSONPath, golden: JSON) -> NotScored | None:
        """Why a leaf that met none of the alternatives is not to be judged."""
        return self._lifted(path, golden).cause

    def _lifted(self, path: JSONPath, golden: JSON) -> Lifted:
        template = self.links.templates.get(path)
        if template is not None:
            return self.lifting.woven(template)
        return self.lifting.lift(golden, self._lifts(path, golden))

    def _lifts(self, path: JSONPath, golden: JSON) -> tuple[Lift, ...]:
        found = self.links.lifts.get(path)
        if found is not None:
            return found
        inside = [reference for _, reference in references_of(golden)]
        return tuple(Lift(reference.turn_no, (reference.path,), explicit=True) for reference in inside)


@dataclass(frozen=True, slots=True)
class GoldenOrOwn:
    """Expects golden values before anything is known of the run: a lifted one may turn out to be another value."""

    dialog: Dialog
    links: TurnLinks

    def alternatives(self, path: JSONPath, golden: JSON) -> tuple[JSON, ...]:  # noqa: ARG002 - part of the protocol
        """The golden value, with references filled from the golden results where those are given."""
        try:
            return (self.dialog.golden_form(golden),)
        except LookupError:
            return ()

    def cause(self, path: JSONPath, golden: JSON) -> NotScored | None:
        """A lifted value that is not the golden one says nothing yet."""
        lifted = path in self.links.lifts or any(True for _ in references_of(golden))
        return NotScored.UNDETERMINED if lifted else None


def said_for(golden: str, value: JSON) -> str:
    """A value as it is said in the place of ``golden``. Results hold bare numbers where texts say "28,900 yen" or "7.5
    days": the unit stays, or a reply could put any other in its place."""
    said = spoken(value)
    unit = "" if isinstance(value, bool) or not _NUMERAL.fullmatch(said) else unit_said(golden)
    return f"{said} {unit}" if unit else said


def _distinct(values: list[JSON]) -> tuple[JSON, ...]:
    seen: list[JSON] = []
    for value in values:
        if not any(value is other or (type(value) is type(other) and value == other) for other in seen):
            seen.append(value)
    return tuple(seen)
