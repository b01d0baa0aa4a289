"""Whether the client really takes part in its group, as seen from outside of it."""

from collections.abc import Callable, Mapping
from typing import Final

from kafka.errors import KafkaError

from aem_monitor.ingest.causes import Stall
from aem_monitor.ingest.kafka_settings import KafkaSettings

_SAID: Final[Mapping[Stall, str]] = {
    Stall.NOT_JOINED: "the group was not joined within the longest time that a rebalance takes",
    Stall.NO_HEARTBEAT: "the group has answered no heartbeat for twice the session timeout",
}

SAID_AFTER: Final = 60.0
"""Seconds outside of the group, with brokers that answer, after which it is said. A rebalance takes some seconds."""


class Membership:
    """Finds sessions that come to nothing: connected, and not in the group or not heard there, for too long.

    A client that waits for a join looks like one that has forgotten it. But no group waits for a member for longer than
    ``max_poll_interval`` (its rebalance timeout), nor for a dead one longer than ``session_timeout``: what takes longer
    than both never ends. Nor does a member last without a heartbeat for longer than ``session_timeout``; of that,
    twice the time is given, since the client notices it, too. Times are monotonic seconds.

    ``reconnecting`` is told why a session is given up.
    """

    def __init__(self, settings: KafkaSettings, reconnecting: Callable[[Stall], None]) -> None:
        self._reconnecting = reconnecting
        self._group = settings.group_id
        self._longest_join = settings.max_poll_interval_seconds + settings.session_timeout_seconds
        self._longest_silence = 2 * settings.session_timeout_seconds
        self._out_since: float | None = None
        self._waiting_since = 0.0

    def begin(self, now: float) -> None:
        """A new session."""
        self._waiting_since = now

    def observe(self, now: float, *, able: bool, joined: bool, heard_at: float) -> None:
        """Raise KafkaError where the session has to be given up.

        ``able``: brokers answer and there is a topic. ``heard_at``: when they last answered a heartbeat.
        """
        stall = self._stall(now, able=able, joined=joined, heard_at=heard_at)
        if stall is not None:
            self._reconnecting(stall)
            raise KafkaError(_SAID[stall])

    def _stall(self, now: float, *, able: bool, joined: bool, heard_at: float) -> Stall | None:
        if not able or joined:
            self._waiting_since = now
            self._out_since = None
        elif self._out_since is None:
            self._out_since = now
        if not able:
            return None
        if not joined:
            return Stall.NOT_JOINED if now - self._waiting_since > self._longest_join else None
        return Stall.NO_HEARTBEAT if now - heard_at > self._longest_silence else None

    def problem(self, now: float) -> str | None:
        """A sentence about a membership that is long in coming. May be asked from any thread."""
        since = self._out_since
        if since is None or now - since <= SAID_AFTER:
            return None
        return f"Kafka answers, and has not let this replica into group {self._group} for {now - since:.0f} seconds"
