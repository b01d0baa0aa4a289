"""The state machine between decoded spans and stored verdicts.

It has no thread and no clock: ``ingest`` takes what sources decoded, ``tick`` lets time pass, both with the wall clock
as an argument. What traces mean is asked of the pure pipeline; only when to ask, and what to keep, is decided here.
"""

import logging
from collections.abc import Collection, Mapping
from dataclasses import replace

from aem_monitor.engine.cells import Cell, Cells
from aem_monitor.engine.offsets import OffsetTracker
from aem_monitor.engine.plays import OpenConversation, RunState
from aem_monitor.engine.recorder import Recorder
from aem_monitor.engine.remembered import Remembered
from aem_monitor.engine.settings import EngineSettings
from aem_monitor.engine.traces import Added, TraceBuffer, TraceState
from aem_monitor.engine.watermark import Watermark
from aem_monitor.golden.play import Run
from aem_monitor.ingest.batch import Batch, EngineInput, Partition, PartitionsAssigned, PartitionsRevoked
from aem_monitor.ingest.causes import Skipped
from aem_monitor.metrics.registry import Metrics
from aem_monitor.pipeline import Pipeline

_NS = 10**9
_LOG = logging.getLogger(__name__)

_FINAL = "final"
_STORED = "stored"
_OTHER = "other"


class Engine:
    """All state of one daemon. One thread calls it."""

    def __init__(self, pipeline: Pipeline, settings: EngineSettings, recorder: Recorder, metrics: Metrics) -> None:
        self._pipeline = pipeline
        self._settings = settings
        self._recorder = recorder
        self._metrics = metrics
        self._traces = TraceBuffer()
        self._cells = Cells()
        self._watermark = Watermark(settings.wall_idle)
        self._offsets = OffsetTracker()
        self._decided = Remembered(settings.remembered_traces)
        self._left_alone = Remembered(settings.max_conversations)
        self._runs: dict[str, RunState] = {}
        self._dirty: set[str] = set()
        self._settled: set[str] = set()
        self._late = metrics.counter("aem_monitor_late_spans_total")
        self._duplicates = metrics.counter("aem_monitor_duplicate_spans_total")

    # Input

    def ingest(self, item: EngineInput, now: float) -> None:
        """Take in a batch, or a change of partitions. Raises ``StoreError``; then nothing was taken in."""
        if isinstance(item, Batch):
            self._ingest_batch(item, now)
        elif isinstance(item, PartitionsAssigned):
            for topic, partition in item.partitions:
                self._watermark.assign(f"{topic}/{partition}", now)
        else:
            self._revoke(item)

    def _ingest_batch(self, batch: Batch, now: float) -> None:
        decoded = batch.decoded
        touched = {span.trace_id for span in decoded.spans} | {record.trace_id for record in decoded.logs}
        unknown = [trace for trace in touched if trace not in self._traces and self._decided.get(trace) is None]
        for trace in self._recorder.stored_traces(unknown):
            self._decided.put(trace, _STORED)
        self._count_received(batch)
        self._watermark.observe(batch.sender, decoded.max_end_ns, now)
        if batch.position is not None:
            self._offsets.received(batch.position)
        kept: set[str] = set()
        for span in decoded.spans:
            word = self._decided.get(span.trace_id)
            if word is not None:
                self._count_latecomer(word)
                continue
            state = self._traces.open(span.trace_id, now)
            before = state.size
            added = state.add(span)
            self._traces.grown(state.size - before)
            state.last_arrival = now
            if added is Added.NEW:
                self._dirty.add(span.trace_id)
                if span.trace_id in self._settled:
                    self._late.inc()
            else:
                self._duplicates.inc()
                if added is Added.ANOTHER_COPY:
                    self._dirty.add(span.trace_id)
            kept.add(span.trace_id)
        for record in decoded.logs:
            if self._decided.get(record.trace_id) is not None:
                continue
            state = self._traces.open(record.trace_id, now)
            before = state.size
            if state.add_log(record):
                self._dirty.add(record.trace_id)
            self._traces.grown(state.size - before)
            state.last_arrival = now
            kept.add(record.trace_id)
        if batch.position is not None:
            # A late span of a run that is stored already holds no offset.
            for trace in kept - self._settled:
                self._offsets.hold(trace, batch.position)

    def _count_received(self, batch: Batch) -> None:
        decoded, source = batch.decoded, batch.source
        self._metrics.counter("aem_monitor_received_batches_total", source=source).inc()
        self._metrics.counter("aem_monitor_received_spans_total", source=source).inc(decoded.seen_spans)
        self._metrics.counter("aem_monitor_received_logs_total", source=source).inc(decoded.seen_logs)
        for cause, amount in decoded.skipped.items():
            self._metrics.counter("aem_monitor_skipped_spans_total", cause=cause).inc(amount)

    def _count_latecomer(self, word: str) -> None:
        match word:
            case "final":
                self._late.inc()
            case "stored":
                self._duplicates.inc()
            case _:
                self._metrics.counter("aem_monitor_skipped_spans_total", cause=Skipped.NOT_A_RUN.value).inc()

    def _revoke(self, item: PartitionsRevoked) -> None:
        for topic, partition in item.partitions:
            self._watermark.forget(f"{topic}/{partition}")
        gone = {trace for trace in self._offsets.revoke(item.partitions) if trace in self._traces}
        if gone:
            _LOG.info(
                "%d open traces go back with the revoked partitions; their next owner reads them again", len(gone)
            )
        self._forget(gone, None)

    # Time

    def tick(self, now: float) -> None:
        """Look at what has changed, complete what is due, keep the bounds. Never raises for bad data or a bad store."""
        event_now = self._watermark.event_now(now)
        self._watermark.prune(now, after=max(3600.0, 10 * self._settings.wall_idle))
        self._read_dirty()
        for cell in self._cells:
            self._look_at(cell, now, event_now)
        self._expire_pending(now)
        self._keep_bounds(now)

    def _look_at(self, cell: Cell, now: float, event_now: int) -> None:
        try:
            if cell.dirty:
                self._assemble(cell, now)
            self._advance(cell, now, event_now)
        except Exception:  # noqa: BLE001 - logged and counted there
            # One conversation that the program cannot handle must not stop all others.
            self._gave_up("conversation", set(cell.traces))

    def _gave_up(self, stage: str, trace_ids: set[str]) -> None:
        _LOG.exception("%d traces were given up because of a defect; please report it", len(trace_ids))
        self._metrics.counter("aem_monitor_engine_errors_total", step=stage).inc()
        self._forget(trace_ids, _OTHER)

    def releasable(self) -> Mapping[Partition, int]:
        """Partitions whose offsets have become free since the last call."""
        return self._offsets.releasable()

    def _read_dirty(self) -> None:
        for trace_id in sorted(self._dirty):
            state = self._traces.get(trace_id)
            if state is None:
                continue
            try:
                reading = self._pipeline.read(state.all_spans(), list(state.logs.values()))
            except Exception:  # noqa: BLE001 - logged and counted there
                self._gave_up("trace", {trace_id})
                continue
            state.reading = reading
            if reading.has_turns:
                state.cell = self._cells.place(trace_id, reading, state.cell)
        self._dirty.clear()

    def _assemble(self, cell: Cell, now: float) -> None:
        """Conversations and runs of a cell, anew; what is known of runs that are still there is kept."""
        states = [self._traces[trace] for trace in sorted(cell.traces) if trace in self._traces]
        for state in states:
            state.cell = cell.number
        readings = [state.reading for state in states if state.reading is not None]
        cell.conversations = []
        for conversation in self._pipeline.join(readings):
            recognition = self._pipeline.recognise(conversation)
            opened = OpenConversation(conversation, recognition)
            if recognition.dialog is not None:
                key = (conversation.agent, conversation.key, recognition.dialog.name)
                base = self._recorder.plays_before(*key, frozenset(conversation.trace_ids))
                for run in self._pipeline.runs(conversation, recognition.dialog):
                    self._open_run(opened, run, base, now)
            cell.conversations.append(opened)
        cell.dirty = False

    def _open_run(self, opened: OpenConversation, run: Run, base: int, now: float) -> None:
        if base and not run.starts_on_script and run.play == 1:
            # Spans of a run that was stored before this process knew of it: late, and no run of their own.
            self._late.inc(len(run.trace_ids))
            return
        numbered = replace(run, play=run.play + base)
        state = self._runs.get(numbered.run_id)
        if state is None:
            state = self._runs[numbered.run_id] = RunState(numbered.run_id, now, numbered)
            self._recorder.opened(numbered, now)
        else:
            state.changed = state.changed or state.run != numbered
            state.run = numbered
        opened.runs.append(state)

    def _advance(self, cell: Cell, now: float, event_now: int) -> None:
        finished: set[str] = set()
        for opened in cell.conversations:
            if opened.recognition.dialog is None:
                finished |= self._unrecognised(opened, now)
                continue
            for number, state in enumerate(opened.runs):
                self._advance_run(opened, state, number == len(opened.runs) - 1, now, event_now)
            self._let_go(opened)
            if self._is_over(opened, now):
                finished |= set(opened.conversation.trace_ids)
                for state in opened.runs:
                    self._runs.pop(state.run_id, None)
        if finished:
            self._forget(finished & cell.traces, None)

    def _advance_run(self, opened: OpenConversation, state: RunState, last: bool, now: float, event_now: int) -> None:
        if state.is_final:
            if state.changed:
                state.changed = not self._recorder.revise(state, now)
            return
        too_old = now - state.opened_at >= self._settings.max_run_age
        if not too_old and last and not self._is_complete(opened, state, now, event_now):
            return
        if state.changed or state.provisional is None:
            self._recorder.propose(state, now, partial=too_old)
            state.changed = False
        if too_old:
            self._metrics.counter("aem_monitor_evicted_conversations_total", cause="age").inc()
        if too_old or self._grace_over(state, now, event_now):
            self._recorder.finalise(state, now)

    def _is_complete(self, opened: OpenConversation, state: RunState, now: float, event_now: int) -> bool:
        if state.run.all_present or opened.conversation.ended:
            return True
        idle = self._settings.idle
        return event_now - opened.conversation.last_ns >= idle * _NS and now - self._heard(state) >= min(
            idle, self._settings.wall_idle
        )

    def _grace_over(self, state: RunState, now: float, event_now: int) -> bool:
        grace = self._settings.grace
        return event_now - state.run.last_ns >= grace * _NS and now - self._heard(state) >= grace

    def _heard(self, state: RunState) -> float:
        """When the last span of the run's traces arrived."""
        arrivals = [self._traces[trace].last_arrival for trace in state.run.trace_ids if trace in self._traces]
        return max(arrivals, default=state.opened_at)

    def _is_over(self, opened: OpenConversation, now: float) -> bool:
        window = self._settings.late_window
        if not opened.runs:
            return self._quiet(opened, now) >= self._settings.grace
        return all(state.is_final and now - max(state.final_at, self._heard(state)) >= window for state in opened.runs)

    def _let_go(self, opened: OpenConversation) -> None:
        """Offsets of traces whose runs are all stored are free, also while the conversation goes on."""
        unfinished = {trace for state in opened.runs if not state.is_final for trace in state.run.trace_ids}
        final = {trace for state in opened.runs if state.is_final for trace in state.run.trace_ids}
        self._settled -= unfinished
        fresh = final - unfinished - self._settled
        if fresh:
            self._settled |= fresh
            self._offsets.let_go(fresh)

    def _unrecognised(self, opened: OpenConversation, now: float) -> set[str]:
        """Traces of other traffic are dropped as soon as nothing more can make them a run."""
        conversation = opened.conversation
        quiet = self._quiet(opened, now)
        settled = any(exchange.root_seen for exchange in conversation.exchanges)
        if quiet < (self._settings.grace if settled else self._settings.pending_max_age):
            return set()
        if self._left_alone.get(conversation.key) is None:
            self._left_alone.put(conversation.key, opened.recognition.outcome)
            name = "aem_monitor_unrecognised_conversations_total"
            self._metrics.counter(name, outcome=opened.recognition.outcome).inc()
        return set(conversation.trace_ids)

    def _quiet(self, opened: OpenConversation, now: float) -> float:
        ids = opened.conversation.trace_ids
        arrivals = [self._traces[trace].last_arrival for trace in ids if trace in self._traces]
        return now - max(arrivals, default=0.0)

    # Bounds

    def _forget(self, trace_ids: Collection[str], word: str | None) -> None:
        """Drop traces and free their offsets; ``word`` None derives from their runs what latecomers are."""
        by_cell: dict[int, set[str]] = {}
        for trace in trace_ids:
            state = self._traces.get(trace)
            if state is None:
                continue
            if state.cell is not None:
                by_cell.setdefault(state.cell, set()).add(trace)
            self._decided.put(trace, word or (_FINAL if trace in self._settled else _OTHER))
        self._offsets.let_go(trace_ids)
        self._settled.difference_update(trace_ids)
        for number, traces in by_cell.items():
            cell = self._cells.get(number)
            if cell is not None:
                self._cells.remove(cell, traces)
        self._traces.drop(trace_ids)

    def _expire_pending(self, now: float) -> None:
        """Traces without any turn may still become part of a run, for a while."""
        old = [
            state.trace_id
            for state in self._traces.states()
            if state.cell is None and now - state.first_seen >= self._settings.pending_max_age
        ]
        if old:
            self._metrics.counter("aem_monitor_pending_expired_total").inc(len(old))
            self._forget(old, _OTHER)

    def _keep_bounds(self, now: float) -> None:
        over_size = self._traces.size > self._settings.pending_max_bytes
        over_count = len(self._traces) > self._settings.max_traces
        over_cells = len(self._cells) > self._settings.max_conversations
        if not (over_size or over_count or over_cells):
            return
        cause = "bytes" if over_size else "spans" if over_count else "conversations"
        for state in sorted(self._traces.states(), key=lambda state: (state.cell is not None, state.last_arrival)):
            if (
                self._traces.size <= 0.9 * self._settings.pending_max_bytes
                and len(self._traces) <= 0.9 * self._settings.max_traces
                and len(self._cells) <= self._settings.max_conversations
            ):
                return
            if state.trace_id in self._traces:
                self._evict(state, cause, now)

    def _evict(self, state: TraceState, cause: str, now: float) -> None:
        cell = self._cells.get(state.cell)
        if cell is None:
            self._metrics.counter("aem_monitor_pending_expired_total").inc()
            self._forget([state.trace_id], _OTHER)
            return
        self._close_cell(cell, now, partial=True)
        self._metrics.counter("aem_monitor_evicted_conversations_total", cause=cause).inc(len(cell.conversations))
        self._forget(set(cell.traces), None)

    def _close_cell(self, cell: Cell, now: float, *, partial: bool) -> None:
        for opened in cell.conversations:
            for run in opened.runs:
                if run.is_final:
                    continue
                self._recorder.propose(run, now, partial=partial and not run.run.all_present)
                self._recorder.finalise(run, now)
                self._runs.pop(run.run_id, None)

    # End

    def drain(self, now: float) -> None:
        """Before the process ends: nothing that no log still holds may be lost.

        Runs from Kafka are left to whoever reads their offsets next. Runs from elsewhere are scored as far as they go.
        """
        self._read_dirty()
        for cell in self._cells:
            if cell.dirty:
                self._assemble(cell, now)
            if not any(self._offsets.holds(trace) for trace in cell.traces):
                self._close_cell(cell, now, partial=True)

    def reconfigure(self, pipeline: Pipeline, settings: EngineSettings, golden_tools: Collection[str]) -> None:
        """Use other settings and dialogs from now on; open conversations are looked at again with them."""
        self._pipeline = pipeline
        self._settings = settings
        self._recorder.use(pipeline, golden_tools)
        self._dirty.update(state.trace_id for state in self._traces.states())
        for cell in self._cells:
            cell.dirty = True

    # Gauges

    def open_conversations(self) -> int:
        """Conversations that are not over."""
        return sum(len(cell.conversations) for cell in self._cells)

    def open_runs(self) -> int:
        """Runs without a final verdict."""
        return sum(not run.is_final for run in self._runs.values())

    def pending(self) -> tuple[int, int]:
        """Traces that are no run yet, and the estimated bytes of all open traces."""
        return sum(state.cell is None for state in self._traces.states()), self._traces.size

    def event_now(self, now: float) -> int:
        """The watermark in nanoseconds; 0 before anything came."""
        return self._watermark.event_now(now)
