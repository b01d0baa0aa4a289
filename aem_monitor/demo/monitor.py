"""A daemon for the demo: embedded defaults, everything on loopback, everything it writes in a folder that goes away."""

import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml

from aem_monitor.config.root import Config
from aem_monitor.daemon import Daemon, Setup
from aem_monitor.demo.http import samples, scrape
from aem_monitor.demo.recordings import CANARY, ENVIRONMENT
from aem_monitor.errors import AemMonitorError, ConfigError
from aem_monitor.examples import example_dialogs
from aem_monitor.ingest.otlp_http import OtlpHttpSource
from aem_monitor.model.verdict import RunResult
from aem_monitor.store.records import MAX_PAGE, RunFilter

_LOOPBACK: Final = "127.0.0.1"
_POLL_SECONDS: Final = 0.1
NOT_ALLOWED: Final = "not_allowed"
"""The outcome of recognition for words of a golden dialog in traffic that is not the canary's."""

_LEFT_ALONE: Final = "aem_monitor_unrecognised_conversations_total"
_RUNS: Final = "aem_runs_total"

_ROUTING_KEY: Final = "demo" * 8
"""Of no service: PagerDuty is stood in for."""


class Monitor:
    """A running daemon, its configuration file and its addresses. ``default_port_taken``: the metrics had to go to
    another port than usual."""

    def __init__(self, daemon: Daemon, file: Path, *, default_port_taken: bool) -> None:
        self._daemon = daemon
        self.file = file
        self.default_port_taken = default_port_taken
        self.metrics_url = f"{daemon.metrics_listener.url}/metrics"
        self.pages_url = f"{daemon.admin_listener.url}/"
        self.runs_url = f"{daemon.admin_listener.url}/api/v1/runs"
        host, port = next(source.address for source in daemon.sources if isinstance(source, OtlpHttpSource))
        self.traces_url = f"http://{host}:{port}/v1/traces"

    def final_runs(self) -> list[RunResult]:
        """Final verdicts in the order in which their conversations began."""
        stored = self._daemon.store.runs(RunFilter(limit=MAX_PAGE))
        return sorted((run.result for run in stored), key=lambda result: (result.started_ns, result.run_id))

    def final_run(self, run_id: str) -> RunResult | None:
        """One of them."""
        stored = self._daemon.store.run(run_id)
        return None if stored is None else stored.result

    def left_alone(self) -> dict[str, int]:
        """How many conversations were dropped since they are no plays of a golden dialog, by outcome of recognition."""
        scraped = samples(scrape(self.metrics_url))
        return {sample.labels["outcome"]: round(sample.value) for sample in scraped if sample.name == _LEFT_ALONE}

    def _counted(self) -> tuple[int, int]:
        """Final runs and conversations that were left alone."""
        counted = dict.fromkeys((_RUNS, _LEFT_ALONE), 0.0)
        for sample in samples(scrape(self.metrics_url)):
            if sample.name in counted:
                counted[sample.name] += sample.value
        return round(counted[_RUNS]), round(counted[_LEFT_ALONE])

    def wait(self, runs: int, others: int, seconds: float, report: Callable[[int], None]) -> None:
        """Return when ``runs`` runs are final and ``others`` conversations left alone; ``report`` hears how many are.

        Raises ``AemMonitorError`` when that has not come about after ``seconds``.
        """
        deadline = time.monotonic() + seconds
        while True:
            final, dropped = self._counted()
            report(final + dropped)
            if final >= runs and dropped >= others:
                return
            if time.monotonic() > deadline:
                raise AemMonitorError(
                    f"after {seconds:g} seconds {final} of {runs} runs are final and {dropped} of {others} other "
                    f"conversations left alone; if this machine is busy, try again with --wait {seconds * 4:g}"
                )
            time.sleep(_POLL_SECONDS)


@contextmanager
def running_monitor(metrics_port: int | None, pager_url: str | None = None) -> Iterator[Monitor]:
    """A daemon while the block runs; its files are gone afterwards.

    ``metrics_port`` None: the default port if it is free, else any free one. ``pager_url``: what stands in for
    PagerDuty, which its alerting then tells. Raises ``ConfigError`` when a port that was asked for is taken.
    """
    with TemporaryDirectory(prefix="aem-monitor-demo-") as name:
        folder = Path(name)
        more = {} if pager_url is None else alerting(pager_url)
        taken = False
        if metrics_port is not None:
            daemon, file = _started(folder, metrics_port, more)
        else:
            try:
                daemon, file = _started(folder, default_metrics_port(), more)
            except ConfigError:
                taken = True
                daemon, file = _started(folder, 0, more)
        try:
            yield Monitor(daemon, file, default_port_taken=taken)
        finally:
            daemon.stop()


def _started(folder: Path, metrics_port: int, more: Mapping[str, Any]) -> tuple[Daemon, Path]:
    file = folder / "aem-monitor.yaml"
    file.write_text(yaml.safe_dump({**configuration(folder, metrics_port), **more}))
    setup = Setup(file, {})
    config, dialogs = setup.load()
    daemon = Daemon(setup, config, dialogs)
    daemon.start()
    return daemon, file


def configuration(folder: Path, metrics_port: int) -> dict[str, Any]:
    """What a configuration file would say. Waiting times are short, since nothing comes late here."""
    return {
        "golden": {"paths": [str(example_dialogs())]},
        "ingest": {"otlp_http": {"listen": f"{_LOOPBACK}:0"}},
        "recognise": {"where": {ENVIRONMENT: CANARY}},
        "assembly": {"grace": "1s", "wall_idle": "1s"},
        "store": {"url": f"sqlite:///{folder / 'verdicts.db'}", "replica": "demo"},
        "metrics": {"listen": f"{_LOOPBACK}:{metrics_port}"},
        "admin": {"listen": f"{_LOOPBACK}:0"},
    }


def alerting(pager_url: str) -> dict[str, Any]:
    """What it would say beside that for pages with links to the admin listener, whose port has to be known before."""
    with socket.socket() as probe:
        probe.bind((_LOOPBACK, 0))
        admin = f"{_LOOPBACK}:{probe.getsockname()[1]}"
    return {
        "admin": {"listen": admin},
        "alerting": {
            "receivers": {"pagerduty": {"url": pager_url, "routing_key": _ROUTING_KEY}},
            # Half an hour by default, against faults that come and go.
            "cool_down": "2s",
        },
        "web": {"external_url": f"http://{admin}"},
    }


def default_metrics_port() -> int:
    """The port of the metrics listener where none is configured."""
    return Config().metrics.listen.port
