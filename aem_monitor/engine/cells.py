"""Which traces have to be looked at together: those that share a conversation id, or that carry none.

A cell is no conversation yet: assembly finds those in it. Traces without an id can only be joined by their message
history, so that all of one agent's share a cell.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from aem_monitor.assembly import TraceReading
from aem_monitor.engine.runs import OpenConversation


@dataclass(slots=True)
class Cell:
    """Traces that may join, each with the keys that say so.

    ``conversations`` is what assembly made of them when the cell was last dirty. While it is dirty it rests until
    ``renew_at``; otherwise nothing in it can happen before ``look_at`` (wall clock seconds).
    """

    number: int
    traces: dict[str, frozenset[str]] = field(default_factory=dict)
    dirty: bool = True
    look_at: float = 0.0
    renew_at: float = 0.0
    conversations: list[OpenConversation] = field(default_factory=list)

    def due(self, now: float) -> bool:
        """Whether there is something to do."""
        return (self.renew_at if self.dirty else self.look_at) <= now


class Cells:
    """The cells, found by the keys of their traces."""

    def __init__(self) -> None:
        self._cells: dict[int, Cell] = {}
        self._by_key: dict[str, int] = {}
        self._next = 0

    def __iter__(self) -> Iterator[Cell]:
        return iter(list(self._cells.values()))

    def __len__(self) -> int:
        return len(self._cells)

    def place(self, trace_id: str, reading: TraceReading, before: int | None) -> int:
        """Put a trace where its ids say; returns the cell's number. ``before`` is where it was.

        A trace whose id was not known at first leaves the cell of those without one: staying, it would tie each
        conversation to all others of its agent.
        """
        keys = _keys(reading)
        old = self.get(before)
        if old is not None and old.traces.get(trace_id) == keys:
            old.dirty = True
            return old.number
        if old is not None:
            self.remove(old, {trace_id})
        numbers = sorted({self._by_key[key] for key in keys if key in self._by_key})
        cell = self._merge(numbers) if numbers else self._new()
        if old is not None and not old.traces:
            # What was made of the trace there is succeeded by what is made of it here.
            cell.conversations += old.conversations
        cell.traces[trace_id] = keys
        cell.dirty = True
        for key in keys:
            self._by_key[key] = cell.number
        return cell.number

    def get(self, number: int | None) -> Cell | None:
        """The cell of that number; cells that were merged away are gone."""
        return None if number is None else self._cells.get(number)

    def remove(self, cell: Cell, trace_ids: Collection[str]) -> None:
        """The traces are no longer in the cell; a cell without traces is gone."""
        gone = [cell.traces.pop(trace_id) for trace_id in trace_ids if trace_id in cell.traces]
        left = set().union(*cell.traces.values()) if cell.traces else set()
        for key in set().union(*gone) - left if gone else ():
            if self._by_key.get(key) == cell.number:
                del self._by_key[key]
        cell.dirty = True
        if not cell.traces:
            self._cells.pop(cell.number, None)

    def _new(self) -> Cell:
        self._next += 1
        cell = self._cells[self._next] = Cell(self._next)
        return cell

    def _merge(self, numbers: list[int]) -> Cell:
        kept = self._cells[numbers[0]]
        for number in numbers[1:]:
            other = self._cells.pop(number)
            kept.traces.update(other.traces)
            kept.conversations += other.conversations
            for keys in other.traces.values():
                for key in keys:
                    self._by_key[key] = kept.number
        return kept


def _keys(reading: TraceReading) -> frozenset[str]:
    ids = {f"id:{value}" for value in reading.conversation_ids}
    if any(exchange.key is None for exchange in reading.exchanges) or not ids:
        ids |= {f"agent:{exchange.agent}" for exchange in reading.exchanges}
    return frozenset(ids)
