"""How many dead letters are too many."""

from collections import deque
from collections.abc import Iterable

from aem_monitor.deadletters.causes import Bound
from aem_monitor.ingest.batch import Partition


class _Course:
    """The last messages of one partition."""

    def __init__(self) -> None:
        self.offsets: deque[int] = deque()
        self.poison: set[int] = set()
        self.run = 0


class Bounds:
    """Tells single bad messages from a topic that is not what it should be.

    ``max_run`` bad messages in a row are borne, and ``max_ratio`` of ``window`` among the last ``window`` messages of a
    partition, be these as many yet or not. Not safe to share between threads.
    """

    def __init__(self, max_ratio: float, window: int, max_run: int) -> None:
        self._most = max_ratio * window
        self._window = window
        self._max_run = max_run
        self._courses: dict[Partition, _Course] = {}

    def usable(self, partition: Partition, offset: int) -> None:
        """The next message of the partition is good."""
        course = self._next(partition, offset)
        course.run = 0

    def bad(self, partition: Partition, offset: int) -> Bound | None:
        """The next message of the partition is bad; the bound that it is beyond."""
        course = self._next(partition, offset)
        course.run += 1
        course.poison.add(offset)
        return Bound.RUN if course.run > self._max_run else self._beyond(course)

    def bad_after_all(self, partition: Partition, offset: int) -> Bound | None:
        """A message that was taken for good is bad. The run is not known any more: later ones were looked at since."""
        course = self._courses.get(partition)
        if course is None or not course.offsets or offset < course.offsets[0]:
            return None
        course.poison.add(offset)
        return self._beyond(course)

    def forget(self, partitions: Iterable[Partition]) -> None:
        """Begin anew with these partitions."""
        for partition in partitions:
            self._courses.pop(partition, None)

    def _next(self, partition: Partition, offset: int) -> _Course:
        course = self._courses.setdefault(partition, _Course())
        course.offsets.append(offset)
        if len(course.offsets) > self._window:
            course.poison.discard(course.offsets.popleft())
        return course

    def _beyond(self, course: _Course) -> Bound | None:
        return Bound.RATIO if len(course.poison) > self._most else None
