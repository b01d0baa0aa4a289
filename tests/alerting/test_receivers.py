"""What each receiver is sent: within its contract, whatever agents are called."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from aem_monitor.alerting.evidence import evidence, observed
from aem_monitor.alerting.http import Poster, Target
from aem_monitor.alerting.notification import About, change, dedup_key, resolved, trial, triggered, updated
from aem_monitor.alerting.observed import SEVERAL, Cause, Explained, Finding, Kind, Signature, Why
from aem_monitor.alerting.receivers import Alertmanager, PagerDuty, Webhook
from aem_monitor.alerting.schema import notification_schema
from aem_monitor.links import TraceLink
from aem_monitor.model.verdict import RunResult
from aem_monitor.store.records import ReleaseSeen
from tests.alerting.answering import Receiving
from tests.alerting.runs import START, mismatch
from tests.services.pagerduty import faults_of_alert, faults_of_change
from tests.store.results import failing, run, turn

KEY = "0123456789abcdef0123456789ABCDEF"
ABOUT = About("tests")
SPIKE = Signature(Kind.ROOT_CAUSE_SPIKE, "reporting", "1.0.0", "tool_mismatch", "reports.FilterData")
FINDING = Finding(0.02, 0.75, 3, 4, 9.1, 8.5, {"reports.FilterData": 3})
TRACES = TraceLink.parse("https://traces.example/{trace_id}?s={span_id}")


def found(*results: RunResult, signature: Signature = SPIKE, pages: str | None = "https://aem.example") -> Any:
    return evidence(signature, results or (mismatch("r-1"),), TRACES, pages)


def body(signature: Signature = SPIKE, shown: Any = None) -> dict[str, Any]:
    return triggered(ABOUT, signature, 1, START, FINDING, found() if shown is None else shown)


def everything(signature: Signature = SPIKE) -> list[Mapping[str, Any]]:
    first = body(signature)
    also = Explained(signature, START + 60, Cause("missing_parameters", "x"), Kind.ROOT_CAUSE_SPIKE, FINDING)
    return [
        first,
        updated(first, also),
        resolved(first, START + 120, Why.RECOVERED),
        change(ABOUT, ReleaseSeen(signature.agent, signature.release, "m", START, START)),
        trial(ABOUT, START),
    ]


# PagerDuty


@pytest.fixture
def pagerduty(receiving: Receiving) -> PagerDuty:
    return PagerDuty(Poster(Target(receiving.url, "k")), KEY)


def test_pagerduty_gets_an_event_with_all_that_a_responder_needs(receiving: Receiving, pagerduty: PagerDuty) -> None:
    pagerduty.send(body())
    (request,) = receiving.requests
    assert request.path == "/v2/enqueue"
    event = request.json
    assert (event["routing_key"], event["event_action"]) == (KEY, "trigger")
    assert event["dedup_key"] == dedup_key(ABOUT, SPIKE)
    payload = event["payload"]
    assert payload["summary"] == (
        "reporting 1.0.0: root cause tool_mismatch (reports.FilterData) in 3 of the last 4 runs, 75%, expected 2%"
    )
    assert (payload["source"], payload["severity"]) == ("tests", "critical")
    assert (payload["component"], payload["group"], payload["class"]) == ("reporting", "1.0.0", "tool_mismatch")
    (example,) = payload["custom_details"]["evidence"]["examples"]
    assert (example["expected"], example["got"]) == ('{"region": "EU"}', '{"region": "US"}')
    assert [link["href"] for link in event["links"]] == [
        "https://aem.example/runs/r-1#turn-2",
        "https://traces.example/5b8efff798038103d269b633813fc60c?s=00f067aa0ba902b7",
    ]
    assert KEY not in str(payload)


def test_pagerduty_is_told_of_the_end_with_the_same_key(receiving: Receiving, pagerduty: PagerDuty) -> None:
    pagerduty.send(resolved(body(), START + 60, Why.RECOVERED))
    assert receiving.requests[0].json == {
        "routing_key": KEY,
        "dedup_key": dedup_key(ABOUT, SPIKE),
        "event_action": "resolve",
    }


def test_a_new_release_is_a_change_event_that_pages_nobody(receiving: Receiving, pagerduty: PagerDuty) -> None:
    pagerduty.send(change(ABOUT, ReleaseSeen("reporting", "2.0.0", "m", START, START)))
    (request,) = receiving.requests
    assert request.path == "/v2/change/enqueue"
    assert set(request.json) == {"routing_key", "payload"}
    assert request.json["payload"]["summary"] == "reporting: release 2.0.0 with model m seen for the first time"


@pytest.mark.parametrize("name", ["a" * 5000, "\ud800\x00\n", "日本" * 900, "\N{PILE OF POO}" * 3000])
def test_names_of_any_kind_stay_within_the_limits(receiving: Receiving, pagerduty: PagerDuty, name: str) -> None:
    signature = Signature(Kind.ROOT_CAUSE_SPIKE, name, name, "tool_mismatch", name)
    huge = [
        mismatch(f"r-{number}", agent=name, release=name, model=name, dialog=name, turns=(
            failing(2, "tool_mismatch", tool=name, called=name, expected=[name] * 100, actual=name),
        ))
        for number in range(9)
    ]  # fmt: skip
    for each in [body(signature, found(*huge, signature=signature)), *everything(signature)]:
        pagerduty.send(each)
    for request in receiving.requests:
        changed = request.path == "/v2/change/enqueue"
        assert (faults_of_change if changed else faults_of_alert)(request.json) == []
        assert len(request.body) < 100_000
        payload = request.json.get("payload", {"summary": "x"})
        assert 0 < len(payload["summary"]) <= 1024
        assert len(request.json.get("dedup_key", "")) <= 255


# Alertmanager


def test_alertmanager_gets_labels_of_the_rules_for_prometheus(receiving: Receiving) -> None:
    Alertmanager(Poster(Target(receiving.url, "k")), {"job": "aem-monitor"}, 300.0).send(body())
    (request,) = receiving.requests
    assert request.path == "/api/v2/alerts"
    (alert,) = request.json
    assert alert["labels"] == {
        "alertname": "AemRootCauseSpike",
        "severity": "critical",
        "component": "agent-quality",
        "agent": "reporting",
        "release": "1.0.0",
        "reason": "tool_mismatch",
        "detector": "built-in",
        "job": "aem-monitor",
    }
    assert datetime.fromisoformat(alert["endsAt"]) > datetime.now(UTC)
    assert alert["annotations"]["run_url"] == "https://aem.example/runs/r-1#turn-2"


def test_alertmanager_gets_the_same_labels_with_an_end_when_it_is_over(receiving: Receiving) -> None:
    alertmanager = Alertmanager(Poster(Target(receiving.url, "k")), {}, 300.0)
    alertmanager.send(body())
    alertmanager.send(resolved(body(), START + 60, Why.RECOVERED))
    before, after = (request.json[0] for request in receiving.requests)
    assert before["labels"] == after["labels"]
    assert datetime.fromisoformat(after["endsAt"]) <= datetime.now(UTC)


# Webhook


def test_a_webhook_gets_what_the_schema_says_signed(receiving: Receiving) -> None:
    webhook = Webhook(Poster(Target(receiving.url, "k")), "secret")
    kinds = [SPIKE, Signature(Kind.DRIFT, "reporting", "1"), Signature(Kind.RELEASE_REGRESSION, "reporting", "1")]
    validator = jsonschema.Draft202012Validator(notification_schema())
    for signature in kinds:
        for each in everything(signature):
            webhook.send(each)
            validator.validate(receiving.requests[-1].json)
    for request in receiving.requests:
        digest = hmac.new(b"secret", request.body, hashlib.sha256).hexdigest()
        assert request.headers["X-Aem-Monitor-Signature"] == f"sha256={digest}"


def test_the_published_schema_is_the_one_that_is_checked() -> None:
    published = Path(__file__).parents[2] / "deploy" / "schemas" / "notification.schema.json"
    assert json.loads(published.read_text(encoding="utf-8")) == notification_schema()


def test_the_schema_refuses_what_is_no_notification() -> None:
    validator = jsonschema.Draft202012Validator(notification_schema())
    for wrong in ({}, {**body(), "event": "other"}, {**body(), "more": 1}, {**body(), "evidence": {}}):
        assert not validator.is_valid(wrong)


def test_without_a_secret_nothing_is_signed(receiving: Receiving) -> None:
    Webhook(Poster(Target(receiving.url, "k")), None).send(body())
    assert "X-Aem-Monitor-Signature" not in receiving.requests[0].headers


# What tells incidents apart


def test_the_key_is_the_same_for_the_same_fault_only() -> None:
    keys = {dedup_key(ABOUT, SPIKE._replace(**change)) for change in (
        {}, {"agent": "a"}, {"release": "2"}, {"reason": "x"}, {"tool": SEVERAL}, {"kind": Kind.DRIFT}
    )}  # fmt: skip
    assert len(keys) == 6
    assert dedup_key(ABOUT, SPIKE) == dedup_key(About("tests"), Signature(*SPIKE))
    assert dedup_key(About("others"), SPIKE) not in keys


# Evidence


def test_what_was_said_stays_inside_where_only_words_tell_that_it_is_a_canary() -> None:
    (example,) = found(mismatch(recognised_by="text"))["examples"]
    assert "withheld" in example["expected"]
    assert "withheld" in example["got"]
    assert "EU" not in str(example)
    assert example["field"] == "region"


def test_examples_are_three_runs_that_show_the_fault_and_cascades_are_counted() -> None:
    others = [
        run("passed"),
        mismatch("draft", draft=True),
        mismatch("other-release", release="2.0.0"),
        mismatch("other-agent", agent="x"),
        run("other-reason", failing(1)),
    ]
    shown = found(*others, *(mismatch(f"r-{number}") for number in range(5)))
    assert [example["run_id"] for example in shown["examples"]] == ["r-0", "r-1", "r-2"]
    assert (shown["runs"], shown["cascades"]) == (5, 10)


def test_an_extra_call_is_linked_by_its_position() -> None:
    extra = failing(None, "tool_mismatch", tool="reports.FilterData")
    (example,) = found(run("r-1", turn(1), extra, test_pass=False))["examples"]
    assert example["run_link"] == "https://aem.example/runs/r-1#extra-2"
    assert example["turn"] is None


def test_without_addresses_there_are_no_links() -> None:
    (example,) = evidence(SPIKE, [mismatch()], None, None)["examples"]
    assert (example["trace_link"], example["run_link"]) == (None, None)


def test_detectors_are_told_root_causes_and_nothing_inherited() -> None:
    result = run("r", failing(1), turn(2, success=False), failing(3, "incomplete_response", tool=None), release=None)
    told = observed(result, START)
    assert told.causes == {Cause("inconsistent_parameter_values", "reports"), Cause("incomplete_response", "")}
    assert (told.release, told.passed, told.at) == ("unknown", True, START)
