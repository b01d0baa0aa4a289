"""Between store and sink: each verdict at least once, and what is said of a sink that fails."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from aem_monitor.errors import ConfigError, RefusedVerdictError, SinkError, StoreError
from aem_monitor.metrics.registry import Metrics
from aem_monitor.sinks.feed import BATCH, Feed
from aem_monitor.sinks.feeds import Feeds
from aem_monitor.sinks.jsonlines import JsonLines
from aem_monitor.sinks.rotating import Rotation
from aem_monitor.store import Store
from aem_monitor.store.conversations import Keeping
from aem_monitor.store.records import RevisionKey, StoredRun
from tests.daemon.running import eventually
from tests.store.results import failing, run

NAME = "json_lines"


class Sink:
    """Keeps what it is given, unless it is told to fail."""

    name = NAME

    def __init__(self) -> None:
        self.has: list[tuple[str, int]] = []
        self.room: int | None = None
        self.rejects: set[str] = set()
        self.wish: float | None = None
        self.defect = False
        self.closed = False

    def open(self) -> None:
        if self.room == 0:
            raise SinkError("the disk is full", reason="disk_full")

    def take(self, verdicts: Sequence[StoredRun]) -> None:
        if self.defect:
            raise ZeroDivisionError
        for number, one in enumerate(verdicts):
            if one.result.run_id in self.rejects:
                raise RefusedVerdictError("not of this kind", reason="rejected", taken=number)
            if number == self.room:
                raise SinkError("the disk is full", reason="disk_full", taken=number, retry_after=self.wish)
            self.has.append((one.result.run_id, one.result.revision))

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def store() -> Iterator[Store]:
    with Store("sqlite://", "a", Keeping(sinks=(NAME,))) as store:
        yield store


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(CollectorRegistry())


@pytest.fixture
def sink() -> Sink:
    return Sink()


@pytest.fixture
def feed(sink: Sink, store: Store, metrics: Metrics) -> Feed:
    return Feed(sink, store, metrics)


def written(metrics: Metrics) -> float:
    return metrics.counter("aem_monitor_sink_verdicts_total", sink=NAME).value


def failed(metrics: Metrics, reason: str = "disk_full") -> float:
    return metrics.counter("aem_monitor_sink_errors_total", sink=NAME, reason=reason).value


def final(store: Store, *numbers: int) -> None:
    for number in numbers:
        store.record_final(run(f"run-{number}"), [], stored_at=float(number))


def test_a_sink_gets_each_verdict_and_each_revision_once(
    feed: Feed, sink: Sink, store: Store, metrics: Metrics
) -> None:
    final(store, 1, 2)
    assert feed.round() > 0
    store.record_revision(run("run-1", failing(1)), "late_span", stored_at=3.0)
    feed.round()
    feed.round()
    assert sink.has == [("run-1", 0), ("run-2", 0), ("run-1", 1)]
    assert written(metrics) == 3
    assert (feed.behind, feed.oldest) == (0, None)


def test_what_a_full_sink_did_not_take_is_offered_again_and_nothing_else(
    feed: Feed, sink: Sink, store: Store, metrics: Metrics, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    final(store, 1, 2, 3)
    sink.room = 1
    feed.round()
    assert (feed.behind, feed.oldest) == (2, 1.0)
    sink.room = 0
    feed.round()
    feed.round()
    assert (feed.behind, feed.oldest) == (2, 2.0)
    assert failed(metrics) == 3
    sink.room = None
    feed.round()
    assert sink.has == [("run-1", 0), ("run-2", 0), ("run-3", 0)]
    assert feed.behind == 0
    assert [record.levelname for record in caplog.records] == ["ERROR", "INFO"], "said once, until it is over"
    assert "takes verdicts again" in caplog.text


def test_a_long_queue_is_taken_in_batches_without_a_pause(feed: Feed, sink: Sink, store: Store) -> None:
    final(store, *range(BATCH + 20))
    assert feed.round() == 0.0
    assert (len(sink.has), feed.behind) == (BATCH, 20)
    assert feed.round() > 0
    assert (len(sink.has), feed.behind) == (BATCH + 20, 0)


def test_while_the_store_cannot_note_it_nothing_is_offered_twice(
    feed: Feed, sink: Sink, store: Store, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    final(store, 1)

    def readonly(sink: str, keys: Sequence[RevisionKey]) -> None:
        raise StoreError("the store is read-only", reason="readonly")

    with monkeypatch.context() as patched:
        patched.setattr(store, "taken", readonly)
        feed.round()
        feed.round()
        assert metrics.counter("aem_monitor_store_errors_total", reason="readonly").value == 2
    assert sink.has == [("run-1", 0)]
    final(store, 2)
    feed.round()
    assert sink.has == [("run-1", 0), ("run-2", 0)]
    assert store.count_waiting(NAME) == 0


def test_a_verdict_past_its_retention_is_counted_as_lost(
    feed: Feed, sink: Sink, store: Store, metrics: Metrics, caplog: pytest.LogCaptureFixture
) -> None:
    final(store, 1, 2)
    sink.room = 0
    feed.round()
    store.retain(before=2.0)
    sink.room = None
    feed.round()
    feed.round()
    assert sink.has == [("run-2", 0)]
    assert metrics.counter("aem_monitor_sink_lost_verdicts_total", sink=NAME, cause="retention").value == 1
    assert "run-1" in caplog.text
    assert store.count_waiting(NAME) == 0


def test_what_a_sink_will_never_take_is_counted_as_lost_and_holds_up_nothing(
    feed: Feed, sink: Sink, store: Store, metrics: Metrics, caplog: pytest.LogCaptureFixture
) -> None:
    final(store, 1, 2, 3, 4)
    sink.rejects = {"run-2", "run-3"}
    pauses = [feed.round() for _ in range(3)]
    assert pauses[:2] == [0.0, 0.0]
    assert pauses[2] > 0
    assert sink.has == [("run-1", 0), ("run-4", 0)]
    assert metrics.counter("aem_monitor_sink_lost_verdicts_total", sink=NAME, cause="rejected").value == 2
    assert written(metrics) == 2
    assert (failed(metrics, "rejected"), feed.behind, store.count_waiting(NAME)) == (0, 0, 0)
    assert "run-2" in caplog.text
    assert "not of this kind" in caplog.text


def test_a_sink_that_asks_for_a_pause_gets_it(feed: Feed, sink: Sink, store: Store) -> None:
    final(store, 1)
    sink.room, sink.wish = 0, None
    usual = feed.round()
    sink.wish = usual + 27.0
    assert feed.round() == usual + 27.0
    sink.wish = usual / 2
    assert feed.round() == usual, "never sooner than others"


def test_a_defect_is_counted_and_tried_again(store: Store, metrics: Metrics, sink: Sink) -> None:
    final(store, 1)
    sink.defect = True
    feed = Feed(sink, store, metrics)
    feed.start()
    try:
        eventually(lambda: failed(metrics, "other"), "it is counted")
        sink.defect = False
        eventually(lambda: sink.has, "it is taken")
    finally:
        feed.stop(5.0)
    assert sink.closed


def test_stopping_takes_what_is_left(store: Store, metrics: Metrics, sink: Sink) -> None:
    final(store, *range(3 * BATCH))
    feeds = Feeds([sink], store, metrics)
    feeds.start()
    final(store, *range(3 * BATCH, 4 * BATCH))
    feeds.stop(30.0)
    assert len(sink.has) == len(set(sink.has)) == 4 * BATCH
    assert sink.closed


def test_a_sink_that_is_full_from_the_start_keeps_no_daemon_from_starting(
    store: Store, metrics: Metrics, sink: Sink, caplog: pytest.LogCaptureFixture
) -> None:
    final(store, 1)
    sink.room = 0
    feeds = Feeds([sink], store, metrics)
    feeds.start()
    eventually(lambda: failed(metrics), "it is tried")
    feeds.stop(5.0)
    assert "has not taken 1 verdicts" in caplog.text
    shown = {(one.name, sample.value) for one in metrics.collect() for sample in one.samples}
    assert ("aem_monitor_sink_behind_verdicts", 1.0) in shown
    assert ("aem_monitor_sink_oldest_timestamp_seconds", 1.0) in shown


def test_a_path_to_the_store_keeps_the_daemon_from_starting_and_the_store_whole(
    metrics: Metrics, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    with Store(f"sqlite:///{path}", "a") as store:
        store.record_final(run(), [], stored_at=1.0)
        for name in ("store.db", "store.db-wal"):
            before = (tmp_path / name).read_bytes()
            with pytest.raises(ConfigError, match=r"sinks\.json_lines: .*holds something else than verdicts"):
                Feeds([JsonLines(tmp_path / name, Rotation(1000, 2, 60.0))], store, metrics).start()
            assert (tmp_path / name).read_bytes() == before


def test_a_sink_that_cannot_work_keeps_the_daemon_from_starting(store: Store, metrics: Metrics, tmp_path: Path) -> None:
    lines = JsonLines(tmp_path / "nowhere" / "verdicts.jsonl", Rotation(1000, 2, 60.0))
    with pytest.raises(ConfigError, match=r"sinks\.json_lines: .*nowhere.*check that the folder is there"):
        Feeds([lines], store, metrics).start()
