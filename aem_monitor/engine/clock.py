"""A clock for an engine that measures how long things take and tells what time it is, on machines whose clock jumps."""

import logging
import time
from collections.abc import Callable
from typing import Final

_LOG = logging.getLogger(__name__)

_STEP: Final = 1.0
"""Seconds between two readings by which the wall clock must differ from the time that has passed, to have jumped."""
_SLEW: Final = 0.05
"""How much faster or slower than time itself the clock may go to come back to the wall clock."""


class SteadyClock:
    """Seconds since the epoch that go forward at the pace of time.

    Waiting times are measured with it. If the wall clock jumps (a virtual machine that was asleep, a time server that
    corrects it), an hour has not passed: open runs are not cut, pending traces do not expire, nothing stands still. The
    clock follows the wall clock slowly, one second in twenty, because event times of spans are compared with it.

    Not for several threads at once. ``jumped`` is told of each jump, in seconds, forwards or backwards.
    """

    def __init__(
        self,
        jumped: Callable[[float], None] = lambda _: None,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._jumped = jumped
        self._wall = wall
        self._monotonic = monotonic
        self._read_at = monotonic()
        self._now = wall()
        self._ahead = 0.0

    def __call__(self) -> float:
        """What time it is."""
        read_at = self._monotonic()
        passed, self._read_at = read_at - self._read_at, read_at
        ahead = self._wall() - (self._now + passed)
        if abs(jump := ahead - self._ahead) >= _STEP:
            _LOG.warning("The wall clock jumped by %+.1f seconds; what is under way is not affected", jump)
            self._jumped(jump)
        followed = max(-_SLEW * passed, min(_SLEW * passed, ahead))
        self._now += passed + followed
        self._ahead = ahead - followed
        return self._now

    def on_the_wall(self, now: float) -> float:
        """What the wall clock showed, as of the last reading, at a time of this clock: for what people read."""
        return now + self._ahead
