"""Poison on a real broker: in the dead-letter topic before its offset is committed, and never a whole topic of it."""

from collections import Counter

import pytest

from aem_monitor.deadletters.letter import Origin
from aem_monitor.ingest.batch import PartitionsRevoked
from tests.deadletters.running import POISON, Reading, produce, releasing
from tests.ingest.kafka_engine import Queue, message, wait_until
from tests.services.kafka import KafkaBroker

pytestmark = pytest.mark.service


@pytest.fixture
def reading(kafka_broker: KafkaBroker, dead_topic: str) -> Reading:
    return Reading(kafka_broker, dead_topic)


def test_a_poison_message_alone_becomes_a_letter_and_is_passed(reading: Reading) -> None:
    produce(reading.broker, reading.topic, POISON, b"conversation-1", [("traceparent", b"00-1"), ("empty", b"")])
    reading.broker.produce(reading.topic, message("c-good"), partition=0)
    queue = Queue()
    with reading.source(queue) as source:
        wait_until(
            releasing(source, queue, lambda: reading.committed == {(reading.topic, 0): 2}), "the commit behind it"
        )
        assert source.problem() is None
    (letter,) = reading.letters()
    assert letter.origin == Origin(reading.topic, 0, 0, letter.origin.timestamp)
    assert letter.origin.timestamp > 1_700_000_000_000
    assert (letter.key, letter.value) == (b"conversation-1", POISON)
    assert letter.headers == [("traceparent", b"00-1"), ("empty", b"")]
    assert letter.cause == "malformed"
    assert letter.group == reading.group
    assert reading.causes == {"malformed": 1}
    assert [batch.decoded.seen_spans for batch in queue.batches] == [0, 1]


def test_a_thousand_in_a_row_stop_the_source_and_are_not_drained(reading: Reading) -> None:
    reading.broker.produce(reading.topic, message(), partition=1)
    queue = Queue()
    with reading.source(queue, max_run=20) as source:
        wait_until(lambda: queue.batches, "the good message")
        reading.broker.produce(reading.topic, message(), *[POISON] * 1000, partition=0)
        wait_until(lambda: source.problem() is not None, "the stop")
        assert f"{reading.topic}/0" in str(source.problem())
        assert "more than 20 in a row" in str(source.problem())
        wait_until(lambda: not source.up, "down")
        reading.broker.produce(reading.topic, message("later"), partition=1)
        # Other partitions wait too: their conversations may have a part on this one. What is done is committed.
        wait_until(
            releasing(source, queue, lambda: reading.committed.get((reading.topic, 1)) == 1),
            "the commit of the other partition",
        )
    assert len(reading.letters()) == 20
    assert reading.committed.get((reading.topic, 0), 0) <= 21
    assert reading.causes == {"malformed": 20}


def test_nothing_of_a_run_is_committed_after_the_stop_so_that_it_can_be_read_again(reading: Reading) -> None:
    reading.broker.produce(reading.topic, *[POISON] * 10, partition=0)
    first, second = Queue(), Queue()
    with reading.source(first, max_run=5) as source:
        wait_until(lambda: source.problem() is not None, "the stop")
        wait_until(lambda: len(reading.letters()) == 5, "five letters")
        wait_until(releasing(source, first, lambda: not source.up), "down")
    assert reading.committed == {}
    with reading.source(second, max_run=50) as source:
        wait_until(releasing(source, second, lambda: reading.committed == {(reading.topic, 0): 10}), "all of it")
    assert [letter.origin.offset for letter in reading.letters()] == [0, 1, 2, 3, 4, *range(10)]


def test_a_share_of_poison_stops_the_source(reading: Reading) -> None:
    reading.broker.produce(reading.topic, *[message(), POISON] * 50, partition=0)
    queue = Queue()
    with reading.source(queue, max_run=5, max_ratio=0.2, window=100) as source:
        wait_until(lambda: source.problem() is not None, "the stop")
        assert "more than 0.2 of the last 100" in str(source.problem())
    assert len(reading.letters()) == 20


def test_a_missing_topic_holds_the_source_back_and_nothing_is_lost(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aem_monitor.deadletters.writer._STALLED_AFTER", 1.0)
    reading.dead_topic = f"{reading.dead_topic}.late"
    reading.broker.produce(reading.topic, message(), POISON, message(), partition=0)
    queue = Queue()
    with reading.source(queue) as source:
        wait_until(lambda: source.problem() is not None, "the stall")
        assert reading.dead_topic in str(source.problem())
        reading.broker.produce(reading.topic, *[message()] * 5, partition=0)
        wait_until(
            releasing(source, queue, lambda: reading.committed == {(reading.topic, 0): 1}),
            "the commit up to the poison",
        )
        assert queue.offsets((reading.topic, 0)) == [0, 1, 2]
        assert source.up
        reading.broker.create_topic(reading.dead_topic)
        wait_until(releasing(source, queue, lambda: reading.committed == {(reading.topic, 0): 8}), "the rest", 60.0)
        assert source.problem() is None
    assert [letter.origin.offset for letter in reading.letters()] == [1]
    assert queue.offsets((reading.topic, 0)) == list(range(8))
    assert not any(isinstance(item, PartitionsRevoked) for item in queue.items), "it stayed in the group"


def test_a_broker_that_goes_away_before_it_confirms_loses_nothing(own_kafka_broker: KafkaBroker) -> None:
    own_kafka_broker.start()
    reading = Reading(own_kafka_broker, "dead")
    own_kafka_broker.produce(reading.topic, message(), POISON, message(), partition=0)
    queue = Queue()
    with reading.source(queue) as source:
        wait_until(
            releasing(source, queue, lambda: reading.committed == {(reading.topic, 0): 1}),
            "the commit up to the poison",
        )
        own_kafka_broker.kill()
        wait_until(lambda: not source.up, "down")
        own_kafka_broker.start()
        own_kafka_broker.create_topic("dead")
        wait_until(releasing(source, queue, lambda: reading.committed == {(reading.topic, 0): 3}), "the rest", 120.0)
    assert {letter.origin.offset for letter in reading.letters()} == {1}


def test_a_message_too_large_for_the_topic_is_kept_without_its_value(
    kafka_broker: KafkaBroker, dead_topic: str
) -> None:
    small = f"{dead_topic}.small"
    kafka_broker.create_topic(small, configs={"max.message.bytes": "2000"})
    reading = Reading(kafka_broker, small)
    large = b"".join(number.to_bytes(8) for number in range(0, 2**62, 2**49))  # little of it can be compressed
    kafka_broker.produce(reading.topic, b"\xff" + large, message(), partition=0)
    queue = Queue()
    with reading.source(queue) as source:
        wait_until(
            releasing(source, queue, lambda: reading.committed == {(reading.topic, 0): 2}), "the commit behind it"
        )
    (letter,) = reading.letters()
    assert letter.left_out == len(large) + 1
    assert letter.value == b""


def test_what_the_engine_cannot_take_in_becomes_a_letter(reading: Reading) -> None:
    first = message("c-1")
    reading.broker.produce(reading.topic, first, message("c-2"), partition=0)
    queue = Queue()
    with reading.source(queue) as source:
        wait_until(lambda: len(queue.batches) == 2, "two batches")
        source.take_back(queue.batches[0], "KeyError while the engine took it in")
        wait_until(releasing(source, queue, lambda: reading.committed == {(reading.topic, 0): 2}), "the commit")
    (letter,) = reading.letters()
    assert (letter.origin.offset, letter.cause, letter.value) == (0, "internal", first)
    assert letter.error == "KeyError while the engine took it in"


def test_letters_are_confirmed_before_the_source_closes(reading: Reading) -> None:
    reading.broker.produce(reading.topic, POISON, partition=0)
    queue = Queue()
    with reading.source(queue) as source:
        wait_until(lambda: queue.batches, "a batch")
        source.stop(5.0)
        source.release({(reading.topic, 0): 1})
    assert reading.committed == {(reading.topic, 0): 1}
    assert len(reading.letters()) == 1


def test_a_source_that_closes_while_the_topic_is_missing_leaves_the_message_to_the_next(reading: Reading) -> None:
    exists, reading.dead_topic = reading.dead_topic, f"{reading.dead_topic}.missing"
    reading.broker.produce(reading.topic, message(), POISON, message(), partition=0)
    first, second = Queue(), Queue()
    with reading.source(first) as source:
        wait_until(lambda: len(first.batches) == 3, "three batches")
        source.release({(reading.topic, 0): 3})
    assert reading.committed == {(reading.topic, 0): 1}
    reading.dead_topic = exists
    with reading.source(second) as source:
        wait_until(releasing(source, second, lambda: reading.committed == {(reading.topic, 0): 3}), "the rest")
    assert [letter.origin.offset for letter in reading.letters()] == [1]


def test_a_rebalance_while_letters_wait_loses_none(reading: Reading) -> None:
    reading.dead_topic = f"{reading.dead_topic}.late"
    for partition in (0, 1):
        reading.broker.produce(reading.topic, POISON, message(), partition=partition)
    one, two = Queue(), Queue()
    with reading.source(one) as first:
        wait_until(lambda: len(one.batches) == 4, "all on the first")
        with reading.source(two) as second:
            wait_until(lambda: len(two.batches) == 2, "a partition on the second")
            reading.broker.create_topic(reading.dead_topic)
            everything = {(reading.topic, partition): 2 for partition in (0, 1)}
            wait_until(
                releasing(first, one, releasing(second, two, lambda: reading.committed == everything)),
                "the commits",
                60.0,
            )
    places = Counter((letter.origin.partition, letter.origin.offset) for letter in reading.letters())
    assert set(places) == {(0, 0), (1, 0)}
    assert max(places.values()) <= 2
