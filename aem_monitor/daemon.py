"""The daemon: sources, engine, store and listeners put together, started, reloaded and stopped."""

import logging
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, ProcessCollector

from aem_monitor.build import build_pipeline, build_prefilter, build_registry
from aem_monitor.config.load import load_config, require_golden
from aem_monitor.config.notifying import alerting
from aem_monitor.config.root import Config
from aem_monitor.config.settings import (
    admin_hosts,
    assembly_settings,
    engine_settings,
    journal_settings,
    keeping,
    limits,
    pipeline_settings,
    span_mappings,
)
from aem_monitor.config.sinking import sinks
from aem_monitor.conventions.registry import Registry
from aem_monitor.engine.answers import ExpertAnswers
from aem_monitor.engine.clock import SteadyClock
from aem_monitor.engine.engine import Engine
from aem_monitor.engine.recorder import Recorder
from aem_monitor.engine.worker import EngineThread
from aem_monitor.errors import AemMonitorError, ConfigError, StoreError
from aem_monitor.experts.build import build_expert
from aem_monitor.experts.pool import ExpertPool
from aem_monitor.golden.load import Dialogs, load_dialogs
from aem_monitor.ingest.batch import EngineInput, Partition
from aem_monitor.ingest.kafka import KafkaSource
from aem_monitor.inputs import build_sources
from aem_monitor.journalling import Journalling
from aem_monitor.metrics.registry import Metrics
from aem_monitor.pipeline import Pipeline
from aem_monitor.readings import Correlations, Expected, watch_engine, watch_sources
from aem_monitor.restart import Started
from aem_monitor.restored import restore
from aem_monitor.scoring.scorers import EmbeddedScorer
from aem_monitor.sinks.feeds import Feeds
from aem_monitor.store.store import Store
from aem_monitor.watchdog import Watchdog
from aem_monitor.web.admin_app import ReloadResult, admin_app
from aem_monitor.web.listener import HttpListener
from aem_monitor.web.metrics_app import metrics_app
from aem_monitor.web.pages.routes import BesideStore

_LOG = logging.getLogger(__name__)

_RELOAD_SECONDS: Final = 30.0
_STORE_CHECK_SECONDS: Final = 1.0
_RETENTION_EVERY: Final = 3600.0
_REFRESH_EVERY: Final = 15.0


@dataclass(frozen=True, slots=True)
class Setup:
    """Where the configuration comes from: a file (None: the defaults) and the environment."""

    path: Path | None
    environ: Mapping[str, str]

    def load(self) -> tuple[Config, Dialogs]:
        """Read everything. Raises ``ConfigError`` or ``GoldenError`` with every fault."""
        config = load_config(self.path, self.environ)
        require_golden(config, self.path)
        dialogs = load_dialogs(config.golden.paths)
        if not len(dialogs):
            named = ", ".join(str(path) for path in config.golden.paths)
            raise ConfigError(f"golden.paths: no golden dialog in {named}; expected *.yaml, *.yml or *.json files")
        return config, dialogs


class Daemon:
    """One running monitor. ``start`` raises ``ConfigError`` for what cannot work; after that nothing stops it."""

    def __init__(self, setup: Setup, config: Config, dialogs: Dialogs) -> None:
        self._setup = setup
        self._config = config
        self._dialogs = dialogs
        self._conventions: Registry = build_registry(span_mappings(config))
        self._scorer = EmbeddedScorer()
        self._reloading = threading.Lock()
        self._stopping = threading.Event()
        self._was_up: set[str] = set()
        self._store_checked = 0.0
        self._store_problem: str | None = None
        self._wire()

    def _wire(self) -> None:
        """The whole daemon, as it runs: bytes -> batches -> engine -> verdicts -> store and metrics."""
        config = self._config
        replica = config.store.replica or socket.gethostname()
        self.metrics = Metrics(CollectorRegistry(), config.metrics.max_label_values)
        self.metrics.add_collector("process", ProcessCollector(registry=None))
        self.store = Store(config.store.url, replica, keeping(config))
        self._feeds = Feeds(sinks(config), self.store, self.metrics)
        self._alerting = alerting(config, self.store, self.metrics)
        self._correlations, self._expected = Correlations(self.store), Expected()
        self._expert = build_expert(config.experts)
        answers, self._experts = self._ask_experts(config)
        pipeline = self._pipeline(config, self._dialogs)
        self._started = Started(config, pipeline)
        clock = SteadyClock(self._clock_jumped)
        self._recorder = Recorder(
            pipeline, self.store, self.metrics, golden_tools(self._dialogs), answers, clock.on_the_wall
        )
        self._engine = Engine(pipeline, engine_settings(config), self._recorder, self.metrics)
        self.worker = EngineThread(
            self._engine,
            self.metrics,
            config.ingest.queue.batches,
            self._release,
            clock,
            accepting=lambda: self._recorder.cannot_write() is None,
            take_back=self._take_back,
        )
        keep = build_prefilter(self._conventions, assembly_settings(config), pipeline.recogniser.attributes)
        journalled = journal_settings(config)
        self._journalling = (
            None
            if journalled is None
            else Journalling(journalled, limits(config), keep, self._engine, self.worker, self.metrics)
        )
        journal = None if self._journalling is None else self._journalling.journal
        self.sources = build_sources(config, keep, self.worker.submit, self.metrics, journal)
        reading = {one.name: one.alive_at for one in self.sources if isinstance(one, KafkaSource)}
        self._watchdog = Watchdog({"engine": self.worker.alive_at, **reading}, self.metrics)
        ready = metrics_app(self.metrics.registry, self.problems)
        self.metrics_listener = HttpListener(
            ready, config.metrics.listen.host, config.metrics.listen.port, "metrics.listen"
        )
        self.admin_listener = HttpListener(
            admin_app(self.store, self.reload, self._beside_store(config), admin_hosts(config)),
            config.admin.listen.host,
            config.admin.listen.port,
            "admin.listen",
        )

    def _beside_store(self, config: Config) -> BesideStore:
        alerts = self._alerting is not None
        return BesideStore(config.web.traces, alerts, dialogs=lambda: self._dialogs)

    def _ask_experts(self, config: Config) -> tuple[ExpertAnswers | None, ExpertPool | None]:
        if self._expert is None:
            return None, None
        answers = ExpertAnswers(self._expert.name, self.store, self.metrics, config.experts.deadline)
        pool = ExpertPool(self._expert, answers.answered)
        answers.use(pool)
        return answers, pool

    def _pipeline(self, config: Config, dialogs: Dialogs) -> Pipeline:
        settings = pipeline_settings(config)
        if self._expert is not None:
            settings = replace(settings, scoring=replace(settings.scoring, expert=self._expert.name))
        return build_pipeline(dialogs, settings, self._conventions, self._scorer)

    # Life

    def start(self) -> None:
        """Restore the totals, then open the doors: metrics first, sources last.

        Raises ``StoreError`` when another process counts into the same totals.
        """
        try:
            self.store.claim()
        except StoreError:
            self.store.close()
            raise
        if self.store.in_memory:
            _LOG.warning("store.url is a database in memory: verdicts and counters are lost when the process ends")
        elif self._journalling is None and self._config.ingest.takes_otlp and self._config.ingest.otlp_journal.enabled:
            _LOG.warning("OTLP input is lost in a crash: there is no journal without ingest.otlp_journal.path")
        restore(self.metrics, self.store)
        self._watch()
        self._scorer.load()
        self.worker.start()
        with ExitStack() as undo:
            undo.callback(self.store.close)
            if self._experts is not None:
                self._experts.start()
                undo.callback(self._experts.stop, 1.0)
            undo.callback(self.worker.stop, 5.0)
            self._feeds.start()
            undo.callback(self._feeds.stop, 1.0)
            if self._alerting is not None:
                self._alerting.start()
                undo.callback(self._alerting.stop, 1.0)
            if self._journalling is not None:
                self._journalling.open()
                undo.callback(self._journalling.close, 1.0)
            for listener in (self.metrics_listener, self.admin_listener):
                listener.start()
                undo.callback(listener.stop, 1.0)
            if self._journalling is not None:
                self._journalling.start()
            for source in self.sources:
                source.start()
                undo.callback(source.close, 1.0)
            undo.pop_all()
        self._loaded()
        self._watchdog.start()
        threading.Thread(target=self._keep_house, name="housekeeping", daemon=True).start()
        _LOG.info(
            "Started with %d golden dialogs; metrics on %s/metrics", len(self._dialogs), self.metrics_listener.url
        )

    def stop(self) -> bool:
        """Stop taking input, judge what is complete, commit, close. False when the grace was too short for that."""
        deadline = time.monotonic() + self._config.shutdown.grace
        self._stopping.set()
        self._watchdog.stop()
        finals = self._recorder.finals
        _LOG.info("Draining: no more input is taken; at most %g s (shutdown.grace)", self._config.shutdown.grace)

        def left() -> float:
            return max(0.1, deadline - time.monotonic())

        for source in self.sources:
            source.stop(left())
        if self._journalling is not None:
            self._journalling.stop(left())
        drained = self.worker.stop(left())
        if not drained:
            _LOG.error(
                "The engine did not finish within shutdown.grace; what it held is read again by the next process"
            )
        for source in self.sources:
            source.close(left())
        if self._journalling is not None:
            self._journalling.close(left())
        if self._experts is not None:
            self._experts.stop(1.0)
        self.admin_listener.stop(1.0)
        self.metrics_listener.stop(1.0)
        self._feeds.stop(left())
        if self._alerting is not None:
            self._alerting.stop(left())
        if drained:
            self.store.close()
        _LOG.info("Stopped; runs made final while draining: %d", self._recorder.finals - finals)
        return drained

    # Reload

    def reload(self) -> ReloadResult:
        """Read configuration and golden dialogs again; swap both, or keep both and say why."""
        with self._reloading:
            successful = self.metrics.gauge("aem_monitor_config_last_reload_successful")
            try:
                config, dialogs = self._setup.load()
                pipeline = self._pipeline(config, dialogs)
            except AemMonitorError as error:
                successful.set(0)
                _LOG.error("Reload failed, the old configuration stays: %s", error)
                return ReloadResult(ok=False, message=f"{error}\nthe old configuration stays in use")
            settings, tools = engine_settings(config), golden_tools(dialogs)
            swapped = self.worker.call(lambda: self._engine.reconfigure(pipeline, settings, tools), _RELOAD_SECONDS)
            if not swapped:
                successful.set(0)
                message = f"the engine was busy for {_RELOAD_SECONDS:g} s; the old configuration stays in use"
                return ReloadResult(ok=False, message=message)
            kept = self._started.restart_needed(config, pipeline)
            self._config, self._dialogs = config, dialogs
            self._loaded()
            message = f"{len(dialogs)} golden dialogs loaded"
            if kept:
                message += f"; these keys change only with a restart: {', '.join(kept)}"
            _LOG.info("Reloaded: %s", message)
            return ReloadResult(ok=True, message=message)

    def _loaded(self) -> None:
        self._expected.use(self._dialogs)
        self.metrics.gauge("aem_monitor_config_last_reload_successful").set(1)
        self.metrics.gauge("aem_monitor_config_last_reload_success_timestamp_seconds").set(time.time())
        drafts = sum(dialog.draft for dialog in self._dialogs)
        self.metrics.gauge("aem_monitor_golden_dialogs", status="draft").set(drafts)
        self.metrics.gauge("aem_monitor_golden_dialogs", status="reviewed").set(len(self._dialogs) - drafts)

    # What others ask

    def problems(self) -> Sequence[str]:
        """What keeps the monitor from being ready. A source that was up once only shows in its gauge when it is not."""
        found = list(self._watchdog.problems())
        unkept = None if self._journalling is None else self._journalling.journal.problem()
        told = (self.worker.problem(), self._check_store(), self._recorder.cannot_write(), unkept)
        found += [one for one in told if one is not None]
        for source in self.sources:
            held_up = source.problem() if isinstance(source, KafkaSource) else None
            if held_up is not None:
                found.append(held_up)
            if source.up:
                self._was_up.add(source.name)
            elif source.name not in self._was_up and held_up is None:
                where = f" from {source.servers}" if isinstance(source, KafkaSource) else ""
                found.append(f"source {source.name} has not been able to receive yet{where}")
        if self._stopping.is_set():
            found.append("shutting down")
        return found

    def _check_store(self) -> str | None:
        now = time.monotonic()
        if now - self._store_checked >= _STORE_CHECK_SECONDS:
            self._store_checked = now
            try:
                self.store.check()
                self._store_problem = None
            except StoreError as error:
                self._store_problem = f"store: {error}"
        return self._store_problem

    def _watch(self) -> None:
        watch_engine(self.metrics, self._engine)
        watch_sources(self.metrics, self.sources)
        self._correlations.watch(self.metrics)
        self.metrics.watch("aem_dialog_loaded_timestamp_seconds", self._expected.loaded)

    def _clock_jumped(self, seconds: float) -> None:
        direction = "forward" if seconds > 0 else "back"
        self.metrics.counter("aem_monitor_clock_jumps_total", direction=direction).inc()

    def _release(self, offsets: Mapping[Partition, int]) -> None:
        if not offsets:
            return
        if self._journalling is not None:
            self._journalling.release(offsets)
        for source in self.sources:
            source.release(offsets)

    def _take_back(self, item: EngineInput, defect: str) -> None:
        for source in self.sources:
            if isinstance(source, KafkaSource):
                source.take_back(item, f"{defect} while the engine took it in")

    def _keep_house(self) -> None:
        """Once a while: what other processes counted under this replica's name, correlations, and retention."""
        retained_at = time.monotonic()
        while not self._stopping.wait(_REFRESH_EVERY):
            try:
                self._count_rescores()
                self._correlations.refresh()
                if time.monotonic() - retained_at >= _RETENTION_EVERY:
                    retained_at = time.monotonic()
                    self._retain(time.time())
            except StoreError as error:
                self.metrics.counter("aem_monitor_store_errors_total", reason=error.reason).inc()

    def _count_rescores(self) -> None:
        """``rescore`` is a process of its own, and adds to this one series of the replica's totals."""
        counter = self.metrics.counter("aem_verdict_revisions_total", cause="rescore")
        stored = self.store.totals(metric="aem_verdict_revisions_total")
        counted = sum(one.value for one in stored if dict(one.labels)["cause"] == "rescore")
        counter.inc(max(0.0, counted - counter.value))

    def _retain(self, now: float) -> None:
        chosen = self._config.store
        self.store.retain(now - chosen.retention, now - chosen.conversations.retention)


def golden_tools(dialogs: Dialogs) -> frozenset[str]:
    """Every tool id that some path of some golden dialog names."""
    return frozenset(tool for dialog in dialogs for tool in dialog.tool_ids)
