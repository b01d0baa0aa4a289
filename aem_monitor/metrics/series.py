"""One time series each: a counter, a gauge, a histogram.

prometheus_client's own instruments are not used because they cannot take up a stored histogram where it was left, and
switch their ``_created`` series (one more per series, prometheus/client_python#438) only for the whole process.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from threading import RLock
from typing import Final

from prometheus_client.samples import Exemplar

_EXEMPLAR_LABEL: Final = "trace_id"

_EXEMPLAR_CHARACTERS: Final = 128
"""Most characters of all label names and values of an exemplar together (OpenMetrics 1.0, Exemplars)."""


class Clock:
    """What all series of a registry share: the lock that makes a scrape see a run's increments all or none, and the
    time that stamps exemplars."""

    __slots__ = ("lock", "now")

    def __init__(self, now: Callable[[], float]) -> None:
        self.lock = RLock()
        self.now = now

    def exemplar(self, trace_id: str | None, value: float) -> Exemplar | None:
        """None when there is no trace id or it is too long to be one."""
        if not trace_id or len(_EXEMPLAR_LABEL) + len(trace_id) > _EXEMPLAR_CHARACTERS or not trace_id.isalnum():
            return None
        return Exemplar({_EXEMPLAR_LABEL: trace_id}, value, self.now())


class Counter:
    """A total that only grows."""

    __slots__ = ("_clock", "exemplar", "value")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.value = 0.0
        self.exemplar: Exemplar | None = None

    def inc(self, amount: float = 1.0, trace_id: str | None = None) -> None:
        """Add ``amount``.

        Raises:
            ValueError: ``amount`` is negative or not a finite number.
        """
        if not (amount >= 0 and math.isfinite(amount)):
            raise ValueError(f"a counter cannot grow by {amount}")
        with self._clock.lock:
            self.value += amount
            if amount:
                self.exemplar = self._clock.exemplar(trace_id, amount) or self.exemplar


class Gauge:
    """A value that may rise and fall."""

    __slots__ = ("_clock", "value")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.value = 0.0

    def set(self, value: float) -> None:
        """Replace the value."""
        with self._clock.lock:
            self.value = float(value)

    def inc(self, amount: float = 1.0) -> None:
        """Add to the value; a negative amount takes away."""
        with self._clock.lock:
            self.value += amount


class Histogram:
    """Observations counted by bucket. ``counts`` has one more entry than ``bounds``, for the bucket up to infinity;
    counts are not cumulative."""

    __slots__ = ("_clock", "bounds", "counts", "exemplars", "sum")

    def __init__(self, clock: Clock, bounds: Sequence[float]) -> None:
        self._clock = clock
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.exemplars: list[Exemplar | None] = [None] * len(self.counts)
        self.sum = 0.0

    def observe(self, value: float, trace_id: str | None = None) -> None:
        """Count one observation; one that is not a number is left out, because it would poison the sum."""
        if math.isnan(value):
            return
        position = bisect_left(self.bounds, value)
        with self._clock.lock:
            self.counts[position] += 1
            self.sum += value
            self.exemplars[position] = self._clock.exemplar(trace_id, value) or self.exemplars[position]

    def restore(self, bucket: float, count: int, total: float) -> None:
        """Add a stored bucket; one whose bound is gone goes into the narrowest bucket that surely covers it."""
        with self._clock.lock:
            self.counts[bisect_left(self.bounds, bucket)] += count
            self.sum += total
