"""A Kafka source with dead letters on a real broker, as the tests use it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from prometheus_client import CollectorRegistry

from aem_monitor.deadletters.letter import Letter, read_letter
from aem_monitor.deadletters.settings import DeadLetterSettings
from aem_monitor.deadletters.writer import DeadLetters, Pending
from aem_monitor.ingest.batch import Partition
from aem_monitor.ingest.kafka import KafkaSource
from aem_monitor.ingest.kafka_publisher import Publisher
from aem_monitor.ingest.kafka_settings import KafkaSettings, KafkaTopic
from aem_monitor.ingest.limits import Limits
from aem_monitor.metrics.registry import Metrics
from tests.ingest.kafka_engine import Queue
from tests.ingest.requests import AGENTS
from tests.services.kafka import KafkaBroker

POISON = b"\xff\xff not protobuf"


class Reading:
    """One topic of two partitions and one group; sources of it with dead letters in ``dead_topic``."""

    def __init__(self, broker: KafkaBroker, dead_topic: str) -> None:
        unique = uuid4().hex[:8]
        self.broker = broker
        self.topic, self.group, self.dead_topic = f"spans.{unique}", f"group.{unique}", dead_topic
        self.causes: Counter[str] = Counter()
        self.metrics = Metrics(CollectorRegistry(), 10)
        broker.create_topic(self.topic, partitions=2)

    @contextmanager
    def source(self, queue: Queue, **bounds: Any) -> Iterator[KafkaSource]:
        """A source that runs. What is delivered is released only if the test does so."""
        settings = KafkaSettings(
            bootstrap_servers=(self.broker.bootstrap,),
            topics=(KafkaTopic(self.topic),),
            group_id=self.group,
            commit_interval_seconds=0.1,
            session_timeout_seconds=6.0,
            heartbeat_interval_seconds=0.3,
            metadata_max_age_seconds=1.0,
        )
        publisher: Publisher[Pending] = Publisher(settings.bootstrap_servers, {}, "tests-dead-letters")
        letters = DeadLetters(DeadLetterSettings(self.dead_topic, self.group, **bounds), publisher, self.metrics)
        source = KafkaSource(settings, Limits(), AGENTS, queue.submit, self._count, letters)
        source.start()
        try:
            yield source
        finally:
            source.stop(5.0)
            source.close(10.0)

    def _count(self, cause: str, number: int) -> None:
        self.causes[cause] += number

    @property
    def committed(self) -> dict[Partition, int]:
        """What the group has committed."""
        return self.broker.committed(self.group)

    def letters(self) -> list[Letter]:
        """What lies in the dead-letter topic."""
        found = [read_letter(record) for record in read_all(self.broker, self.dead_topic)]
        assert None not in found
        return [letter for letter in found if letter is not None]


def read_all(broker: KafkaBroker, topic: str) -> list[Any]:
    """All messages of a topic, partition by partition."""
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap, auto_offset_reset="earliest")
    try:
        places = [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic) or ())]
        consumer.assign(places)
        ends = consumer.end_offsets(places)
        records: list[Any] = []
        while any(consumer.position(place) < ends[place] for place in places):
            records += [record for polled in consumer.poll(timeout_ms=500).values() for record in polled]
        return sorted(records, key=lambda record: (record.partition, record.offset))
    finally:
        consumer.close()


def produce(
    broker: KafkaBroker, topic: str, value: bytes, key: bytes | None, headers: Sequence[tuple[str, bytes]]
) -> None:
    """Write one message with key and headers to partition 0."""
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap)
    try:
        producer.send(topic, value, key, list(headers), 0).get(30)
    finally:
        producer.close()


def releasing(source: KafkaSource, queue: Queue, then: Callable[[], object]) -> Callable[[], object]:
    """A condition before which everything delivered is released, as an engine does with nothing unfinished."""

    def condition() -> object:
        offsets: dict[Partition, int] = {}
        for batch in queue.batches:
            assert batch.position is not None
            offsets[batch.position.key] = batch.position.offset + 1
        source.release(offsets)
        return then()

    return condition
