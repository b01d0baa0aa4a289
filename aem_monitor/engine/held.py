"""Everything that is open: traces, the cells that they share, their runs, and the offsets that they hold."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from aem_monitor.engine.cells import Cells
from aem_monitor.engine.offsets import OffsetTracker
from aem_monitor.engine.remembered import Remembered
from aem_monitor.engine.runs import RunBook
from aem_monitor.engine.traces import TraceBuffer
from aem_monitor.ingest.batch import Partition

Word: TypeAlias = Literal["final", "other"]


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a trace that is no longer held: its runs are ``final``, or it was ``other`` traffic.

    Spans that start after ``until_ns`` are no latecomers but something new in the same trace.
    """

    word: Word
    until_ns: int


class Held:
    """The state of the engine. ``dirty`` are traces that have to be read anew."""

    def __init__(self, remembered_traces: int) -> None:
        self.traces = TraceBuffer()
        self.cells = Cells()
        self.runs = RunBook()
        self.offsets = OffsetTracker()
        self.decided: Remembered[Decided] = Remembered(remembered_traces)
        self.dirty: set[str] = set()

    def stand_still(self, partitions: Collection[Partition], now: float, passed: float) -> None:
        """What is unfinished of these partitions is as old as ``passed`` seconds ago, and was heard of ``now``."""
        traces = self.offsets.traces_of(partitions)
        for trace_id in traces:
            state = self.traces.get(trace_id)
            if state is not None:
                state.first_seen += passed
                state.last_arrival = now
        for run in self.runs.of_traces(traces):
            run.opened_at += passed

    def settle(self, trace_ids: Collection[str]) -> None:
        """Nothing in these traces is unfinished: they hold no offset, and what comes for them is late."""
        self.offsets.let_go(trace_ids)
        for trace_id in trace_ids:
            state = self.traces.get(trace_id)
            if state is not None:
                state.settled_ns = state.last_ns()

    def unsettle(self, trace_ids: Collection[str]) -> None:
        """Something in these traces is unfinished, perhaps again."""
        for trace_id in trace_ids:
            state = self.traces.get(trace_id)
            if state is not None:
                state.settled_ns = None

    def finish(self, trace_ids: Collection[str], word: Word | None = None) -> None:
        """Forget traces, free their offsets, and remember what they were: by default ``final`` if they are settled."""
        for trace_id in trace_ids:
            state = self.traces.get(trace_id)
            if state is not None:
                known = word or ("final" if state.settled_ns is not None else "other")
                self.decided.put(trace_id, Decided(known, state.last_ns()))
        self.forget(trace_ids)

    def forget(self, trace_ids: Collection[str]) -> None:
        """Forget traces as if they had never come, so that they may come again."""
        by_cell: dict[int, set[str]] = {}
        for trace_id in trace_ids:
            state = self.traces.get(trace_id)
            if state is not None and state.cell is not None:
                by_cell.setdefault(state.cell, set()).add(trace_id)
        for number, traces in by_cell.items():
            cell = self.cells.get(number)
            if cell is not None:
                self.cells.remove(cell, traces)
        self.offsets.let_go(trace_ids)
        self.runs.forget_traces(trace_ids)
        self.dirty.difference_update(trace_ids)
        self.traces.drop(trace_ids)
