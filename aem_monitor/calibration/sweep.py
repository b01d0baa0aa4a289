"""Every threshold of a sub-metric, and the one that costs least."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aem_monitor.calibration import statistics
from aem_monitor.calibration.labels import Scored
from aem_monitor.calibration.statistics import Interval, Labels, Scores, bootstrap


@dataclass(frozen=True, slots=True)
class Costs:
    """What a wrong pass and a wrong failure cost, in any unit; only their ratio matters."""

    false_pass: float = 1.0
    false_fail: float = 1.0


@dataclass(frozen=True, slots=True)
class Point:
    """What a threshold does. Scores at or above it pass."""

    threshold: float
    precision: float | None
    recall: float | None
    f1: float | None
    balanced_accuracy: float | None
    cost: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """One sub-metric against its labels. ``constant`` is the agreement of the better constant answer.

    ``agreement`` is the share of labels that the chosen threshold meets; a metric that does not beat the constant is
    of no use on such data, however high the figure.
    """

    submetric: str
    labels: int
    passing: int
    threshold: float
    points: tuple[Point, ...]
    agreement: Interval
    constant: float
    roc_area: Interval
    pearson: Interval
    spearman: Interval
    kappa: Interval


def calibrate(scored: Sequence[Scored], costs: Costs) -> list[Calibration]:
    """One calibration a sub-metric, in order of name."""
    names = sorted({one.submetric for one in scored})
    return [_calibrate(name, [one for one in scored if one.submetric == name], costs) for name in names]


def _calibrate(name: str, rows: Sequence[Scored], costs: Costs) -> Calibration:
    scores = np.array([row.score for row in rows], dtype=np.float64)
    labels = np.array([row.label for row in rows], dtype=np.bool_)
    known = {group: number for number, group in enumerate(dict.fromkeys(row.group for row in rows))}
    groups = np.array([known[row.group] for row in rows], dtype=np.int64)
    points = tuple(_point(threshold, scores, labels, costs) for threshold in _thresholds(scores))
    best = _cheapest(points)
    share = float(labels.mean())

    def agreement(s: Scores, ls: Labels) -> float | None:
        return float(((s >= best) == ls).mean())

    def agreement_beyond_chance(s: Scores, ls: Labels) -> float | None:
        return statistics.kappa(s >= best, ls)

    return Calibration(
        submetric=name,
        labels=len(rows),
        passing=int(labels.sum()),
        threshold=best,
        points=points,
        agreement=bootstrap(agreement, scores, labels, groups),
        constant=max(share, 1.0 - share),
        roc_area=bootstrap(statistics.roc_area, scores, labels, groups),
        pearson=bootstrap(statistics.pearson, scores, labels, groups),
        spearman=bootstrap(statistics.spearman, scores, labels, groups),
        kappa=bootstrap(agreement_beyond_chance, scores, labels, groups),
    )


def _thresholds(scores: Scores) -> list[float]:
    """Hundredths, which people can write into a configuration, between the extremes that pass all and none."""
    return [round(step / 100, 2) for step in range(101)] + ([1.01] if scores.max() >= 1.0 else [])


def _point(threshold: float, scores: Scores, labels: Labels, costs: Costs) -> Point:
    passes = scores >= threshold
    wrong_pass, wrong_fail = int((passes & ~labels).sum()), int((~passes & labels).sum())
    return Point(
        threshold=threshold,
        precision=statistics.precision(passes, labels),
        recall=statistics.recall(passes, labels),
        f1=statistics.f1(passes, labels),
        balanced_accuracy=statistics.balanced_accuracy(passes, labels),
        cost=(wrong_pass * costs.false_pass + wrong_fail * costs.false_fail) / len(scores),
    )


def _cheapest(points: Sequence[Point]) -> float:
    """The middle of the longest stretch of cheapest thresholds: at its ends one label more would cost."""
    least = min(point.cost for point in points)
    stretches: list[list[float]] = [[]]
    for point in points:
        if point.cost <= least + 1e-12:
            stretches[-1].append(point.threshold)
        elif stretches[-1]:
            stretches.append([])
    longest = max(stretches, key=len)
    return longest[len(longest) // 2]
