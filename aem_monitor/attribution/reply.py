"""The verdict of one response turn: what the reply leaves out, and what it says that nothing supports."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from aem_monitor.attribution.explain import OWN_FAULT, Explains, Explanation
from aem_monitor.attribution.graph import Echo, Lift, TurnLinks
from aem_monitor.attribution.lifting import Lifting
from aem_monitor.golden.dialog import AgentTurn
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import Basis, Check, FailureReason, NotScored, SubMetric
from aem_monitor.scoring.oracle import Oracle, UnansweredError
from aem_monitor.scoring.responses import Claim, family
from aem_monitor.scoring.responses.evidence import Evidence, name_words, significant
from aem_monitor.scoring.thresholds import ReplyThresholds, weigh
from aem_monitor.scoring.values import Fact

_FACTS: Final = frozenset({"fact", "name"})
"""Faults of claims that say what nothing is known to say; others contradict what is known."""


_CONTRADICTIONS: Final = frozenset({"negation", "antonym", "roles"})
"""Faults of claims that say the opposite of what the reference says: that a result has their words does not bear them
out, since words know no "no"."""


@dataclass(frozen=True, slots=True)
class ReplyChecks:
    """Asks everything about a reply.

    ``thresholds`` are the least shares of right claims, save what the turn itself says. ``healthy`` are the results of
    calls that passed or were allowed, before the reply. ``whole`` says that ``text`` holds all replies of an open
    dialog: what else they say is not judged there, only what they must (not) say. ``cut``: of some healthy result only
    a part was captured.
    """

    turn: AgentTurn
    text: str
    truncated: bool
    links: TurnLinks
    lifting: Lifting
    explainer: Explains
    oracle: Oracle
    healthy: tuple[JSON, ...]
    whole: bool = False
    thresholds: ReplyThresholds = field(default_factory=ReplyThresholds)
    cut: bool = False

    def all(self) -> list[Check]:
        """Truthfulness before completeness: a value put in the place of another says more than its absence."""
        try:
            unsupported, missing = self._reference()
        except UnansweredError:
            return [
                Check(submetric, "reply", passed=None, cause=NotScored.SCORER_ERROR)
                for submetric in (SubMetric.TRUTHFULNESS, SubMetric.COMPLETENESS)
            ]
        told = [check.explained_by for check in unsupported if check.explained_by]
        swapped = (
            Explanation(tuple(sorted({n for turns in told for n in turns})), Basis.PROVENANCE) if told else OWN_FAULT
        )
        completeness = [self._swapped(check, swapped) for check in [*missing, *self._mentions()]]
        truthfulness = [*unsupported, *self._forbidden_mentions()]
        return [
            *(truthfulness or self._nothing_wrong(SubMetric.TRUTHFULNESS)),
            *(completeness or self._nothing_wrong(SubMetric.COMPLETENESS)),
        ]

    def _nothing_wrong(self, submetric: SubMetric) -> list[Check]:
        if self.turn.response is None:
            return []
        return [Check(submetric, "reply", passed=True, score=1.0)]

    def _reference(self) -> tuple[list[Check], list[Check]]:
        if self.turn.response is None:
            return [], []
        reference, cause = self._lifted_reference(self.turn.response)
        judgement = self.oracle.judge(reference, self.text)
        least = self.thresholds.with_own(self.turn.thresholds)
        true = [claim for claim in judgement.unsupported if self.whole or self._borne_out(claim, reference)]
        left_out = _left_out(judgement.replaced, true)
        covered = judgement.covered - len(left_out) / judgement.expected
        unsaid = [self._missing(claim, cause) for claim in (*judgement.missing, *left_out)]
        missing = weigh(unsaid, covered, least.completeness)
        if judgement.complete is None and not missing:
            missing = [_unknown(SubMetric.COMPLETENESS, judgement.score)]
        unsupported: list[Check] = []
        if not self.whole:
            found = [self._unsupported(claim, cause) for claim in judgement.unsupported if claim not in true]
            borne_out = 1 - len(found) / max(judgement.claims, 1)
            unsupported = weigh(found, borne_out, least.truthfulness)
            if judgement.consistent is None and not unsupported:
                unsupported = [_unknown(SubMetric.TRUTHFULNESS, judgement.score)]
        return unsupported, missing

    def _lifted_reference(self, response: str) -> tuple[str, NotScored | None]:
        """The reference text with this run's own values in the place of the golden ones."""
        out, at = "", 0
        cause: NotScored | None = None
        for fact, lifts in self.links.text_lifts:
            values, why = self.lifting.text(fact.text, lifts)
            cause = cause or (why if not values else None)
            if fact.start < at or not values or fact.text in values:
                continue
            out += response[at : fact.start] + values[0]
            at = fact.end
        text = out + response[at:]
        for reference in self.turn.references:
            if reference.text in text:
                lift = Lift(reference.turn_no, (reference.path,), explicit=True)
                values, why = self.lifting.text(reference.text, (lift,))
                cause = cause or why
                text = text.replace(reference.text, values[0] if values else "")
        return text, cause

    def _missing(self, claim: Claim, cause: NotScored | None) -> Check:
        if self.truncated or cause is not None:
            return Check(
                SubMetric.COMPLETENESS,
                "claim",
                passed=None,
                cause=cause or NotScored.CONTENT_TRUNCATED,
                expected=claim.text,
            )
        why = self.explainer.unsaid(self.text, self._lifts_of(claim))
        return Check(
            SubMetric.COMPLETENESS,
            "claim",
            passed=False,
            reason=FailureReason.INCOMPLETE_RESPONSE,
            expected=claim.text,
            actual=self.text,
            rule="not covered",
            explained_by=why.turns,
            basis=why.basis,
        )

    def _lifts_of(self, claim: Claim) -> list[Lift]:
        texts = {fact.text for fact in claim.facts}
        return [lift for fact, lifts in self.links.text_lifts if _same_place(fact, texts, claim) for lift in lifts]

    def _unsupported(self, claim: Claim, cause: NotScored | None) -> Check:
        """``cause``: why the reference could not be given the run's own values."""
        why = self.explainer.claim(claim)
        if (self.cut or cause is not None) and not why and claim.fault in _FACTS:
            # What bears it out may have stood in the result, or the part of it, that is not there.
            cause = cause or NotScored.CONTENT_TRUNCATED
            return Check(SubMetric.TRUTHFULNESS, "claim", passed=None, cause=cause, actual=claim.text)
        return Check(
            SubMetric.TRUTHFULNESS,
            "claim",
            passed=False,
            reason=FailureReason.INCONSISTENT_RESPONSE,
            expected=self.turn.response,
            actual=claim.text,
            rule="not supported",
            explained_by=why.turns,
            basis=why.basis,
        )

    def _borne_out(self, claim: Claim, reference: str) -> bool:
        """Whether healthy results, the user and the reference say together what the claim says.

        Results hold bare numbers: they bear out no "29,400 euros" where the reference says 29,400 yen. And what the
        golden run returned says nothing where this run returned something else.
        """
        if claim.fault in _CONTRADICTIONS or self.oracle.other_unit(claim, reference):
            return False
        if any(self.oracle.supports(claim, result) for result in self.healthy):
            return True
        if not claim.facts or claim.fault not in _FACTS:
            return False
        known = self.oracle.evidence((*self.healthy, *self.oracle.context.given, reference))
        return all(known.says(fact) or self._worded(known, fact) for fact in claim.facts)

    def _worded(self, known: Evidence, fact: Fact) -> bool:
        name = name_words(fact)
        return name is not None and significant(name) <= known.covers(name)

    def _mentions(self) -> list[Check]:
        return [self._mention(wanted, lifts, echoes) for wanted, lifts, echoes in self._wanted()]

    def _wanted(self) -> Sequence[tuple[str, tuple[Lift, ...], tuple[Echo, ...]]]:
        none: tuple[tuple[()], ...] = ((),) * len(self.turn.must_mention)
        lifts, echoes = self.links.mention_lifts or none, self.links.mention_echoes or none
        return list(zip(self.turn.must_mention, lifts, echoes, strict=True))

    def _mention(self, wanted: str, lifts: tuple[Lift, ...], echoes: tuple[Echo, ...]) -> Check:
        values, cause = self.lifting.text(wanted, lifts)
        try:
            found = [self.oracle.mentioned(self.text, value) for value in values]
        except UnansweredError:
            return Check(SubMetric.COMPLETENESS, "mention", passed=None, cause=NotScored.SCORER_ERROR, expected=wanted)
        if any(comparison.equivalent for comparison in found):
            best = max(found, key=lambda comparison: comparison.score)
            return Check(SubMetric.COMPLETENESS, "mention", passed=True, expected=wanted, score=best.score)
        why = self.explainer.unsaid(self.text, lifts, echoes)
        if not why and (cause is not None or self.truncated):
            cause = cause or NotScored.CONTENT_TRUNCATED
            return Check(SubMetric.COMPLETENESS, "mention", passed=None, cause=cause, expected=wanted)
        return Check(
            SubMetric.COMPLETENESS,
            "mention",
            passed=False,
            reason=FailureReason.INCOMPLETE_RESPONSE,
            expected=values[0] if values else wanted,
            actual=self.text,
            score=0.0,
            rule="not mentioned",
            explained_by=why.turns,
            basis=why.basis,
        )

    def _forbidden_mentions(self) -> list[Check]:
        return [
            Check(
                SubMetric.TRUTHFULNESS,
                "mention",
                passed=False,
                reason=FailureReason.INCONSISTENT_RESPONSE,
                actual=unwanted,
                score=0.0,
                rule="must not be mentioned",
            )
            for unwanted in self.turn.must_not_mention
            if self.oracle.mentioned(self.text, unwanted).equivalent
        ]

    def _swapped(self, check: Check, swapped: Explanation) -> Check:
        """A fact that is missing because one that a failed turn returned stands in its place."""
        if check.passed is not False or check.explained_by or not swapped:
            return check
        if not self._depends_on_failed(check):
            return check
        return Check(
            check.submetric,
            check.subject,
            passed=False,
            reason=check.reason,
            expected=check.expected,
            actual=check.actual,
            score=check.score,
            rule=check.rule,
            explained_by=swapped.turns,
            basis=swapped.basis,
        )

    def _depends_on_failed(self, check: Check) -> bool:
        """Only what no healthy turn returned can have been displaced by what a failed one did."""
        return not any(self.oracle.occurs(check.expected, result) for result in self.healthy)


def _left_out(replaced: Sequence[Claim], true: Sequence[Claim]) -> list[Claim]:
    """The claims of the reference of which nothing is said, since what seemed to stand in their place is true of
    something else: "Tom has both shifts" for "Lena has both shifts" where a result names both."""
    others = Counter(family(fact) for claim in true for fact in claim.facts)
    left: list[Claim] = []
    for claim in replaced:
        facts = []
        for fact in claim.facts:
            if others[family(fact)]:
                others[family(fact)] -= 1
                facts.append(fact)
        if facts:
            left.append(replace(claim, facts=tuple(facts)))
    return left


def _same_place(fact: Fact, texts: set[str], claim: Claim) -> bool:
    return fact.text in texts or fact.text in claim.text


def _unknown(submetric: SubMetric, score: float) -> Check:
    return Check(submetric, "reply", passed=None, cause=NotScored.UNDETERMINED, score=score, uncertain=True)
