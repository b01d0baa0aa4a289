"""Tests for one look at a sample whose size was chosen beforehand."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from aem_monitor.sequential.shifts import Floats

_DRAWS: Final = 10_000
_SEED: Final = 20261201


@dataclass(frozen=True, slots=True)
class OneLook:
    """p-values, never 0, and an interval of the mean difference."""

    regression: float
    noninferiority: float
    lower: float
    upper: float


def one_look(values: Floats, margin: float, tolerance: float, alpha: float) -> OneLook:
    """Test the differences of independent clusters, once.

    Against no difference (margin 0) the exact sign test, which is McNemar's (1947) where each is a pair that passes or
    fails. Elsewhere, and for the interval, a bootstrap over the clusters (Efron 1979): p is the share of drawn means
    beyond the bound, with one added (Davison and Hinkley 1997, 4.2), so that no p is below 1/10,001.
    """
    if not len(values):
        return OneLook(1.0, 1.0, -1.0, 1.0)
    kinds, counts = np.unique(values, return_counts=True)
    generator = np.random.default_rng(_SEED)
    means = generator.multinomial(len(values), counts / len(values), size=_DRAWS) @ kinds / len(values)
    lower, upper = np.quantile(means, (alpha / 2, 1 - alpha / 2))
    worse = _sign_test(int((values > 0).sum()), int((values < 0).sum())) if margin == 0 else _p(means <= margin)
    return OneLook(worse, _p(means >= tolerance), float(lower), float(upper))


def _sign_test(more: int, less: int) -> float:
    """The probability of ``more`` or more heads in ``more + less`` tosses."""
    tosses = more + less
    logs = [
        math.lgamma(tosses + 1) - math.lgamma(one + 1) - math.lgamma(tosses - one + 1) - tosses * math.log(2)
        for one in range(more, tosses + 1)
    ]
    return min(1.0, float(np.exp(np.logaddexp.reduce(logs))))


def _p(beyond: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> float:
    return float((beyond.sum() + 1) / (len(beyond) + 1))
