"""A thread that is stuck makes the process not ready, is counted, and shows its stack once."""

import threading
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry

from aem_monitor.metrics.registry import Metrics
from aem_monitor.watchdog import STUCK_AFTER, Watchdog


class Scene:
    """A thread called ``engine``, and a clock."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.came_by: float | None = self.now
        self.metrics = Metrics(CollectorRegistry())
        self.watchdog = Watchdog({"engine": lambda: self.came_by}, self.metrics, lambda: self.now)
        self._go = threading.Event()
        self.thread = threading.Thread(target=self.never_returns, name="engine", daemon=True)
        self.thread.start()

    def never_returns(self) -> None:
        self._go.wait(60)

    def end(self) -> None:
        self._go.set()
        self.thread.join()

    def figures(self) -> tuple[float, float]:
        """Whether it is stalled, and how often it was."""
        gauge = self.metrics.gauge("aem_monitor_stalled", thread="engine")
        return gauge.value, self.metrics.counter("aem_monitor_stalls_total", thread="engine").value


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    made.end()


def test_a_thread_that_comes_by_is_no_problem(scene: Scene) -> None:
    scene.now += STUCK_AFTER
    scene.watchdog.look()
    assert scene.watchdog.problems() == []
    assert scene.figures() == (0, 0)


def test_a_thread_that_is_stuck_is_said_counted_and_shown_once(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    scene.now += STUCK_AFTER + 1
    for _ in range(3):
        scene.watchdog.look()
    assert scene.watchdog.problems() == [
        "thread engine has been stuck in one step for 61 seconds; its stack is in the log"
    ]
    assert scene.figures() == (1, 1)
    (record,) = caplog.records
    assert "never_returns" in record.getMessage()


def test_a_thread_that_goes_on_is_said_to_and_may_get_stuck_again(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.now += STUCK_AFTER + 1
    scene.watchdog.look()
    scene.came_by = scene.now
    scene.watchdog.look()
    assert scene.watchdog.problems() == []
    assert scene.figures() == (0, 1)
    scene.now += STUCK_AFTER + 1
    scene.watchdog.look()
    assert scene.figures() == (1, 2)
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING", "ERROR"]


def test_a_thread_that_does_not_run_is_not_stuck(scene: Scene) -> None:
    scene.came_by = None
    scene.now += 10 * STUCK_AFTER
    scene.watchdog.look()
    assert scene.watchdog.problems() == []
    assert scene.figures() == (0, 0)
