"""Built-in alerting with real parts: spans over OTLP, the daemon, PagerDuty's API. No Prometheus.

The agent fails as gpt-4o did in recorded runs; a swap of its model doubles tool mismatches.
"""

import gzip
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest
from opentelemetry.sdk.trace import ReadableSpan

from aem_monitor.store import Store
from aem_monitor.store.conversations import Keeping
from aem_monitor.store.outbox import ALERTING
from tests.alerting.runs import teach
from tests.daemon import running
from tests.daemon.running import Running
from tests.end_to_end.releases import WRONG_TOOL, RecordedAgent, Swap
from tests.end_to_end.sales import RIGHT
from tests.services.agent import Turn, agent_spans
from tests.services.collector import otlp_proto
from tests.services.pagerduty import PagerDuty
from tests.services.postgresql import PostgresqlServer

GOOD: Final = Swap("1.0.0", "model-1")
NEXT: Final = Swap("1.1.0", "model-1")
"""A release that is as good."""

SWAPPED: Final = Swap("1.1.0", "model-2", mismatches=2)
WORSE: Final = Swap("1.2.0", "model-1", mismatches=2)

BEFORE, AFTER = 250, 450
"""Runs of ``GOOD`` and ``NEXT``."""

MANY: Final = 240
"""Twice as many runs as it takes to find a doubled share of mismatches among those that are drawn here."""


def eventually(condition: Callable[[], object], what: str) -> None:
    """Wait until it holds; scoring hundreds of runs takes a busy machine minutes."""
    running.eventually(condition, what, 300.0)


class Monitor(Running):
    """A daemon that tells PagerDuty, and all runs that it and those before it were sent."""

    def __init__(self, folder: Path, agent: RecordedAgent, pagerduty: PagerDuty, **configuration: Any) -> None:
        (folder / "key").write_text("0123456789abcdef0123456789abcdef\n")
        url = pagerduty.url.removesuffix("/v2/enqueue")
        receiver = {"url": url, "routing_key_file": "key", "timeout": "1s"}
        # An hour in which hundreds of runs come is some seconds here.
        alerting = {"receivers": {"pagerduty": receiver}, "lease": "3s", "cool_down": "1s"}
        super().__init__(folder, alerting=alerting, **configuration)
        self.agent = agent
        agent.write_golden(self.golden.parent)

    def plays(self, count: int, swap: Swap) -> None:
        """So many runs, each a conversation of its own."""
        for spans in self.agent.spans(count, swap):
            self.export(spans)

    def export(self, spans: Sequence[ReadableSpan]) -> None:
        """As the exporter of the SDK sends them."""
        assert self.post(gzip.compress(otlp_proto(spans)), Content_Encoding="gzip") == 200

    @property
    def observed(self) -> float:
        """Runs that alerting has taken since the start of this process."""
        return self.value("aem_monitor_alerting_runs_total", result="observed")

    @property
    def unobserved(self) -> int:
        """Runs in the store that it has not taken."""
        with Store(f"sqlite:///{self.folder / 'verdicts.db'}", "test", Keeping(sinks=(ALERTING,))) as store:
            return store.count_unobserved()

    def counted(self, **labels: str) -> float:
        return self.value("aem_runs_total", **labels)


@pytest.fixture
def pagerduty() -> Iterator[PagerDuty]:
    endpoint = PagerDuty().start()
    yield endpoint
    endpoint.stop()
    assert endpoint.faults == []


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, PagerDuty]:
    """The store of a daemon after two releases that are equally good, and who was told meanwhile."""
    folder = tmp_path_factory.mktemp("learnt")
    endpoint = PagerDuty().start()
    monitor = Monitor(folder, RecordedAgent(7), endpoint)
    try:
        monitor.start()
        monitor.plays(BEFORE, GOOD)
        eventually(lambda: monitor.observed == BEFORE, "the first release is known")
        monitor.plays(AFTER, NEXT)
        eventually(lambda: monitor.observed == BEFORE + AFTER, "the second one too")
        eventually(lambda: len(endpoint.changes) == 2, "PagerDuty is told of the releases")
        assert monitor.stop() == 0
    finally:
        monitor.close()
        endpoint.stop()
    return folder, endpoint


@pytest.fixture
def monitor(learnt: tuple[Path, PagerDuty], tmp_path: Path, pagerduty: PagerDuty) -> Iterator[Monitor]:
    """A daemon that goes on where that one was."""
    shutil.copy(learnt[0] / "verdicts.db", tmp_path)
    process = Monitor(tmp_path, RecordedAgent(4), pagerduty)
    process.start()
    yield process
    process.close()


def test_releases_that_fail_as_recorded_ones_do_page_nobody(learnt: tuple[Path, PagerDuty], monitor: Monitor) -> None:
    _, told = learnt
    assert told.events == []
    assert told.faults == []
    assert {one["payload"]["custom_details"]["release"] for one in told.changes} == {GOOD.release, NEXT.release}
    # It was no quiet: one run in three failed, for every kind of reason.
    assert monitor.counted(release=GOOD.release) == BEFORE
    assert monitor.counted(release=GOOD.release, result="fail") > 0.3 * BEFORE
    for reason in ("tool_mismatch", "inconsistent_parameter_values", "incomplete_response"):
        assert monitor.value("aem_root_causes_total", release=NEXT.release, reason=reason) > 0
    assert monitor.value("aem_monitor_alerting_open_incidents") == 0


def test_a_swap_of_the_model_pages_once_over_a_kill_and_ends_after_the_rollback(
    monitor: Monitor, pagerduty: PagerDuty
) -> None:
    monitor.plays(MANY, SWAPPED)
    eventually(lambda: pagerduty.incidents, "somebody is paged")
    monitor.kill()
    monitor.start()
    monitor.plays(60, SWAPPED)
    eventually(lambda: monitor.counted(model=SWAPPED.model) == MANY + 60, "all runs with the new model are counted")
    eventually(lambda: monitor.unobserved == 0, "alerting has seen them")
    (incident,) = pagerduty.incidents
    assert not incident.resolved
    details = incident.payload["custom_details"]
    assert (details["kind"], details["release"], details["reason"]) == (
        "root_cause_spike",
        SWAPPED.release,
        "tool_mismatch",
    )
    # What follows from a wrong tool is counted under it, and is no incident of its own.
    assert details["evidence"]["cascades"] > 0
    eventually(lambda: pagerduty.changes, "PagerDuty is told of the new model")

    monitor.plays(250, NEXT)
    eventually(lambda: incident.resolved, "the incident is over after the rollback")
    assert len(pagerduty.incidents) == 1


def test_a_worse_release_pages_once_and_ends_when_it_is_rolled_back(monitor: Monitor, pagerduty: PagerDuty) -> None:
    monitor.plays(MANY, WORSE)
    eventually(lambda: pagerduty.incidents, "somebody is paged")
    eventually(lambda: monitor.observed == MANY, "alerting has seen all runs")
    monitor.plays(40, NEXT)
    (incident,) = pagerduty.incidents
    eventually(lambda: incident.resolved, "the incident is over after the rollback")
    assert incident.payload["custom_details"]["release"] == WORSE.release
    assert len(pagerduty.incidents) == 1


@pytest.mark.service
def test_two_replicas_page_once_and_the_one_that_is_left_ends_it(
    postgresql_server: PostgresqlServer, tmp_path: Path, pagerduty: PagerDuty
) -> None:
    with postgresql_server.database() as url:
        with Store(url, "before") as store:
            teach(store)
        replicas = []
        for name in ("a", "b"):
            folder = tmp_path / name
            folder.mkdir()
            replicas.append(Monitor(folder, RecordedAgent(3), pagerduty, store={"url": url, "replica": name}))
        try:
            for one in replicas:
                one.start()
            for one in replicas:
                export(one, WRONG_TOOL, 20)
            eventually(lambda: pagerduty.incidents, "somebody is paged")
            eventually(lambda: sum(one.observed for one in replicas) == 40, "all runs of both are seen")
            first, left = sorted(replicas, key=lambda one: -one.value("aem_monitor_alerting_lease_held"))
            first.kill()
            export(left, RIGHT, 150)
            (incident,) = pagerduty.incidents
            eventually(lambda: incident.resolved, "the other ends it")
            assert left.stop() == 0
        finally:
            for one in replicas:
                one.close()
    assert len(pagerduty.incidents) == 1
    assert incident.payload["custom_details"]["evidence"]["runs"] > 0


def export(replica: Monitor, turns: Sequence[Turn], count: int) -> None:
    """So many runs of the agent whose past ``teach`` gave to the store."""
    for _ in range(count):
        attributes = {"aem.dialog.id": "sales-report", "gen_ai.request.model": "small-1"}
        replica.export(agent_spans(uuid4().hex, turns, service="reporting", attributes=attributes))
