"""Event time: how far all open senders have come."""

from dataclasses import dataclass

_SECOND_NS = 10**9


@dataclass(slots=True)
class _Sender:
    latest_ns: int
    heard_at: float


class Watermark:
    """The minimum over senders of the latest span end that each has sent.

    A sender that has been silent for ``wall_idle`` seconds is left out, so that an empty partition or a stopped
    exporter holds nothing up. When all are silent, event time goes on with the wall clock. A span end that lies in the
    future of the wall clock by more than ``max_skew`` seconds moves nothing: one producer with a wrong clock must not
    close everybody's conversations.
    """

    def __init__(self, wall_idle: float, max_skew: float = 60.0) -> None:
        self._wall_idle = wall_idle
        self._max_skew_ns = round(max_skew * _SECOND_NS)
        self._senders: dict[str, _Sender] = {}
        self._highest_ns = 0

    def use(self, wall_idle: float) -> None:
        """Leave silent senders out after another time from now on."""
        self._wall_idle = wall_idle

    def assign(self, sender: str, now: float) -> None:
        """A sender that is known to exist and has sent nothing yet holds event time back until it is idle, counted from
        the last call."""
        self._senders.setdefault(sender, _Sender(0, now)).heard_at = now

    def forget(self, sender: str) -> None:
        """The sender is gone (a revoked partition)."""
        self._senders.pop(sender, None)

    def observe(self, sender: str, latest_ns: int, now: float) -> None:
        """``sender`` sent something whose latest span ended at ``latest_ns`` (0: nothing with a time)."""
        known = self._senders.setdefault(sender, _Sender(0, now))
        known.heard_at = now
        latest_ns = min(latest_ns, round(now * _SECOND_NS) + self._max_skew_ns)
        known.latest_ns = max(known.latest_ns, latest_ns)
        self._highest_ns = max(self._highest_ns, latest_ns)

    def event_now(self, now: float) -> int:
        """Event time in nanoseconds; 0 before anything was observed."""
        active = [sender for sender in self._senders.values() if now - sender.heard_at < self._wall_idle]
        if active:
            return min(sender.latest_ns for sender in active)
        if not self._senders or not self._highest_ns:
            return self._highest_ns
        silent = now - max(sender.heard_at for sender in self._senders.values())
        return self._highest_ns + round(silent * _SECOND_NS)

    def prune(self, now: float, after: float) -> None:
        """Forget senders that have been silent for ``after`` seconds: OTLP peers come and go."""
        for name in [name for name, sender in self._senders.items() if now - sender.heard_at > after]:
            del self._senders[name]
