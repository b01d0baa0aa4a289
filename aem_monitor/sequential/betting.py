"""Whether the mean of bounded observations is above a value, looked at as often as one likes."""

import math
from typing import Final

import numpy as np

from aem_monitor.sequential.shifts import Floats

_STAKES: Final[Floats] = np.array([0.015, 0.04, 0.1, 0.2, 0.4, 0.7, 0.97])
"""Shares of the largest allowed bet: small ones find small differences, the largest one what is wholly broken."""

_WEIGHTS: Final[Floats] = np.array([0.03, 0.07, 0.1, 0.12, 0.14, 0.14, 0.4])
"""What is wholly broken should be found within few observations, where each factor of the evidence counts; of small
differences the logarithm of a weight is a small share of what is needed."""

_LOG_WEIGHTS: Final[Floats] = np.log(_WEIGHTS)

_SEED: Final = 20261201
DRAWS: Final = 100
_MOST_MORE: Final = 100_000

_STEPS: Final = 1000
"""Of an observation, where it is rounded: a fifth of the steps of an interval."""


def log_evidence_above(values: Floats, mean: float) -> Floats:
    """Logarithms of the evidence, after each observation, that the mean is above ``mean``.

    The wealth of bets against a mean of at most ``mean``, each with a fixed stake, averaged with weights. Without such
    a mean it is a non-negative supermartingale that starts at 1, so that it ever exceeds 1/alpha with probability alpha
    at most (Ville 1939; betting: Waudby-Smith and Ramdas 2024). Nothing is assumed of the distribution beyond its
    bounds, and the means of the observations need not be equal, if none is above ``mean`` given those before.

    Args:
        values: observations in the order in which they came, each from -1 to 1, shape (observations,).
        mean: above -1.

    Returns:
        Shape (observations,).
    """
    stakes = _STAKES / (1.0 + mean)
    wealth = np.cumsum(np.log1p(stakes[None, :] * (values[:, None] - mean)), axis=0)
    return np.asarray(np.logaddexp.reduce(wealth + _LOG_WEIGHTS, axis=1), dtype=np.float64)


def times_to(values: Floats, mean: float, log_threshold: float) -> Floats:
    """How many more observations bring that evidence to a threshold, drawn ``DRAWS`` times: infinity where more than
    100,000 would be needed.

    Those to come are drawn from what was seen, which itself is a draw (a Bayesian bootstrap, Rubin 1981), on from the
    evidence that there is. Values count to a tenth. ``values`` are not empty.
    """
    kinds, counts = np.unique(np.rint(values * 10) / 10, return_counts=True)
    generator = np.random.default_rng(_SEED)
    chances = generator.dirichlet(counts, DRAWS)
    stakes = _STAKES / (1.0 + mean)
    gains = np.log1p(stakes * (kinds[:, None] - mean))
    wealth = np.tile(np.log1p(stakes * (values[:, None] - mean)).sum(axis=0), (DRAWS, 1))
    found = np.full(DRAWS, np.inf)
    looks = np.concatenate([np.arange(1, 64), np.geomspace(64, _MOST_MORE, 80).astype(np.int64)])
    for look, step in zip(looks, np.diff(looks, prepend=0), strict=True):
        wealth += generator.multinomial(int(step), chances) @ gains
        reached = np.logaddexp.reduce(wealth + _LOG_WEIGHTS, axis=1) >= log_threshold
        found[reached & np.isinf(found)] = look
    return found


def interval(values: Floats, alpha: float) -> tuple[float, float]:
    """The means that are not refuted: a confidence sequence, each of whose bounds misses the mean at any time with
    probability alpha at most. In steps of 0.005, outwards; from -1 to 1 without observations."""
    grid = np.linspace(-0.995, 0.995, 399)
    limit = math.log(1.0 / alpha)
    above = _final(values, grid) < limit
    below = _final(-values, -grid) < limit
    lower = grid[above].min(initial=1.0) - 0.005
    upper = grid[below].max(initial=-1.0) + 0.005
    return float(round(lower, 3)), float(round(upper, 3))


def _final(values: Floats, means: Floats) -> Floats:
    """The evidence after all observations that the mean is above each of ``means``, or a little less: observations are
    rounded down, so that the work is bounded however many of them differ."""
    kinds, counts = np.unique(np.floor(values * _STEPS) / _STEPS, return_counts=True)
    stakes = _STAKES[None, :, None] / (1.0 + means[:, None, None])
    wealth = (np.log1p(stakes * (kinds[None, None, :] - means[:, None, None])) * counts).sum(axis=2)
    return np.asarray(np.logaddexp.reduce(wealth + _LOG_WEIGHTS, axis=1), dtype=np.float64)
