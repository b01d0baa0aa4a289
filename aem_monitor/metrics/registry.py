"""The live series of one process, on a registry that is given to it."""

import math
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
)
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar

from aem_monitor import __version__
from aem_monitor.metrics.bounds import MAX_SERIES, LabelBounds
from aem_monitor.metrics.catalogue import CATALOGUE, Kind, Metric
from aem_monitor.metrics.series import Clock, Counter, Gauge, Histogram
from aem_monitor.model.increment import Increment, Labels, Total

Series: TypeAlias = Counter | Gauge | Histogram

Reading: TypeAlias = tuple[Labels, float]
"""Labels and value of one series."""

Readings: TypeAlias = Iterable[Reading]
"""What a watched gauge reads at the moment of a scrape."""

S = TypeVar("S", Counter, Gauge, Histogram)

_LIMITED: Final = "aem_monitor_series_limited_total"
_COLLECTOR_ERRORS: Final = "aem_monitor_collector_errors_total"


class Metrics:
    """All metrics of the catalogue. Thread-safe.

    A series whose labels are all closed may be held on to; one with an open label may lose its room to another.

    Nothing about a bad name from outside raises: it is counted under ``other``. A metric or label that the catalogue
    does not have is an error of the program and raises ``KeyError`` or ``ValueError``.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        max_label_values: int = 200,
        max_series: int = MAX_SERIES,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Register with ``registry`` and create every counter and histogram series whose labels are all known.

        A gauge is there only once it has a value: an input that is not configured is not one that is down.

        Args:
            registry: never the process-wide one of prometheus_client.
            max_label_values: most values of one open label (``metrics.max_label_values``).
            max_series: most series of one metric.
            now: stamps exemplars and the use of label values (seconds since the epoch).
        """
        self.registry = registry
        self._clock = Clock(now)
        self._bounds = LabelBounds(max_label_values, self._count_limited, self._park, now, max_series)
        self._series: dict[str, dict[Labels, Series]] = {name: {} for name in CATALOGUE}
        # Series without room: not exposed, but with their totals, which go on when their labels come back.
        self._parked: dict[str, dict[Labels, Series]] = {name: {} for name in CATALOGUE}
        self._watched: dict[str, Callable[[], Readings]] = {}
        self._collectors: dict[str, Collector] = {}
        for metric in CATALOGUE.values():
            if metric.kind in (Kind.COUNTER, Kind.HISTOGRAM):
                for labels in metric.known_series():
                    self._get(metric, labels)
        registry.register(self)

    def counter(self, name: str, **labels: str) -> Counter:
        """One series of a counter."""
        return self._typed(Counter, name, labels)

    def gauge(self, name: str, **labels: str) -> Gauge:
        """One series of a gauge."""
        return self._typed(Gauge, name, labels)

    def histogram(self, name: str, **labels: str) -> Histogram:
        """One series of a histogram."""
        return self._typed(Histogram, name, labels)

    def remove(self, name: str, **labels: str) -> None:
        """Stop exposing a series whose subject is gone (a revoked partition)."""
        metric = CATALOGUE[name]
        with self._clock.lock:
            fitted = self._bounds.fit(metric, labels)
            self._series[name].pop(fitted, None)
            self._bounds.forget(metric, fitted)

    def watch(self, name: str, read: Callable[[], Readings]) -> None:
        """Ask ``read`` for a gauge's values at each scrape. One that raises is counted, the scrape goes on without."""
        if CATALOGUE[name].kind is not Kind.GAUGE:
            raise ValueError(f"{name} is not a gauge")
        self._watched[name] = read

    def add_collector(self, name: str, collector: Collector) -> None:
        """Expose what another collector yields (process statistics), guarded as ``watch`` is."""
        self._collectors[name] = collector

    def admit(self, increments: Iterable[Increment]) -> list[Increment]:
        """The increments under labels that there is room for; what is stored must be what is exposed."""
        with self._clock.lock:
            return [self._admitted(one) for one in increments]

    def apply(self, increments: Iterable[Increment]) -> None:
        """Add increments; a scrape sees all of them or none. ``admit`` need not have been called before."""
        with self._clock.lock:
            for one in increments:
                admitted = self._admitted(one)
                series = self._get(CATALOGUE[one.metric], admitted.labels)
                if isinstance(series, Histogram):
                    if one.bucket is not None:
                        series.observe(one.value, one.trace_id)
                elif isinstance(series, Counter):
                    series.inc(one.value, one.trace_id)
                else:
                    series.inc(one.value)

    def restore(self, totals: Iterable[Total], last_seen: Mapping[str, float] | None = None) -> int:
        """Take up the totals where they were left. To be called once, before anything is counted.

        Args:
            totals: those of this replica.
            last_seen: when each release was last seen (seconds since the epoch); if there are more of them than a
                label may have values, the latest are exposed. The totals of the others wait for their return.

        Returns how many totals were ignored because this version has no such metric or labels.
        """
        seen = last_seen or {}
        ignored = 0
        with self._clock.lock:
            now = self._clock.now()
            dated = [(seen.get(dict(total.labels).get("release", ""), now), total) for total in totals]
            for used_at, total in sorted(dated, key=lambda one: -one[0]):
                metric = CATALOGUE.get(total.metric)
                known = metric is not None and tuple(name for name, _ in total.labels) == metric.label_names
                if metric is None or not known or not self._take_up(metric, total, used_at):
                    ignored += 1
        return ignored

    def restore_gauge(self, name: str, value: float, used_at: float, **labels: str) -> None:
        """Take up a gauge, last set at ``used_at``, as ``restore`` takes up totals."""
        metric = CATALOGUE[name]
        stored = metric.label_set(**labels)
        with self._clock.lock:
            room = self._bounds.take_up(metric, stored, used_at)
            series = (self._series if room else self._parked)[name].setdefault(stored, self._new(metric))
            if not isinstance(series, Gauge):
                raise TypeError(f"{name} is a {metric.kind.value}")
            series.set(value)

    def _take_up(self, metric: Metric, total: Total, used_at: float) -> bool:
        room = self._bounds.take_up(metric, total.labels, used_at)
        family = (self._series if room else self._parked)[metric.name]
        series = family.setdefault(total.labels, self._new(metric))
        if isinstance(series, Histogram):
            if total.bucket is not None:
                series.restore(total.bucket, total.count, total.value)
        elif isinstance(series, Counter) and total.bucket is None:
            series.inc(total.value)
        else:
            return False
        return True

    # The collector protocol of prometheus_client

    def describe(self) -> Iterable[Family]:
        """Families without samples: their names, for the registry's check against duplicates."""
        return [_family(metric, ()) for metric in CATALOGUE.values()]

    def collect(self) -> Iterator[Family]:
        """All families at one moment. Errors of collectors are counted before their counter is read."""
        for name, read in list(self._watched.items()):
            self._read(name, read)
        foreign = [family for name, one in list(self._collectors.items()) for family in self._ask(name, one)]
        with self._clock.lock:
            families = [_family(metric, list(self._series[name].items())) for name, metric in CATALOGUE.items()]
        yield from families
        yield from foreign

    def _read(self, name: str, read: Callable[[], Readings]) -> None:
        """Replace all series of a watched gauge; what is no longer read (a revoked partition) is gone."""
        metric = CATALOGUE[name]
        fresh: dict[Labels, Series] = {}
        try:
            # Without the lock: the reader may need one of its own, whose holder may be waiting to count something.
            readings = [(dict(labels), float(value)) for labels, value in read()]
            with self._clock.lock:
                for gone in self._series[name]:
                    self._bounds.forget(metric, gone)
                for labels, value in readings:
                    gauge = Gauge(self._clock)
                    gauge.set(value)
                    fresh[self._bounds.fit(metric, labels)] = gauge
        except Exception:  # noqa: BLE001  one failing reading must not take the whole scrape away
            self.counter(_COLLECTOR_ERRORS, collector=name).inc()
        with self._clock.lock:
            self._series[name] = fresh

    def _ask(self, name: str, collector: Collector) -> Sequence[Family]:
        try:
            return list(collector.collect())
        except Exception:  # noqa: BLE001  the same for a collector
            self.counter(_COLLECTOR_ERRORS, collector=name).inc()
            return ()

    def _typed(self, kind: type[S], name: str, labels: dict[str, str]) -> S:
        metric = CATALOGUE[name]
        with self._clock.lock:
            series = self._get(metric, self._bounds.fit(metric, labels))
        if not isinstance(series, kind):
            raise TypeError(f"{name} is a {metric.kind.value}")
        return series

    def _get(self, metric: Metric, labels: Labels) -> Series:
        family = self._series[metric.name]
        series = family.get(labels)
        if series is None:
            parked = self._parked[metric.name]
            series = family[labels] = parked.pop(labels) if labels in parked else self._new(metric)
        return series

    def _new(self, metric: Metric) -> Series:
        if metric.kind is Kind.COUNTER:
            return Counter(self._clock)
        if metric.kind is Kind.HISTOGRAM:
            return Histogram(self._clock, metric.buckets)
        return Gauge(self._clock)

    def _admitted(self, one: Increment) -> Increment:
        labels = self._bounds.fit(CATALOGUE[one.metric], dict(one.labels))
        return one if labels == one.labels else Increment(one.metric, labels, one.value, one.bucket, one.trace_id)

    def _park(self, label: str, value: str) -> None:
        """A value lost its room: its series are no longer exposed."""
        gone = (label, value)
        for name, family in self._series.items():
            for labels in [labels for labels in family if gone in labels]:
                self._parked[name][labels] = family.pop(labels)
                self._bounds.forget(CATALOGUE[name], labels)

    def _count_limited(self, metric: str, label: str) -> None:
        self._get(CATALOGUE[_LIMITED], (("metric", metric), ("label", label))).inc()  # type: ignore[union-attr]


def _family(metric: Metric, series: Sequence[tuple[Labels, Series]]) -> Family:
    """The exposition of one metric; a copy, so that it can be rendered without the lock."""
    names = metric.label_names
    if metric.kind is Kind.INFO:
        return InfoMetricFamily(
            metric.name.removesuffix("_info"),
            metric.help,
            value={"version": __version__, "python": platform.python_version()},
        )
    if metric.kind is Kind.COUNTER:
        counters = CounterMetricFamily(metric.name, metric.help, labels=names)
        for labels, one in series:
            if isinstance(one, Counter):
                counters.add_metric([value for _, value in labels], one.value, exemplar=one.exemplar)
        return counters
    if metric.kind is Kind.HISTOGRAM:
        histograms = HistogramMetricFamily(metric.name, metric.help, labels=names)
        for labels, one in series:
            if isinstance(one, Histogram):
                histograms.add_metric([value for _, value in labels], _cumulative(one), one.sum)
        return histograms
    gauges = GaugeMetricFamily(metric.name, metric.help, labels=names)
    for labels, one in series:
        if isinstance(one, Gauge):
            gauges.add_metric([value for _, value in labels], one.value)
    return gauges


def _cumulative(histogram: Histogram) -> list[tuple[str, float] | tuple[str, float, Exemplar]]:
    buckets: list[tuple[str, float] | tuple[str, float, Exemplar]] = []
    running = 0
    for bound, count, exemplar in zip(
        (*histogram.bounds, math.inf), histogram.counts, histogram.exemplars, strict=True
    ):
        running += count
        le = "+Inf" if math.isinf(bound) else repr(bound)
        buckets.append((le, running, exemplar) if exemplar else (le, running))
    return buckets
