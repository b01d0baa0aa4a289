"""Keeps the number of series bounded, whatever names the input invents."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from aem_monitor.metrics.catalogue import OTHER, Metric
from aem_monitor.model.increment import Labels

MAX_LABEL_CHARACTERS: Final = 128

MAX_SERIES: Final = 10_000
"""Series of one metric. Ten thousand take a scrape about 0.1 s, far from Prometheus' default timeout of 10 s."""

# A NUL ends a scrape in Prometheus' lexer, a lone surrogate cannot be encoded at all.
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


class LabelBounds:
    """Maps the labels of an increment to labels that there is room for.

    ``overflow(metric, label)`` is called for each value that had to give way. Values are taken in the order in which
    they come. Not thread-safe.
    """

    def __init__(
        self,
        max_label_values: int,
        overflow: Callable[[str, str], None],
        max_series: int = MAX_SERIES,
    ) -> None:
        self._max_label_values = max_label_values
        self._max_series = max_series
        self._overflow = overflow
        self._values: dict[str, set[str]] = {}
        self._series: dict[str, set[Labels]] = {}

    def fit(self, metric: Metric, labels: Mapping[str, str]) -> Labels:
        """The labels to count under, in the catalogue's order.

        Raises:
            ValueError: the label names are not those of the catalogue: an error of the program, not of its input.
        """
        asked = tuple((name, labels.get(name, "")) for name in metric.label_names)
        if len(labels) != len(asked) or any(name not in labels for name in metric.label_names):
            raise ValueError(f"{metric.name} has the labels {metric.label_names}, not {tuple(labels)}")
        fitted = tuple(self._value(metric, position, value) for position, (_, value) in enumerate(asked))
        series = self._series.setdefault(metric.name, set())
        if fitted in series:
            return fitted
        if len(series) >= self._max_series:
            fitted = self._collapse(metric, fitted)
        series.add(fitted)
        return fitted

    def forget(self, metric: Metric, labels: Labels) -> None:
        """The series is gone; another may take its room."""
        self._series.get(metric.name, set()).discard(labels)

    def _value(self, metric: Metric, position: int, asked: str) -> tuple[str, str]:
        label = metric.labels[position]
        value = _UNPRINTABLE.sub("�", asked)[:MAX_LABEL_CHARACTERS]
        if label.values:
            if value in label.values or value == OTHER:
                return label.name, value
            self._overflow(metric.name, label.name)
            return label.name, OTHER
        # One set a label name, over all metrics: a release that is counted in one metric is counted in every other.
        known = self._values.setdefault(label.name, set())
        if value in known or value in (OTHER, ""):
            return label.name, value
        if len(known) >= (label.limit or self._max_label_values):
            self._overflow(metric.name, label.name)
            return label.name, OTHER
        known.add(value)
        return label.name, value

    def _collapse(self, metric: Metric, fitted: Labels) -> Labels:
        """All open labels become ``other``: the metric as a whole is full."""
        collapsed = list(fitted)
        for position, label in enumerate(metric.labels):
            if not label.values and collapsed[position][1] not in (OTHER, ""):
                collapsed[position] = (label.name, OTHER)
                self._overflow(metric.name, label.name)
        return tuple(collapsed)
