"""Which Kafka offsets may be committed, and which segments of the journal deleted: nothing that an unfinished trace
still needs."""

from collections.abc import Collection, Iterable, Mapping

from aem_monitor.ingest.batch import JOURNAL, Partition, Position

_ABANDONED = ""
"""Stands for a message that was received and could not be taken in; no trace has this id."""


class OffsetTracker:
    """Per partition, the lowest offset that is still needed.

    Offsets are those really received: compacted and transactional topics have holes, so the next offset is never
    derived from the last one plus a guess about what lies between.
    """

    def __init__(self) -> None:
        self._next: dict[Partition, int] = {}
        self._held: dict[Partition, dict[str, int]] = {}
        self._of_trace: dict[str, set[Partition]] = {}
        self._released: dict[Partition, int] = {}
        self._changed: set[Partition] = set()

    def received(self, position: Position) -> None:
        """The message at ``position`` is in the engine; unless something holds it, everything up to it is done."""
        self._next[position.key] = max(self._next.get(position.key, 0), position.offset + 1)
        self._changed.add(position.key)

    def hold(self, trace_id: str, position: Position) -> None:
        """The trace needs the message at ``position`` until ``let_go``."""
        held = self._held.setdefault(position.key, {})
        held[trace_id] = min(held.get(trace_id, position.offset), position.offset)
        self._of_trace.setdefault(trace_id, set()).add(position.key)

    def abandon(self, position: Position) -> None:
        """The message could not be taken in, and whoever has the partition next must read it again."""
        self.hold(_ABANDONED, position)

    def let_go(self, trace_ids: Iterable[str]) -> None:
        """The traces are finished: their verdicts are stored, or they will never be a run."""
        for trace_id in trace_ids:
            for partition in self._of_trace.pop(trace_id, ()):
                del self._held[partition][trace_id]
                self._changed.add(partition)

    def holds(self, trace_id: str) -> bool:
        """Whether some message is kept uncommitted for the trace: whoever reads it next can start again."""
        return trace_id in self._of_trace

    def revoke(self, partitions: Iterable[Partition]) -> set[str]:
        """Forget the partitions. Returns the traces that only they held: their next owner reads those again."""
        traces: set[str] = set()
        for partition in partitions:
            self._next.pop(partition, None)
            self._released.pop(partition, None)
            self._changed.discard(partition)
            for trace_id in self._held.pop(partition, {}):
                left = self._of_trace[trace_id]
                left.discard(partition)
                if not left:
                    del self._of_trace[trace_id]
                    traces.add(trace_id)
        traces.discard(_ABANDONED)
        return traces

    def drop(self, partitions: Iterable[Partition]) -> None:
        """Forget partitions from which nothing can be read again.

        A trace that loses a part holds nothing else either: read again, the rest of it would be taken for the whole.
        """
        for partition in partitions:
            self._next.pop(partition, None)
            self._released.pop(partition, None)
            self.let_go(list(self._held.get(partition, ())))
            self._held.pop(partition, None)
            self._changed.discard(partition)

    def beyond(self, most: int) -> Mapping[Partition, int]:
        """Kafka partitions of which more than ``most`` offsets have come since the one that was last released, with how
        far they have come."""
        return {
            partition: following
            for partition, following in self._next.items()
            if partition[0] != JOURNAL and following - self._released.get(partition, following) > most
        }

    def holders(self, partition: Partition, below: int) -> list[str]:
        """Traces that need an offset of the partition below this one, the lowest first."""
        found = [(offset, trace_id) for trace_id, offset in self._held.get(partition, {}).items() if offset < below]
        return [trace_id for _, trace_id in sorted(found) if trace_id != _ABANDONED]

    def traces_of(self, partitions: Iterable[Partition]) -> set[str]:
        """The traces that hold something of these partitions."""
        return {trace for one in partitions for trace in self._held.get(one, ()) if trace != _ABANDONED}

    def partitions_of(self, trace_id: str) -> Collection[Partition]:
        """The partitions that the trace holds."""
        return self._of_trace.get(trace_id, ())

    def held_from(self, trace_ids: Iterable[str]) -> Mapping[Partition, int]:
        """Per partition that these traces hold, the lowest offset that they need of it."""
        lowest: dict[Partition, int] = {}
        for trace_id in trace_ids:
            for partition in self._of_trace.get(trace_id, ()):
                offset = self._held[partition][trace_id]
                lowest[partition] = min(lowest.get(partition, offset), offset)
        return lowest

    @property
    def positions(self) -> Mapping[Partition, int]:
        """Per Kafka partition the offset that was last released: all below it is done.

        The journal has no rows in the store: what is still in it when a process starts is read again.
        """
        return {partition: offset for partition, offset in self._released.items() if partition[0] != JOURNAL}

    def releasable(self) -> Mapping[Partition, int]:
        """Partitions whose lowest needed offset has risen since the last call, with that offset."""
        risen: dict[Partition, int] = {}
        for partition in self._changed:
            following = self._next.get(partition)
            if following is None:
                continue
            offset = min(self._held.get(partition, {}).values(), default=following)
            if offset > self._released.get(partition, -1):
                self._released[partition] = offset
                risen[partition] = offset
        self._changed.clear()
        return risen
