"""The Kafka source when brokers and topics come and go."""

import time
from collections import Counter
from dataclasses import replace
from uuid import uuid4

import pytest
from kafka import TopicPartition

from aem_monitor.ingest.kafka_settings import KafkaSettings, KafkaTopic
from tests.ingest.kafka_engine import Queue, message, release_all, running, said, wait_until
from tests.services.kafka import KafkaBroker
from tests.services.process import free_port

pytestmark = pytest.mark.service


def test_an_unreachable_broker_is_said_and_tried_again(
    kafka_settings: KafkaSettings, caplog: pytest.LogCaptureFixture
) -> None:
    nowhere = f"127.0.0.1:{free_port()}"
    queue = Queue()
    with running(replace(kafka_settings, bootstrap_servers=(nowhere,)), queue) as source:
        wait_until(lambda: said(caplog), "a complaint")
        assert not source.up
        assert source.measured.lag == {}
    (line,) = said(caplog)
    assert nowhere in line
    assert "retrying" in line
    assert queue.items == []


def test_a_broker_that_comes_up_later_is_found(own_kafka_broker: KafkaBroker, kafka_settings: KafkaSettings) -> None:
    queue = Queue()
    late = replace(kafka_settings, bootstrap_servers=(own_kafka_broker.bootstrap,), topics=(KafkaTopic("late"),))
    with running(late, queue) as source:
        time.sleep(2.0)
        assert not source.up
        own_kafka_broker.start()
        own_kafka_broker.create_topic("late")
        own_kafka_broker.produce("late", message())
        wait_until(lambda: queue.batches, "the message", 60.0)
        wait_until(lambda: source.up, "up")


def test_a_broker_restart_loses_nothing(own_kafka_broker: KafkaBroker, kafka_settings: KafkaSettings) -> None:
    own_kafka_broker.start()
    own_kafka_broker.create_topic("spans")
    queue = Queue()
    restarted = replace(kafka_settings, bootstrap_servers=(own_kafka_broker.bootstrap,), topics=(KafkaTopic("spans"),))
    with running(restarted, queue) as source:
        own_kafka_broker.produce("spans", message("before"))
        wait_until(lambda: queue.batches, "the first message")
        own_kafka_broker.kill()
        wait_until(lambda: not source.up, "down")
        own_kafka_broker.start()
        own_kafka_broker.produce("spans", message("after"))
        wait_until(lambda: set(queue.offsets(("spans", 0))) == {0, 1}, "the second message", 60.0)
        wait_until(lambda: source.up, "up again")
        release_all(source, queue)
        wait_until(lambda: own_kafka_broker.committed(kafka_settings.group_id) == {("spans", 0): 2}, "the commit")


def test_a_missing_topic_is_said_waited_for_and_not_created(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, caplog: pytest.LogCaptureFixture
) -> None:
    absent = f"absent.{uuid4().hex[:8]}"
    queue = Queue()
    with running(replace(kafka_settings, topics=(KafkaTopic(absent),)), queue) as source:
        wait_until(lambda: any(absent in said for said in said(caplog)), "a complaint")
        assert not source.up
        kafka_broker.create_topic(absent, partitions=3)
        kafka_broker.produce(absent, message())
        wait_until(lambda: queue.batches, "the message of the new topic")
        wait_until(lambda: source.up, "up")
        wait_until(lambda: len(source.measured.lag) == 3, "all its partitions")


def test_a_topic_that_is_created_anew_is_read_from_its_beginning(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    kafka_broker.produce(kafka_topic, message("old-1"), message("old-2"), partition=0)
    queue = Queue()
    with running(kafka_settings, queue) as source:
        wait_until(lambda: len(queue.batches) == 2, "the old messages")
        release_all(source, queue)
        wait_until(lambda: kafka_broker.committed(kafka_settings.group_id) == {(kafka_topic, 0): 2}, "the commit")
        admin = kafka_broker.admin()
        admin.delete_topics([kafka_topic])
        admin.close()
        wait_until(lambda: not source.up, "the deletion noticed")
        kafka_broker.create_topic(kafka_topic, partitions=2)
        kafka_broker.produce(kafka_topic, message("new-1"), partition=0)
        # The client may first sit out requests about the deleted topic.
        wait_until(lambda: len(queue.batches) == 3, "the new message", 120)
        source.release({(kafka_topic, 0): 1})
        wait_until(
            lambda: kafka_broker.committed(kafka_settings.group_id) == {(kafka_topic, 0): 1},
            "the commit of the new topic",
        )
    assert queue.offsets((kafka_topic, 0)) == [0, 1, 0]


def test_reading_goes_on_behind_what_retention_removed_and_counts_it(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    kafka_broker.produce(kafka_topic, *[message(f"c-{n}") for n in range(5)], partition=0)
    first, second = Queue(), Queue()
    with running(kafka_settings, first) as source:
        wait_until(lambda: len(first.batches) == 5, "all")
        source.release({(kafka_topic, 0): 1})
        wait_until(lambda: kafka_broker.committed(kafka_settings.group_id) == {(kafka_topic, 0): 1}, "its commit")
    admin = kafka_broker.admin()
    admin.delete_records({TopicPartition(kafka_topic, 0): 3})
    admin.close()
    causes: Counter[str] = Counter()
    with running(kafka_settings, second, causes) as source:
        wait_until(lambda: len(second.batches) == 2, "what is left")
        release_all(source, second)
        wait_until(lambda: kafka_broker.committed(kafka_settings.group_id) == {(kafka_topic, 0): 5}, "the commit")
    assert second.offsets((kafka_topic, 0)) == [3, 4]
    assert causes == {"retention": 2}
    (line,) = said(caplog)
    assert f"removed 2 messages of {kafka_topic}/0 before they were read" in line
