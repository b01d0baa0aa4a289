"""Confidence intervals of shares and of their difference. Pure."""

from math import sqrt
from typing import Final

_Z: Final = 1.959963984540054
"""Two-sided 95 % of the normal distribution; the dashboards use the same."""


def wilson(passed: float, total: int) -> tuple[float, float]:
    """The 95 % score interval of ``passed`` in ``total``; (0, 1) where nothing was observed.

    Source: Wilson (1927), JASA 22, as in Newcombe (1998), Statistics in Medicine 17:857, method 3. Unlike the plain
    interval it is right for few observations and for shares near 0 and 1. Where each observation is a share from 0 to 1
    and ``passed`` their sum, it is wide enough: they vary less than passes of the same mean.
    """
    if total == 0:
        return 0.0, 1.0
    share, square = passed / total, _Z * _Z
    middle = share + square / (2 * total)
    spread = _Z * sqrt(share * (1 - share) / total + square / (4 * total * total))
    whole = 1 + square / total
    return max(0.0, (middle - spread) / whole), min(1.0, (middle + spread) / whole)


def difference(old: tuple[int, int], new: tuple[int, int]) -> tuple[float, float]:
    """The 95 % interval of the new share less the old one, each as (passed, total); (-1, 1) where either is empty.

    Source: Newcombe (1998), Statistics in Medicine 17:873, method 10: the two Wilson intervals combined.
    """
    if not old[1] or not new[1]:
        return -1.0, 1.0
    (old_low, old_high), (new_low, new_high) = wilson(*old), wilson(*new)
    old_share, new_share = old[0] / old[1], new[0] / new[1]
    change = new_share - old_share
    return (
        change - sqrt((new_share - new_low) ** 2 + (old_high - old_share) ** 2),
        change + sqrt((new_high - new_share) ** 2 + (old_share - old_low) ** 2),
    )
