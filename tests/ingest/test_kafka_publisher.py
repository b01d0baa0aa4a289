"""What is given to the publisher is written, whatever happens to brokers and to other messages."""

import os
from collections.abc import Iterator
from uuid import uuid4

import pytest
from kafka import KafkaConsumer, TopicPartition

from aem_monitor.ingest.kafka_publisher import Publisher, Record
from tests.services.kafka import KafkaBroker

pytestmark = pytest.mark.service


def written(broker: KafkaBroker, topic: str) -> list[bytes]:
    """The values of a topic of one partition."""
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap)
    try:
        place = TopicPartition(topic, 0)
        consumer.assign([place])
        consumer.seek_to_beginning(place)
        end = consumer.end_offsets([place])[place]
        values: list[bytes] = []
        while consumer.position(place) < end:
            for records in consumer.poll(timeout_ms=500).values():
                values += [record.value for record in records]
        return values
    finally:
        consumer.close()


@pytest.fixture
def publisher(kafka_broker: KafkaBroker) -> Iterator[Publisher[str]]:
    one: Publisher[str] = Publisher([kafka_broker.bootstrap], {}, "tests")
    yield one
    one.close(1.0)


def record(topic: str, value: bytes) -> Record[str]:
    return Record(topic, b"key", value, (), value[:8].hex())


def test_a_message_that_is_too_large_takes_no_other_with_it(
    kafka_broker: KafkaBroker, publisher: Publisher[str]
) -> None:
    topic = f"small.{uuid4().hex[:8]}"
    kafka_broker.create_topic(topic, configs={"max.message.bytes": "20000"})
    expected: list[bytes] = []
    for number in range(3):
        values = [f"{number}-{place}".encode() for place in range(4)]
        large = os.urandom(60_000)
        for value in (*values[:2], large, *values[2:]):
            publisher.put(record(topic, value))
        expected += values
        outcomes = publisher.flush(30.0)
        assert len(outcomes) == 5
        assert [one.record.value for one in outcomes if one.refused] == [large]
    assert publisher.unacknowledged == 0
    assert written(kafka_broker, topic) == expected


def test_what_is_put_while_brokers_are_away_is_written_when_they_are_back(own_kafka_broker: KafkaBroker) -> None:
    own_kafka_broker.start()
    own_kafka_broker.create_topic("outage")
    publisher: Publisher[str] = Publisher([own_kafka_broker.bootstrap], {}, "tests")
    values = [f"value-{number}".encode() for number in range(30)]
    for value in values[:10]:
        publisher.put(record("outage", value))
    assert len(publisher.flush(30.0)) == 10
    own_kafka_broker.stop()
    for value in values[10:20]:
        publisher.put(record("outage", value))
    assert publisher.flush(1.0) == []
    assert publisher.unacknowledged == 10
    own_kafka_broker.start()
    for value in values[20:]:
        publisher.put(record("outage", value))
    assert len(publisher.flush(60.0)) == 20
    publisher.close(1.0)
    assert written(own_kafka_broker, "outage") == values


def test_a_long_time_without_messages_is_no_silence_of_brokers(
    kafka_broker: KafkaBroker, publisher: Publisher[str], caplog: pytest.LogCaptureFixture
) -> None:
    topic = f"rare.{uuid4().hex[:8]}"
    kafka_broker.create_topic(topic)
    publisher._heard_at -= 3600.0
    publisher.put(record(topic, b"first in an hour"))
    publisher.poll()
    assert len(publisher.flush(30.0)) == 1
    assert "has not confirmed" not in caplog.text


def test_it_is_full_until_brokers_have_taken_what_it_holds(kafka_broker: KafkaBroker) -> None:
    topic = f"full.{uuid4().hex[:8]}"
    publisher: Publisher[str] = Publisher([kafka_broker.bootstrap], {}, "tests", most_bytes=1000)
    seen: list[bool] = []
    for number in range(10):
        seen.append(publisher.full)
        publisher.put(record(topic, bytes([number]) * 100))
    seen.append(publisher.full)
    assert seen == [False] * 10 + [True]
    assert publisher.flush(1.0) == []
    kafka_broker.create_topic(topic)
    assert len(publisher.flush(30.0)) == 10
    seen.append(publisher.full)
    assert not seen[-1]
    publisher.close(1.0)
