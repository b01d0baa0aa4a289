"""The dead-letter topic as a command reads it: from beginning to end, as a member of no group."""

import contextlib
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, Self

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from aem_monitor.deadletters.replayed import Replayed
from aem_monitor.errors import BrokerError
from aem_monitor.ingest.kafka_client import connecting, reason
from aem_monitor.ingest.kafka_settings import KafkaSettings

_BOOTSTRAP_SECONDS: Final = 10.0
_ANSWER_SECONDS: Final = 10.0
_POLL_MS: Final = 500
_SILENT_SECONDS: Final = 30.0


class DeadLetterTopic:
    """Reads the letters that are there now. ``group`` is where ``keep`` commits; nobody joins it."""

    def __init__(self, settings: KafkaSettings, topic: str, group: str) -> None:
        """Raises ``ConfigError`` for client settings that are not passed through."""
        self.topic = topic
        self._servers = settings.servers
        self._arguments = {**settings.consumer_arguments(), "group_id": group, "auto_offset_reset": "earliest"}
        self._arguments.pop("group_instance_id", None)
        self._consumer: Any = None
        self._client: Any = None

    def __enter__(self) -> Self:
        """Reach a broker. Raises ``BrokerError``, also where the topic does not exist."""
        try:
            with connecting() as clients:
                self._consumer = KafkaConsumer(
                    **self._arguments, bootstrap_timeout_ms=int(_BOOTSTRAP_SECONDS * 1000), kafka_client=clients
                )
        except (KafkaError, OSError) as error:
            raise self._unavailable(error) from error
        (self._client,) = clients.made
        try:
            self._assign()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Free the sockets; nothing is committed."""
        with contextlib.suppress(KafkaError, OSError):
            self._consumer.close(autocommit=False)
        self._client.close()

    def _assign(self) -> None:
        numbers = self.partitions_of(self.topic)
        if not numbers:
            raise BrokerError(
                f"Kafka topic {self.topic} (ingest.kafka.dead_letters.topic) at {self._servers} does not exist, or may "
                "not be seen by this user; create it"
            )
        self._places = [TopicPartition(self.topic, number) for number in sorted(numbers)]
        self._consumer.assign(self._places)

    def partitions_of(self, topic: str) -> frozenset[int]:
        """The partitions of any topic; none where it does not exist. Raises ``BrokerError``."""
        try:
            return frozenset(self._consumer.partitions_for_topic(topic) or ())
        except (KafkaError, OSError) as error:
            raise self._unavailable(error) from error

    def replayed(self) -> dict[int, Replayed]:
        """How far each partition was replayed. Raises ``BrokerError``."""
        found: dict[int, Replayed] = {}
        for place in self._places:
            try:
                committed = self._consumer.committed(place, metadata=True, timeout_ms=int(_ANSWER_SECONDS * 1000))
            except (KafkaError, OSError) as error:
                raise self._unavailable(error) from error
            known = committed is not None
            found[place.partition] = Replayed.read(committed.offset, committed.metadata) if known else Replayed()
        return found

    def records(self, begin: Mapping[int, int] | None = None) -> Iterator[Any]:
        """The messages of all partitions from ``begin`` on, as far as they are there when it is called, in the order
        of each partition. Raises ``BrokerError`` where brokers stop answering."""
        try:
            ends = self._consumer.end_offsets(self._places, timeout_ms=int(_ANSWER_SECONDS * 1000))
            begins = self._consumer.beginning_offsets(self._places, timeout_ms=int(_ANSWER_SECONDS * 1000))
            left = set()
            for place in self._places:
                first = max(begins[place], (begin or {}).get(place.partition, 0))
                if first < ends[place]:
                    left.add(place)
                    self._consumer.seek(place, first)
                else:
                    self._consumer.pause(place)
            yield from self._until(ends, left)
        except (KafkaError, OSError) as error:
            raise self._unavailable(error) from error

    def _until(self, ends: Mapping[Any, int], left: set[Any]) -> Iterator[Any]:
        heard = time.monotonic()
        while left:
            polled = self._consumer.poll(timeout_ms=_POLL_MS)
            for place, records in polled.items():
                yield from (record for record in records if record.offset < ends[place])
                heard = time.monotonic()
            # Positions also pass what is no message: the marks of transactions, what compaction removed.
            done = {place for place in left if self._consumer.position(place, timeout_ms=_POLL_MS) >= ends[place]}
            for place in done:
                self._consumer.pause(place)
            left -= done
            if time.monotonic() - heard > _SILENT_SECONDS:
                raise BrokerError(f"Kafka at {self._servers} does not give the rest of topic {self.topic}; try again")

    def keep(self, positions: Mapping[int, Replayed]) -> None:
        """Commit how far partitions are replayed. Raises ``BrokerError``."""
        offsets = {
            TopicPartition(self.topic, partition): OffsetAndMetadata(replayed.offset, replayed.written(), -1)
            for partition, replayed in positions.items()
        }
        try:
            self._consumer.commit(offsets, timeout_ms=int(_ANSWER_SECONDS * 1000))
        except (KafkaError, OSError) as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> BrokerError:
        return BrokerError(f"Kafka at {self._servers} does not answer ({reason(error)})")
