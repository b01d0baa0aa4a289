"""From the queue of a receiver in the store to the receiver: in order, at least once, not too often.

A notification leaves the queue after the receiver has taken it. A crash between the two makes it be sent again, with
the same deduplication key.
"""

import logging
import random
from dataclasses import dataclass
from typing import Final

from aem_monitor.alerting.leadership import Leadership
from aem_monitor.alerting.receivers import Receiver
from aem_monitor.errors import NotifyError
from aem_monitor.metrics.registry import Metrics
from aem_monitor.store.alerts import AlertStore, Lease, Notification

_LOG: Final = logging.getLogger(__name__)

_FIRST_PAUSE: Final = 5.0
_LONGEST_PAUSE: Final = 300.0
"""PagerDuty asks for pauses of minutes."""

_BURST: Final = 10.0
_KEPT_FOR_PAGES: Final = 5.0
"""Of the burst, for incidents: they do not wait because many releases are new."""


@dataclass(frozen=True, slots=True)
class Limits:
    """``per_hour``: most requests in the long run, after a burst of ten. ``give_up``: seconds after which a
    notification that a receiver never took is dropped: nobody needs to be woken for it any more."""

    per_hour: float = 60.0
    give_up: float = 86400.0


class Sending:
    """One receiver. ``now`` is of a clock that never jumps, ``wall`` seconds since the epoch."""

    def __init__(self, receiver: Receiver, store: AlertStore, metrics: Metrics, limits: Limits) -> None:
        self._receiver = receiver
        self._store = store
        self._metrics = metrics
        self._limits = limits
        self._chance = random.Random()  # noqa: S311  spreads attempts, keeps no secret
        self._allowed = _BURST
        self._allowed_at: float | None = None
        self._failures = 0
        self._failing_since: float | None = None
        self._not_before = 0.0
        # What the receiver has while the store could not note it: not to be sent again meanwhile.
        self._unnoted: Notification | None = None
        self.oldest: float | None = None
        """Since when somebody is not told (seconds since the epoch). Changes may wait for their turn, but not for a
        receiver that fails."""

    @property
    def name(self) -> str:
        """The receiver's."""
        return self._receiver.name

    def step(self, leadership: Leadership, lease: Lease, now: float, wall: float) -> bool:
        """Send what is due, at most one; whether there may be more at once. Raises ``LeaseLostError``,
        ``StoreError``."""
        waiting = self._store.unsent(self.name)
        if not waiting:
            self.oldest = None
            return False
        (first,) = waiting
        takes_turns = first.event == "change" and self._failing_since is None
        self.oldest = None if takes_turns else first.created_at
        if first == self._unnoted:
            self._store.sent(lease, first)
            self._unnoted = None
            return True
        if self._too_old(first, now, wall):
            self._never(first, "expired", f"it has waited for more than {self._limits.give_up:g} s")
            self._store.sent(lease, first)
            return True
        if now < self._not_before or not self._may_send(first, now):
            return False
        # Who takes over waits for the length of the lease from here on, which is longer than a request takes.
        leadership.renew(now)
        try:
            self._receiver.send(first.body)
        except NotifyError as error:
            if not error.final:
                self.failed(error, now)
                return False
            self._never(first, "rejected", str(error))
            self._answers(now)
        else:
            self.succeeded(now, wall)
        self._unnoted = first
        self._store.sent(lease, first)
        self._unnoted = None
        return True

    def succeeded(self, now: float, wall: float) -> None:
        """The receiver has taken something."""
        self._count("sent")
        self._metrics.gauge("aem_monitor_alerting_last_success_timestamp_seconds", receiver=self.name).set(wall)
        self._answers(now)

    def _answers(self, now: float) -> None:
        since, self._failing_since, self._failures = self._failing_since, None, 0
        if since is not None:
            _LOG.info("The receiver %s answers again, after %.0f seconds", self.name, now - since)

    def failed(self, error: NotifyError, now: float) -> None:
        """The receiver has not taken something, and may take it later."""
        self._count("failed")
        if self._failing_since is None:
            self._failing_since = now
            _LOG.error("The receiver %s failed; what it should be told waits in the store: %s", self.name, error)
        longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(self._failures, 10))
        self._failures += 1
        self._not_before = now + (error.retry_after or longest * self._chance.uniform(0.75, 1.0))

    def _never(self, notification: Notification, result: str, why: str) -> None:
        self._count(result)
        _LOG.error(
            "%s of %s will never be told to %s (%s): %s",
            notification.event,
            notification.dedup_key,
            self.name,
            result,
            why,
        )

    def _too_old(self, notification: Notification, now: float, wall: float) -> bool:
        """By both clocks: one that jumps forward must not drop what was never tried."""
        tried = 0.0 if self._failing_since is None else now - self._failing_since
        return min(tried, wall - notification.created_at) > self._limits.give_up

    def _may_send(self, notification: Notification, now: float) -> bool:
        passed = 0.0 if self._allowed_at is None else now - self._allowed_at
        self._allowed = min(_BURST, self._allowed + passed * self._limits.per_hour / 3600.0)
        self._allowed_at = now
        if self._allowed < 1.0 + (_KEPT_FOR_PAGES if notification.event == "change" else 0.0):
            return False
        self._allowed -= 1.0
        return True

    def _count(self, result: str) -> None:
        self._metrics.counter("aem_monitor_alerting_notifications_total", receiver=self.name, result=result).inc()
