"""From runs to stored and counted verdicts."""

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, TypeVar

from aem_monitor.engine.answers import ExpertAnswers
from aem_monitor.engine.runs import RunState
from aem_monitor.errors import StoreError
from aem_monitor.golden.play import Run
from aem_monitor.ingest.batch import Partition
from aem_monitor.metrics.increments import draft_zeros, increments, revision_increments, zeros
from aem_monitor.metrics.registry import Metrics
from aem_monitor.model.increment import Increment
from aem_monitor.model.verdict import UNKNOWN, RunResult
from aem_monitor.pipeline import Pipeline
from aem_monitor.scoring.oracle import Question
from aem_monitor.store.conversations import Packed
from aem_monitor.store.records import StoredPlay
from aem_monitor.store.store import Store

T = TypeVar("T")

_LOG = logging.getLogger(__name__)
_COMPLAIN_EVERY: Final = 60.0
_TRY_EVERY: Final = 3.0
_CANNOT_WRITE: Final = frozenset({"locked", "full", "corrupt", "readonly", "unavailable"})
"""Reasons that hold for everything that would be written; the others may be those of a single record."""


@dataclass(frozen=True, slots=True)
class _Unwritable:
    """Since when (seconds since the epoch) and why nothing can be written; ``said`` when the log has it."""

    since: float
    reason: str
    said: bool


class Recorder:
    """Judges runs and keeps what follows. A store that fails changes nothing: the same is tried again later."""

    def __init__(
        self,
        pipeline: Pipeline,
        store: Store,
        metrics: Metrics,
        golden_tools: Collection[str],
        experts: ExpertAnswers | None = None,
        wall: Callable[[float], float] = lambda now: now,
    ) -> None:
        """``wall`` turns a time of the engine's clock into what people read on theirs: what is stored has that."""
        self._experts = experts
        self._wall = wall
        self._pipeline = pipeline
        self._store = store
        self._metrics = metrics
        self._golden_tools = golden_tools
        self._zeroed: set[tuple[str, str, str, str]] = set()
        self._complained_at = -_COMPLAIN_EVERY
        self._unwritable: _Unwritable | None = None
        self._tried_at = 0.0
        self.store_up = True
        self.finals = 0
        """How many runs this process has made final."""

    def use(self, pipeline: Pipeline, golden_tools: Collection[str]) -> None:
        """Judge by other dialogs from now on."""
        self._pipeline = pipeline
        self._golden_tools = golden_tools

    def plays_of_traces(self, trace_ids: Collection[str]) -> Mapping[str, Sequence[StoredPlay]]:
        """The final runs of each of these traces. Raises ``StoreError``."""
        return self._asked(lambda: self._store.plays_of_traces(trace_ids)) if trace_ids else {}

    def plays(self, agent: str, conversation_key: str) -> Sequence[StoredPlay]:
        """The final runs of a conversation. Raises ``StoreError``."""
        return self._asked(lambda: self._store.plays(agent, conversation_key))

    def _asked(self, ask: Callable[[], T]) -> T:
        try:
            answer = ask()
        except StoreError as error:
            self._failed(error)
            raise
        self._recovered()
        return answer

    def show(self, run: Run, now: float) -> None:
        """Show the series that an open run will add to, at zero, before it does."""
        releases = run.releases or {run.conversation.release or UNKNOWN}
        models = run.models or {run.conversation.model or UNKNOWN}
        for release in releases:
            for model in models:
                self._show_zeros(run, release, model, now)

    def withdraw(self, run_ids: Collection[str]) -> None:
        """These provisional verdicts are of no run any more. Where the store fails they stay until retention."""
        if not run_ids:
            return
        try:
            self._store.drop_provisional(run_ids)
        except StoreError as error:
            self._write_failed(error)

    def _show_zeros(self, run: Run, release: str, model: str, now: float) -> None:
        agent, dialog = run.conversation.agent, run.dialog
        key = (agent, release, model, dialog.name)
        if key in self._zeroed:
            return
        fresh = draft_zeros(dialog.name) if dialog.draft else zeros(agent, release, model, dialog.name, dialog.tool_ids)
        if self._add(fresh):
            self._zeroed.add(key)
        if dialog.draft:
            return
        try:
            if self._store.note_release(agent, release, model, self._wall(now)):
                first = self._metrics.gauge("aem_release_first_seen_timestamp_seconds", agent=agent, release=release)
                first.set(first.value or self._wall(now))
        except StoreError as error:
            self._write_failed(error)

    def propose(self, state: RunState, now: float, *, partial: bool = False) -> None:
        """The provisional verdict of a complete run."""
        state.partial = partial
        state.provisional, waits = self._judge(state.run, partial)
        state.asked_at = now if waits else None
        try:
            self._store.record_provisional(state.provisional, self._wall(now))
        except StoreError as error:
            self._write_failed(error)

    def finalise(
        self, state: RunState, now: float, positions: Mapping[Partition, int] | None = None, *, wait: bool = True
    ) -> bool:
        """Store and count the verdict, with how far the input is done; False when it has to be tried again.

        That is when the store failed, or, with ``wait``, when an expert has not answered yet. What is not answered in
        time is ``scorer_error``.
        """
        if state.provisional is None:
            self.propose(state, now)
        if state.asked_at is not None and not self._settle(state, now, wait):
            return False
        result = state.provisional
        assert result is not None
        assert result.run_id == state.run_id
        admitted = self._metrics.admit(increments(result, self._golden_tools, state.run.exchange_latencies))
        try:
            fresh = self._store.record_final(result, admitted, self._wall(now), positions, self._packed(state.run))
        except StoreError as error:
            self._write_failed(error)
            state.unsure = True
            return False
        self._written()
        # After an attempt that failed, a run that is there already is this process' own: the connection was lost
        # between the commit and its answer.
        if fresh or state.unsure:
            self._metrics.apply(admitted)
            self._note(result)
            self.finals += 1
        state.final, state.final_at = result, now
        return True

    def revise(self, state: RunState, now: float) -> bool:
        """A later verdict of a final run; False when the store failed."""
        final = state.final
        assert final is not None
        result = replace(
            self._judge(state.run, partial=False, wait=False)[0],
            run_id=final.run_id,
            conversation_key=final.conversation_key,
            revision=final.revision,
        )
        if result == final:
            return True
        admitted = self._metrics.admit(revision_increments("late_span"))
        try:
            revision = self._store.record_revision(
                result, "late_span", self._wall(now), admitted, self._packed(state.run)
            )
        except StoreError as error:
            self._write_failed(error)
            return False
        if revision:
            self._metrics.apply(admitted)
            state.final = replace(result, revision=revision)
        return True

    def _packed(self, run: Run) -> Packed | None:
        packed = self._store.pack(run.own_conversation)
        if packed is not None and packed.body is None:
            self._metrics.counter("aem_monitor_conversations_not_kept_total").inc()
        return packed

    def _settle(self, state: RunState, now: float, wait: bool) -> bool:
        """Judge again with the answers that have come; False while it is worth waiting for more."""
        assert self._experts is not None
        assert state.asked_at is not None
        late = not wait or now - state.asked_at >= self._experts.deadline
        result, waits = self._judge(state.run, state.partial, wait=not late)
        if waits:
            return False
        state.provisional, state.asked_at = result, None
        return True

    def _judge(self, run: Run, partial: bool, *, wait: bool = True) -> tuple[RunResult, bool]:
        """The verdict, and whether it may still change by an expert's answer.

        Without ``wait`` what is open counts as failed. An answer can raise a question that nobody could know before,
        but each round settles at least one.
        """
        began = time.perf_counter()
        plan = self._pipeline.judge_run(run, partial)
        answers: dict[str, float | None] = {}
        open_questions = False
        while plan.questions and self._experts is not None:
            found = self._look_up(plan.questions)
            if not wait:
                found = {question.key: found.get(question.key) for question in plan.questions}
            if not found:
                open_questions = True
                break
            answers.update(found)
            plan = self._pipeline.decide_run(run, answers, partial)
        self._metrics.histogram("aem_monitor_scorer_seconds", scorer="embedded").observe(time.perf_counter() - began)
        return plan.result, open_questions

    def _look_up(self, questions: Sequence[Question]) -> dict[str, float | None]:
        assert self._experts is not None
        try:
            return self._experts.look_up(questions)
        except StoreError as error:
            self._failed(error)
            return {}

    def _note(self, result: RunResult) -> None:
        latest = self._metrics.gauge("aem_dialog_last_run_timestamp_seconds", dialog=result.dialog)
        latest.set(max(latest.value, result.ended_ns / 1e9))

    def _add(self, fresh: list[Increment]) -> bool:
        admitted = self._metrics.admit(fresh)
        try:
            self._store.add_totals(admitted)
        except StoreError as error:
            self._write_failed(error)
            return False
        self._recovered()
        self._metrics.apply(admitted)
        return True

    # A store that fails

    def cannot_write(self) -> str | None:
        """Since when and why nothing can be written, in a sentence; None while it can. From any thread."""
        found = self._unwritable
        if found is None:
            return None
        since = datetime.fromtimestamp(found.since, UTC)
        return f"the store cannot be written since {since:%Y-%m-%dT%H:%M:%SZ}: {found.reason}"

    def try_again(self) -> None:
        """Find out whether the store takes anything again, where nothing else that is to be written tells."""
        if self._unwritable is None or time.monotonic() - self._tried_at < _TRY_EVERY:
            return
        try:
            self._store.check_writing()
        except StoreError as error:
            self._write_failed(error)
        else:
            self._written()

    def _failed(self, error: StoreError) -> bool:
        """Count it; True when the log was told, which it is at most once a minute."""
        self._metrics.counter("aem_monitor_store_errors_total", reason=error.reason).inc()
        self.store_up = False
        now = time.monotonic()
        if now - self._complained_at < _COMPLAIN_EVERY:
            return False
        self._complained_at = now
        _LOG.error("The store failed; what it should have taken is kept and tried again: %s", error)
        return True

    def _write_failed(self, error: StoreError) -> None:
        self._tried_at = time.monotonic()
        known = self._unwritable
        if known is not None and known.said:
            # Once is enough, until it is over.
            self._complained_at = self._tried_at
        said = self._failed(error)
        if error.reason in _CANNOT_WRITE:
            since = time.time() if known is None else known.since
            self._unwritable = _Unwritable(since, error.reason, said or (known is not None and known.said))

    def _written(self) -> None:
        known, self._unwritable = self._unwritable, None
        if known is not None and known.said:
            _LOG.info("The store can be written again, after %.0f seconds", time.time() - known.since)
        self._recovered()

    def _recovered(self) -> None:
        self.store_up = self._unwritable is None
