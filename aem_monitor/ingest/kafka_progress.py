"""How far each owned partition has come: delivered to the engine, released by it, committed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock

from aem_monitor.ingest.batch import Partition


@dataclass(slots=True)
class _Course:
    """One partition since it was assigned. Offsets; None before the first message."""

    first: int | None = None
    next: int | None = None
    released: int | None = None
    committed: int | None = None


class PartitionProgress:
    """Which offsets may be committed.

    An offset is committed when the engine has released it and only within what was delivered since the partition was
    assigned: a release that belongs to an earlier assignment must not move a position that another replica has moved
    since. Offsets have holes (compaction, transactions), so nothing is inferred by counting.

    ``release`` comes from the engine's thread, everything else from the thread that polls.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._courses: dict[Partition, _Course] = {}

    @property
    def owned(self) -> frozenset[Partition]:
        """The partitions assigned now."""
        with self._lock:
            return frozenset(self._courses)

    def assign(self, partitions: Iterable[Partition]) -> None:
        """Begin with these partitions, forgetting what was known about them."""
        with self._lock:
            for partition in partitions:
                self._courses[partition] = _Course()

    def revoke(self, partitions: Iterable[Partition]) -> None:
        """Forget these partitions."""
        with self._lock:
            for partition in partitions:
                self._courses.pop(partition, None)

    def delivered(self, partition: Partition, offset: int) -> None:
        """The message at ``offset`` is in the engine's queue."""
        with self._lock:
            course = self._courses.get(partition)
            if course is None:
                return
            if course.first is None:
                course.first = offset
            course.next = offset + 1

    def next_offset(self, partition: Partition) -> int | None:
        """The offset after the last delivered message; None when nothing was delivered since the assignment."""
        with self._lock:
            course = self._courses.get(partition)
            return None if course is None else course.next

    def release(self, offsets: Mapping[Partition, int]) -> None:
        """Nothing below these offsets is needed any more. Unknown partitions are ignored."""
        with self._lock:
            for partition, offset in offsets.items():
                course = self._courses.get(partition)
                if course is None or course.first is None or course.next is None:
                    continue
                if course.first < offset <= course.next and offset > (course.released or 0):
                    course.released = offset

    def committable(self) -> dict[Partition, int]:
        """Released offsets that are not committed yet."""
        with self._lock:
            return {
                partition: course.released
                for partition, course in self._courses.items()
                if course.released is not None and course.released != course.committed
            }

    def committed(self, offsets: Mapping[Partition, int]) -> None:
        """These offsets are committed."""
        with self._lock:
            for partition, offset in offsets.items():
                course = self._courses.get(partition)
                if course is not None:
                    course.committed = offset
