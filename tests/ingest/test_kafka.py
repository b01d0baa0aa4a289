"""The Kafka source against a real broker: nothing is lost, nothing is committed before it is released."""

import itertools
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from uuid import uuid4

import pytest
from kafka import TopicPartition

from aem_monitor.ingest.batch import Batch, Decoded, EngineInput, Partition, PartitionsAssigned, PartitionsRevoked
from aem_monitor.ingest.kafka import KafkaSource
from aem_monitor.ingest.kafka_group import Assigned
from aem_monitor.ingest.kafka_settings import KafkaSettings, KafkaTopic
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from tests.services.agent import agent_spans
from tests.services.collector import otlp_json, otlp_proto
from tests.services.kafka import KafkaBroker
from tests.services.process import free_port

pytestmark = pytest.mark.service

PATIENCE = 30.0


class Queue:
    """Stands for the engine's queue: takes ``capacity`` more items, then stays full until given more room."""

    def __init__(self, capacity: float = float("inf")) -> None:
        self.capacity = capacity
        self.items: list[EngineInput] = []
        self._lock = Lock()

    def submit(self, item: EngineInput, timeout: float) -> bool:
        until = time.monotonic() + timeout
        while True:
            with self._lock:
                if len(self.items) < self.capacity:
                    self.items.append(item)
                    return True
            if time.monotonic() >= until:
                return False
            time.sleep(0.01)

    @property
    def batches(self) -> list[Batch]:
        return [item for item in list(self.items) if isinstance(item, Batch)]

    def offsets(self, partition: Partition) -> list[int]:
        positions = [batch.position for batch in self.batches if batch.position is not None]
        return [position.offset for position in positions if position.key == partition]


@pytest.fixture(autouse=True)
def _quiet_client(monkeypatch: pytest.MonkeyPatch) -> None:
    # The client's own log says every attempt; a failing test should show ours.
    monkeypatch.setattr(logging.getLogger("kafka"), "level", logging.CRITICAL)


@pytest.fixture
def topic(kafka_broker: KafkaBroker) -> str:
    name = f"otlp_spans.{uuid4().hex[:8]}"
    kafka_broker.create_topic(name, partitions=2)
    return name


@pytest.fixture
def settings(kafka_broker: KafkaBroker, topic: str) -> KafkaSettings:
    return KafkaSettings(
        bootstrap_servers=(kafka_broker.bootstrap,),
        topics=(KafkaTopic(topic),),
        group_id=f"group.{uuid4().hex[:8]}",
        commit_interval_seconds=0.2,
        session_timeout_seconds=6.0,
        heartbeat_interval_seconds=0.3,
        metadata_max_age_seconds=1.0,
    )


@contextmanager
def running(settings: KafkaSettings, queue: Queue, causes: Counter[str] | None = None) -> Iterator[KafkaSource]:
    counted: Counter[str] = Counter() if causes is None else causes

    def count(cause: str, number: int) -> None:
        counted[cause] += number

    source = KafkaSource(settings, Limits(), Prefilter(["gen_ai."]), queue.submit, count)
    source.start()
    try:
        yield source
    finally:
        source.stop(5.0)
        source.close(10.0)


def wait_until(condition: Callable[[], object], what: str, patience: float = PATIENCE) -> None:
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, f"not within {patience:.0f} s: {what}"
        time.sleep(0.05)


def message(conversation: str = "c-1") -> bytes:
    return otlp_proto(agent_spans(conversation))


def release_all(source: KafkaSource, queue: Queue) -> None:
    offsets: dict[Partition, int] = {}
    for batch in queue.batches:
        assert batch.position is not None
        offsets[batch.position.key] = batch.position.offset + 1
    source.release(offsets)


def test_both_encodings_arrive_with_their_positions(
    kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str
) -> None:
    spans = agent_spans("c-7")
    kafka_broker.produce(topic, otlp_proto(spans), otlp_json(spans), partition=1)
    queue = Queue()
    with running(settings, queue) as source:
        wait_until(lambda: len(queue.batches) == 2, "two batches")
        assert source.up
        assert source.last_poll_at is not None
        wait_until(lambda: dict(source.lag()) == {(topic, 0): 0, (topic, 1): 0}, "no lag")
    first, second = queue.batches
    assert first.decoded == second.decoded
    assert first.decoded.spans[0].attributes["gen_ai.conversation.id"] == "c-7"
    assert [batch.position.offset for batch in queue.batches if batch.position] == [0, 1]
    assert {batch.sender for batch in queue.batches} == {f"{topic}/1"}
    assert queue.items[0] == PartitionsAssigned("kafka", ((topic, 0), (topic, 1)))


def test_logs_come_from_a_topic_of_their_own(kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str) -> None:
    logs = f"{topic}.logs"
    kafka_broker.create_topic(logs)
    kafka_broker.produce(
        logs,
        b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","eventName":"gen_ai.user.message",'
        b'"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","body":{"stringValue":"x"},'
        b'"attributes":[{"key":"gen_ai.system","value":{"stringValue":"y"}}]}]}]}]}',
    )
    queue = Queue()
    both = replace(settings, topics=(KafkaTopic(topic), KafkaTopic(logs, signal="logs", encoding="otlp_json")))
    with running(both, queue):
        wait_until(lambda: queue.batches, "a batch of logs")
    assert [record.event_name for record in queue.batches[0].decoded.logs] == ["gen_ai.user.message"]


@pytest.mark.parametrize("compression", ["gzip", "lz4", "snappy", "zstd"])
def test_every_compression_is_read(
    kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str, compression: str
) -> None:
    kafka_broker.produce(topic, *[message()] * 3, compression=compression)
    queue = Queue()
    with running(settings, queue):
        wait_until(lambda: len(queue.batches) == 3, "three batches")
    assert all(batch.decoded.spans for batch in queue.batches)


def test_offsets_are_committed_only_after_the_release(
    kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str
) -> None:
    kafka_broker.produce(topic, *[message(f"c-{n}") for n in range(3)], partition=0)
    queue = Queue()
    with running(settings, queue) as source:
        wait_until(lambda: len(queue.batches) == 3, "three batches")
        time.sleep(5 * settings.commit_interval_seconds)
        assert kafka_broker.committed(settings.group_id) == {}
        source.release({(topic, 0): 2})
        wait_until(lambda: kafka_broker.committed(settings.group_id) == {(topic, 0): 2}, "the commit of offset 2")


def test_close_commits_what_was_released_last(kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str) -> None:
    kafka_broker.produce(topic, message(), message(), partition=0)
    queue = Queue()
    with running(replace(settings, commit_interval_seconds=3600.0), queue) as source:
        wait_until(lambda: len(queue.batches) == 2, "two batches")
        source.stop(5.0)
        source.release({(topic, 0): 2})
    assert kafka_broker.committed(settings.group_id) == {(topic, 0): 2}


def test_what_was_not_released_is_delivered_again(
    kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str
) -> None:
    kafka_broker.produce(topic, *[message(f"c-{n}") for n in range(4)], partition=0)
    first, second = Queue(), Queue()
    with running(settings, first) as source:
        wait_until(lambda: len(first.batches) == 4, "four batches")
        source.release({(topic, 0): 1})
    with running(settings, second):
        wait_until(lambda: len(second.batches) == 3, "three batches again")
    assert second.offsets((topic, 0)) == [1, 2, 3]


def test_nothing_is_delivered_after_stop_but_releases_are_still_committed(
    kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str
) -> None:
    kafka_broker.produce(topic, message(), partition=0)
    queue = Queue()
    with running(settings, queue) as source:
        wait_until(lambda: queue.batches, "a batch")
        source.stop(5.0)
        kafka_broker.produce(topic, message(), partition=0)
        source.release({(topic, 0): 1})
        wait_until(lambda: kafka_broker.committed(settings.group_id) == {(topic, 0): 1}, "the commit while draining")
        assert len(queue.batches) == 1


def test_a_poison_message_is_counted_and_does_not_hold_the_partition(
    kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    poison = [b"\xff\xff not protobuf", b'{"resourceSpans": [', b'[{"traceId": "1"}]']
    kafka_broker.produce(topic, *poison, message("c-good"), partition=0)
    queue = Queue()
    causes: Counter[str] = Counter()
    with running(settings, queue, causes) as source:
        wait_until(lambda: len(queue.batches) == 4, "four batches")
        release_all(source, queue)
        wait_until(lambda: kafka_broker.committed(settings.group_id) == {(topic, 0): 4}, "the commit behind the poison")
    assert causes == {"malformed": 2, "unsupported_encoding": 1}
    assert [batch.decoded for batch in queue.batches[:3]] == [Decoded()] * 3
    assert queue.batches[3].decoded.spans
    (said,) = _said(caplog)
    assert f"{topic}/0 at offset 0" in said


def test_messages_without_agent_content_are_skipped_and_released(
    kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str
) -> None:
    other = message().replace(b"gen_ai", b"gen_xx")
    kafka_broker.produce(topic, other, partition=0)
    queue = Queue()
    with running(settings, queue) as source:
        wait_until(lambda: queue.batches, "a batch")
        release_all(source, queue)
        wait_until(lambda: kafka_broker.committed(settings.group_id) == {(topic, 0): 1}, "the commit")
    (batch,) = queue.batches
    assert batch.decoded.spans == ()
    assert batch.decoded.skipped == {"no_agent_content": 1}


def test_a_full_queue_pauses_without_losing_the_membership(
    kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str
) -> None:
    kafka_broker.produce(topic, *[message(f"c-{n}") for n in range(50)], partition=0)
    queue = Queue(capacity=5)
    # A consumer that did not poll for two seconds would be thrown out and report its partitions as revoked.
    impatient = replace(settings, max_poll_interval_seconds=2.0, max_poll_records=10)
    with running(impatient, queue) as source:
        wait_until(lambda: len(queue.items) == 5, "a full queue")
        time.sleep(4.0)
        kafka_broker.produce(topic, message(), partition=0)
        assert source.up
        assert source.lag()[topic, 0] >= 45
        queue.capacity = float("inf")
        wait_until(lambda: len(queue.batches) == 51, "the rest")
    assert queue.offsets((topic, 0)) == list(range(51))
    assert not any(isinstance(item, PartitionsRevoked) for item in queue.items)


def _delivered(queues: list[Queue], topic: str) -> Counter[tuple[int, int]]:
    return Counter(
        (partition, offset)
        for queue, partition in itertools.product(queues, (0, 1))
        for offset in queue.offsets((topic, partition))
    )


def test_a_second_member_takes_over_partitions_without_a_gap(
    kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str
) -> None:
    for partition in (0, 1):
        kafka_broker.produce(topic, *[message(f"c-{n}") for n in range(10)], partition=partition)
    one, two = Queue(), Queue()
    with running(settings, one) as first:
        wait_until(lambda: len(one.batches) == 20, "all on the first member")
        # Half of what was read is still needed when the rebalance comes.
        first.release({(topic, 0): 5, (topic, 1): 5})
        wait_until(lambda: len(kafka_broker.committed(settings.group_id)) == 2, "the commit")
        with running(settings, two) as second:
            wait_until(lambda: second.lag() and first.lag() and len(first.lag()) == 1, "a partition each")
            for partition in (0, 1):
                kafka_broker.produce(topic, *[message(f"d-{n}") for n in range(10)], partition=partition)
            wait_until(lambda: set(_delivered([one, two], topic)) == set(itertools.product((0, 1), range(20))), "all")
            ((moved,),) = [item.partitions for item in one.items if isinstance(item, PartitionsRevoked)]
            ((gained,),) = [item.partitions for item in two.items if isinstance(item, PartitionsAssigned)]
            assert moved == gained
            (kept,) = first.lag()
            # The kept partition goes on where it was; the moved one is read again from what was committed.
            assert one.offsets(kept) == list(range(20))
            assert two.offsets(moved) == list(range(5, 20))
            revoked_at = next(i for i, item in enumerate(one.items) if isinstance(item, PartitionsRevoked))
            after = [item for item in one.items[revoked_at:] if isinstance(item, Batch)]
            assert {batch.position.key for batch in after if batch.position} <= {kept}
            # What the first member still releases of the moved partition is not its to commit.
            first.release({moved: 10, kept: 20})
            wait_until(lambda: kafka_broker.committed(settings.group_id)[kept] == 20, "the commit of the kept one")
            assert kafka_broker.committed(settings.group_id)[moved] == 5
    assert max(_delivered([one, two], topic).values()) <= 2


def test_a_partition_that_others_may_have_had_is_read_again_from_what_was_committed(
    kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str
) -> None:
    for partition in (0, 1):
        kafka_broker.produce(topic, *[message(f"c-{n}") for n in range(4)], partition=partition)
    one = Queue()
    with running(settings, one) as first:
        wait_until(lambda: len(one.batches) == 8, "all")
        first.release({(topic, 0): 2, (topic, 1): 2})
        wait_until(lambda: len(kafka_broker.committed(settings.group_id)) == 2, "the commit")
        first._ownership._generation = -7  # as if generations had gone by without this member
        with running(settings, Queue()) as second:
            wait_until(lambda: len(first.lag()) == 1 == len(second.lag()), "a partition each")
            (kept,) = first.lag()
            wait_until(lambda: one.offsets(kept) == [0, 1, 2, 3, 2, 3], "the kept partition again")
            revoked = [item for item in one.items if isinstance(item, PartitionsRevoked)]
            assert revoked == [PartitionsRevoked("kafka", ((topic, 0), (topic, 1)))]
            assert one.items[one.items.index(revoked[0]) + 1] == PartitionsAssigned("kafka", (kept,))
            kafka_broker.produce(topic, message(), partition=kept[1])
            wait_until(lambda: one.offsets(kept) == [0, 1, 2, 3, 2, 3, 4], "a new message")


def test_partitions_of_a_closed_member_go_to_the_other(
    kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str
) -> None:
    one, two = Queue(), Queue()
    with running(settings, one) as first:
        with running(settings, two) as second:
            wait_until(lambda: len(first.lag()) == 1 == len(second.lag()), "a partition each")
        for partition in (0, 1):
            kafka_broker.produce(topic, message(), partition=partition)
        wait_until(lambda: len(one.batches) == 2, "both partitions on the first member again")


def _said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.name == "aem_monitor.ingest.kafka"]


def test_an_unreachable_broker_is_said_and_tried_again(
    settings: KafkaSettings, caplog: pytest.LogCaptureFixture
) -> None:
    nowhere = f"127.0.0.1:{free_port()}"
    queue = Queue()
    with running(replace(settings, bootstrap_servers=(nowhere,)), queue) as source:
        wait_until(lambda: _said(caplog), "a complaint")
        assert not source.up
        assert source.lag() == {}
    (said,) = _said(caplog)
    assert nowhere in said
    assert "retrying" in said
    assert queue.items == []


def test_a_broker_that_comes_up_later_is_found(own_kafka_broker: KafkaBroker, settings: KafkaSettings) -> None:
    queue = Queue()
    late = replace(settings, bootstrap_servers=(own_kafka_broker.bootstrap,), topics=(KafkaTopic("late"),))
    with running(late, queue) as source:
        time.sleep(2.0)
        assert not source.up
        own_kafka_broker.start()
        own_kafka_broker.create_topic("late")
        own_kafka_broker.produce("late", message())
        wait_until(lambda: queue.batches, "the message", 60.0)
        wait_until(lambda: source.up, "up")


def test_a_broker_restart_loses_nothing(own_kafka_broker: KafkaBroker, settings: KafkaSettings) -> None:
    own_kafka_broker.start()
    own_kafka_broker.create_topic("spans")
    queue = Queue()
    restarted = replace(settings, bootstrap_servers=(own_kafka_broker.bootstrap,), topics=(KafkaTopic("spans"),))
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
        wait_until(lambda: own_kafka_broker.committed(settings.group_id) == {("spans", 0): 2}, "the commit")


def test_a_missing_topic_is_said_waited_for_and_not_created(
    kafka_broker: KafkaBroker, settings: KafkaSettings, caplog: pytest.LogCaptureFixture
) -> None:
    absent = f"absent.{uuid4().hex[:8]}"
    queue = Queue()
    with running(replace(settings, topics=(KafkaTopic(absent),)), queue) as source:
        wait_until(lambda: any(absent in said for said in _said(caplog)), "a complaint")
        assert not source.up
        kafka_broker.create_topic(absent, partitions=3)
        kafka_broker.produce(absent, message())
        wait_until(lambda: queue.batches, "the message of the new topic")
        wait_until(lambda: source.up, "up")
        wait_until(lambda: len(source.lag()) == 3, "all its partitions")


def test_a_topic_that_is_created_anew_is_read_from_its_beginning(
    kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str
) -> None:
    kafka_broker.produce(topic, message("old-1"), message("old-2"), partition=0)
    queue = Queue()
    with running(settings, queue) as source:
        wait_until(lambda: len(queue.batches) == 2, "the old messages")
        release_all(source, queue)
        wait_until(lambda: kafka_broker.committed(settings.group_id) == {(topic, 0): 2}, "the commit")
        admin = kafka_broker.admin()
        admin.delete_topics([topic])
        admin.close()
        wait_until(lambda: not source.up, "the deletion noticed")
        kafka_broker.create_topic(topic, partitions=2)
        kafka_broker.produce(topic, message("new-1"), partition=0)
        wait_until(lambda: len(queue.batches) == 3, "the new message")
        source.release({(topic, 0): 1})
        wait_until(lambda: kafka_broker.committed(settings.group_id) == {(topic, 0): 1}, "the commit of the new topic")
    assert queue.offsets((topic, 0)) == [0, 1, 0]


def test_reading_goes_on_behind_what_retention_removed(
    kafka_broker: KafkaBroker, settings: KafkaSettings, topic: str
) -> None:
    kafka_broker.produce(topic, *[message(f"c-{n}") for n in range(5)], partition=0)
    first, second = Queue(), Queue()
    with running(settings, first) as source:
        wait_until(lambda: len(first.batches) == 5, "all")
        source.release({(topic, 0): 1})
    admin = kafka_broker.admin()
    admin.delete_records({TopicPartition(topic, 0): 3})
    admin.close()
    with running(settings, second) as source:
        wait_until(lambda: len(second.batches) == 2, "what is left")
        release_all(source, second)
        wait_until(lambda: kafka_broker.committed(settings.group_id) == {(topic, 0): 5}, "the commit")
    assert second.offsets((topic, 0)) == [3, 4]


class Record:
    """A message as the client hands it over."""

    def __init__(self, offset: int) -> None:
        self.topic, self.partition, self.offset = "spans", 0, offset
        self.value: bytes | None = message()


def test_a_partition_that_went_back_is_lost_and_gained_before_its_messages(caplog: pytest.LogCaptureFixture) -> None:
    queue = Queue()
    settings = KafkaSettings(("nowhere:9092",), topics=(KafkaTopic("spans"),))
    source = KafkaSource(settings, Limits(), Prefilter(["gen_ai."]), queue.submit, lambda cause, number: None)
    place = ("spans", 0)
    source._apply(source._ownership.apply(Assigned(frozenset({place}), 1)))
    source._waiting.extend(Record(offset) for offset in (5, 6, 0))
    source._deliver(5.0)
    assert queue.offsets(place) == [5, 6, 0]
    assert queue.items[3:5] == [PartitionsRevoked("kafka", (place,)), PartitionsAssigned("kafka", (place,))]
    source.release({place: 1})
    assert source._progress.committable() == {place: 1}
    (said,) = _said(caplog)
    assert "went back from offset 7 to 0" in said
