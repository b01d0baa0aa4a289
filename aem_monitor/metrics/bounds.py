"""Keeps the number of series bounded, whatever names the input invents, without shutting out next year's releases."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from aem_monitor.metrics.catalogue import OTHER, Metric
from aem_monitor.model.increment import Labels

MAX_LABEL_CHARACTERS: Final = 128

MAX_SERIES: Final = 10_000
"""Series of one metric. Ten thousand take a scrape about 0.1 s, far from Prometheus' default timeout of 10 s."""

IDLE_SECONDS: Final = 7 * 86400.0
"""A value that was not counted for so long gives its room to a new one when its label is full. Long enough that a flood
of invented names cannot push out what is in use, short enough that releases of last year make room for this year's."""

# A NUL ends a scrape in Prometheus' lexer, a lone surrogate cannot be encoded at all.
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


class LabelBounds:
    """Maps the labels of an increment to labels that there is room for.

    ``overflow(metric, label)`` is called for each value that had to give way, ``retired(label, value)`` for each that
    was idle and lost its room. Values are taken in the order in which they come. Not thread-safe.
    """

    def __init__(
        self,
        max_label_values: int,
        overflow: Callable[[str, str], None],
        retired: Callable[[str, str], None],
        now: Callable[[], float],
        max_series: int = MAX_SERIES,
    ) -> None:
        self._max_label_values = max_label_values
        self._max_series = max_series
        self._overflow = overflow
        self._retired = retired
        self._now = now
        # By label name, over all metrics: a release that is counted in one metric is counted in every other.
        self._used: dict[str, dict[str, float]] = {}
        self._series: dict[str, set[Labels]] = {}

    def fit(self, metric: Metric, labels: Mapping[str, str]) -> Labels:
        """The labels to count under, in the catalogue's order.

        Raises:
            ValueError: the label names are not those of the catalogue: an error of the program, not of its input.
        """
        if len(labels) != len(metric.labels) or any(name not in labels for name in metric.label_names):
            raise ValueError(f"{metric.name} has the labels {metric.label_names}, not {tuple(labels)}")
        now = self._now()
        fitted = tuple(
            (label.name, self._value(metric, position, labels[label.name], now))
            for position, label in enumerate(metric.labels)
        )
        series = self._series.setdefault(metric.name, set())
        if fitted in series:
            return fitted
        if len(series) >= self._max_series:
            fitted = self._collapse(metric, fitted)
        series.add(fitted)
        return fitted

    def take_up(self, metric: Metric, labels: Labels, used_at: float) -> bool:
        """Give stored labels the room they had, last used at ``used_at``; False when there is none."""
        series = self._series.setdefault(metric.name, set())
        wanted = [
            (self._used.setdefault(label.name, {}), value, label.limit or self._max_label_values)
            for label, (_, value) in zip(metric.labels, labels, strict=True)
            if not label.values and value not in (OTHER, "")
        ]
        if any(value not in used and len(used) >= limit for used, value, limit in wanted):
            return False
        if labels not in series and len(series) >= self._max_series:
            return False
        for used, value, _ in wanted:
            used[value] = max(used_at, used.get(value, used_at))
        series.add(labels)
        return True

    def forget(self, metric: Metric, labels: Labels) -> None:
        """The series is gone; another may take its room."""
        self._series.get(metric.name, set()).discard(labels)

    def _value(self, metric: Metric, position: int, asked: str, now: float) -> str:
        label = metric.labels[position]
        if label.values:
            if asked in label.values or asked == OTHER:
                return asked
            self._overflow(metric.name, label.name)
            return OTHER
        used = self._used.setdefault(label.name, {})
        value = asked if asked in used else _UNPRINTABLE.sub("�", asked)[:MAX_LABEL_CHARACTERS]
        if value in (OTHER, ""):
            return value
        if value not in used and len(used) >= (label.limit or self._max_label_values):
            oldest = min(used, key=used.__getitem__)
            if now - used[oldest] < IDLE_SECONDS:
                self._overflow(metric.name, label.name)
                return OTHER
            del used[oldest]
            self._retired(label.name, oldest)
        used[value] = now
        return value

    def _collapse(self, metric: Metric, fitted: Labels) -> Labels:
        """All open labels become ``other``: the metric as a whole is full."""
        collapsed = list(fitted)
        for position, label in enumerate(metric.labels):
            if not label.values and collapsed[position][1] not in (OTHER, ""):
                collapsed[position] = (label.name, OTHER)
                self._overflow(metric.name, label.name)
        return tuple(collapsed)
