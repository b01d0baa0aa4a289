"""The endpoint of PagerDuty's Events API keeps to the API: what it takes, what it refuses, what becomes an incident."""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.services.pagerduty import ALERTS, Answer, PagerDuty, faults_of_alert, faults_of_change

KEY = "k" * 32


@pytest.fixture
def endpoint() -> Iterator[PagerDuty]:
    endpoint = PagerDuty().start()
    yield endpoint
    endpoint.stop()


def alert(action: str = "trigger", dedup_key: str = "one", **changes: Any) -> dict[str, Any]:
    payload = {"summary": "It broke", "source": "shop", "severity": "critical"}
    return {
        "routing_key": KEY,
        "event_action": action,
        "dedup_key": dedup_key,
        "payload": {**payload, **changes},
    }


def post(url: str, event: Any) -> tuple[int, Any]:
    body = event if isinstance(event, bytes) else json.dumps(event).encode()
    request = urllib.request.Request(url, data=body, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_triggers_join_the_open_incident_and_open_a_new_one_after_a_resolve(endpoint: PagerDuty) -> None:
    assert post(endpoint.url, alert()) == (
        202,
        {"status": "success", "message": "Event processed", "dedup_key": "one"},
    )
    post(endpoint.url, alert("acknowledge"))
    post(endpoint.url, alert(summary="It is still broken"))
    (incident,) = endpoint.incidents
    assert (incident.acknowledged, incident.resolved, len(incident.triggers)) == (True, False, 2)
    assert incident.payload["summary"] == "It broke"
    post(endpoint.url, alert("resolve"))
    assert endpoint.open == []
    post(endpoint.url, alert())
    assert len(endpoint.incidents) == 2
    assert len(endpoint.open) == 1


def test_a_resolve_of_another_key_is_accepted_and_dropped(endpoint: PagerDuty) -> None:
    post(endpoint.url, alert())
    assert post(endpoint.url, alert("resolve", "two"))[0] == 202
    assert post(endpoint.url, {**alert("resolve"), "routing_key": "l" * 32})[0] == 202
    assert len(endpoint.open) == 1


def test_a_trigger_without_a_key_is_an_incident_of_its_own(endpoint: PagerDuty) -> None:
    event = alert()
    del event["dedup_key"]
    assert post(endpoint.url, event)[1]["dedup_key"] != post(endpoint.url, event)[1]["dedup_key"]
    assert len(endpoint.incidents) == 2


def test_change_events_open_nothing(endpoint: PagerDuty) -> None:
    change = {"routing_key": KEY, "payload": {"summary": "New release", "timestamp": "2026-01-01T00:00:00Z"}}
    assert post(endpoint.change_url, change)[0] == 202
    assert endpoint.changes == [change]
    assert endpoint.incidents == []


@pytest.mark.parametrize(
    ("event", "fault"),
    [
        ([], "no object"),
        ({**alert(), "routing_key": "short"}, "routing_key"),
        ({**alert(), "event_action": "close"}, "event_action"),
        (alert(dedup_key="x" * 256), "dedup_key"),
        (alert("resolve", ""), "dedup_key"),
        (alert("acknowledge", ""), "dedup_key"),
        ({**alert(), "payload": None}, "payload"),
        (alert(summary=""), "summary"),
        (alert(summary="x" * 1025), "summary"),
        (alert(source=""), "source"),
        (alert(severity="page"), "severity"),
        (alert(timestamp="yesterday"), "timestamp"),
        (alert(timestamp="2026-01-01T00:00:00"), "timestamp"),
        (alert(custom_details="text"), "custom_details"),
        (alert(component=7), "component"),
        ({**alert(), "links": [{"text": "no address"}]}, "links"),
        ({**alert(), "links": [{"href": "runbooks/x.md"}]}, "links"),
        ({**alert(), "images": {}}, "images"),
    ],
)
def test_what_is_no_alert_event_is_refused_with_its_fault(endpoint: PagerDuty, event: Any, fault: str) -> None:
    status, document = post(endpoint.url, event)
    assert status == 400
    assert fault in document["errors"][0]
    assert endpoint.faults == document["errors"]
    assert endpoint.incidents == []


def test_events_at_their_limits_are_taken() -> None:
    assert faults_of_alert(alert(dedup_key="x" * 255, summary="x" * 1024)) == []
    assert faults_of_alert(alert("resolve")) == []
    assert faults_of_change({"routing_key": KEY, "payload": {"summary": "x" * 1024}}) == []
    assert faults_of_change({"routing_key": KEY, "payload": {"summary": "x" * 1025}}) != []


def test_no_json_and_too_much_of_it_are_refused(endpoint: PagerDuty) -> None:
    assert post(endpoint.url, b"{")[0] == 400
    assert post(endpoint.url, alert(custom_details={"text": "x" * 512 * 1024}))[0] == 413
    assert len(endpoint.faults) == 2


def test_it_refuses_what_it_is_told_to_refuse(endpoint: PagerDuty) -> None:
    answers = iter([Answer(429, {"Retry-After": "1"}), Answer(503), Answer(None), None])
    endpoint.answer = lambda path, event: next(answers)
    assert [post(endpoint.url, alert())[0] for _ in range(2)] == [429, 503]
    with pytest.raises(http.client.RemoteDisconnected):
        post(endpoint.url, alert())
    assert endpoint.incidents == []
    assert post(endpoint.url, alert())[0] == 202
    assert endpoint.requests == [(ALERTS, 429), (ALERTS, 503), (ALERTS, 0), (ALERTS, 202)]
    assert endpoint.faults == []


def test_it_keeps_its_incidents_over_an_outage(endpoint: PagerDuty) -> None:
    post(endpoint.url, alert())
    endpoint.stop()
    with pytest.raises(urllib.error.URLError):
        post(endpoint.url, alert())
    endpoint.start()
    post(endpoint.url, alert("resolve"))
    assert [incident.resolved for incident in endpoint.incidents] == [True]
