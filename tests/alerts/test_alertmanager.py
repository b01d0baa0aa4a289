"""The shipped Alertmanager configuration: who is told of what, what is one incident, and what is muted by what."""

import json
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from aem_monitor.alerting.http import Poster, Target
from aem_monitor.alerting.notification import About, triggered
from aem_monitor.alerting.observed import Finding, Kind, Signature
from aem_monitor.alerting.receivers import ALERT_NAMES, Alertmanager
from tests.alerts.promtool import load_yaml
from tests.alerts.test_rules import ALERTING
from tests.services.alertmanager import AlertmanagerServer
from tests.services.cache import ServiceUnavailableError

CONFIGURATION: Final = Path(__file__).parents[2] / "deploy" / "alertmanager" / "alertmanager.yaml"

JOB: Final = {"job": "aem-monitor"}
AGENT: Final = {**JOB, "agent": "reporting"}
RELEASE: Final = {**AGENT, "release": "2.0.0"}
SPIKE: Final = {**RELEASE, "reason": "tool_mismatch"}
REPLICA: Final = {**JOB, "instance": "monitor-0"}


def alert(name: str, labels: Mapping[str, str]) -> dict[str, str]:
    """All labels of an alert as its rule gives them."""
    rule = ALERTING.get(name, {"labels": {"severity": "warning", "component": "agent-quality"}})
    return {**rule["labels"], "alertname": name, **labels}


def receiver(name: str) -> str:
    """Who is told of an alert, by its severity."""
    if name == "AemWatchdog":
        return "heartbeat"
    return {"critical": "pagerduty", "warning": "pagerduty-low", "info": "record"}[ALERTING[name]["labels"]["severity"]]


def labels_of(name: str) -> dict[str, str]:
    """Labels that tell an alert about an agent from one about something else."""
    about_an_agent = "$labels.agent" in ALERTING[name]["annotations"]["description"]
    return alert(name, RELEASE if about_an_agent else JOB)


def test_amtool_finds_nothing_to_criticise(amtool: Path) -> None:
    checked = subprocess.run([amtool, "check-config", CONFIGURATION], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("name", list(ALERTING))
def test_every_alert_is_routed_by_its_severity(name: str, amtool: Path) -> None:
    pairs = [f"{label}={value}" for label, value in labels_of(name).items()]
    command = [str(amtool), "config", "routes", "test", f"--config.file={CONFIGURATION}"]
    tested = subprocess.run([*command, f"--verify.receivers={receiver(name)}", *pairs], capture_output=True, text=True)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_every_name_in_the_configuration_is_an_alert() -> None:
    named = re.findall(r"\bAem\w+", CONFIGURATION.read_text(encoding="utf-8"))
    assert set(named) <= {*ALERTING, *ALERT_NAMES.values()}


def test_pagerduty_is_told_the_severity_in_its_own_words() -> None:
    receivers = {one["name"]: one for one in load_yaml(CONFIGURATION)["receivers"]}
    page, low = (receivers[name]["pagerduty_configs"][0] for name in ("pagerduty", "pagerduty-low"))
    assert {key for key in page if page[key] != low[key]} == {"routing_key_file"}
    assert all(word in page["severity"] for word in ("critical", "warning", "info", "error"))
    assert {"class", "component", "group", "details", "links", "client"} <= set(page)
    assert [link["text"] for link in page["links"]] == ["Runbook", "Dashboard"]


@pytest.mark.parametrize(
    ("name", "labels", "page"),
    [
        (
            "AemRootCauseSpike",
            SPIKE,
            ("reporting 2.0.0: tool_mismatch. A failure reason has become more frequent than it was.", "reporting"),
        ),
        ("AemBurnRateFast", AGENT, ("reporting Turns fail so often", "reporting")),
        ("AemMonitorDown", REPLICA, ("aem-monitor cannot be scraped.", "aem-monitor")),
    ],
)
def test_pagerduty_is_told_what_broke_and_where(
    name: str, labels: Mapping[str, str], page: tuple[str, str], amtool: Path, tmp_path: Path
) -> None:
    common, annotations = alert(name, labels), ALERTING[name]["annotations"]
    one = {"status": "firing", "labels": common, "annotations": annotations}
    data = {"status": "firing", "alerts": [one], "commonLabels": common, "commonAnnotations": annotations}
    (tmp_path / "data.json").write_text(json.dumps(data), encoding="utf-8")

    def rendered(template: str) -> str:
        command = [str(amtool), "template", "render", f"--template.glob={tmp_path / 'none'}"]
        told = [f"--template.data={tmp_path / 'data.json'}", f"--template.text={template}"]
        ran = subprocess.run([*command, *told], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    (tmp_path / "none").write_text("", encoding="utf-8")
    event = load_yaml(CONFIGURATION)["receivers"][2]["pagerduty_configs"][0]
    summary, component = page
    assert rendered(event["description"]).startswith(summary)
    assert rendered(event["component"]) == component
    assert rendered(event["class"]) == name
    assert rendered(event["group"]) == "aem-monitor"
    assert rendered(event["severity"]) == "critical"
    assert rendered(event["links"][0]["href"]).endswith(f"/runbooks/{name}.md")
    assert annotations["description"] in rendered(event["details"]["what"])


@pytest.fixture(scope="module")
def alertmanager(amtool: Path) -> Iterator[AlertmanagerServer]:
    try:
        server = AlertmanagerServer(CONFIGURATION)
    except ServiceUnavailableError as error:
        pytest.skip(str(error))
    yield server
    server.close()


class Firing:
    """Alerts that fire until the test is over."""

    def __init__(self, server: AlertmanagerServer) -> None:
        self._server = server
        self._alerts: list[dict[str, str]] = []

    def __call__(self, *alerts: Mapping[str, str]) -> None:
        self._alerts += [dict(one) for one in alerts]
        self._post(timedelta(minutes=10))

    def end(self) -> None:
        self._post(timedelta(seconds=-1))

    def _post(self, until: timedelta) -> None:
        now = datetime.now(UTC)
        body = [
            {"labels": one, "startsAt": (now - timedelta(hours=1)).isoformat(), "endsAt": (now + until).isoformat()}
            for one in self._alerts
        ]
        self._server.api("alerts", body)

    def muted(self) -> set[str]:
        """The names of the alerts that are inhibited now."""
        return {one["labels"]["alertname"] for one in self._server.api("alerts") if one["status"]["inhibitedBy"]}

    def groups(self, job: str) -> list[tuple[str, dict[str, str], int]]:
        """Receiver, labels and number of alerts of each incident of a job."""
        return [
            (one["receiver"]["name"], one["labels"], len(one["alerts"]))
            for one in self._server.api("alerts/groups")
            if one["labels"].get("job") == job
        ]


@pytest.fixture
def firing(alertmanager: AlertmanagerServer) -> Iterator[Firing]:
    found = Firing(alertmanager)
    yield found
    found.end()


MUTED: Final[dict[str, tuple[Sequence[tuple[str, Mapping[str, str]]], set[str]]]] = {
    "a root cause and its symptoms": (
        [
            ("AemRootCauseSpike", SPIKE),
            ("AemTurnCorrectnessLow", RELEASE),
            ("AemBurnRateFast", AGENT),
            ("AemBurnRateSlow", AGENT),
            ("AemChainLengthDegradation", {**AGENT, "chain_length": "3+"}),
        ],
        {
            "AemTurnCorrectnessLow",
            "AemBurnRateFast",
            "AemBurnRateSlow",
            "AemChainLengthDegradation",
        },
    ),
    "a worse release and its symptoms": (
        [
            ("AemReleaseRegression", RELEASE),
            ("AemTurnCorrectnessLow", RELEASE),
            ("AemBurnRateFast", AGENT),
            ("AemChainLengthDegradation", {**AGENT, "chain_length": "3+"}),
        ],
        {"AemTurnCorrectnessLow", "AemChainLengthDegradation"},
    ),
    "a worse release and its root cause, which are one incident": (
        [("AemReleaseRegression", RELEASE), ("AemRootCauseSpike", SPIKE)],
        set(),
    ),
    "a root cause that was mended, and what remembers it": (
        [
            ("AemRootCauseSpikePast", SPIKE),
            ("AemTurnCorrectnessLow", RELEASE),
            ("AemBurnRateSlow", AGENT),
            ("AemChainLengthDegradation", {**AGENT, "chain_length": "3+"}),
        ],
        {"AemTurnCorrectnessLow", "AemBurnRateSlow", "AemChainLengthDegradation"},
    ),
    "a root cause that was mended, and critical alerts": (
        [("AemRootCauseSpikePast", SPIKE), ("AemBurnRateFast", AGENT), ("AemReleaseRegression", RELEASE)],
        set(),
    ),
    "a root cause and another agent": (
        [("AemRootCauseSpike", SPIKE), ("AemBurnRateFast", {**AGENT, "agent": "support"})],
        set(),
    ),
    "a root cause and another release": (
        [("AemRootCauseSpike", SPIKE), ("AemReleaseRegression", {**RELEASE, "release": "3.0.0"})],
        set(),
    ),
    "two root causes": (
        [("AemRootCauseSpike", SPIKE), ("AemRootCauseSpike", {**SPIKE, "reason": "incomplete_response"})],
        set(),
    ),
    "nothing runs any more": (
        [
            ("AemMonitorOutage", JOB),
            ("AemMonitorDown", REPLICA),
            ("AemRootCauseSpike", SPIKE),
            ("AemBurnRateSlow", AGENT),
            ("AemCanariesAbsent", JOB),
        ],
        {"AemMonitorDown", "AemRootCauseSpike", "AemBurnRateSlow", "AemCanariesAbsent"},
    ),
    "nothing runs in another environment": (
        [("AemMonitorOutage", {"job": "aem-monitor-staging"}), ("AemRootCauseSpike", SPIKE)],
        set(),
    ),
    "one replica is down": (
        [("AemMonitorDown", REPLICA), ("AemRootCauseSpike", SPIKE), ("AemCanaryStale", {**JOB, "dialog": "refund"})],
        {"AemCanaryStale"},
    ),
    "no target at all": (
        [("AemMonitorAbsent", {}), ("AemRootCauseSpike", SPIKE), ("AemCanariesAbsent", JOB)],
        {"AemRootCauseSpike", "AemCanariesAbsent"},
    ),
    "the store fails": (
        [
            ("AemMonitorStoreFailing", {**REPLICA, "reason": "full"}),
            ("AemMonitorStalled", REPLICA),
            ("AemMonitorLagHigh", {**JOB, "topic": "otlp_spans"}),
            ("AemMonitorSinkBehind", {**REPLICA, "sink": "kafka"}),
            ("AemMonitorAlertingFailing", JOB),
            ("AemCanariesAbsent", JOB),
        ],
        {
            "AemMonitorStalled",
            "AemMonitorLagHigh",
            "AemMonitorSinkBehind",
            "AemMonitorAlertingFailing",
            "AemCanariesAbsent",
        },
    ),
    "drift that built-in alerting found": (
        [
            ("AemRootCauseSpike", {**SPIKE, "release": "3.0.0"}),
            ("AemReleaseDrift", {**RELEASE, "release": "3.0.0"}),
            ("AemReleaseDrift", RELEASE),
            ("AemTurnCorrectnessLow", RELEASE),
        ],
        {"AemReleaseDrift", "AemTurnCorrectnessLow"},
    ),
    "no canary at all": (
        [("AemCanariesAbsent", JOB), ("AemCanaryStale", {**JOB, "dialog": "refund"})],
        {"AemCanaryStale"},
    ),
}


@pytest.mark.parametrize(("alerts", "muted"), list(MUTED.values()), ids=list(MUTED))
def test_a_cause_mutes_what_follows_from_it(
    alerts: Sequence[tuple[str, Mapping[str, str]]], muted: set[str], firing: Firing
) -> None:
    firing(*(alert(name, labels) for name, labels in alerts))
    deadline = time.monotonic() + 60.0  # what mutes is known a moment after it was taken
    while firing.muted() != muted and time.monotonic() < deadline:
        time.sleep(0.1)
    assert firing.muted() == muted


def test_an_alert_of_a_rule_and_the_built_in_one_of_the_same_fault_are_one_incident(
    firing: Firing, alertmanager: AlertmanagerServer
) -> None:
    spike = {**SPIKE, "job": "aem-monitor-twice"}
    signature = Signature(Kind.ROOT_CAUSE_SPIKE, spike["agent"], spike["release"], spike["reason"], "reports")
    finding = Finding(0.02, 0.75, 3, 4, 9.1, 8.5, {})
    nothing: dict[str, object] = {"runs": 0, "cascades": 0, "examples": []}
    body = triggered(About("tests"), signature, 1, time.time(), finding, nothing)
    target = Target(f"http://127.0.0.1:{alertmanager.port}", "alerting.receivers.alertmanager")
    built_in = Alertmanager(Poster(target), {"job": spike["job"]}, 300.0)

    def incidents(alerts: int) -> list[tuple[str, dict[str, str], int]]:
        deadline = time.monotonic() + 60.0
        while sum(count for *_, count in firing.groups(spike["job"])) != alerts and time.monotonic() < deadline:
            time.sleep(0.2)
        return firing.groups(spike["job"])

    built_in.send(body)
    firing(alert("AemRootCauseSpike", spike))
    assert incidents(2) == [("pagerduty", {**RELEASE, "job": spike["job"]}, 2)]
    built_in.send({**body, "event": "resolved"})
    assert incidents(1) == [("pagerduty", {**RELEASE, "job": spike["job"]}, 1)]


def test_a_release_that_broke_is_one_incident_however_it_shows(firing: Firing) -> None:
    here = {"job": "aem-monitor-incidents"}
    spike = {**SPIKE, **here}
    other = {**spike, "reason": "incomplete_response"}
    firing(alert("AemRootCauseSpike", spike), alert("AemRootCauseSpike", other))
    firing(alert("AemReleaseRegression", {**RELEASE, **here}))
    firing(alert("AemRootCauseSpike", {**spike, "release": "1.0.0"}))
    firing(*(alert("AemCanaryStale", {**here, "dialog": dialog}) for dialog in ("refund", "sales-report")))
    firing(*(alert("AemMonitorDown", {**here, "instance": f"monitor-{number}"}) for number in range(3)))
    expected = [
        ("pagerduty", {**RELEASE, **here}, 3),
        ("pagerduty", {**RELEASE, **here, "release": "1.0.0"}, 1),
        ("pagerduty-low", {"alertname": "AemCanaryStale", **here}, 2),
        ("pagerduty", {"alertname": "AemMonitorDown", **here}, 3),
    ]
    deadline = time.monotonic() + 60.0  # alerts are put into groups a moment after they were taken
    while sum(alerts for *_, alerts in firing.groups(here["job"])) < 9 and time.monotonic() < deadline:
        time.sleep(0.2)
    by_labels = sorted(firing.groups(here["job"]), key=lambda one: sorted(one[1].items()))
    assert by_labels == sorted(expected, key=lambda one: sorted(one[1].items()))


def test_the_page_on_built_in_alerting_takes_all_pages_of_failing_agents_away() -> None:
    text = (CONFIGURATION.parents[1] / "docs" / "alerting.md").read_text(encoding="utf-8")
    found = re.search(r"""alertname =~ "([A-Za-z|]+)"'\]\n    receiver: record""", text)
    assert found is not None
    pages = {
        name
        for name, rule in ALERTING.items()
        if rule["labels"]["severity"] == "critical" and rule["labels"]["component"] == "agent-quality"
    }
    assert pages - set(found[1].split("|")) == {"AemCanariesAbsent"}
