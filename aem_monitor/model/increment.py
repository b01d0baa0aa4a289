"""What one event adds to the metrics. The same list feeds the totals of the store and the registry that is scraped."""

from dataclasses import dataclass
from typing import TypeAlias

Labels: TypeAlias = tuple[tuple[str, str], ...]
"""Label names and values in the order of the catalogue."""


@dataclass(frozen=True, slots=True)
class Increment:
    """An addition to one counter series, or one observation of a histogram series.

    ``value`` is the amount of a counter (never negative; 0 creates the series) or the observed value. ``bucket`` is
    None for a counter, else the upper bound of the bucket that the observation falls into (``inf`` for the last one),
    so that whoever adds it up need not know the bounds. ``trace_id`` becomes the exemplar; it is not part of a total.
    """

    metric: str
    labels: Labels
    value: float = 1.0
    bucket: float | None = None
    trace_id: str | None = None


@dataclass(frozen=True, slots=True)
class Total:
    """What a replica has added up over its life.

    For a counter ``value`` is the total and ``count`` is 0. For one bucket of a histogram (``bucket`` is its upper
    bound, counts are not cumulative) ``count`` is the number of observations and ``value`` their sum.
    """

    metric: str
    labels: Labels
    value: float
    count: int = 0
    bucket: float | None = None
