"""The verdict of one run: turn by turn, each judged knowing the outcomes of the turns that it rests on.

Scoring and attribution are one pass, because what is expected of a turn depends on whether the turns that it consumes
passed (``lifting``), and why it failed on what they really returned (``explain``).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from aem_monitor.attribution import entry
from aem_monitor.attribution.action import ActionChecks, call_name, expected_call, not_reached, structural_passed
from aem_monitor.attribution.alignment import MOST_PASSES, OwnIfKnown, is_open, provisional
from aem_monitor.attribution.explain import OWN_FAULT, Explainer, Explanation, Healthy
from aem_monitor.attribution.graph import TurnLinks, leaves
from aem_monitor.attribution.lifting import Lifting
from aem_monitor.attribution.misstated import reply_at_fault
from aem_monitor.attribution.outcome import Outcome
from aem_monitor.attribution.reply import ReplyChecks
from aem_monitor.attribution.settle import settle
from aem_monitor.golden.dialog import AgentTurn, ScoredTurn, ToolTurn
from aem_monitor.golden.play import PlayedExchange, Run
from aem_monitor.model.conversation import NOT_CAPTURED, ToolCall
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import (
    Check,
    FailureReason,
    MismatchDetail,
    NotScored,
    SubMetric,
    TurnKind,
    TurnVerdict,
)
from aem_monitor.scoring.arguments import ArgumentComparer
from aem_monitor.scoring.exchange import Assignment, Fitness, assign_calls
from aem_monitor.scoring.jsontree import step_into
from aem_monitor.scoring.oracle import Oracle, UnansweredError
from aem_monitor.scoring.schemas import ValueSchema, schema_of
from aem_monitor.scoring.submetrics import SubMetricPlugin, TurnView, ask
from aem_monitor.scoring.thresholds import ReplyThresholds


def evaluate(
    run: Run,
    links: Mapping[int, TurnLinks],
    oracle: Oracle,
    partial: bool = False,
    submetrics: Sequence[SubMetricPlugin] = (),
    thresholds: ReplyThresholds | None = None,
) -> tuple[TurnVerdict, ...]:
    """Judge a run.

    Args:
        run: the run; ``run.dialog`` is what is expected.
        links: of that dialog, from ``graph.links_of``.
        oracle: compares values and texts; after the call it holds the questions that only an expert can settle.
        partial: the run was cut short by a bound: what is missing is ``partial``, never an omission.
        submetrics: further sub-metrics, asked about every turn that happened.
        thresholds: of replies, where a turn has none of its own; None: everything has to be right.

    Returns the entries in golden order, extra calls after the expected turns of their exchange. Optional turns that
    did not happen and skipped turns have none.
    """
    evaluation = _Evaluation(run, links, oracle, partial, submetrics, thresholds or ReplyThresholds())
    entries: list[TurnVerdict] = []
    for played in run.exchanges:
        entries += evaluation.exchange(played)
    return tuple(entries)


@dataclass(slots=True)
class _Evaluation:
    run: Run
    links: Mapping[int, TurnLinks]
    oracle: Oracle
    partial: bool
    submetrics: Sequence[SubMetricPlugin]
    thresholds: ReplyThresholds
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    allowed: list[ToolCall] = field(default_factory=list)
    user_texts: list[str] = field(default_factory=list)
    schemas: dict[str, ValueSchema] = field(default_factory=dict)

    def exchange(self, played: PlayedExchange) -> list[TurnVerdict]:
        self.user_texts += played.user_texts
        chain = sum(turn.presence != "forbidden" for turn in played.golden.tools)
        entries: list[TurnVerdict] = []
        if not played.present or not played.on_script:
            cause = NotScored.OFF_SCRIPT if played.present else self._absent_cause()
            for turn in played.golden.turns:
                self._add(entries, turn, entry.unscored(turn, played.index, chain, cause), None)
            return entries
        assignment = self._aligned(played)
        self.allowed += assignment.allowed
        for turn in played.golden.turns:
            if isinstance(turn, ToolTurn):
                self._action(entries, turn, played, assignment, chain)
            else:
                self._reply(entries, turn, played, chain)
        entries += [entry.extra_call(extra, played.index, chain) for extra in assignment.extras]
        return entries

    def _absent_cause(self) -> NotScored:
        return NotScored.PARTIAL if self.partial else NotScored.INCOMPLETE_TRACE

    def _add(self, entries: list[TurnVerdict], turn: ScoredTurn, verdict: TurnVerdict, call: ToolCall | None) -> None:
        self.outcomes[turn.turn_no] = Outcome(turn, verdict, call)
        if not turn.skip:
            entries.append(verdict)

    # Alignment

    def _aligned(self, played: PlayedExchange) -> Assignment:
        """The calls beside what was expected: by golden values first, then by what the calls so found returned."""
        known: dict[int, Outcome] = {}
        found = self._assigned(played, known)
        if not is_open(played, self.links):
            return found
        for _ in range(MOST_PASSES):
            known = {
                number: provisional(turn, played, call, clean=self._fit(turn, call, known).clean)
                for turn in played.golden.tools
                if (call := found.judged.get(number := turn.turn_no)) is not None
            }
            better = self._assigned(played, known)
            if better.judged == found.judged:
                return better
            found = better
        return found

    def _assigned(self, played: PlayedExchange, known: Mapping[int, Outcome]) -> Assignment:
        def fit(turn: ToolTurn, call: ToolCall) -> Fitness:
            return self._fit(turn, call, known)

        return assign_calls(self.run.dialog, played, fit, self._order(played), self._shares, self._expected_values)

    def _fit(self, turn: ToolTurn, call: ToolCall, known: Mapping[int, Outcome]) -> Fitness:
        """How well a call answers a turn. ``known`` are calls of the exchange that seem to answer other turns."""
        expectation = OwnIfKnown(self.run.dialog, self.links[turn.turn_no], {**self.outcomes, **known}, self.oracle)
        comparer = ArgumentComparer(self.oracle.same, turn.match, expectation, turn.threshold, self._schema(call))
        try:
            return ActionChecks(self.run.dialog, turn, call, comparer).fit()
        except UnansweredError:
            return Fitness(0.5, clean=False)

    def _schema(self, call: ToolCall) -> ValueSchema:
        known = self.schemas.get(call.name)
        if known is None:
            stated = [one.schema for one in self.run.conversation.tool_schemas if one.name == call.name]
            known = self.schemas[call.name] = schema_of(stated)
        return known

    def _expected_values(self, turn: ToolTurn, judged: Mapping[int, ToolCall]) -> dict[str, Sequence[JSON]]:
        """The golden values of a call that never came, and what this run's own calls put in their place.

        Calls of the same exchange have no outcome yet; that they answer an expectation is enough to look up a target.
        """
        links = self.links[turn.turn_no]
        found: dict[str, list[JSON]] = {}
        for (name, *_), value in leaves(turn.args) if turn.args else ():
            values = found.setdefault(str(name), [])
            with suppress(LookupError):
                values.append(self.run.dialog.golden_form(value))
        for (name, *_), lifts in links.lifts.items():
            for lift in lifts:
                outcome = self.outcomes.get(lift.turn_no)
                call = judged.get(lift.turn_no) or (outcome.call if outcome else None)
                if call is not None and call.result is not NOT_CAPTURED:
                    steps = (step_into(call.result, path) for path in lift.paths)
                    found.setdefault(str(name), []).extend(value for value in steps if value is not NOT_CAPTURED)
        return dict(found)

    def _order(self, played: PlayedExchange) -> list[tuple[int, int]]:
        """(a, b) where b consumes a, unless both are in one order-invariant group."""
        tools = {turn.turn_no: turn for turn in played.golden.tools}
        return [
            (a, b)
            for b, turn in tools.items()
            for a in self.links[b].declared
            if a in tools and not tools[a].order_tags & turn.order_tags
        ]

    def _shares(self, a: JSON, b: JSON) -> bool:
        return bool(self.oracle.occurs(b, [a])) and self.oracle.same(a, b).equivalent

    # Action turns

    def _action(
        self,
        entries: list[TurnVerdict],
        turn: ToolTurn,
        played: PlayedExchange,
        assignment: Assignment,
        chain: int,
    ) -> None:
        call = assignment.judged.get(turn.turn_no)
        if turn.presence == "forbidden":
            self._add(
                entries, turn, entry.forbidden(turn, assignment.forbidden.get(turn.turn_no), played.index, chain), None
            )
            return
        if call is None and turn.presence == "optional":
            return
        blocked = self._blocked(turn)
        if call is not None:
            verdict = replace(
                self._called(turn, call, played, chain, blocked),
                attempts=assignment.attempts[turn.turn_no],
                recovered=turn.turn_no in assignment.recovered,
            )
        elif turn.turn_no in assignment.wrong:
            call = assignment.wrong[turn.turn_no]
            verdict = self._wrong_call(turn, call, played, chain)
        else:
            verdict = self._never_called(turn, played, chain, blocked, assignment.refused.get(turn.turn_no))
        self._add(entries, turn, verdict, call)

    def _called(
        self, turn: ToolTurn, call: ToolCall, played: PlayedExchange, chain: int, blocked: NotScored | None
    ) -> TurnVerdict:
        lifting, explainer = self._means(turn)
        links = self.links[turn.turn_no]
        expectation = lifting.expectation(links)
        comparer = ArgumentComparer(self.oracle.same, turn.match, expectation, turn.threshold, self._schema(call))
        checks = ActionChecks(self.run.dialog, turn, call, comparer, explainer).all()
        checks += self._further(TurnKind.TOOL, expected_call(turn), call=call)
        cause = blocked
        if cause is None and call.error is not None and not any(check.passed is False for check in checks):
            cause = NotScored.TOOL_ERROR
        return settle(entry.action(turn, played, chain, call), checks, self.outcomes, cause)

    def _wrong_call(self, turn: ToolTurn, call: ToolCall, played: PlayedExchange, chain: int) -> TurnVerdict:
        other_action = call.tool == turn.tool_id and turn.action is not None
        checks: list[Check] = []
        if other_action:
            checks += structural_passed(turn)[:1]
        checks.append(
            Check(
                SubMetric.STRUCTURAL,
                "action" if other_action else "tool",
                passed=False,
                reason=FailureReason.ACTION_MISMATCH if other_action else FailureReason.TOOL_MISMATCH,
                expected=call_name(turn.tool_id, turn.action),
                actual=call_name(call.tool, call.action),
                score=0.0,
            )
        )
        detail = None if other_action else MismatchDetail.WRONG_TOOL
        base = entry.action(turn, played, chain, call)
        return settle(base, [*checks, *not_reached(turn)], self.outcomes, None, detail)

    def _never_called(
        self,
        turn: ToolTurn,
        played: PlayedExchange,
        chain: int,
        blocked: NotScored | None,
        refused: ToolCall | None,
    ) -> TurnVerdict:
        """``refused``: what was tried instead, in vain; it shows where the turn went wrong."""
        base = replace(entry.action(turn, played, chain, refused), attempts=0)
        cause = blocked
        if cause is None and self.partial:
            cause = NotScored.PARTIAL
        if cause is None and played.reply_failed:
            cause = NotScored.UPSTREAM_ERROR
        if cause is None and not played.complete:
            cause = NotScored.INCOMPLETE_TRACE
        why: Explanation = OWN_FAULT
        if cause is None:
            why = self._means(turn)[1].not_called()
        check = Check(
            SubMetric.STRUCTURAL,
            "tool",
            passed=False if cause is None else None,
            reason=FailureReason.TOOL_MISMATCH if cause is None else None,
            cause=cause,
            expected=call_name(turn.tool_id, turn.action),
            score=0.0 if cause is None else None,
            explained_by=why.turns,
            basis=why.basis,
        )
        return settle(base, [check, *not_reached(turn)], self.outcomes, cause, MismatchDetail.NOT_CALLED)

    # Response turns

    def _reply(self, entries: list[TurnVerdict], turn: AgentTurn, played: PlayedExchange, chain: int) -> None:
        replies = [reply for reply in played.replies if reply.text is not None]
        base = entry.reply(turn, played, chain)
        cause = self._blocked(turn)
        if cause is None and not replies:
            cause = self._no_reply_cause(played)
        if cause is not None:
            self._add(entries, turn, settle(base, [], self.outcomes, cause), None)
            return
        lifting, explainer = self._means(turn)
        checks = ReplyChecks(
            turn=turn,
            text="\n".join(reply.text or "" for reply in replies),
            truncated=any(reply.truncated for reply in replies),
            links=self.links[turn.turn_no],
            lifting=lifting,
            explainer=explainer,
            oracle=self.oracle,
            healthy=self._healthy(),
            whole=self.run.dialog.open,
            thresholds=self.thresholds,
            cut=self._cut(),
        ).all()
        text = "\n".join(reply.text or "" for reply in replies)
        checks += self._further(TurnKind.RESPONSE, turn.response, reply=text)
        if self.run.dialog.open and len(replies) > 1:
            spoken = [one.must_mention for one in self.run.dialog.scored_turns if isinstance(one, AgentTurn)]
            known = self.oracle.evidence((*self._healthy(), *self.user_texts, *(one for few in spoken for one in few)))
            at_fault = reply_at_fault(checks, replies, known, self.oracle.context)
            base = base if at_fault is None else entry.at_reply(base, at_fault)
        self._add(entries, turn, settle(base, checks, self.outcomes, None), None)

    def _no_reply_cause(self, played: PlayedExchange) -> NotScored:
        if played.reply_failed:
            return NotScored.UPSTREAM_ERROR
        if played.replies or played.complete:
            return NotScored.CONTENT_MISSING
        return self._absent_cause()

    # What both need

    def _further(
        self, kind: TurnKind, expected: JSON, call: ToolCall | None = None, reply: str | None = None
    ) -> list[Check]:
        if not self.submetrics:
            return []
        return ask(self.submetrics, TurnView(kind, expected, tuple(self.user_texts), call, reply))

    def _means(self, turn: ScoredTurn) -> tuple[Lifting, Explainer]:
        reference = turn.response if isinstance(turn, AgentTurn) else None
        evidence = Healthy(self._healthy(), tuple(self.user_texts), reference)
        explainer = Explainer(self.links[turn.turn_no], self.outcomes, evidence, self.oracle)
        return Lifting(self.run.dialog, self.outcomes, self.oracle), explainer

    def _healthy(self) -> tuple[JSON, ...]:
        results = [outcome.result for outcome in self.outcomes.values() if not outcome.failed]
        results += [call.result for call in self.allowed if call.error is None]
        return tuple(result for result in results if result is not NOT_CAPTURED)

    def _cut(self) -> bool:
        calls = [outcome.call for outcome in self.outcomes.values() if outcome.call is not None and not outcome.failed]
        return any(call.result_truncated for call in (*calls, *self.allowed) if call.error is None)

    def _blocked(self, turn: ScoredTurn) -> NotScored | None:
        """Why a turn cannot be judged at all: a turn that it is declared to consume was off script, or errored."""
        causes = [
            outcome.blocked
            for number in sorted(self.links[turn.turn_no].declared)
            if (outcome := self.outcomes.get(number)) is not None
        ]
        return next((cause for cause in causes if cause is not None), None)
