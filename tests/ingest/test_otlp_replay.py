"""What an earlier process has left reaches the engine before any conversation is closed."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from aem_monitor.ingest import otlp_replay
from aem_monitor.ingest.batch import (
    JOURNAL,
    Batch,
    EngineInput,
    PartitionsAssigned,
    PartitionsRevoked,
    Position,
)
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_replay import OtlpReplay
from aem_monitor.ingest.otlp_reply import ContentType
from aem_monitor.ingest.otlp_request import OtlpRequest, journalled_request
from tests.ingest.requests import AGENTS, agent_request
from tests.journal.books import Book

BODY = agent_request().SerializeToString()
HEAD = OtlpRequest("otlp_grpc", "10.0.0.7", "traces", ContentType.PROTOBUF, False, BODY).head()
ASSIGNED = PartitionsAssigned("journal", ((JOURNAL, 0),))
REVOKED = PartitionsRevoked("journal", ((JOURNAL, 0),))


class Queue:
    """The engine's, which may be full."""

    def __init__(self) -> None:
        self.items: list[EngineInput] = []
        self.full: Callable[[EngineInput], bool] = lambda _: False
        self.done = threading.Event()

    def submit(self, item: EngineInput, timeout: float) -> bool:
        if self.full(item):
            return False
        self.items.append(item)
        if item == REVOKED:
            self.done.set()
        return True

    def batches(self) -> list[Batch]:
        return [item for item in self.items if isinstance(item, Batch)]


def replaying(book: Book, queue: Queue, limits: Limits | None = None) -> OtlpReplay:
    replay = OtlpReplay(book.journal, limits or Limits(), AGENTS, queue.submit, book.metrics)
    replay.start()
    return replay


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path / "journal")


def test_requests_come_again_as_they_came_while_event_time_stands_still(book: Book) -> None:
    for _ in range(3):
        book.write(BODY, HEAD)
    again, queue = book.restarted(), Queue()
    again.now += 500
    replaying(again, queue)
    assert queue.done.wait(30)
    assert queue.items[0] == ASSIGNED
    assert queue.items[-1] == REVOKED
    expected = journalled_request(HEAD, BODY).decode(Limits(), AGENTS)
    assert expected.spans
    assert queue.batches() == [
        Batch("otlp_grpc", "10.0.0.7", expected, 1000.0, Position(JOURNAL, 1, index)) for index in range(3)
    ]
    assert again.count("replayed_records") == 3


def test_an_empty_journal_holds_nothing_up(book: Book) -> None:
    queue = Queue()
    replaying(book, queue).stop(1.0)
    assert queue.items == []


def test_a_full_queue_is_waited_for_and_event_time_held_meanwhile(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_replay, "_HOLD_EVERY", 0.0)
    book.write(BODY, HEAD)
    again, queue = book.restarted(), Queue()
    queue.full = lambda item: isinstance(item, Batch) and queue.items.count(ASSIGNED) < 4
    replaying(again, queue)
    assert queue.done.wait(30)
    assert len(queue.batches()) == 1


def test_stopped_in_the_middle_it_leaves_the_rest_to_the_next_process(book: Book) -> None:
    book.write(BODY, HEAD)
    again, queue = book.restarted(), Queue()
    queue.full = lambda item: isinstance(item, Batch)
    replaying(again, queue).stop(30.0)
    assert REVOKED not in queue.items, "the rest is still to come"
    again.keep()
    assert len(again.restarted().read()) == 1


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"{}", BODY),
        (b"no json", BODY),
        (b'["source"]', BODY),
        (HEAD.replace(b"x-protobuf", b"x-unheard-of"), BODY),
        (HEAD, b"\xff\xff"),
        (HEAD.replace(b'"gzip": false', b'"gzip": true'), BODY),
    ],
)
def test_what_cannot_be_decoded_any_more_is_counted_and_passed_over(book: Book, head: bytes, body: bytes) -> None:
    book.write(body, head)
    book.write(BODY, HEAD)
    again, queue = book.restarted(), Queue()
    replaying(again, queue)
    assert queue.done.wait(30)
    first, second = queue.batches()
    assert first.decoded.spans == ()
    assert first.position == Position(JOURNAL, 1, 0), "or its segment would be kept for good"
    assert second.decoded.spans
    assert again.count("damage", kind="undecodable") == 1
