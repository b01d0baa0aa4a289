"""Offsets at which nothing stands that could be read: aborted transactions, compacted messages, empty partitions."""

from dataclasses import replace

import pytest
from kafka import KafkaProducer

from aem_monitor.ingest.kafka_settings import KafkaSettings, KafkaTopic
from tests.ingest.kafka_engine import Queue, message, release_all, running, wait_until
from tests.services.kafka import KafkaBroker

pytestmark = pytest.mark.service


def _transaction(broker: KafkaBroker, topic: str, *values: bytes, aborted: bool) -> None:
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap, transactional_id=f"{topic}-{aborted}")
    try:
        producer.init_transactions()
        producer.begin_transaction()
        for value in values:
            producer.send(topic, value=value, partition=0)
        producer.flush(30)
        producer.abort_transaction() if aborted else producer.commit_transaction()
    finally:
        producer.close()


def _is_committed_to_the_end(broker: KafkaBroker, settings: KafkaSettings, topic: str) -> bool:
    return broker.committed(settings.group_id).get((topic, 0)) == broker.end_offset(topic, 0)


def test_messages_of_an_aborted_transaction_are_left_out_and_committed_past(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    _transaction(kafka_broker, kafka_topic, message("a"), message("b"), aborted=False)
    _transaction(kafka_broker, kafka_topic, message("never"), aborted=True)
    queue = Queue()
    with running(kafka_settings, queue) as source:
        wait_until(lambda: len(queue.batches) == 2, "the committed messages")
        assert kafka_broker.committed(kafka_settings.group_id) == {}, "they are still needed"
        release_all(source, queue)
        wait_until(lambda: _is_committed_to_the_end(kafka_broker, kafka_settings, kafka_topic), "the commit")
        kafka_broker.produce(kafka_topic, message("c"), partition=0)
        wait_until(lambda: len(queue.batches) == 3, "what comes after")
        assert not _is_committed_to_the_end(kafka_broker, kafka_settings, kafka_topic)
        release_all(source, queue)
        wait_until(lambda: _is_committed_to_the_end(kafka_broker, kafka_settings, kafka_topic), "its commit")
        wait_until(lambda: source.measured.lag[kafka_topic, 0] == 0, "the lag measured anew")
    assert queue.offsets((kafka_topic, 0)) == [0, 1, 5]


def test_messages_of_an_aborted_transaction_are_read_where_that_was_chosen(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    _transaction(kafka_broker, kafka_topic, message("dirty"), aborted=True)
    queue = Queue()
    with running(replace(kafka_settings, isolation_level="read_uncommitted"), queue):
        wait_until(lambda: len(queue.batches) == 1, "the message")


def test_a_topic_that_ends_with_an_aborted_transaction_is_no_lag_for_who_reads_it_first(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    _transaction(kafka_broker, kafka_topic, message("never"), aborted=True)
    with running(kafka_settings, Queue()) as source:
        wait_until(lambda: _is_committed_to_the_end(kafka_broker, kafka_settings, kafka_topic), "the commit")
        wait_until(lambda: source.measured.lag.get((kafka_topic, 0)) == 0, "no lag")


def test_a_compacted_topic_is_committed_to_its_end(kafka_broker: KafkaBroker, kafka_settings: KafkaSettings) -> None:
    topic = f"{kafka_settings.group_id}.compacted"
    compacted = {
        "cleanup.policy": "compact",
        "segment.ms": "100",
        "min.cleanable.dirty.ratio": "0.001",
        "min.compaction.lag.ms": "0",
        "max.compaction.lag.ms": "100",
    }
    kafka_broker.create_topic(topic, configs=compacted)
    producer = KafkaProducer(bootstrap_servers=kafka_broker.bootstrap)
    settings = replace(kafka_settings, topics=(KafkaTopic(topic),))
    try:
        for _ in range(3):
            for number in range(4):
                producer.send(topic, key=b"same", value=message(f"c-{number}")).get(30)

        def read() -> list[int]:
            # A closed segment is compacted, and a segment is closed by what comes after it.
            producer.send(topic, key=b"last", value=message("last")).get(30)
            queue = Queue()
            reader = replace(settings, group_id=f"{settings.group_id}.{kafka_broker.end_offset(topic)}")
            with running(reader, queue) as source:
                wait_until(lambda: queue.batches and queue.batches[-1].decoded.spans, "a message")
                wait_until(lambda: source.measured.lag.get((topic, 0)) == 0, "the end")
                release_all(source, queue)
                wait_until(lambda: _is_committed_to_the_end(kafka_broker, reader, topic), "the commit")
            return queue.offsets((topic, 0))

        wait_until(lambda: len(read()) < kafka_broker.end_offset(topic), "holes", patience=90.0)
    finally:
        producer.close()


def test_who_begins_at_the_end_of_an_empty_partition_misses_nothing_that_comes_while_it_is_down(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    latest = replace(kafka_settings, auto_offset_reset="latest")
    with running(latest, Queue()):
        wait_until(lambda: len(kafka_broker.committed(latest.group_id)) == 2, "the commit of both partitions")
    kafka_broker.produce(kafka_topic, message(), partition=1)
    queue = Queue()
    with running(latest, queue):
        wait_until(lambda: queue.batches, "the message")


def test_what_is_uncommitted_is_measured(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    place = (kafka_topic, 0)
    kafka_broker.produce(kafka_topic, *[message(f"c-{n}") for n in range(3)], partition=0)
    queue = Queue()
    with running(kafka_settings, queue) as source:
        wait_until(lambda: source.measured.uncommitted.get(place) == 3, "three uncommitted offsets")
        assert source.measured.oldest[place] == pytest.approx(queue.batches[0].received_at)
        assert source.measured.heard_at is not None
        source.release({place: 2})
        wait_until(lambda: source.measured.uncommitted.get(place) == 1, "one uncommitted offset")
        source.release({place: 3})
        wait_until(lambda: source.measured.uncommitted.get(place) == 0, "none")
        assert place not in source.measured.oldest
        assert source.problem() is None
