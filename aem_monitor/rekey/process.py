"""The process of ``rekey``: source, state machine, publisher and metrics listener put together, started, stopped."""

import functools
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Final

from prometheus_client import CollectorRegistry, ProcessCollector

from aem_monitor.build import build_prefilter, build_registry
from aem_monitor.config.root import Config
from aem_monitor.config.settings import assembly_settings, limits, span_mappings
from aem_monitor.engine.clock import SteadyClock
from aem_monitor.engine.worker import EngineThread
from aem_monitor.ingest.batch import Partition
from aem_monitor.ingest.causes import Stall
from aem_monitor.ingest.kafka_publisher import Publisher
from aem_monitor.ingest.kafka_settings import KafkaSettings
from aem_monitor.metrics.registry import Metrics
from aem_monitor.readings import watch_kafka
from aem_monitor.rekey.naming import naming_of
from aem_monitor.rekey.rekeyer import Rekeyer, Tag
from aem_monitor.rekey.settings import RekeySettings
from aem_monitor.rekey.source import CuttingSource
from aem_monitor.watchdog import Watchdog
from aem_monitor.web.listener import HttpListener
from aem_monitor.web.metrics_app import metrics_app

_LOG: Final = logging.getLogger(__name__)


class RekeyProcess:
    """One running ``rekey``. ``start`` raises ``ConfigError`` for what cannot work; after that nothing stops it.

    ``attributes`` are those by which golden dialogs are restricted: spans that carry one are the monitor's business.
    """

    def __init__(
        self, config: Config, kafka: KafkaSettings, settings: RekeySettings, attributes: Iterable[str] = ()
    ) -> None:
        self._grace = config.shutdown.grace
        self._stopping = False
        self._was_up = False
        self.metrics = Metrics(CollectorRegistry(), config.metrics.max_label_values)
        self.metrics.add_collector("process", ProcessCollector(registry=None))
        conventions, assembly = build_registry(span_mappings(config)), assembly_settings(config)
        keep, bounds = build_prefilter(conventions, assembly, attributes), limits(config)
        self._publisher: Publisher[Tag] = Publisher(kafka.bootstrap_servers, kafka.client, f"{kafka.client_id}-rekey")
        read = functools.partial(naming_of, registry=conventions, settings=assembly)
        self._rekeyer = Rekeyer(settings, read, keep, bounds, self._publisher, self.metrics)
        self._worker = EngineThread(
            self._rekeyer,
            self.metrics,
            config.ingest.queue.batches,
            self._release,
            SteadyClock(self._clock_jumped),
            accepting=lambda: not self._publisher.full,
        )
        self._source = CuttingSource(kafka, bounds, keep, self._worker.submit, self._refused, self._reconnecting)
        listen = config.rekey.listen
        self._watchdog = Watchdog({"engine": self._worker.alive_at, "kafka": self._source.alive_at}, self.metrics)
        self.metrics_listener = HttpListener(
            metrics_app(self.metrics.registry, self.problems), listen.host, listen.port, "rekey.listen"
        )

    def start(self) -> None:
        """Open the doors: metrics first, the source last."""
        self._watch()
        self._worker.start()
        with ExitStack() as undo:
            undo.callback(self._worker.stop, 5.0)
            self.metrics_listener.start()
            undo.callback(self.metrics_listener.stop, 1.0)
            self._source.start()
            undo.pop_all()
        self._watchdog.start()
        _LOG.info("Started; metrics on %s/metrics", self.metrics_listener.url)

    def stop(self) -> bool:
        """Take nothing more, publish what is known, commit, close. False when the grace was too short for that."""
        deadline = time.monotonic() + self._grace
        self._stopping = True
        self._watchdog.stop()

        def left() -> float:
            return max(0.1, deadline - time.monotonic())

        self._source.stop(left())
        drained = self._worker.stop(left())
        if not drained:
            _LOG.error("Not all was published within shutdown.grace; the next process reads it again")
        self._source.close(left())
        self._publisher.close(min(1.0, left()))
        self.metrics_listener.stop(1.0)
        _LOG.info("Stopped; %d traces wait for their conversation id and are read again", self._rekeyer.waiting)
        return drained

    def problems(self) -> Sequence[str]:
        """What keeps it from being ready."""
        found = [*self._watchdog.problems()]
        found += [one for one in (self._worker.problem(), self._source.problem()) if one is not None]
        self._was_up = self._was_up or self._source.up
        if not self._was_up:
            found.append(f"source {self._source.name} has not been able to receive yet from {self._source.servers}")
        if self._publisher.full:
            found.append("Kafka does not take what is to be published")
        if self._stopping:
            found.append("shutting down")
        return found

    def _watch(self) -> None:
        self.metrics.watch("aem_monitor_source_up", lambda: [((("source", "kafka"),), float(self._source.up))])
        watch_kafka(self.metrics, self._source)
        self.metrics.watch("aem_monitor_pending_traces", lambda: [((), self._rekeyer.waiting)])
        self.metrics.watch("aem_monitor_pending_bytes", lambda: [((), self._rekeyer.waiting_bytes)])
        self.metrics.watch("aem_monitor_rekey_unacknowledged_messages", lambda: [((), self._publisher.unacknowledged)])

    def _release(self, offsets: Mapping[Partition, int]) -> None:
        self._source.release(offsets)

    def _refused(self, cause: str, amount: int) -> None:
        self.metrics.counter("aem_monitor_refused_requests_total", source="kafka", cause=cause).inc(amount)

    def _reconnecting(self, cause: Stall) -> None:
        self.metrics.counter("aem_monitor_kafka_reconnects_total", cause=cause.value).inc()

    def _clock_jumped(self, seconds: float) -> None:
        direction = "forward" if seconds > 0 else "back"
        self.metrics.counter("aem_monitor_clock_jumps_total", direction=direction).inc()
