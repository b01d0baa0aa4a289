"""Spans, daemon, Prometheus with the shipped rules, Alertmanager with the shipped routes, an endpoint of PagerDuty.

All times of the rules and routes are shorter by ``FACTOR``: an hour is half a minute. Nothing else of them is changed,
but what the documentation says is to be set: routing keys, addresses, the objective.
"""

import csv
import json
import random
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from aem_monitor.examples import example_dialogs
from tests.alerts.promtool import ALERTS, RECORDING, load_yaml
from tests.alerts.test_alertmanager import CONFIGURATION
from tests.end_to_end.sales import DELETED, LISTED, NOT_SHARED, PROFIT, RIGHT, SILENT
from tests.services.agent import Turn, agent_spans
from tests.services.alertmanager import AlertmanagerServer
from tests.services.collector import otlp_proto
from tests.services.daemon import Daemon
from tests.services.history import record_history, write_history
from tests.services.pagerduty import Incident, PagerDuty
from tests.services.process import free_port
from tests.services.prometheus import PrometheusServer
from tests.services.timescale import shorter, shorter_routes, shorter_rules

FACTOR: Final = 120
HOUR: Final = 3600 / FACTOR
PAST: Final = 9 * 24 * HOUR
"""The baseline is the week that ended a day ago."""

OBJECTIVE: Final = 0.7
"""Of the turn success rate: what the agents here have in ordinary times."""

TICK: Final = 0.25
"""Seconds between two requests with spans."""

WEEKLY: Final = "sales-report-weekly"
"""A second golden dialog, with the turns of the first."""

_RELEASES: Final = Path(__file__).parents[1] / "data" / "releases" / "runs.csv"

_BROKEN: Final = {
    "missing_action": NOT_SHARED,
    "wrong_args": PROFIT,
    "missing_output": SILENT,
    "extra_action": DELETED,
    "wrong_tool": LISTED,
}


class Plays:
    """What an agent does at each run: plays by turns, or as the recorded runs of a real release went, by chance."""

    def __init__(self, agent: str, release: str, model: str, plays: Sequence[Sequence[Turn]], rate: int) -> None:
        self.agent, self.release, self.model, self.rate = agent, release, model, rate
        self._plays = list(plays)
        self._next = 0
        random.Random(f"{agent} {release}").shuffle(self._plays)

    def spans(self, runs: int, dialog: str = "sales-report") -> list[Any]:
        """Spans of the next runs."""
        found: list[Any] = []
        for _ in range(runs):
            play = self._plays[self._next % len(self._plays)]
            self._next += 1
            attributes = {"aem.dialog.id": dialog, "gen_ai.request.model": self.model}
            found += agent_spans(uuid4().hex, play, self.release, service=self.agent, attributes=attributes)
        return found


def recorded(release: str) -> list[Sequence[Turn]]:
    """The runs of a real release: right where it reached the goal, else broken where and as it was."""
    with _RELEASES.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["run"] == release]
    assert rows
    return [RIGHT if row["reward"] == "1" else _BROKEN[row["divergence_kinds"].split("+")[0]] for row in rows]


class Traffic:
    """Plays that go on in a thread, so many runs a tick each, until they are changed."""

    def __init__(self, address: str) -> None:
        self._url = f"http://{address}/v1/traces"
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._now: tuple[tuple[Plays, str], ...] = ()
        self.sent = 0
        self._thread = threading.Thread(target=self._go, daemon=True)
        self._thread.start()

    def play(self, *plays: Plays | tuple[Plays, str]) -> None:
        """From now on these, until the next call; with a dialog other than ``sales-report`` where one is given."""
        with self._lock:
            self._now = tuple(one if isinstance(one, tuple) else (one, "sales-report") for one in plays)

    def send(self, spans: list[Any]) -> None:
        """One request."""
        headers = {"Content-Type": "application/x-protobuf"}
        request = urllib.request.Request(self._url, data=otlp_proto(spans), headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 200

    def _go(self) -> None:
        while not self._ended.wait(TICK):
            with self._lock:
                spans = [span for plays, dialog in self._now for span in plays.spans(plays.rate, dialog)]
                if spans:
                    self.send(spans)

    def close(self) -> None:
        """Send no more."""
        self._ended.set()
        self._thread.join()


class Chain:
    """All of it, on loopback."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.otlp = f"127.0.0.1:{free_port()}"
        self.pagerduty = PagerDuty().start()
        golden = folder / "golden"
        golden.mkdir()
        text = (example_dialogs() / "sales-report.yaml").read_text(encoding="utf-8")
        (golden / "sales-report.yaml").write_text(text, encoding="utf-8")
        weekly = text.replace("dialog: sales-report\n", f"dialog: {WEEKLY}\n")
        (golden / "sales-report-weekly.yaml").write_text(weekly, encoding="utf-8")
        self.daemon = Daemon(folder, golden, {"ingest": {"otlp_http": {"listen": self.otlp}}})
        self._prometheus: PrometheusServer | None = None
        self._alertmanager: AlertmanagerServer | None = None

    def start(self, past: Sequence[tuple[Plays, int, str]]) -> None:
        """Start the daemon, let it score so many runs of a dialog each, start the rest with these runs as its past."""
        self.daemon.start()
        self.traffic = Traffic(self.otlp)
        for plays, runs, dialog in past:
            for first in range(0, runs, 50):
                self.traffic.send(plays.spans(min(50, runs - first), dialog))
        total = sum(runs for _, runs, _ in past)
        wait_for(lambda: _runs(self.daemon.scrape()) >= total, "the past to be scored")
        rules = [shorter_rules(load_yaml(path), FACTOR) for path in (RECORDING, ALERTS)]
        _set_objective(rules[0])
        files = []
        for path, document in zip((RECORDING, ALERTS), rules, strict=True):
            files.append(self._folder / path.name)
            files[-1].write_text(json.dumps(document), encoding="utf-8")
        self._alertmanager = AlertmanagerServer(self._routes())
        labels = {"job": "aem-monitor", "instance": "monitor-0"}
        now = time.time()
        blocks = write_history(self.daemon.scrape(), labels, now - PAST, now, 2.0, self._folder)
        record_history(rules[0], _records_counters, now - PAST + 6 * HOUR, now, blocks)
        target = {"targets": [self.daemon.metrics_address], "labels": {"instance": "monitor-0"}}
        scrape = {"job_name": "aem-monitor", "scrape_interval": shorter("1m", FACTOR), "static_configs": [target]}
        self._prometheus = PrometheusServer(
            [scrape | {"scrape_timeout": shorter("1m", FACTOR)}],
            files,
            evaluation_interval=shorter("1m", FACTOR),
            alertmanager=self._alertmanager.port,
            lookback=shorter("5m", FACTOR),
            blocks=blocks,
        )

    def _routes(self) -> Path:
        document = shorter_routes(load_yaml(CONFIGURATION), FACTOR)
        document["global"] = {"pagerduty_url": self.pagerduty.url}
        for receiver in document["receivers"]:
            for page in receiver.get("pagerduty_configs", ()):
                key = self._folder / Path(page["routing_key_file"]).name
                key.write_text(receiver["name"].ljust(32, "0"), encoding="utf-8")
                page["routing_key_file"] = str(key)
            for hook in receiver.get("webhook_configs", ()):
                hook["url"] = f"http://127.0.0.1:{free_port()}/"
        path = self._folder / "alertmanager.yaml"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    @property
    def prometheus(self) -> PrometheusServer:
        """Once it was started."""
        assert self._prometheus is not None
        return self._prometheus

    @property
    def alertmanager(self) -> AlertmanagerServer:
        """Once it was started."""
        assert self._alertmanager is not None
        return self._alertmanager

    def incidents(self, alert: str = "", agent: str = "") -> list[Incident]:
        """Those of an alert and of an agent, where these are given."""
        return [
            one
            for one in list(self.pagerduty.incidents)
            if alert in ("", one.payload["class"]) and agent in ("", one.payload["component"])
        ]

    def firing(self, alert: str, agent: str) -> bool:
        """Whether Prometheus has such an alert that is not pending any more."""
        return bool(self.prometheus.query(f'ALERTS{{alertname="{alert}",agent="{agent}",alertstate="firing"}}'))

    def muted(self, alert: str, **labels: str) -> bool:
        """Whether Alertmanager knows of such an alert and holds it back."""
        found = [
            one
            for one in self.alertmanager.api("alerts")
            if one["labels"]["alertname"] == alert and labels.items() <= one["labels"].items()
        ]
        return bool(found) and all(one["status"]["inhibitedBy"] for one in found)

    def close(self) -> None:
        """Stop everything that was started."""
        if hasattr(self, "traffic"):
            self.traffic.close()
        self.daemon.close()
        for server in (self._prometheus, self._alertmanager):
            if server is not None:
                server.close()
        self.pagerduty.stop()


def wait_for(happened: Callable[[], object], what: str, timeout: float = 240.0) -> None:
    """Wait for an event, however busy the machine is."""
    deadline = time.monotonic() + timeout
    while not happened():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.2)


def _runs(exposition: str) -> float:
    lines = [line for line in exposition.splitlines() if line.startswith("aem_runs_total{")]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


def _records_counters(rule: Mapping[str, Any]) -> bool:
    """The rules of which the baseline reads the past."""
    return rule.get("labels") == {"window": "6h"} or rule["record"] == "job_agent_model:aem_turns_scored:increase6h"


def _set_objective(document: Mapping[str, Any]) -> None:
    rules = [rule for group in document["groups"] for rule in group["rules"]]
    (rule,) = [rule for rule in rules if rule["record"] == "aem_turn_success:objective"]
    rule["expr"] = f"vector({OBJECTIVE})"
