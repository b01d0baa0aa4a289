"""Messages as they stand in their topics, cut by traces: the monitor's Kafka source with another reader."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from aem_monitor.errors import DecodeError
from aem_monitor.ingest.batch import Batch, Decoded, Position, Submit
from aem_monitor.ingest.causes import Refused, Stall
from aem_monitor.ingest.complaints import Complaints
from aem_monitor.ingest.kafka import KafkaSource
from aem_monitor.ingest.kafka_connection import Message
from aem_monitor.ingest.kafka_settings import KafkaSettings
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.rekey.chunk import Chunk
from aem_monitor.rekey.split import check_form, split_message

_LOG: Final = logging.getLogger(__name__)
_NOTHING: Final = Decoded()


@dataclass(frozen=True, slots=True)
class CutMessage(Batch):
    """A message by traces. ``unreadable`` is the whole value where it is not what its topic should hold."""

    chunks: Sequence[Chunk] = ()
    nameless: int = 0
    unreadable: bytes | None = None
    size: int = 0


class CuttingSource(KafkaSource):
    """Reads as the monitor does, and hands on the bytes of every trace.

    A message in which no marker of an agent stands is passed over uncut, as the monitor would pass it over; one that
    cannot be read is passed on whole, so that the monitor can say so.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        limits: Limits,
        keep: Prefilter,
        submit: Submit,
        count: Callable[[str, int], None],
        reconnecting: Callable[[Stall], None] = lambda _: None,
    ) -> None:
        super().__init__(settings, limits, keep, submit, count, reconnecting=reconnecting)
        self._topic_of = {topic.name: topic for topic in settings.topics}
        self._unread = Complaints(_LOG)
        self._markers = keep
        self._bounds = limits
        self._refused = count

    def _batch(self, message: Message) -> Batch:
        chunks: Sequence[Chunk] = ()
        nameless = 0
        unreadable: bytes | None = None
        value = message.value or b""
        if value:
            try:
                topic = self._topic_of[message.topic]
                if self._markers.in_bytes(value):
                    split = split_message(value, topic, self._bounds)
                    chunks, nameless = split.chunks, split.nameless
                else:
                    check_form(value, topic, self._bounds, self._markers)
            except DecodeError as error:
                unreadable = value
                self._tell(message, error.reason, str(error))
            except Exception as error:  # noqa: BLE001  one message must never stop a partition for good
                unreadable = value
                self._tell(message, Refused.INTERNAL, f"{type(error).__name__} while cutting it")
        return CutMessage(
            source=self.name,
            sender=f"{message.topic}/{message.partition}",
            decoded=_NOTHING,
            received_at=time.time(),
            position=Position(message.topic, message.partition, message.offset),
            chunks=chunks,
            nameless=nameless,
            unreadable=unreadable,
            size=len(value),
        )

    def _tell(self, message: Message, cause: str, what: str) -> None:
        self._refused(str(cause), 1)
        where = f"{message.topic}/{message.partition} at offset {message.offset}"
        self._unread.complain("message", f"Kafka message of {where} passed on as it is: {what}")
