"""What the daemon's gauges read at the moment of a scrape."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from aem_monitor.engine.engine import Engine
from aem_monitor.golden.load import Dialogs
from aem_monitor.ingest.batch import Partition, Source
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
    metrics.watch("aem_monitor_oldest_open_run_timestamp_seconds", lambda: _known(engine.figures.oldest_run))
    metrics.watch("aem_monitor_pending_traces", lambda: [((), engine.figures.pending_traces)])
    metrics.watch("aem_monitor_pending_bytes", lambda: [((), engine.figures.bytes_held)])
    metrics.watch("aem_monitor_watermark_timestamp_seconds", lambda: _known(engine.figures.event_ns / 1e9))


def watch_sources(metrics: Metrics, sources: Iterable[Source]) -> None:
    """Expose whether the inputs can receive, and how far behind they are."""
    listed = list(sources)
    metrics.watch("aem_monitor_source_up", lambda: [((("source", one.name),), float(one.up)) for one in listed])
    for source in listed:
        if isinstance(source, KafkaSource):
            watch_kafka(metrics, source)


def watch_kafka(metrics: Metrics, source: KafkaSource) -> None:
    """Expose how far a Kafka source is behind, and whether its client is alive."""
    metrics.watch("aem_monitor_kafka_consumer_lag", lambda: _of_partitions(source.measured.lag))
    metrics.watch("aem_monitor_kafka_uncommitted_offsets", lambda: _of_partitions(source.measured.uncommitted))
    oldest = "aem_monitor_kafka_oldest_uncommitted_timestamp_seconds"
    metrics.watch(oldest, lambda: _of_partitions(source.measured.oldest))
    metrics.watch("aem_monitor_kafka_last_poll_timestamp_seconds", lambda: _known(source.measured.polled_at))
    metrics.watch("aem_monitor_kafka_last_heartbeat_timestamp_seconds", lambda: _known(source.measured.heard_at))


def _known(value: float | None) -> Readings:
    return [((), value)] if value else []


def _of_partitions(values: Mapping[Partition, float]) -> Readings:
    return [
        ((("topic", topic), ("partition", str(partition))), float(value))
        for (topic, partition), value in values.items()
    ]
