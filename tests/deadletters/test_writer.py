"""Letters are settled when brokers have them, and the source waits or stops where it must."""

from dataclasses import dataclass, field

import pytest
from prometheus_client import CollectorRegistry

from aem_monitor.deadletters.causes import Bound
from aem_monitor.deadletters.letter import read_letter
from aem_monitor.deadletters.settings import DeadLetterSettings
from aem_monitor.deadletters.writer import DeadLetters
from aem_monitor.metrics.registry import Metrics
from tests.deadletters.messages import Brokers, Message

SETTINGS = DeadLetterSettings("dead", "monitors", max_ratio=0.5, window=20, max_run=3)


@dataclass
class Desk:
    """Dead letters without a thread: ``step`` is what it does."""

    brokers: Brokers = field(default_factory=Brokers)
    now: float = 100.0
    settled: list[int] = field(default_factory=list)
    metrics: Metrics = field(default_factory=lambda: Metrics(CollectorRegistry(), 10))

    def __post_init__(self) -> None:
        self.letters = DeadLetters(SETTINGS, self.brokers, self.metrics, lambda: self.now)

    def take(self, message: Message, cause: str = "malformed", error: str = "no protobuf") -> bool:
        return self.letters.take(message, cause, error, lambda: self.settled.append(message.offset))

    def take_back(self, message: Message) -> bool:
        return self.letters.take_back(message, "ValueError", lambda: self.settled.append(message.offset))

    def written(self, cause: str, kept: str) -> float:
        return self.metrics.counter("aem_monitor_dead_letters_total", cause=cause, kept=kept).value

    def stalls(self) -> float:
        return self.metrics.counter("aem_monitor_dead_letter_stalls_total").value


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_message_is_settled_when_brokers_have_its_letter(desk: Desk) -> None:
    desk.brokers.answering = False
    assert desk.take(Message(offset=4, headers=[("own", b"1")]))
    desk.letters.step()
    assert desk.settled == []
    assert desk.letters.unconfirmed == 1
    desk.brokers.answering = True
    desk.letters.step()
    assert desk.settled == [4]
    assert desk.letters.unconfirmed == 0
    assert desk.written("malformed", "message") == 1
    (record,) = desk.brokers.records
    assert (record.topic, record.key, record.value, record.partition) == ("dead", b"key", b"\xff poison", None)
    assert record.headers[0] == ("own", b"1")


def test_a_cause_that_letters_do_not_have_is_other(desk: Desk) -> None:
    desk.take(Message(), cause="unknown_path")
    desk.letters.step()
    assert desk.written("other", "message") == 1


def test_a_value_that_the_topic_does_not_take_is_left_out_and_said(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.brokers.most = 5
    desk.take(Message(offset=4, value=b"123456"))
    desk.letters.step()
    assert desk.settled == []
    desk.letters.step()
    assert desk.settled == [4]
    assert desk.written("malformed", "headers") == 1
    (record,) = desk.brokers.records
    assert record.value == b""
    assert ("aem.dlq.left_out", b"6") in record.headers
    assert "spans/0 at offset 4 has 6 bytes" in caplog.text


def test_a_letter_that_is_refused_without_its_value_too_is_given_up_and_said(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.brokers.most = -1
    desk.take(Message(offset=4))
    desk.letters.step()
    desk.letters.step()
    assert desk.settled == [4]
    assert desk.brokers.records == []
    assert desk.written("malformed", "nothing") == 1
    assert "spans/0 at offset 4 is given up" in caplog.text


def test_a_topic_that_takes_nothing_holds_the_source_back_until_it_does(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.brokers.answering = False
    desk.take(Message())
    desk.now += 10.0
    desk.letters.step()
    assert desk.letters.problem() is None
    desk.now += 0.1
    for _ in range(3):
        desk.letters.step()
    assert desk.letters.stalled
    assert "dead-letter topic dead" in str(desk.letters.problem())
    assert desk.stalls() == 1
    assert caplog.text.count("does not take messages") == 1
    desk.brokers.answering = True
    desk.letters.step()
    assert desk.letters.problem() is None
    assert desk.settled == [0]


def test_too_many_bytes_on_their_way_hold_the_source_back(desk: Desk) -> None:
    desk.brokers.full = True
    assert desk.letters.stalled


def test_a_run_stops_the_source_with_the_message_that_is_one_too_many(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    assert [desk.take(Message(offset)) for offset in range(5)] == [True, True, True, False, False]
    desk.letters.step()
    assert desk.settled == [0, 1, 2]
    assert desk.letters.stopped
    assert [desk.letters.stopped_by(bound) for bound in Bound] == [True, False]
    assert "more than 3 in a row" in str(desk.letters.problem())
    assert "spans/0" in str(desk.letters.problem())
    assert caplog.text.count("Too many messages") == 1


def test_a_share_stops_the_source(desk: Desk) -> None:
    for offset in range(0, 20, 2):
        assert desk.take(Message(offset))
        if offset < 18:
            desk.letters.usable(Message(offset + 1))
    assert not desk.take(Message(20))
    assert [desk.letters.stopped_by(bound) for bound in Bound] == [False, True]


def test_a_forgotten_partition_begins_anew(desk: Desk) -> None:
    for offset in range(3):
        assert desk.take(Message(offset))
    desk.letters.forget([("spans", 0)])
    assert desk.take(Message(0))


def test_what_the_engine_gives_back_is_written_as_a_defect_and_counts(desk: Desk) -> None:
    for offset in range(11):
        desk.letters.usable(Message(offset))
    assert [desk.take_back(Message(offset)) for offset in range(11)] == [*[True] * 10, False]
    desk.letters.step()
    assert desk.settled == list(range(10))
    letter = read_letter(_written(desk.brokers, 0))
    assert letter is not None
    assert (letter.cause, letter.error) == ("internal", "ValueError")


def _written(brokers: Brokers, at: int) -> Message:
    record = brokers.records[at]
    return Message(key=record.key, value=record.value, headers=record.headers)


def test_closing_waits_for_what_is_under_way(desk: Desk) -> None:
    desk.letters.start()
    desk.take(Message(offset=4))
    desk.letters.close(30.0)
    desk.letters.close(30.0)
    assert desk.settled == [4]
    assert desk.brokers.closed


def test_closing_does_not_wait_for_ever(desk: Desk) -> None:
    desk.brokers.answering = False
    desk.letters.start()
    desk.take(Message(offset=4))
    desk.letters.close(0.1)
    assert desk.settled == []
    assert desk.brokers.closed
