"""kill -9 between verdicts and PagerDuty: one incident, told with one key, and its end."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from aem_monitor.store import Store
from aem_monitor.store.conversations import Keeping
from aem_monitor.store.outbox import ALERTING
from tests.alerting.runs import Agent, teach
from tests.daemon.running import Running, eventually
from tests.failures.doomed import ALERT_POINTS
from tests.services.pagerduty import PagerDuty

KEY = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def pagerduty() -> Iterator[PagerDuty]:
    endpoint = PagerDuty().start()
    yield endpoint
    endpoint.stop()
    assert endpoint.faults == []


@pytest.fixture
def daemon(tmp_path: Path, pagerduty: PagerDuty) -> Iterator[Running]:
    (tmp_path / "key").write_text(f"{KEY}\n")
    receiver = {
        "url": pagerduty.url.removesuffix("/v2/enqueue"),
        "routing_key_file": "key",
        "timeout": "500ms",
    }
    web = {"external_url": "https://aem.example", "trace_link": "https://traces.example/{trace_id}"}
    alerting = {"receivers": {"pagerduty": receiver}, "lease": "1500ms", "cool_down": "1m"}
    daemon = Running(tmp_path, alerting=alerting, web=web)
    yield daemon
    daemon.close()
    assert KEY not in daemon.log


def store(daemon: Running) -> Store:
    return Store(f"sqlite:///{daemon.folder / 'verdicts.db'}", "tests", Keeping(sinks=(ALERTING,)))


def test_an_incident_survives_processes_that_were_killed(daemon: Running, pagerduty: PagerDuty) -> None:
    with store(daemon) as before:
        teach(before)
        agent = Agent(before)
        agent.fails(30)
    for point in ALERT_POINTS:
        # It may be dead before it answers.
        with suppress(AssertionError):
            daemon.start("tests.failures.doomed", point, "1")
        eventually(lambda: not daemon.running, f"it dies at {point}")
        if point == "decided":
            assert pagerduty.events == []
    (incident,) = pagerduty.incidents
    first, repeat = incident.triggers
    assert repeat == first
    example = incident.payload["custom_details"]["evidence"]["examples"][0]
    assert (example["turn"], example["tool"], example["field"]) == (2, "reports.FilterData", "region")
    assert example["run_link"].startswith("https://aem.example/runs/")

    with store(daemon) as between:
        agent.store = between
        agent.passes(150)
    daemon.start()
    eventually(lambda: incident.resolved, "it is resolved by a process that did not open it")
    assert daemon.value("aem_monitor_alerting_lease_held") == 1
    assert daemon.value("aem_monitor_alerting_open_incidents") == 0
    assert daemon.stop() == 0
    assert len(pagerduty.incidents) == 1
    with store(daemon) as after:
        assert after.count_unobserved() == 0
        assert after.count_unsent() == {}
        assert [one.resolved_at is not None for one in after.incidents()] == [True]
        lease = after.alert_lease()
        assert lease is not None
        assert lease.holder == ""
