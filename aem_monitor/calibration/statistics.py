"""Agreement of scores with labels. Pure; numpy arrays in, numbers out.

``scores`` are floats in [0, 1], ``labels`` booleans (True: a person says pass), both of shape (n,). What the data do
not determine (one class only, no variance) is None, never 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Scores: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.bool_]
Statistic: TypeAlias = Callable[[Scores, Labels], float | None]

_RESAMPLES: Final = 1000
_SEED: Final = 20261130


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % bootstrap interval; None where it cannot be had."""

    value: float | None
    low: float | None = None
    high: float | None = None


def precision(passes: Labels, labels: Labels) -> float | None:
    """Share of what passes that a person passes."""
    return _ratio(int((passes & labels).sum()), int(passes.sum()))


def recall(passes: Labels, labels: Labels) -> float | None:
    """Share of what a person passes that passes."""
    return _ratio(int((passes & labels).sum()), int(labels.sum()))


def f1(passes: Labels, labels: Labels) -> float | None:
    """Harmonic mean of precision and recall."""
    return _ratio(2 * int((passes & labels).sum()), int(passes.sum()) + int(labels.sum()))


def balanced_accuracy(passes: Labels, labels: Labels) -> float | None:
    """Mean of the shares of passing and of failing labels that are met."""
    positive, negative = recall(passes, labels), recall(~passes, ~labels)
    return None if positive is None or negative is None else (positive + negative) / 2


def kappa(passes: Labels, labels: Labels) -> float | None:
    """Agreement beyond chance (Cohen 1960, "A coefficient of agreement for nominal scales")."""
    observed = float((passes == labels).mean())
    p, q = float(passes.mean()), float(labels.mean())
    expected = p * q + (1 - p) * (1 - q)
    return None if expected >= 1.0 else (observed - expected) / (1 - expected)


def roc_area(scores: Scores, labels: Labels) -> float | None:
    """Probability that a passing label scores above a failing one, ties half (Mann and Whitney 1947)."""
    positive, negative = int(labels.sum()), int((~labels).sum())
    if not positive or not negative:
        return None
    total = float(ranks(scores)[labels].sum())
    return (total - positive * (positive + 1) / 2) / (positive * negative)


def pearson(scores: Scores, labels: Labels) -> float | None:
    """Linear correlation of the scores with labels of 0 and 1."""
    return _correlation(scores, labels.astype(np.float64))


def spearman(scores: Scores, labels: Labels | Scores) -> float | None:
    """Correlation of the ranks, ties averaged (Spearman 1904)."""
    return _correlation(ranks(scores), ranks(labels.astype(np.float64)))


def ranks(values: Scores) -> Scores:
    """Ranks from 1, equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)


def bootstrap(
    statistic: Statistic, scores: Scores, labels: Labels, groups: NDArray[np.int64], resamples: int = _RESAMPLES
) -> Interval:
    """Percentile interval over resampled groups (Efron 1979): rows of one group are not independent.

    Deterministic: the same data give the same interval.
    """
    value = statistic(scores, labels)
    if value is None:
        return Interval(None)
    random = np.random.default_rng(_SEED)
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(groups[order]) != 0])
    rows_of = np.split(order, starts[1:])
    found = []
    for _ in range(resamples):
        chosen = random.integers(0, len(rows_of), len(rows_of))
        rows = np.concatenate([rows_of[index] for index in chosen])
        resampled = statistic(scores[rows], labels[rows])
        if resampled is not None:
            found.append(resampled)
    if len(found) < resamples // 2:
        return Interval(value)
    low, high = np.percentile(found, [2.5, 97.5])
    return Interval(value, float(low), float(high))


def _correlation(x: Scores, y: Scores) -> float | None:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
