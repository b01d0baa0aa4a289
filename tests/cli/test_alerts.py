"""``aem-monitor alerts``: what is open, and whether receivers can be told."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from aem_monitor.alerting.notification import About, resolved, triggered
from aem_monitor.alerting.observed import Finding, Kind, Signature, Why
from aem_monitor.cli.main import main
from aem_monitor.store import Store
from aem_monitor.store.alerts import Decision, Incident
from tests.alerting.answering import Answer, Receiving
from tests.alerting.runs import START

Capture = pytest.CaptureFixture[str]
FINDING = Finding(0.02, 0.75, 3, 4, 9.1, 8.5, {})
NOTHING = {"runs": 0, "cascades": 7, "examples": []}


@pytest.fixture
def receiving() -> Iterator[Receiving]:
    server = Receiving()
    yield server
    server.close()


def config(folder: Path, receivers: object) -> str:
    path = folder / "aem-monitor.yaml"
    document = {"store": {"url": f"sqlite:///{folder / 'store.db'}"}, "alerting": {"receivers": receivers}}
    path.write_text(json.dumps(document))
    return str(path)


def incident(number: int, *, over: bool = False) -> Incident:
    signature = Signature(Kind.ROOT_CAUSE_SPIKE, "reporting", f"{number}.0", "tool_mismatch", "reports")
    body = triggered(About("tests"), signature, 1, START, FINDING, NOTHING)
    at = START + 60.0 if over else None
    body = resolved(body, START + 60.0, Why.RECOVERED) if over else body
    return Incident(body["dedup_key"], 1, "reporting", START + number, at, body)


@pytest.fixture
def stored(tmp_path: Path) -> str:
    with Store(f"sqlite:///{tmp_path / 'store.db'}") as store:
        lease = store.take_alert_lease("a", None)
        assert lease is not None
        store.decide(lease, Decision(incidents=[incident(1), incident(2), incident(3, over=True)]))
    return config(tmp_path, {})


def test_open_incidents_are_listed(stored: str, capsys: Capture) -> None:
    assert main(["alerts", "list", "--config", stored]) == 0
    out = capsys.readouterr().out
    for word in ("1.0", "2.0", "tool_mismatch", "3 of 4", "critical"):
        assert word in out
    assert "3.0" not in out


def test_all_incidents_are_listed_as_json_with_their_ends(stored: str, capsys: Capture) -> None:
    assert main(["alerts", "list", "--config", stored, "--all", "--format", "json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["release"], one["resolved_at"]) for one in found] == [
        ("3.0", "2026-09-21T14:14:20Z"),
        ("2.0", None),
        ("1.0", None),
    ]


def test_a_store_without_incidents_says_so_beside_the_data(tmp_path: Path, capsys: Capture) -> None:
    Store(f"sqlite:///{tmp_path / 'store.db'}").close()
    assert main(["alerts", "list", "--config", config(tmp_path, {})]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "No incident is open.\n")


def test_receivers_are_tried_each(tmp_path: Path, receiving: Receiving, capsys: Capture) -> None:
    (tmp_path / "key").write_text("0123456789abcdef0123456789abcdef\n")
    path = config(
        tmp_path,
        {
            "pagerduty": {"url": receiving.url, "routing_key_file": "key"},
            "alertmanager": {"url": receiving.url},
            "webhook": {"url": f"{receiving.url}/hook"},
        },
    )
    assert main(["alerts", "test", "--config", path]) == 0
    assert [request.path for request in receiving.requests] == [
        *["/v2/enqueue"] * 2,
        "/api/v2/alerts",
        *["/hook"] * 2,
    ]
    assert [request.json["event_action"] for request in receiving.requests[:2]] == ["trigger", "resolve"]
    (alert,) = receiving.requests[2].json
    assert alert["labels"]["alertname"] == "AemTest"
    lasts = datetime.fromisoformat(alert["endsAt"]) - datetime.fromisoformat(alert["startsAt"])
    assert lasts > timedelta(seconds=250), "Alertmanager tells nobody what is over before its group_wait"
    assert capsys.readouterr().err.count("has taken") == 3


def test_a_receiver_that_refuses_is_named(tmp_path: Path, receiving: Receiving, capsys: Capture) -> None:
    receiving.answer = lambda request: Answer(400, body=b'{"message":"no"}')
    path = config(tmp_path, {"webhook": {"url": f"{receiving.url}/hook?token=hunter2"}})
    assert main(["alerts", "test", "--config", path]) == 1
    error = capsys.readouterr().err
    assert "webhook: " in error
    assert "answered 400" in error
    assert "hunter2" not in error


@pytest.mark.parametrize(
    ("receivers", "message"),
    [
        ({}, "there is none to be told"),
        ({"pagerduty": {}}, "routing_key_file: give either this or routing_key"),
        ({"pagerduty": {"routing_key": "short"}}, "32 letters and digits"),
        ({"pagerduty": {"routing_key_file": "missing"}}, "missing cannot be read"),
        ({"pagerduty": {"routing_key_file": "aem-monitor.yaml"}}, "must hold the 32 letters and digits"),
        ({"webhook": {"url": "ftp://x"}}, "must be a whole URL"),
        ({"alertmanager": {"url": "http://me:secret@x"}}, "without credentials"),
        ({"alertmanager": {"url": "http://x", "labels": {"agent": "a"}}}, "cannot be set"),
        ({"webhook": {"url": "http://x", "timeout": "20s"}}, "three times receivers.webhook.timeout"),
    ],
)
def test_what_cannot_work_is_refused_with_its_place(
    receivers: object, message: str, tmp_path: Path, capsys: Capture
) -> None:
    assert main(["alerts", "test", "--config", config(tmp_path, receivers)]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "secret@" not in captured.err
