"""The Kafka source against a real broker: nothing is lost, nothing is committed before it is released."""

import itertools
import time
from collections import Counter, defaultdict
from dataclasses import replace

import pytest

from aem_monitor.ingest.batch import Batch, Partition, PartitionsAssigned, PartitionsRevoked
from aem_monitor.ingest.kafka_settings import KafkaSettings, KafkaTopic
from tests.ingest.kafka_engine import Queue, message, release_all, running, said, wait_until
from tests.services.agent import agent_spans
from tests.services.collector import otlp_json, otlp_proto
from tests.services.kafka import KafkaBroker

pytestmark = pytest.mark.service


def test_both_encodings_arrive_with_their_positions(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    spans = agent_spans("c-7")
    kafka_broker.produce(kafka_topic, otlp_proto(spans), otlp_json(spans), partition=1)
    queue = Queue()
    with running(kafka_settings, queue) as source:
        wait_until(lambda: len(queue.batches) == 2, "two batches")
        assert source.up
        assert source.measured.polled_at is not None
        wait_until(lambda: dict(source.measured.lag) == {(kafka_topic, 0): 0, (kafka_topic, 1): 0}, "no lag")
    first, second = queue.batches
    assert first.decoded.spans == second.decoded.spans
    assert first.decoded.spans[0].attributes["gen_ai.conversation.id"] == "c-7"
    assert [batch.position.offset for batch in queue.batches if batch.position] == [0, 1]
    assert {batch.sender for batch in queue.batches} == {f"{kafka_topic}/1"}
    assert queue.items[0] == PartitionsAssigned("kafka", ((kafka_topic, 0), (kafka_topic, 1)))


def test_logs_come_from_a_topic_of_their_own(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    logs = f"{kafka_topic}.logs"
    kafka_broker.create_topic(logs)
    kafka_broker.produce(
        logs,
        b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","eventName":"gen_ai.user.message",'
        b'"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","body":{"stringValue":"x"},'
        b'"attributes":[{"key":"gen_ai.system","value":{"stringValue":"y"}}]}]}]}]}',
    )
    queue = Queue()
    both = replace(
        kafka_settings, topics=(KafkaTopic(kafka_topic), KafkaTopic(logs, signal="logs", encoding="otlp_json"))
    )
    with running(both, queue):
        wait_until(lambda: queue.batches, "a batch of logs")
    assert [record.event_name for record in queue.batches[0].decoded.logs] == ["gen_ai.user.message"]


@pytest.mark.parametrize("compression", ["gzip", "lz4", "snappy", "zstd"])
def test_every_compression_is_read(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str, compression: str
) -> None:
    kafka_broker.produce(kafka_topic, *[message()] * 3, compression=compression)
    queue = Queue()
    with running(kafka_settings, queue):
        wait_until(lambda: len(queue.batches) == 3, "three batches")
    assert all(batch.decoded.spans for batch in queue.batches)


def test_offsets_are_committed_only_after_the_release(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    kafka_broker.produce(kafka_topic, *[message(f"c-{n}") for n in range(3)], partition=0)
    queue = Queue()
    with running(kafka_settings, queue) as source:
        wait_until(lambda: len(queue.batches) == 3, "three batches")
        time.sleep(5 * kafka_settings.commit_interval_seconds)
        assert kafka_broker.committed(kafka_settings.group_id) == {}
        source.release({(kafka_topic, 0): 2})
        wait_until(
            lambda: kafka_broker.committed(kafka_settings.group_id) == {(kafka_topic, 0): 2}, "the commit of offset 2"
        )


def test_close_commits_what_was_released_last(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    kafka_broker.produce(kafka_topic, message(), message(), partition=0)
    queue = Queue()
    with running(replace(kafka_settings, commit_interval_seconds=3600.0), queue) as source:
        wait_until(lambda: len(queue.batches) == 2, "two batches")
        source.stop(5.0)
        source.release({(kafka_topic, 0): 2})
    assert kafka_broker.committed(kafka_settings.group_id) == {(kafka_topic, 0): 2}


def test_what_was_not_released_is_delivered_again(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    kafka_broker.produce(kafka_topic, *[message(f"c-{n}") for n in range(4)], partition=0)
    first, second = Queue(), Queue()
    with running(kafka_settings, first) as source:
        wait_until(lambda: len(first.batches) == 4, "four batches")
        source.release({(kafka_topic, 0): 1})
    with running(kafka_settings, second):
        wait_until(lambda: len(second.batches) == 3, "three batches again")
    assert second.offsets((kafka_topic, 0)) == [1, 2, 3]


def test_nothing_is_delivered_after_stop_but_releases_are_still_committed(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    kafka_broker.produce(kafka_topic, message(), partition=0)
    queue = Queue()
    with running(kafka_settings, queue) as source:
        wait_until(lambda: queue.batches, "a batch")
        source.stop(5.0)
        kafka_broker.produce(kafka_topic, message(), partition=0)
        source.release({(kafka_topic, 0): 1})
        wait_until(
            lambda: kafka_broker.committed(kafka_settings.group_id) == {(kafka_topic, 0): 1},
            "the commit while draining",
        )
        assert len(queue.batches) == 1


def test_a_poison_message_is_counted_and_does_not_hold_the_partition(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    poison = [b"\xff\xff not protobuf", b'{"resourceSpans": [', b'[{"traceId": "1"}]']
    kafka_broker.produce(kafka_topic, *poison, message("c-good"), partition=0)
    queue = Queue()
    causes: Counter[str] = Counter()
    with running(kafka_settings, queue, causes) as source:
        wait_until(lambda: len(queue.batches) == 4, "four batches")
        release_all(source, queue)
        wait_until(
            lambda: kafka_broker.committed(kafka_settings.group_id) == {(kafka_topic, 0): 4},
            "the commit behind the poison",
        )
    assert causes == {"malformed": 2, "unsupported_encoding": 1}
    assert [batch.decoded.seen_spans for batch in queue.batches] == [0, 0, 0, 1]
    assert queue.batches[3].decoded.spans
    (line,) = said(caplog)
    assert f"{kafka_topic}/0 at offset 0" in line


def test_messages_without_agent_content_are_skipped_and_released(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    other = message().replace(b"gen_ai", b"gen_xx")
    kafka_broker.produce(kafka_topic, other, partition=0)
    queue = Queue()
    with running(kafka_settings, queue) as source:
        wait_until(lambda: queue.batches, "a batch")
        release_all(source, queue)
        wait_until(lambda: kafka_broker.committed(kafka_settings.group_id) == {(kafka_topic, 0): 1}, "the commit")
    (batch,) = queue.batches
    assert batch.decoded.spans == ()
    assert batch.decoded.skipped == {"no_agent_content": 1}


def test_a_full_queue_pauses_without_losing_the_membership(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    kafka_broker.produce(kafka_topic, *[message(f"c-{n}") for n in range(50)], partition=0)
    queue = Queue(capacity=5)
    # A consumer that did not poll for two seconds would be thrown out and report its partitions as revoked.
    impatient = replace(kafka_settings, max_poll_interval_seconds=2.0, max_poll_records=10)
    with running(impatient, queue) as source:
        wait_until(lambda: len(queue.items) == 5, "a full queue")
        time.sleep(4.0)
        kafka_broker.produce(kafka_topic, message(), partition=0)
        assert source.up
        assert source.measured.lag[kafka_topic, 0] >= 45
        queue.capacity = float("inf")
        wait_until(lambda: len(queue.batches) == 51, "the rest")
    assert queue.offsets((kafka_topic, 0)) == list(range(51))
    assert not any(isinstance(item, PartitionsRevoked) for item in queue.items)


def _delivered(queues: list[Queue], topic: str) -> Counter[tuple[int, int]]:
    return Counter(
        (partition, offset)
        for queue, partition in itertools.product(queues, (0, 1))
        for offset in queue.offsets((topic, partition))
    )


def _by_assignment(queue: Queue) -> dict[Partition, list[list[int]]]:
    """The offsets of each partition, a list for each time that it was assigned; none comes at another time."""
    found: dict[Partition, list[list[int]]] = defaultdict(list)
    owned: set[Partition] = set()
    for item in list(queue.items):
        if isinstance(item, PartitionsAssigned):
            assert owned.isdisjoint(item.partitions)
            owned.update(item.partitions)
            for partition in item.partitions:
                found[partition].append([])
        elif isinstance(item, PartitionsRevoked):
            assert owned.issuperset(item.partitions)
            owned.difference_update(item.partitions)
        elif isinstance(item, Batch) and item.position is not None:
            assert item.position.key in owned
            found[item.position.key][-1].append(item.position.offset)
    return found


def test_a_second_member_takes_over_partitions_without_a_gap(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    for partition in (0, 1):
        kafka_broker.produce(kafka_topic, *[message(f"c-{n}") for n in range(10)], partition=partition)
    one, two = Queue(), Queue()
    with running(kafka_settings, one) as first:
        wait_until(lambda: len(one.batches) == 20, "all on the first member")
        # Half of what was read is still needed when the rebalance comes.
        first.release({(kafka_topic, 0): 5, (kafka_topic, 1): 5})
        wait_until(lambda: len(kafka_broker.committed(kafka_settings.group_id)) == 2, "the commit")
        with running(kafka_settings, two) as second:
            wait_until(
                lambda: second.measured.lag and first.measured.lag and len(first.measured.lag) == 1, "a partition each"
            )
            for partition in (0, 1):
                kafka_broker.produce(kafka_topic, *[message(f"d-{n}") for n in range(10)], partition=partition)
            wait_until(
                lambda: set(_delivered([one, two], kafka_topic)) == set(itertools.product((0, 1), range(20))), "all"
            )
            (kept,), (moved,) = first.measured.lag, second.measured.lag
            assert {kept, moved} == {(kafka_topic, 0), (kafka_topic, 1)}
            # On a busy machine joining may take several rebalances. A member that misses one has to take its partitions
            # for given away and reads them again from what was committed; one that misses none goes on where it was.
            of_first, of_second = _by_assignment(one), _by_assignment(two)
            assert [offsets[0][0] for offsets in of_first.values()] == [0, 0]
            again = [offsets for partition in (kept, moved) for offsets in of_first[partition][1:]]
            again += [offsets for partition in (kept, moved) for offsets in of_second[partition]]
            assert {offsets[0] for offsets in again if offsets} == {5}
            for offsets in (*of_first[kept], *of_first[moved], *again):
                assert all(after == before + 1 for before, after in itertools.pairwise(offsets))
            # What the first member still releases of the moved partition is not its to commit.
            first.release({moved: 10, kept: 20})
            wait_until(
                lambda: kafka_broker.committed(kafka_settings.group_id)[kept] == 20, "the commit of the kept one"
            )
            assert kafka_broker.committed(kafka_settings.group_id)[moved] == 5


def test_a_partition_that_others_may_have_had_is_read_again_from_what_was_committed(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    for partition in (0, 1):
        kafka_broker.produce(kafka_topic, *[message(f"c-{n}") for n in range(4)], partition=partition)
    one = Queue()
    with running(kafka_settings, one) as first:
        wait_until(lambda: len(one.batches) == 8, "all")
        first.release({(kafka_topic, 0): 2, (kafka_topic, 1): 2})
        wait_until(lambda: len(kafka_broker.committed(kafka_settings.group_id)) == 2, "the commit")
        first._ownership._generation = -7  # as if generations had gone by without this member
        with running(kafka_settings, Queue()) as second:
            wait_until(lambda: len(first.measured.lag) == 1 == len(second.measured.lag), "a partition each")
            (kept,) = first.measured.lag
            wait_until(lambda: one.offsets(kept) == [0, 1, 2, 3, 2, 3], "the kept partition again")
            revoked = [item for item in one.items if isinstance(item, PartitionsRevoked)]
            assert revoked == [PartitionsRevoked("kafka", ((kafka_topic, 0), (kafka_topic, 1)))]
            assert one.items[one.items.index(revoked[0]) + 1] == PartitionsAssigned("kafka", (kept,))
            kafka_broker.produce(kafka_topic, message(), partition=kept[1])
            wait_until(lambda: one.offsets(kept) == [0, 1, 2, 3, 2, 3, 4], "a new message")


def test_partitions_of_a_closed_member_go_to_the_other(
    kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str
) -> None:
    one, two = Queue(), Queue()
    with running(kafka_settings, one) as first:
        with running(kafka_settings, two) as second:
            wait_until(lambda: len(first.measured.lag) == 1 == len(second.measured.lag), "a partition each")
        for partition in (0, 1):
            kafka_broker.produce(kafka_topic, message(), partition=partition)
        wait_until(lambda: len(one.batches) == 2, "both partitions on the first member again")
