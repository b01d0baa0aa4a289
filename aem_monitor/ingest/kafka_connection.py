"""The one place that calls kafka-python: a consumer of one group, with the few operations that the source needs.

Facts about kafka-python 3.0.12 that this code relies on, read in its source: listener callbacks run during ``poll``
on the IO thread while the polling thread waits; positions of partitions that an eager rebalance gives back are kept;
a constructor that fails leaves its IO thread running; a join that outlasts a poll is forgotten.
"""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from kafka import KafkaConsumer, TopicPartition
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from aem_monitor.ingest.batch import Partition
from aem_monitor.ingest.kafka_client import connecting
from aem_monitor.ingest.kafka_group import GroupEvents
from aem_monitor.ingest.kafka_settings import KafkaSettings


class Message(Protocol):
    """A record as kafka-python returns it. ``timestamp`` in milliseconds."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]


def _places(partitions: Iterable[Partition]) -> list[Any]:
    return [TopicPartition(topic, partition) for topic, partition in partitions]


class KafkaConnection:
    """A consumer that has reached a broker. All methods belong to the polling thread."""

    def __init__(self, settings: KafkaSettings, bootstrap_timeout: float) -> None:
        """Reach a broker and subscribe.

        Raises:
            KafkaError, OSError: no broker answered within ``bootstrap_timeout`` seconds, or it refused.
        """
        self._topics = [topic.name for topic in settings.topics]
        with connecting() as clients:
            self._consumer: Any = KafkaConsumer(
                **settings.consumer_arguments(),
                # Eager: with the cooperative protocol kafka-python has lost positions of revoked partitions.
                partition_assignment_strategy=[RangePartitionAssignor],
                bootstrap_timeout_ms=int(bootstrap_timeout * 1000),
                kafka_client=clients,
            )
        (self._client,) = clients.made
        self.events = GroupEvents(lambda: int(self._consumer.group_metadata().generation_id))
        self._consumer.subscribe(topics=self._topics, listener=self.events)

    def poll(self, timeout: float) -> Sequence[Message]:
        """Take part in the group and return messages, in order of each partition; empty after ``timeout`` seconds."""
        self._remember_the_join()
        polled = self._consumer.poll(timeout_ms=int(timeout * 1000))
        return [record for records in polled.values() for record in records]

    def _remember_the_join(self) -> None:
        """Have the client finish a join that a poll did not wait for.

        A new member, or one whose topic got partitions, joins because its metadata has changed. The leader takes note
        of the new metadata in the middle of the join; if the poll ends before the join does, nothing says any more that
        there is one to finish, and the member is neither in the group nor on its way into it, for good.
        """
        coordinator = self._consumer._coordinator  # noqa: SLF001  nothing public tells or mends it
        if coordinator.rejoining:
            coordinator.request_rejoin()

    @property
    def replaced(self) -> bool:
        """Whether another process has joined the group under this one's ``group_instance_id``.

        The client is told so at its next heartbeat, sends no more of them, and goes on fetching what is now the
        other's without a word.
        """
        coordinator = self._consumer._coordinator  # noqa: SLF001  nothing public tells
        static = coordinator.group_instance_id is not None
        return static and coordinator.stable() and not coordinator._heartbeat_enabled  # noqa: SLF001

    @property
    def connected(self) -> bool:
        """Whether a connection to some broker stands."""
        return any(
            self._client.connected(broker.node_id) or self._client.connected(f"coordinator-{broker.node_id}")
            for broker in self._client.cluster.brokers()
        )

    @property
    def trouble(self) -> str | None:
        """Why the last attempt to connect to a broker failed; None where it did not."""
        return self._client.trouble

    def missing_topics(self) -> list[str]:
        """Topics that the brokers do not know (or do not show to this user)."""
        return [topic for topic in self._topics if not self._client.cluster.partitions_for_topic(topic)]

    def pause(self, partitions: Iterable[Partition]) -> None:
        """Fetch nothing from these assigned partitions; membership is kept by polling on."""
        self._consumer.pause(*_places(partitions))

    def resume(self, partitions: Iterable[Partition]) -> None:
        """Fetch from these assigned partitions again."""
        self._consumer.resume(*_places(partitions))

    def commit(self, offsets: Mapping[Partition, int], timeout: float) -> None:
        """Commit, waiting for the answer. Raises KafkaError, e.g. while the group rebalances."""
        positions = {
            TopicPartition(topic, partition): OffsetAndMetadata(offset, "", -1)
            for (topic, partition), offset in offsets.items()
        }
        self._consumer.commit(positions, timeout_ms=int(timeout * 1000))

    def rewind(self, partitions: Iterable[Partition], timeout: float) -> None:
        """Go back to what the group has committed. Raises KafkaError when that cannot be found out."""
        for place in _places(partitions):
            self._consumer.resume(place)
            committed = self._consumer.committed(place, timeout_ms=int(timeout * 1000))
            if committed is None:
                self._consumer.seek_to_beginning(place)
            else:
                self._consumer.seek(place, committed)

    def lag(self, partition: Partition, next_offset: int | None) -> int | None:
        """Messages between ``next_offset`` (None: where fetching begins) and the end, as of the last fetch.

        None while nothing was fetched. Never negative: the two numbers are not of one moment.
        """
        (place,) = _places([partition])
        with contextlib.suppress(KafkaError):
            end = self._consumer.highwater(place)
            if end is None:
                return None
            position = self.position(partition) if next_offset is None else next_offset
            return None if position is None else max(0, end - position)
        return None

    def position(self, partition: Partition) -> int | None:
        """The offset that is fetched next, past aborted transactions and control records; None while it is unknown."""
        (place,) = _places([partition])
        with contextlib.suppress(KafkaError):
            offset: int | None = self._consumer.position(place, timeout_ms=0)
            return offset
        return None

    @property
    def heard_at(self) -> float:
        """When the group last answered a heartbeat, or let this member in (monotonic seconds)."""
        heartbeat = self._consumer._coordinator.heartbeat  # noqa: SLF001  nothing public tells
        return float(max(heartbeat.last_receive, heartbeat.last_reset))

    def end_offsets(self, partitions: Iterable[Partition], timeout: float) -> dict[Partition, int]:
        """Ask the brokers for the ends of partitions; for paused ones, whose last fetch is too long ago."""
        ends = self._consumer.end_offsets(_places(partitions), timeout_ms=int(timeout * 1000))
        return {(place.topic, place.partition): end for place, end in ends.items()}

    def beginning_offsets(self, partitions: Iterable[Partition], timeout: float) -> dict[Partition, int]:
        """Ask the brokers for the first offset that each partition still has. Raises KafkaError."""
        begins = self._consumer.beginning_offsets(_places(partitions), timeout_ms=int(timeout * 1000))
        return {(place.topic, place.partition): begin for place, begin in begins.items()}

    def committed(self, partition: Partition, timeout: float) -> int | None:
        """Ask where the group goes on with a partition; None without a commit. Raises KafkaError."""
        (place,) = _places([partition])
        offset: int | None = self._consumer.committed(place, timeout_ms=int(timeout * 1000))
        return offset

    def close(self, timeout: float) -> None:
        """Leave the group and free the sockets, within ``timeout`` seconds where brokers do not answer."""
        with contextlib.suppress(KafkaError, OSError):
            self._consumer.close(autocommit=False, timeout_ms=int(timeout * 1000))
        # Where leaving failed, the consumer has not got as far as closing its client.
        self._client.close()
