"""The two pure steps of scoring: ``plan`` says what only an expert can settle, ``decide`` uses the answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from aem_monitor.attribution.endstate import reached
from aem_monitor.attribution.evaluate import evaluate
from aem_monitor.attribution.graph import TurnLinks, links_of
from aem_monitor.attribution.paths import best_path
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.play import Run
from aem_monitor.model.verdict import MIXED, RunResult, TurnVerdict
from aem_monitor.scoring.compose import Composition, Terms, mean, summarise
from aem_monitor.scoring.oracle import Answers, Oracle, Question
from aem_monitor.scoring.scorers import Scorer
from aem_monitor.scoring.submetrics import SubMetricPlugin
from aem_monitor.scoring.thresholds import ReplyThresholds
from aem_monitor.scoring.values import ValueContext


@dataclass(frozen=True, slots=True)
class ScoringSettings:
    """``threshold`` and ``band`` are those of ``ValueContext``, ``reply`` the thresholds of replies; ``expert`` names a
    scorer to ask, None asks nobody.

    ``submetrics`` are asked beside the built-in ones.
    """

    threshold: float = 0.5
    band: float = 0.08
    composition: Composition = mean
    expert: str | None = None
    submetrics: tuple[SubMetricPlugin, ...] = ()
    reply: ReplyThresholds = field(default_factory=ReplyThresholds)


@dataclass(frozen=True, slots=True)
class Plan:
    """The verdict as far as the cheap scorer tells, and the questions whose answers may change it."""

    result: RunResult
    questions: tuple[Question, ...]


class Judge:
    """Scores runs. Pure but for a memory of what each dialog says about its own dependencies."""

    def __init__(self, scorer: Scorer, settings: ScoringSettings | None = None) -> None:
        self._scorer = scorer
        self._settings = settings or ScoringSettings()
        self._links: dict[tuple[str, int, str | None], tuple[Dialog, dict[int, TurnLinks]]] = {}

    def plan(self, run: Run, partial: bool = False) -> Plan:
        """First step: the provisional verdict and what is left to ask."""
        return self._judge(run, {}, partial)

    def decide(self, run: Run, answers: Answers, partial: bool = False) -> Plan:
        """Second step. An answer may raise a question that no plan could know; the plan then names it."""
        return self._judge(run, answers, partial)

    def _judge(self, run: Run, answers: Answers, partial: bool) -> Plan:
        day = run.dialog.reference_date or datetime.fromtimestamp(run.first_ns / 1e9, UTC).date()
        texts = tuple(text for played in run.exchanges for text in played.user_texts)
        oracle = Oracle(self._scorer, self._context(day, texts), answers, self._settings.expert)
        further, least = self._settings.submetrics, self._settings.reply

        def judged(one: Run) -> tuple[TurnVerdict, ...]:
            return evaluate(one, self._links_of(one.dialog, day), oracle, partial, further, least)

        taken = best_path(run, judged)
        outcome = reached(run, oracle, partial)
        result = result_of(taken.run, taken.turns, self._settings.composition, partial, outcome)
        return Plan(result, tuple(oracle.questions.values()))

    def _links_of(self, dialog: Dialog, day: date) -> Mapping[int, TurnLinks]:
        if dialog.choices:
            return links_of(dialog, self._context(dialog.reference_date or day))
        key = (dialog.name, dialog.version, dialog.variant)
        known = self._links.get(key)
        if known is None or known[0] is not dialog:
            known = (dialog, links_of(dialog, self._context(dialog.reference_date or day)))
            self._links[key] = known
        return known[1]

    def _context(self, day: date, texts: tuple[str, ...] = ()) -> ValueContext:
        return ValueContext(day, texts, self._settings.threshold, self._settings.band)


def result_of(
    run: Run, turns: tuple[TurnVerdict, ...], composition: Composition, partial: bool, outcome: bool | None = None
) -> RunResult:
    """Compose the verdicts of a run's turns into its result.

    ``run.dialog`` is the path taken. Where the dialog names an end state, nothing passes without having reached it
    (``outcome``).
    """
    conversation = run.conversation
    complete = all(played.present and played.complete for played in run.exchanges)
    captured = any(played.present for played in run.exchanges)
    summary = summarise(turns, complete, captured)
    scored = run.dialog.scored_turns
    terms = Terms(
        {turn.turn_no: turn.weight for turn in scored}, frozenset(turn.turn_no for turn in scored if turn.critical)
    )
    return RunResult(
        run_id=run.run_id,
        conversation_key=conversation.key,
        conversation_id=conversation.conversation_id,
        agent=conversation.agent,
        dialog=run.dialog.name,
        dialog_version=run.dialog.version,
        play=run.play,
        release=_common(run.releases, conversation.release),
        model=_common(run.models, conversation.model),
        draft=run.dialog.draft,
        turns=turns,
        success_rate=summary.success_rate,
        test_pass=outcome if summary.test_pass and run.dialog.outcome else summary.test_pass,
        score=composition(turns, terms),
        first_failure_turn=summary.first_failure_turn,
        first_failure_extra=summary.first_failure_extra,
        root_cause=summary.root_cause,
        root_cause_count=summary.root_cause_count,
        cascading_count=summary.cascading_count,
        complete=complete,
        partial=partial,
        started_ns=run.first_ns,
        ended_ns=run.last_ns,
        latency_seconds=run.latency_ns / 1e9,
        trace_ids=run.trace_ids,
        # An explicit id decides alone, so that words can only have told where there is none.
        recognised_by="id" if conversation.dialog_ids else "text",
        variant=run.dialog.variant,
        outcome=outcome,
    )


def _common(values: frozenset[str], otherwise: str | None) -> str | None:
    """The one value of a run's turns; several are ``mixed``; none says what the conversation knows."""
    if len(values) > 1:
        return MIXED
    return next(iter(values), otherwise)
