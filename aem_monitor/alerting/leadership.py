"""One replica decides and notifies: who holds the lease in the store."""

import logging
from typing import Final

from aem_monitor.errors import LeaseLostError
from aem_monitor.store.alerts import AlertStore, Lease

_LOG: Final = logging.getLogger(__name__)


class Leadership:
    """Times are those of a clock that never jumps (``time.monotonic``), and are only compared with its own."""

    def __init__(self, store: AlertStore, holder: str, seconds: float) -> None:
        """``holder``: a name that no other process ever has. ``seconds``: for how long a holder may give no sign."""
        self._store = store
        self._holder = holder
        self._seconds = seconds
        self._seen: Lease | None = None
        self._seen_at = 0.0
        self._renewed_at = 0.0
        self.lease: Lease | None = None

    def keep(self, now: float) -> Lease | None:
        """Renew the lease or, where its holder gives no sign, take it; None while another has it."""
        if self.lease is not None:
            if now - self._renewed_at >= self._seconds / 3:
                self.renew(now)
            return self.lease
        seen = self._store.alert_lease()
        if seen is not None and seen.holder and (seen != self._seen or now - self._seen_at < self._seconds):
            if seen != self._seen:
                self._seen, self._seen_at = seen, now
            return None
        self.lease = self._store.take_alert_lease(self._holder, seen)
        self._seen, self._renewed_at = None, now
        if self.lease is not None:
            _LOG.info("This replica decides on alerts from now on")
        return self.lease

    def renew(self, now: float) -> None:
        """Before something that cannot be taken back. Raises ``LeaseLostError``."""
        if self.lease is None:
            raise LeaseLostError("another process has taken over alerting")
        self._store.renew_alert_lease(self.lease)
        self._renewed_at = now

    def lost(self) -> None:
        """Another has it."""
        self.lease = None
        _LOG.warning("Another replica decides on alerts from now on: this one gave no sign for %g s", self._seconds)

    def release(self) -> None:
        """Let another take it at once."""
        lease, self.lease = self.lease, None
        if lease is not None:
            self._store.release_alert_lease(lease)
