"""Log lines about a lasting condition: said at once, then at most once in an interval."""

import logging
import time
from collections.abc import Callable


class Complaints:
    """Says each kind of complaint at most once every ``interval`` seconds, with how often it was held back.

    A broker that is away, or a producer that sends garbage, is a reason for a line a minute, not for one an attempt.
    Not safe to share between threads.
    """

    def __init__(
        self, logger: logging.Logger, interval: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._logger = logger
        self._interval = interval
        self._clock = clock
        self._last: dict[str, float] = {}
        self._held_back: dict[str, int] = {}

    def complain(self, kind: str, message: str) -> None:
        """Log ``message`` as a warning unless this ``kind`` (bounded) was logged within the interval."""
        now = self._clock()
        if kind in self._last and now - self._last[kind] < self._interval:
            self._held_back[kind] = self._held_back.get(kind, 0) + 1
            return
        self._last[kind] = now
        held_back = self._held_back.pop(kind, 0)
        self._logger.warning("%s", f"{message} ({held_back} more like this since)" if held_back else message)

    def over(self, kind: str) -> bool:
        """The condition has ended: the next complaint of this kind is said at once. True if there was one."""
        self._held_back.pop(kind, None)
        return self._last.pop(kind, None) is not None
