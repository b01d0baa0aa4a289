"""What is given up when too much is open, and what is closed when nothing more will come."""

from collections.abc import Callable
from typing import Final

from aem_monitor.engine.cells import Cell
from aem_monitor.engine.held import Held
from aem_monitor.engine.recorder import Recorder
from aem_monitor.engine.runs import RunState
from aem_monitor.engine.settings import EngineSettings
from aem_monitor.metrics.registry import Metrics

_ROOM: Final = 0.9
"""Down to this share of a bound is evicted at once, so that not every batch finds it full again."""


class Bounds:
    """Keeps what is open within its bounds.

    Given up first are traces that are no conversation yet, then other traffic, then conversations whose runs are all
    final, and only then runs of golden dialogs: no flood of customers' conversations may push a canary out. Where it is
    what has to be read again after a crash that is too much, the oldest go first: nothing else shortens it.
    """

    def __init__(self, held: Held, recorder: Recorder, metrics: Metrics) -> None:
        self._held = held
        self._recorder = recorder
        self._metrics = metrics

    def exceeded(self, settings: EngineSettings) -> bool:
        """Whether there is too much of something."""
        held = self._held
        return (
            held.traces.size > settings.pending_max_bytes
            or len(held.traces) > settings.max_traces
            or len(held.cells) > settings.max_conversations
            or bool(held.offsets.beyond(settings.max_uncommitted))
        )

    def keep(self, settings: EngineSettings, now: float) -> None:
        """Evict what is too much. Where the store fails, what it should have taken stays."""
        traces, cells = self._held.traces, self._held.cells
        if traces.size > settings.pending_max_bytes:
            self._evict("bytes", lambda: traces.size > _room(settings.pending_max_bytes), now)
        if len(traces) > settings.max_traces:
            self._evict("spans", lambda: len(traces) > _room(settings.max_traces), now)
        if len(cells) > settings.max_conversations:
            self._evict_cells("conversations", lambda: len(cells) > _room(settings.max_conversations), now)
        self._evict_holders(settings, now)

    def _evict(self, cause: str, too_much: Callable[[], bool], now: float) -> None:
        for trace_id in self._held.traces.pending():
            if not too_much():
                return
            self._metrics.counter("aem_monitor_pending_expired_total").inc()
            self._held.finish([trace_id], "other")
        self._evict_cells(cause, too_much, now)

    def _evict_cells(self, cause: str, too_much: Callable[[], bool], now: float) -> None:
        for cell in sorted(self._held.cells, key=self._worth):
            if not too_much():
                return
            self._evict_cell(cause, cell, now)

    def _evict_cell(self, cause: str, cell: Cell, now: float) -> None:
        if not self.close(cell, now):
            return
        self._metrics.counter("aem_monitor_evicted_conversations_total", cause=cause).inc(len(cell.conversations))
        self._held.finish(list(cell.traces))

    def _evict_holders(self, settings: EngineSettings, now: float) -> None:
        """Free the offsets of a partition that too many others wait for, and of traces that go on for too long.

        Each run ends, at its greatest age if not before; a trace in which one run follows the other does not.
        """
        offsets = self._held.offsets
        for partition, following in offsets.beyond(settings.max_uncommitted).items():
            for trace_id in offsets.holders(partition, following - _room(settings.max_uncommitted)):
                self._let_go("offsets", trace_id, now)
        # A run may begin with a trace that was pending, and is cut at its greatest age where the store takes it.
        for trace_id in self._held.traces.opened_before(now - settings.max_run_age - settings.pending_max_age):
            self._let_go("age", trace_id, now)

    def _let_go(self, cause: str, trace_id: str, now: float) -> None:
        if not self._held.offsets.holds(trace_id):
            return
        cell = self._held.cells.get(self._held.traces[trace_id].cell)
        if cell is not None:
            self._evict_cell(cause, cell, now)
            return
        self._metrics.counter("aem_monitor_pending_expired_total").inc()
        self._held.finish([trace_id], "other")

    def _worth(self, cell: Cell) -> tuple[int, float]:
        states = [state for opened in cell.conversations for state in opened.runs]
        rank = 2 if any(not state.is_final for state in states) else 1 if states else 0
        return rank, self._held.traces.heard(cell.traces, 0.0)

    def close(self, cell: Cell, now: float, which: Callable[[RunState], bool] = lambda _: True) -> bool:
        """Make the unfinished runs of a cell final as far as they go; False when the store did not take them all."""
        stored = True
        for opened in cell.conversations:
            for state in opened.runs:
                if state.is_final or not which(state):
                    continue
                self._recorder.propose(state, now, partial=not state.run.all_present)
                stored = self._recorder.finalise(state, now, self._held.offsets.positions, wait=False) and stored
            self._held.settle([trace for state in opened.runs if state.is_final for trace in state.run.trace_ids])
        return stored


def _room(bound: int) -> int:
    return max(1, int(_ROOM * bound))
