"""How far the consumer is behind: messages not read, offsets not committed, and since when."""

import logging
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from kafka.errors import KafkaError

from aem_monitor.ingest.batch import Partition
from aem_monitor.ingest.kafka_connection import KafkaConnection
from aem_monitor.ingest.kafka_group import Ownership
from aem_monitor.ingest.kafka_progress import PartitionProgress

N = TypeVar("N", int, float)

_LOG: Final = logging.getLogger(__name__)

# In seconds.
_EVERY: Final = 1.0
_END_OFFSETS_EVERY: Final = 10.0
_END_OFFSETS: Final = 3.0

_MOST_MARKS: Final = 512
"""For each partition. With more, every other one is dropped, and new ones are twice as far apart: the time of a message
that has waited for hours is known to some minutes."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement, by assigned partition.

    ``lag`` counts messages that are not delivered yet; a partition is left out until its end is known. ``uncommitted``
    counts offsets from the committed one to the last that was delivered, ``oldest`` is when the first of these was
    received; a partition is left out where all is committed. ``polled_at`` is when the last poll succeeded,
    ``heard_at`` when the group last answered a heartbeat, None while this replica is not in it. Times are wall clock
    seconds.
    """

    lag: Mapping[Partition, int] = field(default_factory=dict)
    uncommitted: Mapping[Partition, int] = field(default_factory=dict)
    oldest: Mapping[Partition, float] = field(default_factory=dict)
    polled_at: float | None = None
    heard_at: float | None = None


class Receipts:
    """When the messages of one partition were received, in marks that are a second apart at first."""

    def __init__(self) -> None:
        self._offsets: list[int] = []
        self._times: list[float] = []
        self._apart = _EVERY

    def received(self, offset: int, at: float) -> None:
        """The message at ``offset`` came, after all lower ones."""
        if self._times and at < self._times[-1] + self._apart:
            return
        if len(self._times) >= _MOST_MARKS:
            del self._offsets[1::2], self._times[1::2]
            self._apart *= 2
        self._offsets.append(offset)
        self._times.append(at)

    def since(self, offset: int) -> float | None:
        """When the first message from ``offset`` on was received, or a little earlier; None without any. What is lower
        is forgotten."""
        passed = max(0, bisect_right(self._offsets, offset) - 1)
        del self._offsets[:passed], self._times[:passed]
        if len(self._times) <= 1:
            self._apart = _EVERY
        return self._times[0] if self._times else None


class Measures:
    """Measures once a second. ``latest`` may be read from any thread, all else belongs to the one that polls."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.latest = Measured()
        self._clock = clock
        self._polled_at: float | None = None
        self._receipts: dict[Partition, Receipts] = {}
        self._ends: dict[Partition, int] = {}
        self._next = 0.0
        self._next_ends = 0.0

    def polled(self) -> None:
        """A poll has succeeded."""
        self._polled_at = self._clock()

    def received(self, partition: Partition, offset: int, at: float) -> None:
        """The message at ``offset`` goes to the engine, which was received at ``at`` (wall clock seconds)."""
        self._receipts.setdefault(partition, Receipts()).received(offset, at)

    def forget(self, partitions: Iterable[Partition]) -> None:
        """The partitions are no longer owned, or begin again."""
        gone = frozenset(partitions)
        for partition in gone:
            self._receipts.pop(partition, None)
        latest = self.latest
        self.latest = replace(
            latest,
            lag=_without(gone, latest.lag),
            uncommitted=_without(gone, latest.uncommitted),
            oldest=_without(gone, latest.oldest),
            heard_at=None,
        )

    def measure(
        self,
        connection: KafkaConnection,
        ownership: Ownership,
        paused: frozenset[Partition],
        progress: PartitionProgress,
        now: float,
    ) -> None:
        """Measure again, if it is time (``now``: monotonic seconds)."""
        if now < self._next:
            return
        self._next = now + _EVERY
        # The ends that the client knows of are those of the last fetch, and nothing is fetched of these.
        if paused and now >= self._next_ends:
            self._next_ends = now + _END_OFFSETS_EVERY
            try:
                self._ends = connection.end_offsets(paused, _END_OFFSETS)
            except KafkaError as error:
                _LOG.debug("end offsets are unknown: %s", error)
        lags: dict[Partition, int] = {}
        for partition in ownership.partitions:
            next_offset = progress.next_offset(partition)
            lag = connection.lag(partition, next_offset)
            if partition in paused and next_offset is not None and partition in self._ends:
                lag = max(lag or 0, self._ends[partition] - next_offset)
            if lag is not None:
                lags[partition] = lag
        heard_at = self._clock() - (now - connection.heard_at) if ownership.joined else None
        self.latest = Measured(lags, *self._uncommitted(progress), self._polled_at, heard_at)

    def _uncommitted(self, progress: PartitionProgress) -> tuple[Mapping[Partition, int], Mapping[Partition, float]]:
        numbers: dict[Partition, int] = {}
        oldest: dict[Partition, float] = {}
        for partition, (begin, end) in progress.uncommitted().items():
            numbers[partition] = end - begin
            since = self._receipts[partition].since(begin) if partition in self._receipts else None
            if begin < end and since is not None:
                oldest[partition] = since
        return numbers, oldest


def _without(gone: frozenset[Partition], values: Mapping[Partition, N]) -> Mapping[Partition, N]:
    return {partition: value for partition, value in values.items() if partition not in gone}
