"""From the store to a sink, on a thread of its own: a sink that is slow or dead holds up nothing else."""

import logging
import threading
import time
from collections.abc import Sequence
from typing import Final

from aem_monitor.errors import RefusedVerdictError, SinkError, StoreError
from aem_monitor.metrics.registry import Metrics
from aem_monitor.sinks.base import Sink
from aem_monitor.store.records import RevisionKey, Waiting
from aem_monitor.store.store import Store

_LOG = logging.getLogger(__name__)

BATCH: Final = 100
"""Most verdicts that are in memory at once; all others wait in the store."""

_LOOK_EVERY: Final = 1.0
_TRY_EVERY: Final = 3.0
_COUNT_EVERY: Final = 5.0


class Feed:
    """Offers a sink what it has not taken, again and again until it has."""

    def __init__(self, sink: Sink, store: Store, metrics: Metrics) -> None:
        self._sink = sink
        self._store = store
        self._metrics = metrics
        self._stopping = threading.Event()
        self._deadline = 0.0
        self._thread = threading.Thread(target=self._run, name=f"sink-{sink.name}", daemon=True)
        # What the sink has while the store could not note it: not to be offered again meanwhile.
        self._unnoted: list[RevisionKey] = []
        self._failing_since: float | None = None
        self._counted_at = -_COUNT_EVERY
        self.behind: int | None = None
        """How many verdicts the sink has not taken; None before it is known."""
        self.oldest: float | None = None
        """When the oldest of them was stored (seconds since the epoch)."""

    @property
    def name(self) -> str:
        """The sink's."""
        return self._sink.name

    def start(self) -> None:
        """Begin; what a process before this one left is offered first."""
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Offer what is left, for so long at most; the rest is the next process'. Idempotent."""
        self._deadline = time.monotonic() + seconds
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        while True:
            try:
                pause = self.round()
            except Exception:  # noqa: BLE001  a defect must not end the thread, without which nothing is taken
                _LOG.exception("The sink %s failed; what it should have taken is offered again", self.name)
                self._metrics.counter("aem_monitor_sink_errors_total", sink=self.name, reason="other").inc()
                pause = _TRY_EVERY
            last = self._stopping.is_set() and (pause > 0 or time.monotonic() >= self._deadline)
            if last or (self._stopping.wait(pause) and time.monotonic() >= self._deadline):
                break
        self._sink.close()

    def round(self) -> float:
        """Offer one batch; after how many seconds to look again."""
        try:
            self._note(())
            batch = self._store.waiting(self.name, BATCH)
            self._measure(batch)
            taken, pause = self._offer(batch)
            self._note(taken)
        except StoreError as error:
            # Readiness and log are the recorder's, who notices first.
            self._metrics.counter("aem_monitor_store_errors_total", reason=error.reason).inc()
            return _TRY_EVERY
        return pause

    def _offer(self, batch: Sequence[Waiting]) -> tuple[list[RevisionKey], float]:
        """What need not be offered again, and after how many seconds to look again."""
        runs = [(one.key, one.run) for one in batch if one.run is not None]
        done = [one.key for one in batch if one.run is None]
        for one in batch:
            if one.lost is not None:
                self._lost(one.key, one.lost, "it is no longer in the store")
        taken, pause = len(runs), 0.0 if len(batch) == BATCH else _LOOK_EVERY
        try:
            self._sink.take([run for _, run in runs])
        except SinkError as error:
            self._failed(error)
            taken, pause = error.taken, max(_TRY_EVERY, error.retry_after or 0.0)
        except RefusedVerdictError as error:
            self._recovered()
            taken, pause = error.taken, 0.0
            refused, _ = runs[taken]
            done.append(refused)
            self._lost(refused, error.reason, str(error))
        else:
            self._recovered()
        self._metrics.counter("aem_monitor_sink_verdicts_total", sink=self.name).inc(taken)
        return [*done, *(key for key, _ in runs[:taken])], pause

    def _lost(self, key: RevisionKey, cause: str, why: str) -> None:
        _LOG.error(
            "Run %s, revision %d never reached the sink %s (%s): %s", key.run_id, key.revision, self.name, cause, why
        )
        self._metrics.counter("aem_monitor_sink_lost_verdicts_total", sink=self.name, cause=cause).inc()

    def _note(self, taken: Sequence[RevisionKey]) -> None:
        self._unnoted += taken
        if not self._unnoted:
            return
        self._store.taken(self.name, self._unnoted)
        if self.behind is not None:
            self.behind = max(0, self.behind - len(taken))
            if not self.behind:
                self.oldest = None
        self._unnoted.clear()

    def _measure(self, batch: Sequence[Waiting]) -> None:
        self.oldest = batch[0].stored_at if batch else None
        if len(batch) < BATCH:
            self.behind = len(batch)
        elif time.monotonic() - self._counted_at >= _COUNT_EVERY:
            # It reads all of them: not for every batch of a long queue.
            self._counted_at = time.monotonic()
            self.behind = self._store.count_waiting(self.name)

    def _failed(self, error: SinkError) -> None:
        self._metrics.counter("aem_monitor_sink_errors_total", sink=self.name, reason=error.reason).inc()
        if self._failing_since is None:
            self._failing_since = time.monotonic()
            _LOG.error("The sink %s failed; what it should take waits in the store: %s", self.name, error)

    def _recovered(self) -> None:
        since, self._failing_since = self._failing_since, None
        if since is not None:
            _LOG.info("The sink %s takes verdicts again, after %.0f seconds", self.name, time.monotonic() - since)
