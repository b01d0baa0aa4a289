"""Whether one group of observations is worse than a past that is not known exactly, looked at as often as one likes."""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from aem_monitor.sequential.baseline import Baseline, Tally
from aem_monitor.sequential.shifts import SHIFTS, WEIGHTS, Floats

_GRID: Final[Floats] = np.linspace(-4.0, 8.0, 241)
_FINEST: Final = 0.03
"""Below it the error of a baseline is no smaller than the grid can show."""


def log_evidence(baseline: Baseline, tallies: Mapping[str, Tally]) -> float:
    """The natural logarithm of a Bayes factor: worse than the baseline, against as the baseline.

    The log odds of all strata differ from their estimates by the same amount, which is the baseline's error (normal
    with mean 0) and, if it is worse, one of ``SHIFTS`` beside. Both are integrated over. With a baseline known exactly
    this is the mixture likelihood ratio, a martingale without a change, so that it exceeds 1/alpha with probability
    alpha at most however often it is looked at (Ville 1939); with an estimated one that holds on average over the
    errors of baselines.

    Args:
        baseline: of at least one run.
        tallies: what was seen since, of each stratum.
    """
    likelihood = np.zeros(len(_GRID))
    for stratum, (failed, passed) in tallies.items():
        moved = baseline.of(stratum) + _GRID
        likelihood -= failed * np.logaddexp(0.0, -moved) + passed * np.logaddexp(0.0, moved)
    error = max(baseline.error, _FINEST)
    same = _normal(_GRID, error)
    worse = np.zeros(len(_GRID))
    for shift, weight in zip(SHIFTS, WEIGHTS, strict=True):
        worse += weight * _normal(_GRID - shift, error)
    best = likelihood.max()
    plausible = np.exp(likelihood - best)
    above, below = float(worse @ plausible), float(same @ plausible)
    if below <= 0.0:
        return math.inf if above > 0.0 else 0.0
    return math.log(above / below) if above > 0.0 else -math.inf


def _normal(at: Floats, error: float) -> Floats:
    density = np.exp(-0.5 * (at / error) ** 2)
    total = density.sum()
    return np.asarray(density / total if total > 0.0 else density, dtype=np.float64)
