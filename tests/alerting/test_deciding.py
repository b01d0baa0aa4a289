"""What follows from what the detectors say: incidents as they are kept, and who is told of them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from aem_monitor.alerting.deciding import Deciding, Told
from aem_monitor.alerting.detect import Detectors
from aem_monitor.alerting.notification import About
from aem_monitor.alerting.observed import Cause, Event, Explained, Finding, Kind, Opened, Resolved, Signature, Why
from aem_monitor.store import Store
from aem_monitor.store.alerts import Decision, Lease
from aem_monitor.store.conversations import Keeping
from aem_monitor.store.outbox import ALERTING
from aem_monitor.store.redaction import Redaction
from tests.alerting.runs import SETTINGS, START, Agent

FINDING = Finding(0.02, 0.75, 3, 4, 9.1, 8.5, {})
REGRESSION = Signature(Kind.RELEASE_REGRESSION, "reporting", "1.0.0")
SPIKE = Signature(Kind.ROOT_CAUSE_SPIKE, "reporting", "1.0.0", "tool_mismatch", "reports.FilterData")
CAUSE = Cause("tool_mismatch", "reports.FilterData")
TOLD = Told(About("tests"), ("pagerduty", "alertmanager"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    redaction = Redaction.of(fields=["region"])
    with Store(f"sqlite:///{tmp_path / 'store.db'}", "a", Keeping(sinks=(ALERTING,), redaction=redaction)) as store:
        yield store


@pytest.fixture
def lease(store: Store) -> Lease:
    lease = store.take_alert_lease("a", None)
    assert lease is not None
    return lease


def decide(store: Store, monkeypatch: pytest.MonkeyPatch, events: Sequence[Event], lease: Lease) -> Decision:
    """What is decided, and stored, when the detectors say that of one run."""
    Agent(store).fails(1)
    with monkeypatch.context() as patched:
        patched.setattr(Detectors, "observe", lambda detectors, run: list(events))
        decision, _ = Deciding(store, SETTINGS, TOLD).observe(store.unobserved(1))
    store.decide(lease, decision)
    return decision


def told(decision: Decision) -> list[tuple[str, str]]:
    return [(one.receiver, one.event) for one in decision.notifications]


def test_a_cause_that_becomes_known_later_is_told_with_its_evidence(
    store: Store, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(store, monkeypatch, [Opened(REGRESSION, START, FINDING)], lease)
    explained = Explained(REGRESSION, START + 60, CAUSE, Kind.ROOT_CAUSE_SPIKE, FINDING)
    decision = decide(store, monkeypatch, [explained], lease)
    assert told(decision) == [("pagerduty", "updated"), ("alertmanager", "updated")]
    (incident,) = store.open_incidents()
    assert incident.body["also"] == [
        {"kind": "root_cause_spike", "reason": "tool_mismatch", "tool": "reports.FilterData"}
    ]
    assert incident.body["evidence"]["runs"] == 2
    assert incident.body["kind"] == "release_regression", "it is the same incident"


def test_what_follows_from_a_known_cause_is_kept_and_not_told(
    store: Store, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(store, monkeypatch, [Opened(SPIKE, START, FINDING)], lease)
    drift = Explained(SPIKE, START + 60, None, Kind.DRIFT, FINDING)
    decision = decide(store, monkeypatch, [drift, drift], lease)
    assert told(decision) == []
    (incident,) = store.open_incidents()
    assert incident.body["also"] == [{"kind": "drift", "reason": None, "tool": None}]
    decision = decide(store, monkeypatch, [Resolved(SPIKE, START + 120, Why.RECOVERED)], lease)
    assert told(decision) == [("pagerduty", "resolved"), ("alertmanager", "resolved")]
    assert store.open_incidents() == []


def test_an_incident_becomes_as_severe_as_the_worst_of_it(
    store: Store, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    drift = Signature(Kind.DRIFT, SPIKE.agent, SPIKE.release)
    cause = Cause(SPIKE.reason, SPIKE.tool)
    decide(store, monkeypatch, [Opened(drift, START, FINDING)], lease)
    assert [one.body["severity"] for one in store.open_incidents()] == ["warning"]
    decision = decide(store, monkeypatch, [Explained(drift, START + 60, cause, Kind.ROOT_CAUSE_SPIKE, FINDING)], lease)
    assert told(decision) == [("pagerduty", "updated"), ("alertmanager", "updated")]
    assert [one.body["severity"] for one in store.open_incidents()] == ["critical"]
    decide(store, monkeypatch, [Explained(drift, START + 90, None, Kind.DRIFT, FINDING)], lease)
    assert [one.body["severity"] for one in store.open_incidents()] == ["critical"]


def test_the_same_fault_again_is_another_incident_with_the_same_key(
    store: Store, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, over = Opened(SPIKE, START, FINDING), Resolved(SPIKE, START + 60, Why.RECOVERED)
    decision = decide(store, monkeypatch, [opened, over, opened, over], lease)
    again = decide(store, monkeypatch, [opened], lease)
    incidents = [*decision.incidents, *again.incidents]
    assert [one.number for one in incidents] == [1, 2, 3]
    assert len({one.dedup_key for one in incidents}) == 1
    assert [one.number for one in store.open_incidents()] == [3]


def test_an_end_of_what_was_never_begun_is_told_nobody(
    store: Store, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    decision = decide(store, monkeypatch, [Resolved(SPIKE, START, Why.RECOVERED)], lease)
    assert (told(decision), list(decision.incidents)) == ([], [])


def test_what_may_not_be_stored_is_not_told(store: Store, lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    decision = decide(store, monkeypatch, [Opened(SPIKE, START, FINDING)], lease)
    (example,) = decision.notifications[0].body["evidence"]["examples"]
    assert "EU" not in str(decision.notifications)
    assert "redacted" in example["expected"]
    assert "redacted" in example["got"]


def test_under_another_name_of_the_installation_what_is_open_is_told_anew(store: Store, lease: Lease) -> None:
    Agent(store).fails(1)
    detectors = Deciding(store, SETTINGS, TOLD)
    detectors._detectors = _Open()  # type: ignore[assignment]
    begun = detectors.agree(START)
    assert begun is not None
    assert told(begun) == [("pagerduty", "triggered"), ("alertmanager", "triggered")]
    store.decide(lease, begun)
    renamed = Deciding(store, SETTINGS, Told(About("another"), ("pagerduty",)))
    renamed._detectors = _Open()  # type: ignore[assignment]
    anew = renamed.agree(START + 60)
    assert anew is not None
    assert told(anew) == [("pagerduty", "resolved"), ("pagerduty", "triggered")]
    store.decide(lease, anew)
    settled = Deciding(store, SETTINGS, Told(About("another"), ("pagerduty",)))
    settled._detectors = _Open()  # type: ignore[assignment]
    assert settled.agree(START + 120) is None


class _Open:
    """Detectors that know of one incident."""

    open: Mapping[Signature, Finding] = MappingProxyType({SPIKE: FINDING})
