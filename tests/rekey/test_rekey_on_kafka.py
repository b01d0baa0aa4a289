"""``rekey`` as a process beside a real broker: keys, outages, bad messages, its end."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from kafka import KafkaConsumer, TopicPartition
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from tests.end_to_end.sales import RIGHT
from tests.failures.running import eventually
from tests.rekey.rekeying import by_trace, proto
from tests.rekey.running import Rekey
from tests.services.agent import agent_spans
from tests.services.collector import otlp_json
from tests.services.kafka import KafkaBroker

pytestmark = pytest.mark.service


def target_of(broker: KafkaBroker, configs: dict[str, str] | None = None) -> str:
    name = f"by-conversation.{uuid4().hex[:8]}"
    broker.create_topic(name, partitions=3, configs=configs)
    return name


def published(broker: KafkaBroker, topic: str) -> list[tuple[int, bytes | None, bytes]]:
    """Partition, key and value of all messages of a topic."""
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap)
    try:
        places = [TopicPartition(topic, number) for number in consumer.partitions_for_topic(topic)]
        ends = consumer.end_offsets(places)
        consumer.assign(places)
        consumer.seek_to_beginning()
        found: list[tuple[int, bytes | None, bytes]] = []
        while any(consumer.position(place) < ends[place] for place in places):
            for records in consumer.poll(timeout_ms=500).values():
                found += [(record.partition, record.key, record.value) for record in records]
        return found
    finally:
        consumer.close()


def conversations(count: int, start: int = 0) -> list[list[bytes]]:
    """The messages of conversations of two traces each, one message a trace."""
    return [
        [proto(trace) for trace in by_trace(agent_spans(f"c-{number}", RIGHT))]
        for number in range(start, start + count)
    ]


@pytest.fixture
def rekey(kafka_broker: KafkaBroker, tmp_path: Path) -> Iterator[Rekey]:
    process = Rekey(kafka_broker, tmp_path, target_of(kafka_broker))
    yield process
    process.close()


def scatter(rekey: Rekey, messages: list[bytes]) -> None:
    for number, value in enumerate(messages):
        rekey.broker.produce(rekey.topic, value, partition=number % 6)


def test_every_trace_of_a_conversation_comes_to_one_partition_in_either_encoding(rekey: Rekey) -> None:
    rekey.start()
    as_json = [otlp_json(trace) for trace in by_trace(agent_spans("json", RIGHT))]
    scatter(rekey, [*(value for one in conversations(4) for value in one), *as_json, b'{"resourceSpans": 3, "gen_ai."'])
    eventually(rekey.done, rekey.state)
    found = published(rekey.broker, rekey.target)
    partitions: dict[bytes | None, set[int]] = {}
    for partition, key, _ in found:
        partitions.setdefault(key, set()).add(partition)
    assert partitions.keys() == {b"c-0", b"c-1", b"c-2", b"c-3", b"json", None}
    assert all(len(places) == 1 for places in partitions.values())
    assert sorted(value for _, key, value in found if key == b"json") == sorted(as_json)
    assert [value for _, key, value in found if key is None] == [b'{"resourceSpans": 3, "gen_ai."']
    assert 'aem_monitor_rekeyed_traces_total{by="conversation_id"} 10.0' in rekey.scrape()


def test_log_records_go_to_a_topic_of_their_own_and_to_the_same_partition(rekey: Rekey) -> None:
    logs, log_target = f"{rekey.topic}.logs", target_of(rekey.broker)
    rekey.broker.create_topic(logs, partitions=6)
    topics = [
        {"name": rekey.topic, "to": rekey.target},
        {"name": logs, "to": log_target, "signal": "logs"},
    ]
    rekey.start(topics=topics)
    for number in range(3):
        (trace,) = by_trace(agent_spans(f"c-{number}", RIGHT[1:]))
        request = ExportLogsServiceRequest()
        request.resource_logs.add().scope_logs.add().log_records.add(
            trace_id=trace[-1].context.trace_id.to_bytes(16, "big"),
            span_id=trace[-1].context.span_id.to_bytes(8, "big"),
            event_name="gen_ai.user.message",
        )
        rekey.broker.produce(logs, request.SerializeToString(), partition=number)
        rekey.broker.produce(rekey.topic, proto(trace), partition=number)
    eventually(lambda: len(published(rekey.broker, log_target)) == 3, rekey.state)
    places = {(partition, key) for partition, key, _ in published(rekey.broker, rekey.target)}
    assert {(partition, key) for partition, key, _ in published(rekey.broker, log_target)} == places


def test_a_message_that_the_target_does_not_take_is_said_and_holds_nothing_up(
    kafka_broker: KafkaBroker, tmp_path: Path
) -> None:
    rekey = Rekey(kafka_broker, tmp_path, target_of(kafka_broker, {"max.message.bytes": "20000"}))
    noise = "".join(uuid4().hex for _ in range(2000))
    try:
        rekey.start()
        large = agent_spans("large", RIGHT[1:], attributes={"noise": noise})
        scatter(rekey, [proto(large), *(value for one in conversations(2) for value in one)])
        eventually(rekey.done, rekey.state)
        assert {key for _, key, _ in published(kafka_broker, rekey.target)} == {b"c-0", b"c-1"}
        assert len(published(kafka_broker, rekey.target)) == 4
        assert "aem_monitor_rekey_refused_messages_total 1.0" in rekey.scrape()
        assert "max.message.bytes" in rekey.state()
    finally:
        rekey.close()


def test_a_broker_that_goes_and_comes_loses_nothing(own_kafka_broker: KafkaBroker, tmp_path: Path) -> None:
    own_kafka_broker.start()
    rekey = Rekey(own_kafka_broker, tmp_path, target_of(own_kafka_broker))
    try:
        process = rekey.start()
        scatter(rekey, [value for one in conversations(3) for value in one])
        own_kafka_broker.stop()
        eventually(lambda: 'source_up{source="kafka"} 0.0' in rekey.scrape(), rekey.state)
        own_kafka_broker.start()
        scatter(rekey, [value for one in conversations(3, start=3) for value in one])
        eventually(rekey.done, rekey.state)
        assert process.stop() == 0
        keys = {key for _, key, _ in published(own_kafka_broker, rekey.target)}
        assert keys == {f"c-{number}".encode() for number in range(6)}
    finally:
        rekey.close()


def test_a_target_that_is_not_there_is_waited_for_and_nothing_is_committed(
    kafka_broker: KafkaBroker, tmp_path: Path
) -> None:
    rekey = Rekey(kafka_broker, tmp_path, f"later.{uuid4().hex[:8]}")
    try:
        rekey.start()
        scatter(rekey, conversations(1)[0])
        eventually(lambda: f"Kafka topic {rekey.target}" in rekey.state(), rekey.state)
        assert not rekey.done()
        kafka_broker.create_topic(rekey.target, partitions=2)
        eventually(rekey.done, rekey.state)
        assert {key for _, key, _ in published(kafka_broker, rekey.target)} == {b"c-0"}
    finally:
        rekey.close()


def test_its_end_leaves_what_waits_to_the_next_process(rekey: Rekey) -> None:
    (trace,) = by_trace(agent_spans("c-0", RIGHT[1:]))
    process = rekey.start(wait_without_id="10m")
    scatter(rekey, [proto(trace[:-1])])
    eventually(lambda: "aem_monitor_pending_traces 1.0" in rekey.scrape(), rekey.state)
    assert process.stop() == 0
    assert published(rekey.broker, rekey.target) == []
    rekey.start()
    scatter(rekey, [proto(trace[-1:])])
    eventually(rekey.done, rekey.state)
    ((_, key, value),) = published(rekey.broker, rekey.target)
    assert key == b"c-0"
    assert value == proto(trace[:-1]) + proto(trace[-1:])


def test_two_processes_share_the_partitions_of_a_topic_that_is_keyed_by_trace(rekey: Rekey) -> None:
    rekey.start("one")
    rekey.start("two")
    eventually(lambda: all(rekey.scrape(name).count("consumer_lag{") == 3 for name in ("one", "two")), rekey.state)
    scatter(rekey, [value for one in conversations(6) for value in one])
    eventually(rekey.done, rekey.state)
    counts = [
        float(line.rpartition(" ")[2])
        for name in ("one", "two")
        for line in rekey.scrape(name).splitlines()
        if line.startswith('aem_monitor_rekeyed_traces_total{by="conversation_id"}')
    ]
    assert sum(counts) == 12
    assert min(counts) > 0
    assert {key for _, key, _ in published(rekey.broker, rekey.target)} == {f"c-{n}".encode() for n in range(6)}
