"""The Kafka sink: what is written for a verdict, over an outage and past one that is too large."""

import json
import os
import time
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest
from jsonschema import Draft202012Validator
from kafka import KafkaConsumer, TopicPartition

from aem_monitor.errors import RefusedVerdictError, SinkError
from aem_monitor.ingest.kafka_publisher import Outcome, Publisher, Record
from aem_monitor.sinks.kafka import KafkaTopic, headers_of
from aem_monitor.sinks.line import line_object
from aem_monitor.sinks.schema import line_schema
from aem_monitor.store.records import RevisionKey, StoredRun
from tests.services.kafka import KafkaBroker
from tests.store.results import run, turn


def verdicts(*numbers: int) -> list[StoredRun]:
    return [StoredRun(run(f"run-{number}"), 100.0, 100.0, "final") for number in numbers]


def large(number: int) -> StoredRun:
    """More than 20,000 bytes however it is compressed."""
    return StoredRun(run(f"run-{number}", turn(actual=os.urandom(30_000).hex())), 100.0, 100.0, "final")


def topic_of(broker: KafkaBroker, **configs: str) -> str:
    topic = f"verdicts.{uuid4().hex[:8]}"
    broker.create_topic(topic, partitions=3, configs={name.replace("_", "."): value for name, value in configs.items()})
    return topic


def sink_of(broker: KafkaBroker, topic: str, confirmed_within: float = 30.0) -> KafkaTopic:
    publisher: Publisher[RevisionKey] = Publisher([broker.bootstrap], {}, "tests")
    return KafkaTopic(topic, publisher, confirmed_within)


def messages(broker: KafkaBroker, topic: str) -> list[Any]:
    """All that is written, in its order on each partition."""
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap)
    try:
        places = [TopicPartition(topic, number) for number in range(3)]
        consumer.assign(places)
        consumer.seek_to_beginning(*places)
        ends = consumer.end_offsets(places)
        found: list[Any] = []
        until = time.monotonic() + 30.0
        while any(consumer.position(place) < ends[place] for place in places):
            assert time.monotonic() < until, "the topic cannot be read to its end"
            for records in consumer.poll(200).values():
                found += records
        return found
    finally:
        consumer.close()


def runs(broker: KafkaBroker, topic: str) -> list[str]:
    return sorted(message.key.decode() for message in messages(broker, topic))


class Silent:
    """Brokers that confirm what they are told to, when they are told to."""

    def __init__(self) -> None:
        self.put_in: list[Record[RevisionKey]] = []
        self.confirms: set[str] = set()
        self.closed = False

    def put(self, record: Record[RevisionKey]) -> None:
        self.put_in.append(record)

    def flush(self, timeout: float) -> list[Outcome[RevisionKey]]:
        now, self.confirms = self.confirms, set()
        return [Outcome(one) for one in self.put_in if one.tag.run_id in now]

    def close(self, timeout: float) -> None:
        self.closed = True


def not_confirmed(sink: KafkaTopic, offered: Sequence[StoredRun]) -> int:
    with pytest.raises(SinkError, match="has not confirmed") as caught:
        sink.take(offered)
    assert caught.value.reason == "not_confirmed"
    return caught.value.taken


def take_until(sink: KafkaTopic, offered: Sequence[StoredRun]) -> int:
    """Offer what is not taken again and again until nothing is left; how many were taken."""
    taken = 0
    until = time.monotonic() + 60.0
    while taken < len(offered):
        assert time.monotonic() < until, "it is never taken"
        try:
            sink.take(offered[taken:])
            taken = len(offered)
        except SinkError as error:
            taken += error.taken
    return taken


def test_what_is_on_its_way_is_not_sent_again() -> None:
    brokers = Silent()
    sink = KafkaTopic("verdicts", brokers, 0.0)
    assert not_confirmed(sink, verdicts(1, 2, 3)) == 0
    brokers.confirms = {"run-2"}
    assert not_confirmed(sink, verdicts(1, 2, 3)) == 0, "none behind one that is not there is taken"
    brokers.confirms = {"run-1"}
    assert not_confirmed(sink, verdicts(1, 2, 3)) == 2
    assert not_confirmed(sink, verdicts(3, 4)) == 0
    brokers.confirms = {"run-3", "run-4"}
    sink.take(verdicts(3, 4))
    assert [one.tag.run_id for one in brokers.put_in] == ["run-1", "run-2", "run-3", "run-4"]
    sink.close()
    assert brokers.closed


def test_a_revision_is_another_message() -> None:
    brokers = Silent()
    sink = KafkaTopic("verdicts", brokers, 0.0)
    changed = StoredRun(run("run-1", revision=1), 100.0, 101.0, "rescore")
    not_confirmed(sink, [*verdicts(1), changed])
    assert [one.tag for one in brokers.put_in] == [RevisionKey("run-1", 1, 0), RevisionKey("run-1", 1, 1)]
    assert {one.key for one in brokers.put_in} == {b"run-1"}


def test_headers_tell_what_readers_choose_by() -> None:
    failed = StoredRun(run(test_pass=False, revision=2, release=None), 100.0, 101.0, "rescore")
    assert dict(headers_of(failed)) == {"dialog": b"sales-report", "result": b"fail", "revision": b"2"}
    (passed,) = verdicts(1)
    assert dict(headers_of(passed))["release"] == b"1.0.0"


@pytest.mark.service
def test_a_message_is_the_verdict_under_its_run(kafka_broker: KafkaBroker) -> None:
    topic = topic_of(kafka_broker)
    sink = sink_of(kafka_broker, topic)
    offered = verdicts(*range(10))
    sink.take(offered)
    sink.close()
    found = messages(kafka_broker, topic)
    by_run = {one.result.run_id: one for one in offered}
    assert sorted(message.key.decode() for message in found) == sorted(by_run)
    for message in found:
        verdict = by_run[message.key.decode()]
        value = json.loads(message.value)
        assert value == json.loads(json.dumps(line_object(verdict)))
        Draft202012Validator(line_schema()).validate(value)
        assert list(message.headers) == list(headers_of(verdict))


@pytest.mark.service
def test_one_that_is_too_large_is_given_up_and_takes_no_other_with_it(kafka_broker: KafkaBroker) -> None:
    topic = topic_of(kafka_broker, max_message_bytes="20000")
    sink = sink_of(kafka_broker, topic)
    first, second, third = verdicts(1), [large(2)], verdicts(3)
    with pytest.raises(RefusedVerdictError, match=r"raise its max\.message\.bytes") as caught:
        sink.take([*first, *second, *third])
    assert (caught.value.reason, caught.value.taken) == ("too_large", 1)
    sink.take([*third, *verdicts(4)])
    sink.close()
    assert runs(kafka_broker, topic) == ["run-1", "run-3", "run-4"]


@pytest.mark.service
def test_what_is_offered_while_brokers_are_away_is_written_once_when_they_are_back(
    own_kafka_broker: KafkaBroker,
) -> None:
    own_kafka_broker.start()
    topic = topic_of(own_kafka_broker)
    sink = sink_of(own_kafka_broker, topic, confirmed_within=1.0)
    offered = [*verdicts(*range(20))]
    taken = take_until(sink, offered[:10])
    own_kafka_broker.stop()
    assert not_confirmed(sink, offered[10:]) == 0
    assert not_confirmed(sink, offered[10:]) == 0
    own_kafka_broker.start()
    taken += take_until(sink, offered[10:])
    sink.close()
    assert taken == 20
    assert runs(own_kafka_broker, topic) == sorted(one.result.run_id for one in offered)


@pytest.mark.service
def test_a_topic_that_is_made_later_gets_what_waited_once(kafka_broker: KafkaBroker) -> None:
    topic = f"verdicts.{uuid4().hex[:8]}"
    sink = sink_of(kafka_broker, topic, confirmed_within=1.0)
    sink.open()
    assert not_confirmed(sink, verdicts(1, 2)) == 0
    kafka_broker.create_topic(topic, partitions=3)
    assert take_until(sink, verdicts(1, 2)) == 2
    sink.close()
    assert runs(kafka_broker, topic) == ["run-1", "run-2"]
