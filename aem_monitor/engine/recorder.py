"""From runs to stored and counted verdicts."""

import logging
import time
from collections.abc import Collection
from dataclasses import replace

from aem_monitor.engine.plays import RunState
from aem_monitor.errors import StoreError
from aem_monitor.golden.play import Run
from aem_monitor.metrics.increments import draft_zeros, increments, revision_increments, zeros
from aem_monitor.metrics.registry import Metrics
from aem_monitor.model.increment import Increment
from aem_monitor.model.verdict import UNKNOWN, RunResult
from aem_monitor.pipeline import Pipeline
from aem_monitor.store.records import RunFilter
from aem_monitor.store.store import Store

_LOG = logging.getLogger(__name__)
_COMPLAIN_EVERY = 60.0


class Recorder:
    """Judges runs and keeps what follows. A store that fails changes nothing: the same is tried again later."""

    def __init__(self, pipeline: Pipeline, store: Store, metrics: Metrics, golden_tools: Collection[str]) -> None:
        self._pipeline = pipeline
        self._store = store
        self._metrics = metrics
        self._golden_tools = golden_tools
        self._zeroed: set[tuple[str, str, str, str]] = set()
        self._bases: dict[tuple[str, str, str], int] = {}
        self._complained_at = 0.0
        self.store_up = True

    def use(self, pipeline: Pipeline, golden_tools: Collection[str]) -> None:
        """Judge by other dialogs from now on."""
        self._pipeline = pipeline
        self._golden_tools = golden_tools

    def stored_traces(self, trace_ids: Collection[str]) -> Collection[str]:
        """Those whose run is final in the store: their spans come a second time. Raises ``StoreError``."""
        if not trace_ids:
            return ()
        try:
            known = self._store.run_of_trace(trace_ids).keys()
        except StoreError as error:
            self._failed(error)
            raise
        self._recovered()
        return known

    def plays_before(self, agent: str, key: str, dialog: str, trace_ids: frozenset[str]) -> int:
        """How many plays of the conversation are stored whose spans are no longer held here."""
        known = self._bases.get((agent, key, dialog))
        if known is not None:
            return known
        try:
            stored = self._store.runs(RunFilter(agent=agent, dialog=dialog, conversation_id=key, limit=500))
        except StoreError as error:
            self._failed(error)
            return 0
        plays = [run.result.play for run in stored if not trace_ids & set(run.result.trace_ids)]
        base = max(plays, default=0)
        if len(self._bases) > 100_000:
            self._bases.clear()
        self._bases[agent, key, dialog] = base
        return base

    def opened(self, run: Run, now: float) -> None:
        """Show the series that the run will add to, at zero, before it does."""
        releases = run.releases or {run.conversation.release or UNKNOWN}
        models = run.models or {run.conversation.model or UNKNOWN}
        for release in releases:
            for model in models:
                self._show_zeros(run, release, model, now)

    def _show_zeros(self, run: Run, release: str, model: str, now: float) -> None:
        agent, dialog = run.conversation.agent, run.dialog
        key = (agent, release, model, dialog.name)
        if key in self._zeroed:
            return
        tools = {turn.tool_id for played in dialog.exchanges for turn in played.tools}
        tools |= {item.tool_id for item in dialog.forbidden}
        fresh = draft_zeros(dialog.name) if dialog.draft else zeros(agent, release, model, dialog.name, tools)
        if self._add(fresh):
            self._zeroed.add(key)
        if dialog.draft:
            return
        try:
            if self._store.note_release(agent, release, model, now):
                first = self._metrics.gauge("aem_release_first_seen_timestamp_seconds", agent=agent, release=release)
                first.set(first.value or now)
        except StoreError as error:
            self._failed(error)

    def propose(self, state: RunState, now: float, *, partial: bool = False) -> None:
        """The provisional verdict of a complete run."""
        state.provisional = self._judge(state.run, partial)
        try:
            self._store.record_provisional(state.provisional, now)
        except StoreError as error:
            self._failed(error)

    def finalise(self, state: RunState, now: float) -> bool:
        """Store and count the verdict; False when the store failed and it has to be tried again."""
        if state.provisional is None:
            self.propose(state, now)
        result = state.provisional
        assert result is not None
        admitted = self._metrics.admit(increments(result, self._golden_tools))
        try:
            fresh = self._store.record_final(result, admitted, now)
        except StoreError as error:
            self._failed(error)
            return False
        self._recovered()
        if fresh:
            self._metrics.apply(admitted)
            self._note(result)
        state.final, state.final_at = result, now
        return True

    def revise(self, state: RunState, now: float) -> bool:
        """A later verdict of a final run; False when the store failed."""
        final = state.final
        assert final is not None
        result = replace(self._judge(state.run, partial=False), revision=final.revision)
        if result == final:
            return True
        admitted = self._metrics.admit(revision_increments("late_span"))
        try:
            revision = self._store.record_revision(result, "late_span", now, admitted)
        except StoreError as error:
            self._failed(error)
            return False
        if revision:
            self._metrics.apply(admitted)
            state.final = replace(result, revision=revision)
        return True

    def _judge(self, run: Run, partial: bool) -> RunResult:
        began = time.perf_counter()
        plan = self._pipeline.judge_run(run, partial)
        self._metrics.histogram("aem_monitor_scorer_seconds", scorer="embedded").observe(time.perf_counter() - began)
        return plan.result

    def _note(self, result: RunResult) -> None:
        latest = self._metrics.gauge("aem_dialog_last_run_timestamp_seconds", dialog=result.dialog)
        latest.set(max(latest.value, result.ended_ns / 1e9))

    def _add(self, fresh: list[Increment]) -> bool:
        admitted = self._metrics.admit(fresh)
        try:
            self._store.add_totals(admitted)
        except StoreError as error:
            self._failed(error)
            return False
        self._recovered()
        self._metrics.apply(admitted)
        return True

    def _failed(self, error: StoreError) -> None:
        self._metrics.counter("aem_monitor_store_errors_total", reason=error.reason).inc()
        self.store_up = False
        now = time.monotonic()
        if now - self._complained_at >= _COMPLAIN_EVERY:
            self._complained_at = now
            _LOG.error("The store failed; what it should have taken is kept and tried again: %s", error)

    def _recovered(self) -> None:
        self.store_up = True
