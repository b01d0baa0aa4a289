"""Which traces have to be looked at together: those that share a conversation id, or that carry none.

A cell is no conversation yet: assembly finds those in it. Traces without an id can only be joined by their message
history, so that all of one agent's share a cell.
"""

from dataclasses import dataclass, field

from aem_monitor.assembly import TraceReading
from aem_monitor.engine.plays import OpenConversation


@dataclass(slots=True)
class Cell:
    """Traces that may join. ``conversations`` is what assembly made of them when the cell was last dirty."""

    number: int
    traces: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    dirty: bool = True
    conversations: list[OpenConversation] = field(default_factory=list)


class Cells:
    """The cells, found by the conversation ids of their traces."""

    def __init__(self) -> None:
        self._cells: dict[int, Cell] = {}
        self._by_key: dict[str, int] = {}
        self._next = 0

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(list(self._cells.values()))

    def __len__(self) -> int:
        return len(self._cells)

    def place(self, trace_id: str, reading: TraceReading, before: int | None) -> int:
        """Put a trace where its ids say; returns the cell's number. ``before`` is where it was."""
        keys = _keys(reading)
        numbers = {self._by_key[key] for key in keys if key in self._by_key}
        if before is not None and before in self._cells:
            numbers.add(before)
        cell = self._merge(sorted(numbers)) if numbers else self._new()
        cell.traces.add(trace_id)
        cell.keys |= keys
        cell.dirty = True
        for key in keys:
            self._by_key[key] = cell.number
        return cell.number

    def get(self, number: int | None) -> Cell | None:
        """The cell of that number; cells that were merged away are gone."""
        return None if number is None else self._cells.get(number)

    def remove(self, cell: Cell, trace_ids: set[str]) -> None:
        """The traces are finished; a cell without traces is gone."""
        cell.traces -= trace_ids
        if cell.traces:
            cell.dirty = True
            return
        del self._cells[cell.number]
        for key in cell.keys:
            if self._by_key.get(key) == cell.number:
                del self._by_key[key]

    def _new(self) -> Cell:
        self._next += 1
        cell = self._cells[self._next] = Cell(self._next)
        return cell

    def _merge(self, numbers: list[int]) -> Cell:
        kept = self._cells[numbers[0]]
        for number in numbers[1:]:
            other = self._cells.pop(number)
            kept.traces |= other.traces
            kept.keys |= other.keys
            for key in other.keys:
                self._by_key[key] = kept.number
        return kept


def _keys(reading: TraceReading) -> set[str]:
    ids = {f"id:{value}" for value in reading.conversation_ids}
    if any(exchange.key is None for exchange in reading.exchanges) or not ids:
        agents = {exchange.agent for exchange in reading.exchanges}
        ids |= {f"agent:{agent}" for agent in agents}
    return ids
