"""How far each owned partition has come: delivered to the engine, released by it, committed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from aem_monitor.ingest.batch import Partition


@dataclass(slots=True)
class _Course:
    """One partition since it was assigned. Offsets; None before the first message."""

    first: int | None = None
    next: int | None = None
    released: int | None = None
    committed: int | None = None
    held: set["Hold"] = field(default_factory=set)
    frozen: bool = False

    def committable(self) -> int | None:
        """The offset that may be committed, if that is news."""
        if self.frozen or self.released is None:
            return None
        offset = min([self.released, *(hold.offset for hold in self.held)])
        known = self.first if self.committed is None else self.committed
        return offset if known is not None and offset > known else None


@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """Keeps the committed offset from passing a message, until it is let go or its partition is assigned anew."""

    partition: Partition
    offset: int


class PartitionProgress:
    """Which offsets may be committed.

    An offset is committed when the engine has released it and only within what was delivered since the partition was
    assigned: a release that belongs to an earlier assignment must not move a position that another replica has moved
    since. Offsets have holes (compaction, transactions), so nothing is inferred by counting. What is held, because
    something else than the engine still needs it, is not passed either.

    ``assign``, ``revoke``, ``delivered``, ``committable`` and ``committed`` come from the thread that polls, the others
    from any.
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

    def passed(self, partition: Partition, position: int) -> None:
        """Nothing that could be delivered lies before ``position``: an idle partition, or the end of a transaction.

        Counts where all that was delivered is released. To be called when nothing of the partition is under way.
        """
        with self._lock:
            course = self._courses.get(partition)
            if course is None or course.next != course.released:
                return
            if course.next is not None and position <= course.next:
                return
            if course.first is None:
                # As if the one before had been delivered, since whether the group has committed this is unknown.
                course.first = position - 1
            course.next = course.released = position

    def uncommitted(self) -> dict[Partition, tuple[int, int]]:
        """The offsets that would be read again from each partition: from the first one to the second, exclusive."""
        with self._lock:
            return {
                partition: (course.first if course.committed is None else course.committed, course.next)
                for partition, course in self._courses.items()
                if course.first is not None and course.next is not None
            }

    def release(self, offsets: Mapping[Partition, int]) -> None:
        """Nothing below these offsets is needed any more. Unknown partitions are ignored."""
        with self._lock:
            for partition, offset in offsets.items():
                course = self._courses.get(partition)
                if course is None or course.first is None or course.next is None:
                    continue
                if course.first < offset <= course.next and offset > (course.released or 0):
                    course.released = offset

    def hold(self, partition: Partition, offset: int) -> Hold:
        """Have no commit pass the message at ``offset`` until ``let_go``."""
        hold = Hold(partition, offset)
        with self._lock:
            course = self._courses.get(partition)
            if course is not None:
                course.held.add(hold)
        return hold

    def let_go(self, hold: Hold) -> None:
        """The message is in good hands. A hold of an earlier assignment is ignored."""
        with self._lock:
            course = self._courses.get(hold.partition)
            if course is not None:
                course.held.discard(hold)

    def freeze(self, partition: Partition) -> None:
        """Commit nothing more of this partition while it is assigned."""
        with self._lock:
            course = self._courses.get(partition)
            if course is not None:
                course.frozen = True

    def committable(self) -> dict[Partition, int]:
        """Released offsets that nothing holds and that are not committed yet."""
        with self._lock:
            offsets = {partition: course.committable() for partition, course in self._courses.items()}
        return {partition: offset for partition, offset in offsets.items() if offset is not None}

    def committed(self, offsets: Mapping[Partition, int]) -> None:
        """These offsets are committed."""
        with self._lock:
            for partition, offset in offsets.items():
                course = self._courses.get(partition)
                if course is not None:
                    course.committed = offset
