"""From messages to batches, poison among them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from aem_monitor.errors import DecodeError
from aem_monitor.ingest.batch import (
    Batch,
    Decoded,
    EngineInput,
    Partition,
    PartitionsAssigned,
    PartitionsRevoked,
    Position,
)
from aem_monitor.ingest.causes import Refused
from aem_monitor.ingest.complaints import Complaints
from aem_monitor.ingest.kafka_connection import Message
from aem_monitor.ingest.kafka_poison import Poison
from aem_monitor.ingest.kafka_progress import PartitionProgress

Waiting: TypeAlias = Message | Batch | PartitionsRevoked | PartitionsAssigned
"""What the source has not handed on yet."""


@dataclass(frozen=True, slots=True)
class MessageBatch(Batch):
    """A batch with the message that it was, where that may still be wanted."""

    message: Message | None = None


class MessageReader:
    """Decodes messages, and holds the offsets of those that cannot be used until ``poison`` has settled them.

    ``decode`` raises ``DecodeError``; ``count`` is told the causes. ``take_back`` may be called from any thread,
    everything else from the one that polls.
    """

    def __init__(
        self,
        source: str,
        decode: Callable[[Message], Decoded],
        poison: Poison,
        progress: PartitionProgress,
        count: Callable[[str, int], None],
        complaints: Complaints,
        clock: Callable[[], float],
    ) -> None:
        self._source = source
        self._decode = decode
        self._poison = poison
        self._progress = progress
        self._count = count
        self._complaints = complaints
        self._clock = clock

    def batch(self, message: Message) -> MessageBatch | None:
        """What the engine is given for a message, an empty batch for poison; None where it is one poison too many."""
        decoded = self._read(message)
        if decoded is None:
            return None
        return MessageBatch(
            source=self._source,
            sender=f"{message.topic}/{message.partition}",
            decoded=replace(decoded, size=len(message.value or b"")),
            received_at=self._clock(),
            position=Position(message.topic, message.partition, message.offset),
            message=message if self._poison.keeps else None,
        )

    def _read(self, message: Message) -> Decoded | None:
        try:
            decoded = self._decode(message)
        except DecodeError as error:
            cause, what = str(error.reason), str(error)
        except Exception as error:  # noqa: BLE001  one message must never stop a partition for good
            cause, what = Refused.INTERNAL.value, f"{type(error).__name__} while decoding"
        else:
            self._poison.usable(message)
            return decoded
        place = (message.topic, message.partition)
        hold = self._progress.hold(place, message.offset)
        if not self._poison.take(message, cause, what, lambda: self._progress.let_go(hold)):
            self._progress.freeze(place)
            return None
        self._count(cause, 1)
        where = f"{message.topic}/{message.partition} at offset {message.offset}"
        self._complaints.complain("message", f"Kafka message of {where} left out: {what}")
        return Decoded()

    def take_back(self, item: EngineInput, error: str) -> None:
        """The engine could not take an item in because of a defect; called before it is passed over."""
        if not isinstance(item, MessageBatch) or item.message is None:
            return
        place = (item.message.topic, item.message.partition)
        hold = self._progress.hold(place, item.message.offset)
        if not self._poison.take_back(item.message, error, lambda: self._progress.let_go(hold)):
            self._progress.freeze(place)


def partition_of(item: Waiting) -> Partition | None:
    """The partition of a message or batch; None for what tells of a change in the group."""
    if isinstance(item, PartitionsRevoked | PartitionsAssigned):
        return None
    if isinstance(item, Batch):
        return None if item.position is None else item.position.key
    return item.topic, item.partition
