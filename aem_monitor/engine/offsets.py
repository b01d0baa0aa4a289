"""Which Kafka offsets may be committed: nothing that an unfinished trace still needs."""

from collections.abc import Iterable, Mapping

from aem_monitor.ingest.batch import Partition, Position


class OffsetTracker:
    """Per partition, the lowest offset that is still needed.

    Offsets are those really received: compacted and transactional topics have holes, so the next offset is never
    derived from the last one plus a guess about what lies between.
    """

    def __init__(self) -> None:
        self._next: dict[Partition, int] = {}
        self._held: dict[Partition, dict[str, int]] = {}
        self._released: dict[Partition, int] = {}

    def received(self, position: Position) -> None:
        """The message at ``position`` is in the engine; unless something holds it, everything up to it is done."""
        self._next[position.key] = max(self._next.get(position.key, 0), position.offset + 1)

    def hold(self, trace_id: str, position: Position) -> None:
        """The trace needs the message at ``position`` until ``let_go``."""
        held = self._held.setdefault(position.key, {})
        held[trace_id] = min(held.get(trace_id, position.offset), position.offset)

    def let_go(self, trace_ids: Iterable[str]) -> None:
        """The traces are finished: their verdicts are stored, or they will never be a run."""
        ids = set(trace_ids)
        for held in self._held.values():
            for trace_id in ids & held.keys():
                del held[trace_id]

    def holds(self, trace_id: str) -> bool:
        """Whether some message is kept uncommitted for the trace: whoever reads it next can start again."""
        return any(trace_id in held for held in self._held.values())

    def revoke(self, partitions: Iterable[Partition]) -> set[str]:
        """Forget the partitions. Returns the traces that held them: another replica reads those again."""
        traces: set[str] = set()
        for partition in partitions:
            self._next.pop(partition, None)
            self._released.pop(partition, None)
            traces.update(self._held.pop(partition, {}))
        return traces

    def releasable(self) -> Mapping[Partition, int]:
        """Partitions whose lowest needed offset has risen since the last call, with that offset."""
        risen: dict[Partition, int] = {}
        for partition, following in self._next.items():
            offset = min(self._held.get(partition, {}).values(), default=following)
            if offset > self._released.get(partition, -1):
                self._released[partition] = offset
                risen[partition] = offset
        return risen
