"""When a rate becomes worse than its past, at a moment that nobody knows."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from aem_monitor.sequential.shifts import SHIFTS, WEIGHTS, Floats, log_ratios

_CEILING: Final = 600.0
"""Of the logarithm: beyond it a sum would not fit a float, and no threshold lies there."""


class ChangeDetector:
    """A mixture of Shiryaev-Roberts statistics (Shiryaev 1963; Roberts 1966), one for each shift.

    Each is the sum, over all moments at which the change may have been, of the likelihood ratio of what came since. As
    long as the rate is at most the one it is held against, the expected statistic after n observations is at most n
    (Pollak 1985), be the observations looked at as often as one likes: with an alarm at A, and a new start after each
    alarm, at most one alarm is expected in A observations. Shin, Ramdas and Rinaldo (2023) call this an e-detector.
    """

    def __init__(self, state: Sequence[float] = ()) -> None:
        """``state`` is that of an earlier one, as ``state()`` gave it."""
        self._logs: Floats = np.array(state, dtype=np.float64) if state else np.full(len(SHIFTS), -math.inf)

    def observe(self, failed: bool, log_odds: float) -> None:
        """Take one observation; ``log_odds`` are those of failing before."""
        found = np.logaddexp(0.0, self._logs) + log_ratios(failed, log_odds)
        self._logs = np.minimum(found, _CEILING)

    @property
    def log_statistic(self) -> float:
        """The natural logarithm of the statistic; minus infinity before the first observation."""
        return float(np.logaddexp.reduce(self._logs + np.log(WEIGHTS)))

    @property
    def shift(self) -> float:
        """The shift that explains best what was seen."""
        return float(SHIFTS[int(np.argmax(self._logs + np.log(WEIGHTS)))])

    def state(self) -> list[float]:
        """What it knows, for ``__init__``. Finite numbers, empty when nothing was seen."""
        return [float(one) for one in self._logs] if np.isfinite(self._logs).all() else []


class RecoveryDetector:
    """The same the other way: when a rate that had become worse by ``shift`` is what it was before.

    As long as it stays that much worse or more, at most one false recovery is expected in A observations.
    """

    def __init__(self, shift: float, log_statistic: float = -math.inf) -> None:
        self.shift = shift
        self.log_statistic = log_statistic

    def observe(self, failed: bool, log_odds: float) -> None:
        """Take one observation; ``log_odds`` are those of failing before it became worse."""
        ratio = float(log_ratios(failed, log_odds, np.array([self.shift]))[0])
        self.log_statistic = min(_CEILING, float(np.logaddexp(0.0, self.log_statistic)) - ratio)
