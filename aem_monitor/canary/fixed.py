"""Exact tests of no difference, for one look at a sample whose size was chosen beforehand."""

import math
import sys
from collections.abc import Sequence
from typing import Final

import numpy as np

from aem_monitor.sequential.shifts import Floats

_DRAWS: Final = 10_000
_SEED: Final = 20261201
_STEPS: Final = 1000
"""Of a run, to which values are rounded, so that the work is bounded however many of them differ."""


def exact_p(values: Floats) -> float:
    """The probability of a mean as large as that of ``values``, were each as likely to have the other sign: as it is
    where both releases do the same.

    By counting where all that are not 0 are of one size, which is the test of McNemar (1947) for runs that pass or
    fail; elsewhere by 10,000 draws of signs, which is as exact (Fisher 1935; Davison and Hinkley 1997, 4.3). Never 0.
    """
    if len(np.unique(np.abs(values[values != 0.0]))) <= 1:
        return _sign_test(int((values > 0).sum()), int((values < 0).sum()))
    return _drawn_p([values])


def exact_p_of_either(several: Sequence[Floats]) -> float:
    """The same of the largest of several means of the same clusters, each in its standard deviations. What they have in
    common costs nothing, since each draw gives all values of a cluster one sign (Westfall and Young 1993)."""
    first = several[0]
    if all(np.array_equal(first, other) for other in several):
        return exact_p(first)
    return _drawn_p(several)


def _drawn_p(several: Sequence[Floats]) -> float:
    # In whole numbers: rounding must not tell sums apart that are equal.
    rows = np.rint(np.stack(several, axis=1) * _STEPS).astype(np.int64)
    scales = np.sqrt((rows**2).sum(axis=0))
    scales[scales == 0.0] = np.inf
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    generator = np.random.default_rng(_SEED)
    sums = np.zeros((_DRAWS, len(several)), dtype=np.int64)
    for kind, count in zip(kinds, counts, strict=True):
        if kind.any():
            sums += (2 * generator.binomial(count, 0.5, _DRAWS) - count)[:, None] * kind
    seen = (rows.sum(axis=0) / scales).max()
    return _p((sums / scales).max(axis=1) >= seen - 1e-9)


def _sign_test(more: int, less: int) -> float:
    """The probability of ``more`` or more heads in ``more + less`` tosses."""
    tosses = more + less
    logs = [
        math.lgamma(tosses + 1) - math.lgamma(one + 1) - math.lgamma(tosses - one + 1) - tosses * math.log(2)
        for one in range(more, tosses + 1)
    ]
    return max(sys.float_info.min, min(1.0, float(np.exp(np.logaddexp.reduce(logs)))))


def _p(beyond: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> float:
    return float((beyond.sum() + 1) / (len(beyond) + 1))
