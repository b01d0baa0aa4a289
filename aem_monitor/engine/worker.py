"""The engine's thread and the bounded queue in front of it."""

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final, Protocol, TypeAlias

from aem_monitor.engine.round import Spent
from aem_monitor.errors import StoreError
from aem_monitor.ingest.batch import Batch, EngineInput, Partition
from aem_monitor.metrics.registry import Metrics

_LOG = logging.getLogger(__name__)

TICK_SECONDS: Final = 0.25
_SLICE_SECONDS: Final = 0.25
"""How long a tick may take before the queue has its turn: ten thousand new runs at once make one of 15 seconds."""
_STORE_RETRY_SECONDS: Final = 1.0

Call: TypeAlias = Callable[[], None]
"""Something that has to happen on the engine's thread, between two batches."""


class Work(Protocol):
    """What the thread runs: the engine, or another state machine between messages and offsets."""

    def ingest(self, item: EngineInput, now: float) -> None:
        """Take in an item. Raises ``StoreError``; then nothing was taken in, and it comes again."""

    def abandon(self, item: EngineInput) -> None:
        """The item could not be taken in before the end: what it came from must keep it."""

    def pass_over(self, item: EngineInput) -> None:
        """The item cannot be taken in, now or ever: it is done with."""

    def tick(self, now: float, spent: Spent) -> bool:
        """Let time pass. It may stop when ``spent`` says so, and returns whether it came to its end."""

    def drain(self, now: float) -> None:
        """The process ends."""

    def releasable(self) -> Mapping[Partition, int]:
        """Partitions whose offsets have become free since the last call."""


class _QueuedCall:
    """A call with one caller who waits for it, and who may have gone before it begins."""

    def __init__(self, what: Call) -> None:
        self._what = what
        self._state = threading.Lock()
        self._begun = False
        self._cancelled = False
        self._succeeded = False
        self._done = threading.Event()

    def run(self) -> None:
        """Do it, unless it was given up."""
        with self._state:
            if self._cancelled:
                return
            self._begun = True
        try:
            self._what()
            self._succeeded = True
        finally:
            self._done.set()

    def done_within(self, timeout: float) -> bool:
        """Whether it succeeded. What has not begun by then is given up, what has begun is waited for."""
        if not self._done.wait(timeout):
            with self._state:
                self._cancelled = not self._begun
            if self._cancelled:
                return False
            self._done.wait()
        return self._succeeded


class EngineThread:
    """Runs an engine. ``submit`` may be called from any thread, everything else from the one that owns the daemon.

    ``release`` is told which offsets have become free, on the engine's thread. While ``accepting`` says no, sources
    are held back: their batches are refused as if the queue were full. ``take_back`` is given, on the engine's thread
    too, what a defect keeps it from taking in, and the kind of the defect, before that is passed over. A tick that
    takes long is cut into slices, and what waits in the queue is taken in between, for about as long: one does not
    starve the other.
    """

    def __init__(
        self,
        engine: Work,
        metrics: Metrics,
        capacity: int,
        release: Callable[[Mapping[Partition, int]], None],
        clock: Callable[[], float] = time.time,
        accepting: Callable[[], bool] = lambda: True,
        take_back: Callable[[EngineInput, str], None] = lambda _item, _defect: None,
    ) -> None:
        self._engine = engine
        self._accepting = accepting
        self._take_back = take_back
        self._metrics = metrics
        self._release = release
        self._clock = clock
        self._queue: queue.Queue[EngineInput | _QueuedCall] = queue.Queue(capacity)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._alive_at = time.monotonic()
        self._unfinished = False
        metrics.gauge("aem_monitor_queue_capacity").set(capacity)
        metrics.watch("aem_monitor_queue_depth", lambda: [((), float(self._queue.qsize()))])

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def submit(self, item: EngineInput, timeout: float) -> bool:
        """Put an item into the queue; False when it stayed full, or the engine takes nothing more, or not now."""
        if isinstance(item, Batch) and (self._stopping.is_set() or not self._accepting()):
            return False
        try:
            self._queue.put(item, timeout=timeout) if timeout > 0 else self._queue.put_nowait(item)
        except queue.Full:
            return False
        return True

    def call(self, what: Call, timeout: float) -> bool:
        """Have something done on the engine's thread; False when it failed, or had not begun within ``timeout``
        seconds and never will."""
        call = _QueuedCall(what)
        deadline = time.monotonic() + timeout
        try:
            self._queue.put(call, timeout=timeout)
        except queue.Full:
            return False
        return call.done_within(max(0.0, deadline - time.monotonic()))

    def stop(self, timeout: float) -> bool:
        """Take in what is queued, drain the engine, end. False when that took longer than ``timeout`` seconds."""
        self._stopping.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def problem(self) -> str | None:
        """What keeps the engine from working, in a sentence; None when it works."""
        if not self._thread.is_alive():
            return "the engine does not run"
        return None

    def alive_at(self) -> float | None:
        """When the thread last came by (monotonic seconds); None while it does not run."""
        return self._alive_at if self._thread.is_alive() else None

    def _run(self) -> None:
        next_tick = time.monotonic() + TICK_SECONDS
        while not (self._stopping.is_set() and self._queue.empty()):
            self._alive_at = time.monotonic()
            wait = 0.0 if self._unfinished else max(0.0, next_tick - self._alive_at)
            try:
                self._take(self._queue.get(timeout=wait) if wait else self._queue.get_nowait())
            except queue.Empty:
                next_tick = self._alive_at if self._unfinished else next_tick
            if time.monotonic() >= next_tick:
                self._tick()
                next_tick = time.monotonic() + TICK_SECONDS
        self._guarded("drain", self._engine.drain)
        self._release(self._engine.releasable())

    def _take(self, item: EngineInput | _QueuedCall) -> None:
        if isinstance(item, _QueuedCall):
            self._guarded("call", lambda _: item.run())
            return
        while True:
            try:
                self._engine.ingest(item, self._clock())
            except StoreError:
                # Nothing was taken in. Sources are held back by the full queue until the store is there again.
                self._alive_at = time.monotonic()
                if self._stopping.wait(_STORE_RETRY_SECONDS):
                    self._engine.abandon(item)
                    _LOG.error(
                        "The store is down at shutdown; queued input is left to Kafka or the journal, or is lost"
                    )
                    return
            except Exception as error:  # noqa: BLE001 - logged and counted there
                self._failed("ingest")
                self._take_back(item, type(error).__name__)
                self._engine.pass_over(item)
                return
            else:
                return

    def _tick(self) -> None:
        began = time.perf_counter()
        self._unfinished = False

        def tick(now: float) -> None:
            self._unfinished = not self._engine.tick(now, lambda: time.perf_counter() - began >= _SLICE_SECONDS)

        self._guarded("tick", tick)
        self._release(self._engine.releasable())
        self._metrics.histogram("aem_monitor_engine_tick_seconds").observe(time.perf_counter() - began)

    def _guarded(self, stage: str, step: Callable[[float], None]) -> None:
        try:
            step(self._clock())
        except Exception:  # noqa: BLE001 - logged and counted there
            self._failed(stage)

    def _failed(self, stage: str) -> None:
        """An error of the program, not of its input: it must be seen, and must not take the daemon down."""
        _LOG.exception("The engine failed in %s; this is a defect, please report it", stage)
        self._metrics.counter("aem_monitor_engine_errors_total", step=stage).inc()
