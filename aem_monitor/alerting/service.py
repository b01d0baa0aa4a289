"""The thread that decides and notifies, on the replica that holds the lease."""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from aem_monitor.alerting.deciding import Deciding, Told
from aem_monitor.alerting.detect import Settings
from aem_monitor.alerting.leadership import Leadership
from aem_monitor.alerting.receivers import Alertmanager, Receiver
from aem_monitor.alerting.sending import Limits, Sending
from aem_monitor.errors import LeaseLostError, NotifyError, StoreError
from aem_monitor.metrics.registry import Metrics, Readings
from aem_monitor.store.alerts import Decision, Lease
from aem_monitor.store.store import Store

_LOG: Final = logging.getLogger(__name__)

_BATCH: Final = 100
_OBSERVE_EVERY: Final = 5.0
"""Each decision writes all that the detectors know."""

_LOOK_EVERY: Final = 1.0
_TRY_EVERY: Final = 3.0
_CHANGES_EVERY: Final = 15.0
_COUNT_EVERY: Final = 5.0


@dataclass(frozen=True, slots=True)
class AlertingSettings:
    """``lease``: seconds after which another replica takes over from one that gives no sign."""

    told: Told
    detectors: Settings
    limits: Limits
    lease: float = 30.0


class Alerting:
    """Started once, stopped once; nothing it meets ends its thread."""

    def __init__(
        self,
        settings: AlertingSettings,
        receivers: Sequence[Receiver],
        store: Store,
        metrics: Metrics,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """``clock`` never jumps, ``wall`` gives seconds since the epoch."""
        self._settings = settings
        self._store = store
        self._metrics = metrics
        self._clock, self._wall = clock, wall
        self._leadership = Leadership(store, f"{store.replica} {uuid.uuid4().hex}", settings.lease)
        self._sendings = tuple(Sending(one, store, metrics, settings.limits) for one in receivers)
        self._refreshed = next((one for one in receivers if isinstance(one, Alertmanager)), None)
        self._observed_at = self._refresh_at = self._changes_at = self._counted_at = self._alive_at = -float("inf")
        self._deciding: Deciding | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="alerting", daemon=True)
        self._behind: int | None = None
        self._oldest: float | None = None
        self._waiting: dict[str, int] | None = None
        metrics.watch("aem_monitor_alerting_lease_held", self._read_held)
        metrics.watch("aem_monitor_alerting_open_incidents", self._read_open)
        metrics.watch("aem_monitor_alerting_behind_runs", lambda: _reading(self._behind))
        metrics.watch("aem_monitor_alerting_oldest_run_timestamp_seconds", lambda: _reading(self._oldest))
        metrics.watch("aem_monitor_alerting_waiting_notifications", self._read_waiting)
        metrics.watch("aem_monitor_alerting_oldest_notification_timestamp_seconds", self._read_oldest)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Look once more at what was stored, and let another replica take over. Idempotent."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        while True:
            last = self._stopping.is_set()
            try:
                pause = self.round()
            except Exception:  # noqa: BLE001  a defect must not end the thread, without which nobody is told
                _LOG.exception("Alerting failed; what it should have done is tried again")
                self._forget()
                pause = _TRY_EVERY
            if last:
                break
            self._stopping.wait(pause)
        try:
            self._leadership.release()
        except (LeaseLostError, StoreError) as error:
            _LOG.warning("The lease of alerting was not released, another replica waits for its end: %s", error)

    def round(self) -> float:
        """Decide on one batch of runs, and send what is due; after how many seconds to look again."""
        self._alive_at = self._clock()
        try:
            lease = self._leadership.keep(self._clock())
            if lease is None:
                self._forget()
                return _LOOK_EVERY
            return self._lead(lease)
        except LeaseLostError:
            self._leadership.lost()
            self._forget()
            return _LOOK_EVERY
        except StoreError as error:
            # Detectors may know of runs that were not stored as taken: they are loaded again.
            self._metrics.counter("aem_monitor_store_errors_total", reason=error.reason).inc()
            self._forget()
            return _TRY_EVERY

    def _lead(self, lease: Lease) -> float:
        if self._deciding is None:
            deciding = Deciding(self._store, self._settings.detectors, self._settings.told)
            self._decide(lease, deciding, deciding.agree(self._wall()))
            self._store.drop_unsent(lease, [one.name for one in self._sendings])
            self._deciding = deciding
        full = False
        if self._stopping.is_set() or self._clock() - self._observed_at >= _OBSERVE_EVERY:
            full = self._observe(lease, self._deciding)
            self._observed_at = self._clock() - (_OBSERVE_EVERY if full else 0.0)
        if self._clock() - self._changes_at >= _CHANGES_EVERY:
            self._changes_at = self._clock()
            self._decide(lease, self._deciding, self._deciding.changes())
        more = [one.step(self._leadership, lease, self._clock(), self._wall()) for one in self._sendings]
        self._refresh(self._deciding)
        if self._clock() - self._counted_at >= _COUNT_EVERY:
            self._counted_at = self._clock()
            self._waiting = self._store.count_unsent()
        return 0.0 if full or any(more) else _LOOK_EVERY

    def _observe(self, lease: Lease, deciding: Deciding) -> bool:
        """Whether there may be more."""
        batch = self._store.unobserved(_BATCH)
        full = len(batch) == _BATCH
        self._oldest = batch[0].stored_at if batch else None
        self._behind = self._store.count_unobserved() if full else len(batch)
        if batch:
            decision, counts = deciding.observe(batch)
            self._decide(lease, deciding, decision)
            for result, count in counts.items():
                self._metrics.counter("aem_monitor_alerting_runs_total", result=result).inc(count)
            self._behind -= len(batch)
            if not full:
                self._oldest = None
        return full

    def _decide(self, lease: Lease, deciding: Deciding, decision: Decision | None) -> None:
        if decision is not None:
            self._store.decide(lease, decision)
            deciding.stored(decision)

    def _refresh(self, deciding: Deciding) -> None:
        """Alertmanager takes an alert that nobody posts again for one that is over."""
        receiver, now = self._refreshed, self._clock()
        if receiver is None or not deciding.open or now - self._refresh_at < receiver.refresh_every:
            return
        self._refresh_at = now
        self._leadership.renew(now)
        (sending,) = (one for one in self._sendings if one.name == receiver.name)
        try:
            receiver.refresh([one.body for one in deciding.open.values()])
        except NotifyError as error:
            sending.failed(error, now)
        else:
            sending.succeeded(now, self._wall())

    def _forget(self) -> None:
        self._deciding = None
        self._behind = self._oldest = self._waiting = None
        self._counted_at = -float("inf")
        for one in self._sendings:
            one.oldest = None

    def _read_held(self) -> Readings:
        """A thread that does not come round has lost it: another has taken over, or nobody decides."""
        alive = self._clock() - self._alive_at < self._settings.lease
        return [((), float(self._deciding is not None and alive))]

    def _read_open(self) -> Readings:
        deciding = self._deciding
        return [] if deciding is None else [((), float(len(deciding.open)))]

    def _read_waiting(self) -> Readings:
        waiting = self._waiting
        if waiting is None:
            return []
        return [((("receiver", one.name),), float(waiting.get(one.name, 0))) for one in self._sendings]

    def _read_oldest(self) -> Readings:
        return [((("receiver", one.name),), one.oldest) for one in self._sendings if one.oldest is not None]


def _reading(value: float | None) -> Readings:
    return [] if value is None else [((), float(value))]
