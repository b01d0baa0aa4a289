"""What the daemon's gauges read at the moment of a scrape."""

import time
from collections.abc import Iterable, Sequence
from typing import Final

from aem_monitor.engine.engine import Engine
from aem_monitor.golden.load import Dialogs
from aem_monitor.ingest.batch import Source
from aem_monitor.ingest.kafka import KafkaSource
from aem_monitor.metrics.catalogue import CORRELATED_DAYS, CORRELATED_RUNS
from aem_monitor.metrics.correlation import COEFFICIENT, SAMPLES, correlate
from aem_monitor.metrics.registry import Metrics, Reading, Readings
from aem_monitor.store.store import Store

_CORRELATE_EVERY: Final = 60.0


class Expected:
    """The reviewed golden dialogs that are loaded, each with when this process first loaded it.

    Without it a dialog that never ran would be no series at all, and one that was deleted would look stale for ever.
    """

    def __init__(self) -> None:
        self._loaded: dict[str, float] = {}

    def use(self, dialogs: Dialogs) -> None:
        """These are the dialogs from now on."""
        now = time.time()
        self._loaded = {one.name: self._loaded.get(one.name, now) for one in dialogs if not one.draft}

    def loaded(self) -> Readings:
        """When each was first loaded."""
        return [((("dialog", name),), loaded) for name, loaded in self._loaded.items()]


class Correlations:
    """Rank correlations from the store, which all replicas that share one read alike."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._computed = -_CORRELATE_EVERY
        self._coefficients: Sequence[Reading] = ()
        self._samples: Sequence[Reading] = ()

    def refresh(self) -> None:
        """Compute them again if that was long enough ago. Raises ``StoreError``."""
        if time.monotonic() - self._computed < _CORRELATE_EVERY:
            return
        self._computed = time.monotonic()
        runs = self._store.latencies(time.time() - CORRELATED_DAYS * 86400.0, CORRELATED_RUNS)
        self._coefficients, self._samples = correlate(runs)

    def watch(self, metrics: Metrics) -> None:
        """Expose them."""
        metrics.watch(COEFFICIENT, lambda: self._coefficients)
        metrics.watch(SAMPLES, lambda: self._samples)


def watch_engine(metrics: Metrics, engine: Engine) -> None:
    """Expose what the engine holds."""
    metrics.watch("aem_monitor_open_conversations", lambda: [((), engine.figures.conversations)])
    metrics.watch("aem_monitor_open_runs", lambda: [((), engine.figures.runs)])
    metrics.watch("aem_monitor_pending_traces", lambda: [((), engine.figures.pending_traces)])
    metrics.watch("aem_monitor_pending_bytes", lambda: [((), engine.figures.bytes_held)])

    def event_time() -> Readings:
        reached = engine.figures.event_ns
        return [((), reached / 1e9)] if reached else []

    metrics.watch("aem_monitor_watermark_timestamp_seconds", event_time)


def watch_sources(metrics: Metrics, sources: Iterable[Source]) -> None:
    """Expose whether the inputs can receive, and how far behind they are."""
    listed = list(sources)
    metrics.watch("aem_monitor_source_up", lambda: [((("source", one.name),), float(one.up)) for one in listed])

    def lag() -> Readings:
        return [
            ((("topic", topic), ("partition", str(partition))), float(behind))
            for source in listed
            if isinstance(source, KafkaSource)
            for (topic, partition), behind in source.lag().items()
        ]

    metrics.watch("aem_monitor_kafka_consumer_lag", lag)
