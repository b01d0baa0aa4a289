"""The engine's thread: a bounded queue, a store that comes back, an end that loses nothing it need not."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from aem_monitor.engine.round import Spent
from aem_monitor.engine.worker import EngineThread
from aem_monitor.errors import StoreError
from aem_monitor.ingest.batch import Batch, Decoded, EngineInput, Partition, PartitionsRevoked, Position
from aem_monitor.metrics.registry import Metrics


class FakeEngine:
    """Records what it is given; ``ingesting`` may block or raise."""

    def __init__(self) -> None:
        self.taken: list[EngineInput] = []
        self.abandoned: list[EngineInput] = []
        self.passed_over: list[EngineInput] = []
        self.steps: list[str] = []
        self.ingesting: Callable[[EngineInput], None] = lambda _: None
        self.ticking: Callable[[], None] = lambda: None
        self.slices = 0

    def ingest(self, item: EngineInput, now: float) -> None:
        assert now > 0
        self.ingesting(item)
        self.taken.append(item)

    def abandon(self, item: EngineInput) -> None:
        self.abandoned.append(item)

    def pass_over(self, item: EngineInput) -> None:
        self.passed_over.append(item)

    def tick(self, now: float, spent: Spent) -> bool:
        assert now > 0
        self.steps.append("tick")
        self.ticking()
        self.slices = max(0, self.slices - 1)
        return self.slices == 0

    def drain(self, now: float) -> None:
        assert now > 0
        self.steps.append("drain")

    def releasable(self) -> Mapping[Partition, int]:
        return {("t", 0): len(self.taken)} if self.taken else {}


def batch(offset: int = 0) -> Batch:
    return Batch("kafka", "t/0", Decoded(), 1.0, Position("t", 0, offset))


class Setting:
    def __init__(self) -> None:
        self.engine = FakeEngine()
        self.metrics = Metrics(CollectorRegistry())
        self.released: list[Mapping[Partition, int]] = []
        given: Any = self.engine
        self.accepting = True
        self.taken_back: list[tuple[EngineInput, str, int]] = []
        self.worker = EngineThread(
            given,
            self.metrics,
            3,
            self.released.append,
            accepting=lambda: self.accepting,
            take_back=lambda item, defect: self.taken_back.append((item, defect, len(self.engine.passed_over))),
        )

    def errors(self, step: str) -> float:
        return self.metrics.counter("aem_monitor_engine_errors_total", step=step).value


@pytest.fixture
def setting() -> Iterator[Setting]:
    made = Setting()
    yield made
    made.engine.ingesting = lambda _: None
    made.worker.stop(5.0)


def eventually(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


def test_what_is_submitted_is_taken_in_order_and_what_is_free_is_released(setting: Setting) -> None:
    setting.worker.start()
    for offset in range(10):
        assert setting.worker.submit(batch(offset), 5.0)
    eventually(lambda: len(setting.engine.taken) == 10)
    offsets = [item.position.offset for item in setting.engine.taken if isinstance(item, Batch) and item.position]
    assert offsets == list(range(10))
    eventually(lambda: {("t", 0): 10} in setting.released)


def test_a_full_queue_refuses(setting: Setting) -> None:
    go = threading.Event()
    setting.engine.ingesting = lambda _: go.wait(20) and None  # type: ignore[assignment]
    setting.worker.start()
    assert setting.worker.submit(batch(), 1.0)
    eventually(lambda: setting.worker.submit(batch(), 0.0) is False)
    assert setting.worker.submit(batch(), 0.05) is False
    assert setting.worker.call(lambda: None, 0.05) is False
    go.set()
    eventually(lambda: setting.worker.submit(batch(), 0.0))


def test_sources_are_held_back_while_nothing_can_be_kept(setting: Setting) -> None:
    setting.worker.start()
    setting.accepting = False
    assert setting.worker.submit(batch(), 1.0) is False
    assert setting.worker.submit(PartitionsRevoked("kafka", (("t", 0),)), 0.0), "a revocation is never refused"
    setting.accepting = True
    assert setting.worker.submit(batch(), 1.0)


def test_a_batch_that_the_store_did_not_take_is_tried_again(setting: Setting) -> None:
    failures = [StoreError("down"), StoreError("down")]

    def ingesting(_: EngineInput) -> None:
        if failures:
            raise failures.pop()

    setting.engine.ingesting = ingesting
    setting.worker.start()
    setting.worker.submit(batch(), 1.0)
    eventually(lambda: len(setting.engine.taken) == 1)
    assert setting.errors("ingest") == 0


def test_a_store_that_is_down_at_the_end_leaves_kafka_its_messages(setting: Setting) -> None:
    def ingesting(_: EngineInput) -> None:
        raise StoreError("down")

    setting.engine.ingesting = ingesting
    setting.worker.start()
    for offset in range(3):
        setting.worker.submit(batch(offset), 1.0)
    assert setting.worker.stop(20.0)
    assert len(setting.engine.abandoned) == 3
    assert setting.engine.steps[-1] == "drain"


def test_a_defect_stops_neither_input_nor_ticks(setting: Setting) -> None:
    def ingesting(item: EngineInput) -> None:
        if isinstance(item, Batch) and item.position == Position("t", 0, 0):
            raise ZeroDivisionError

    def ticking() -> None:
        raise ZeroDivisionError

    setting.engine.ingesting, setting.engine.ticking = ingesting, ticking
    setting.worker.start()
    setting.worker.submit(batch(0), 1.0)
    setting.worker.submit(batch(1), 1.0)
    eventually(lambda: len(setting.engine.taken) == 1)
    eventually(lambda: setting.errors("tick") >= 2)
    assert setting.errors("ingest") == 1
    assert setting.engine.passed_over == [batch(0)], "whoever keeps it need not"
    assert setting.taken_back == [(batch(0), "ZeroDivisionError", 0)], "before it is passed over"
    assert setting.worker.problem() is None


def test_a_call_happens_on_the_engines_thread(setting: Setting) -> None:
    seen: list[str] = []
    setting.worker.start()
    assert setting.worker.call(lambda: seen.append(threading.current_thread().name), 5.0)
    assert seen == ["engine"]


def test_a_call_that_fails_says_so(setting: Setting) -> None:
    setting.worker.start()

    def fails() -> None:
        raise ZeroDivisionError

    assert setting.worker.call(fails, 5.0) is False
    eventually(lambda: setting.errors("call") == 1)


def test_a_call_that_was_given_up_never_happens(setting: Setting) -> None:
    """The caller was told that the old configuration stays; then it has to."""
    go = threading.Event()
    setting.engine.ingesting = lambda _: go.wait(20) and None  # type: ignore[assignment]
    called: list[bool] = []
    setting.worker.start()
    setting.worker.submit(batch(), 1.0)
    assert setting.worker.call(lambda: called.append(True), 0.1) is False
    go.set()
    assert setting.worker.stop(20.0)
    assert called == []


def test_the_end_takes_what_is_queued_then_drains_and_releases(setting: Setting) -> None:
    setting.worker.start()
    for offset in range(3):
        setting.worker.submit(batch(offset), 1.0)
    assert setting.worker.stop(20.0)
    assert len(setting.engine.taken) == 3
    assert setting.engine.steps[-1] == "drain"
    assert setting.released[-1] == {("t", 0): 3}
    assert setting.worker.submit(batch(), 0.0) is False
    assert setting.worker.submit(PartitionsRevoked("kafka", (("t", 0),)), 0.0), "a revocation is never refused"
    assert setting.worker.problem() == "the engine does not run"


def test_an_engine_that_does_not_end_in_time_is_said_not_to(setting: Setting) -> None:
    go = threading.Event()
    setting.engine.ingesting = lambda _: go.wait(20) and None  # type: ignore[assignment]
    setting.worker.start()
    setting.worker.submit(batch(), 1.0)
    eventually(lambda: not setting.worker._queue.qsize())
    assert setting.worker.stop(0.1) is False
    go.set()
    assert setting.worker.stop(20.0)


def test_an_idle_engine_only_ticks(setting: Setting) -> None:
    setting.worker.start()
    eventually(lambda: len(setting.engine.steps) >= 2)
    time.sleep(0.5)
    assert len(setting.engine.steps) < 50, "no busy loop"


def test_a_tick_that_is_not_done_goes_on_at_once_and_what_waits_is_taken_in_between(setting: Setting) -> None:
    order: list[str] = []
    setting.engine.ticking = lambda: order.append("slice")
    setting.engine.ingesting = lambda _: order.append("batch")
    setting.engine.slices = 10**9
    setting.worker.start()
    eventually(lambda: order[-2:] == ["slice", "slice"])
    assert setting.worker.submit(batch(), 5.0)
    eventually(lambda: "batch" in order)
    eventually(lambda: order[-1] == "slice")
    setting.engine.slices = 0
