"""Bounds on what an expert may cost: calls an hour, and no calls while its service is down."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

_HOUR: Final = 3600.0


class HourlyBudget:
    """At most ``limit`` calls in any hour. Thread-safe."""

    def __init__(self, limit: int, clock: Callable[[], float]) -> None:
        self._limit = limit
        self._clock = clock
        self._spent: deque[float] = deque()
        self._lock = threading.Lock()

    def spend(self) -> bool:
        """Take one call; False when the hour's calls are spent."""
        now = self._clock()
        with self._lock:
            while self._spent and now - self._spent[0] >= _HOUR:
                self._spent.popleft()
            if len(self._spent) >= self._limit:
                return False
            self._spent.append(now)
            return True


class CircuitBreaker:
    """Open after ``failures`` failed calls in a row; then closed to all but one trial every ``pause`` seconds.

    A judge that is down would otherwise cost every question its full timeout, and the service its recovery.
    """

    def __init__(self, failures: int, pause: float, clock: Callable[[], float]) -> None:
        self._failures = failures
        self._pause = pause
        self._clock = clock
        self._failed = 0
        self._next_trial = 0.0
        self._lock = threading.Lock()

    def allows(self) -> bool:
        """Whether a call may be made now."""
        with self._lock:
            if self._failed < self._failures:
                return True
            now = self._clock()
            if now < self._next_trial:
                return False
            self._next_trial = now + self._pause
            return True

    def succeeded(self) -> None:
        """A call was answered."""
        with self._lock:
            self._failed = 0

    def failed(self) -> None:
        """A call failed after its retries."""
        with self._lock:
            self._failed += 1
            if self._failed >= self._failures:
                self._next_trial = self._clock() + self._pause
