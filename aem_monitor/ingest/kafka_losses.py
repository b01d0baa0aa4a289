"""Messages that a topic's retention removed before they were read."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from aem_monitor.ingest.batch import Partition
from aem_monitor.ingest.causes import Refused
from aem_monitor.ingest.complaints import Complaints
from aem_monitor.ingest.kafka_connection import Message

_ASK_EVERY: Final = 1.0


class Losses:
    """Follows how far each partition was fetched, and finds gaps that retention has left.

    A gap alone says nothing: compacted and transactional topics are full of them. It is a loss as far as the partition
    now begins after the offset that was to come next. The client skips over it without a word.
    """

    def __init__(
        self,
        beginnings: Callable[[Iterable[Partition]], Mapping[Partition, int]],
        committed: Callable[[Partition], int | None],
    ) -> None:
        """``beginnings`` asks the brokers for the first offset that each partition still has, ``committed`` for where
        the group goes on with one (None: nowhere yet)."""
        self._beginnings = beginnings
        self._committed = committed
        self._next: dict[Partition, int] = {}
        self._asked_at: dict[Partition, float] = {}

    def assigned(self, partitions: Iterable[Partition]) -> None:
        """Ask where the group goes on with partitions that it was given, before anything moves that. Raises what asking
        does."""
        for partition in partitions:
            committed = self._committed(partition)
            if committed is not None:
                self._next[partition] = committed

    def forget(self, partitions: Iterable[Partition]) -> None:
        """The partitions are no longer owned."""
        for partition in partitions:
            self._next.pop(partition, None)
            self._asked_at.pop(partition, None)

    def fetched(self, messages: Iterable[Message], now: float) -> dict[Partition, int]:
        """Take note of messages in the order in which they came; how many offsets retention took before them.

        ``now`` in seconds: brokers are asked about a partition once a second at most. Raises what asking does; then the
        gap is not looked at again.
        """
        gaps: dict[Partition, tuple[int, int]] = {}
        for message in messages:
            place = (message.topic, message.partition)
            expected = self._next.get(place)
            if expected is not None and message.offset > expected:
                gaps.setdefault(place, (expected, message.offset))
            self._next[place] = message.offset + 1
        due = [place for place in gaps if now - self._asked_at.get(place, -_ASK_EVERY) >= _ASK_EVERY]
        if not due:
            return {}
        self._asked_at.update(dict.fromkeys(due, now))
        lost: dict[Partition, int] = {}
        for place, begin in self._beginnings(due).items():
            expected, found = gaps[place]
            if begin > expected:
                lost[place] = min(begin, found) - expected
        return lost


def tell(lost: Mapping[Partition, int], complaints: Complaints, count: Callable[[str, int], None]) -> None:
    """Count losses, and say them."""
    for (topic, partition), number in lost.items():
        count(Refused.RETENTION, number)
        complaints.complain(
            "lost",
            f"Kafka has removed {number} messages of {topic}/{partition} before they were read: its retention is "
            f"shorter than this group was behind. What they said is missing.",
        )
