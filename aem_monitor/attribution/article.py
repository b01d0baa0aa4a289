"""Scoring annotated dialogs in the JSON of the Agent Evaluation Metric's article: gold and prediction side by side.

Turns are paired by entry: no alignment, no recognition. Only turns that share an ``OrderInvariant_x`` tag may answer
each other's expectations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from aem_monitor.attribution.action import ActionChecks, actual_call, call_name, expected_call, not_reached
from aem_monitor.attribution.annotated import CallForm, DialogForm, ReplyForm, TurnForm
from aem_monitor.attribution.articlerule import ArticleRule, has_result
from aem_monitor.attribution.explain import Explainer, Healthy
from aem_monitor.attribution.graph import TurnLinks, links_of
from aem_monitor.attribution.lifting import LiftedExpectation, Lifting
from aem_monitor.attribution.outcome import Outcome
from aem_monitor.attribution.reply import ReplyChecks
from aem_monitor.attribution.settle import settle
from aem_monitor.golden.dialog import ORDER_TAG, AgentTurn, Dialog, Recognise, Review, ToolTurn
from aem_monitor.golden.reference import JSONPath
from aem_monitor.model.conversation import NOT_CAPTURED, ToolCall
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import (
    Basis,
    Check,
    FailureReason,
    MismatchDetail,
    NotScored,
    RunResult,
    SubMetric,
    TurnKind,
    TurnVerdict,
)
from aem_monitor.scoring.align import assign
from aem_monitor.scoring.arguments import ArgumentComparer
from aem_monitor.scoring.compose import Terms, mean, summarise
from aem_monitor.scoring.oracle import Oracle
from aem_monitor.scoring.scorers import Scorer
from aem_monitor.scoring.values import ValueContext

_NO_DIALOG: Final = Dialog(
    name="annotated",
    version=1,
    agent=None,
    review=Review(draft=False),
    recognise=Recognise(),
    reference_date=None,
    tools={},
    extra_calls="ignore",
    turns=(),
    forbidden=(),
    exchanges=(),
    by_number={},
)
"""Annotated dialogs declare no tools, so that nothing is optional and nothing only reads."""


def score_dialog(form: DialogForm, scorer: Scorer, context: ValueContext, assume_chain: bool = False) -> RunResult:
    """Judge one annotated dialog.

    ``assume_chain``: in a dialog without any ``depends_on`` a failing turn after a failed one counts as inherited.
    """
    assumed = assume_chain and not any(turn.depends_on for turn in form.turns)
    oracle = Oracle(scorer, context)
    repaired = _repaired(form.turns, oracle)
    dialog = replace(_NO_DIALOG, turns=tuple(_golden(turn) for turn in repaired))
    turns = _Scoring(repaired, oracle, assumed, dialog, links_of(dialog, context)).all()
    summary = summarise(turns, complete=True, captured=True)
    return RunResult(
        run_id="",
        conversation_key="",
        conversation_id=None,
        agent="",
        dialog=form.dialog,
        dialog_version=1,
        play=1,
        release=None,
        model=None,
        draft=False,
        turns=turns,
        success_rate=summary.success_rate,
        test_pass=summary.test_pass,
        score=mean(turns, Terms()),
        first_failure_turn=summary.first_failure_turn,
        first_failure_extra=summary.first_failure_extra,
        root_cause=summary.root_cause,
        root_cause_count=summary.root_cause_count,
        cascading_count=summary.cascading_count,
        complete=True,
        partial=False,
        started_ns=0,
        ended_ns=0,
        latency_seconds=None,
    )


def _repaired(turns: Sequence[TurnForm], oracle: Oracle) -> list[TurnForm]:
    """Give the predictions of each order-invariant group to the expectations that they fit best."""
    out = list(turns)
    groups: dict[str, list[int]] = {}
    for index, turn in enumerate(turns):
        for tag in turn.tags:
            if ORDER_TAG.fullmatch(tag):
                groups.setdefault(tag, []).append(index)
    for members in groups.values():
        if len(members) < 2:
            continue
        fits = {
            (i, j): fit
            for i, gold in enumerate(members)
            for j, other in enumerate(members)
            if (fit := _fit(out[gold], out[other], oracle)) > 0
        }
        pairs = assign(fits)
        spare = [j for j in range(len(members)) if j not in pairs.values()]
        sources = [members[pairs[i] if i in pairs else spare.pop(0)] for i in range(len(members))]
        predicted = [(out[source].predict_turn, out[source].predict_result) for source in sources]
        for index, (answer, result) in zip(members, predicted, strict=True):
            out[index] = out[index].model_copy(update={"predict_turn": answer, "predict_result": result})
    return out


def _fit(gold: TurnForm, other: TurnForm, oracle: Oracle) -> float:
    expected, actual = gold.gold_turn, other.predict_turn
    if isinstance(expected, CallForm) and isinstance(actual, CallForm):
        if (expected.tool_id, expected.action) != (actual.tool_id, actual.action):
            return 0.0
        call = _call(other, actual)
        return 0.5 + 0.5 * ActionChecks(_NO_DIALOG, _tool_turn(gold), call, ArgumentComparer(oracle.same)).fit().share
    if isinstance(expected, ReplyForm) and isinstance(actual, ReplyForm):
        return max(oracle.judge(expected.response, actual.response).score, 0.01)
    return 0.0


@dataclass(slots=True)
class _Scoring:
    turns: Sequence[TurnForm]
    oracle: Oracle
    assumed: bool
    dialog: Dialog
    links: Mapping[int, TurnLinks]
    outcomes: dict[int, Outcome] = field(default_factory=dict)

    def all(self) -> tuple[TurnVerdict, ...]:
        entries = []
        for form in self.turns:
            verdict = self._turn(form)
            call = _call(form, form.predict_turn) if isinstance(form.predict_turn, CallForm) else None
            self.outcomes[form.turn_no] = Outcome(_golden(form), verdict, call)
            entries.append(verdict)
        return tuple(entries)

    def _turn(self, form: TurnForm) -> TurnVerdict:
        base = _base(form)
        explains = ArticleRule(form, self.turns, self.outcomes, self.oracle, self._explainer(form))
        checks = self._action(form, explains) if form.turn == "Tool" else self._reply(form, explains)
        detail = _detail(form)
        verdict = settle(base, checks, self.outcomes, None, detail)
        failed = [number for number, outcome in self.outcomes.items() if outcome.failed]
        if self.assumed and verdict.success is False and verdict.root_cause and failed:
            blamed = tuple(
                replace(check, explained_by=tuple(failed), basis=Basis.ASSUMED) if check.passed is False else check
                for check in checks
            )
            verdict = settle(base, blamed, self.outcomes, None, detail)
        return verdict

    def _explainer(self, form: TurnForm) -> Explainer:
        reference = form.gold_turn.response if isinstance(form.gold_turn, ReplyForm) else None
        return Explainer(self.links[form.turn_no], self.outcomes, Healthy(self._healthy(), (), reference), self.oracle)

    def _healthy(self) -> tuple[JSON, ...]:
        return tuple(
            outcome.result
            for outcome in self.outcomes.values()
            if not outcome.failed and outcome.result is not NOT_CAPTURED
        )

    def _lifting(self) -> Lifting:
        return Lifting(self.dialog, self.outcomes, self.oracle)

    def _action(self, form: TurnForm, explains: ArticleRule) -> list[Check]:
        turn, predicted = _tool_turn(form), form.predict_turn
        if not isinstance(predicted, CallForm):
            why = explains.not_called()
            missing = Check(
                SubMetric.STRUCTURAL,
                "tool",
                passed=False,
                reason=FailureReason.TOOL_MISMATCH,
                expected=call_name(turn.tool_id, turn.action),
                score=0.0,
                explained_by=why.turns,
                basis=why.basis,
            )
            return [missing, *not_reached(turn)]
        if predicted.tool_id != turn.tool_id or predicted.action != turn.action:
            other_tool = predicted.tool_id != turn.tool_id
            wrong = Check(
                SubMetric.STRUCTURAL,
                "tool" if other_tool else "action",
                passed=False,
                reason=FailureReason.TOOL_MISMATCH if other_tool else FailureReason.ACTION_MISMATCH,
                expected=call_name(turn.tool_id, turn.action),
                actual=call_name(predicted.tool_id, predicted.action),
                score=0.0,
            )
            return [wrong, *not_reached(turn)]
        own = _OwnOrGold(self._lifting().expectation(self.links[form.turn_no]))
        comparer = ArgumentComparer(self.oracle.same, turn.match, own)
        return ActionChecks(_NO_DIALOG, turn, _call(form, predicted), comparer, explains).all()

    def _reply(self, form: TurnForm, explains: ArticleRule) -> list[Check]:
        predicted = form.predict_turn
        if not isinstance(predicted, ReplyForm):
            why = explains.not_called()
            return [
                Check(
                    SubMetric.COMPLETENESS,
                    "reply",
                    passed=False,
                    reason=FailureReason.INCOMPLETE_RESPONSE,
                    score=0.0,
                    explained_by=why.turns,
                    basis=why.basis,
                )
            ]
        checks = self._said(form, predicted.response, self.links[form.turn_no], explains)
        if all(check.passed is not False for check in checks):
            return checks
        as_gold = self._said(form, predicted.response, TurnLinks(), explains)
        return checks if any(check.passed is False for check in as_gold) else as_gold

    def _said(self, form: TurnForm, text: str, links: TurnLinks, explains: ArticleRule) -> list[Check]:
        return ReplyChecks(
            turn=_agent_turn(form),
            text=text,
            truncated=False,
            links=links,
            lifting=self._lifting(),
            explainer=explains,
            oracle=self.oracle,
            healthy=self._healthy(),
        ).all()


@dataclass(frozen=True, slots=True)
class _OwnOrGold:
    """Gold and prediction are paired here: what equals the gold value passes, and what this run really returned too."""

    own: LiftedExpectation

    def alternatives(self, path: JSONPath, golden: JSON) -> tuple[JSON, ...]:
        """The gold value, and the run's own where the turn that it came from passed."""
        return (golden, *self.own.alternatives(path, golden))

    def cause(self, _path: JSONPath, _golden: JSON) -> NotScored | None:
        """Everything is judged."""
        return None


def _base(form: TurnForm) -> TurnVerdict:
    gold, predicted = form.gold_turn, form.predict_turn
    return TurnVerdict(
        turn_no=form.turn_no,
        kind=TurnKind.TOOL if isinstance(gold, CallForm) else TurnKind.RESPONSE,
        exchange=0,
        chain_length=0,
        success=None,
        tool=gold.tool_id if isinstance(gold, CallForm) else None,
        action=gold.action if isinstance(gold, CallForm) else None,
        called=call_name(predicted.tool_id, predicted.action) if isinstance(predicted, CallForm) else None,
        expected=expected_call(_tool_turn(form)) if isinstance(gold, CallForm) else gold.response,
        actual=_shown(form),
        attempts=0 if predicted is None else 1,
    )


def _shown(form: TurnForm) -> JSON:
    predicted = form.predict_turn
    if predicted is None:
        return None
    return actual_call(_call(form, predicted)) if isinstance(predicted, CallForm) else predicted.response


def _detail(form: TurnForm) -> MismatchDetail:
    return MismatchDetail.WRONG_TOOL if isinstance(form.predict_turn, CallForm) else MismatchDetail.NOT_CALLED


def _golden(form: TurnForm) -> ToolTurn | AgentTurn:
    return _tool_turn(form) if form.turn == "Tool" else _agent_turn(form)


def _tool_turn(form: TurnForm) -> ToolTurn:
    """A golden result counts where the predicted one is given too: values can be lifted then, and only then."""
    gold = form.gold_turn
    assert isinstance(gold, CallForm)
    return ToolTurn(
        turn_no=form.turn_no,
        index=0,
        tool_id=gold.tool_id,
        action=gold.action,
        args=gold.args,
        result=form.result,
        has_result=form.result is not None and has_result(form),
        depends_on=form.depends_on,
        match=form.match,
        tags=form.tags,
    )


def _agent_turn(form: TurnForm) -> AgentTurn:
    gold = form.gold_turn
    assert isinstance(gold, ReplyForm)
    return AgentTurn(turn_no=form.turn_no, index=0, response=gold.response, depends_on=form.depends_on)


def _call(form: TurnForm, predicted: CallForm) -> ToolCall:
    return ToolCall(
        name=call_name(predicted.tool_id, predicted.action),
        tool=predicted.tool_id,
        action=predicted.action,
        arguments=predicted.args,
        result=form.predict_result if has_result(form) else NOT_CAPTURED,
        error=None,
        start_ns=0,
        end_ns=0,
        trace_id="",
        span_id=None,
    )
