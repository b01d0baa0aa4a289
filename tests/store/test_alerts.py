"""What alerting keeps, whatever database is under it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from aem_monitor.errors import LeaseLostError
from aem_monitor.store import Store
from aem_monitor.store.alerts import Decision, Incident, Lease, Notification
from aem_monitor.store.conversations import Keeping
from aem_monitor.store.outbox import ALERTING
from aem_monitor.store.records import RevisionKey
from tests.services.postgresql import PostgresqlServer
from tests.store.results import failing, run

FED = Keeping(sinks=(ALERTING,))
INCIDENT = Incident("key", 1, "reporting", 10.0, None, {"summary": "worse"})
NOTE = Notification("webhook", "key", "triggered", 10.0, {"summary": "worse"})


class AlertStoreContract:
    @pytest.fixture
    def store(self, url: str) -> Iterator[Store]:
        with Store(url, "a", FED) as store:
            yield store

    @pytest.fixture
    def lease(self, store: Store) -> Lease:
        lease = store.take_alert_lease("a", store.alert_lease())
        assert lease is not None
        return lease

    def test_of_two_who_saw_the_same_lease_one_gets_it(self, store: Store) -> None:
        assert store.alert_lease() is None
        first = store.take_alert_lease("a", None)
        assert first is not None
        assert store.take_alert_lease("b", None) is None
        assert store.take_alert_lease("b", first) == Lease("b", first.fence + 1, first.beat + 1)
        assert store.take_alert_lease("c", first) is None

    def test_a_lease_that_was_renewed_since_it_was_seen_is_not_taken(self, store: Store, lease: Lease) -> None:
        store.renew_alert_lease(lease)
        assert store.take_alert_lease("b", lease) is None
        assert store.take_alert_lease("b", store.alert_lease()) is not None

    def test_who_lost_the_lease_changes_nothing(self, store: Store, lease: Lease) -> None:
        store.record_final(run(), [], stored_at=10.0)
        store.decide(lease, Decision(notifications=[NOTE]))
        waiting = store.unsent("webhook")
        store.take_alert_lease("b", store.alert_lease())
        decision = Decision([RevisionKey("run-1", 1, 0)], {"x": b"1"}, [INCIDENT], [NOTE])
        with pytest.raises(LeaseLostError):
            store.decide(lease, decision)
        with pytest.raises(LeaseLostError):
            store.sent(lease, waiting[0])
        with pytest.raises(LeaseLostError):
            store.renew_alert_lease(lease)
        with pytest.raises(LeaseLostError):
            store.release_alert_lease(lease)
        assert (store.count_unobserved(), store.alert_states(), store.open_incidents()) == (1, {}, [])
        assert store.unsent("webhook", 10) == waiting

    def test_a_released_lease_has_no_holder(self, store: Store, lease: Lease) -> None:
        store.release_alert_lease(lease)
        left = store.alert_lease()
        assert left is not None
        assert left.holder == ""

    def test_detectors_wait_for_final_runs_of_reviewed_dialogs_once_each(self, store: Store) -> None:
        store.record_final(run("run-2"), [], stored_at=20.0)
        store.record_final(run("run-1"), [], stored_at=10.0)
        store.record_final(run("draft", draft=True), [], stored_at=5.0)
        store.record_revision(run("run-1", failing(1)), "late_span", stored_at=30.0)
        assert [one.key for one in store.unobserved(10)] == [RevisionKey("run-1", 1, 0), RevisionKey("run-2", 1, 0)]
        assert store.count_unobserved() == 2

    def test_runs_of_all_replicas_are_waited_for(self, url: str, store: Store) -> None:
        if store.in_memory:
            return
        store.record_final(run("run-1"), [], stored_at=10.0)
        with Store(url, "b", FED) as other:
            other.record_final(run("run-2"), [], stored_at=5.0)
            assert [one.key.run_id for one in store.unobserved(10)] == ["run-2", "run-1"]

    def test_a_decision_is_stored_with_the_verdicts_it_rests_on(self, store: Store, lease: Lease) -> None:
        store.record_final(run(), [], stored_at=10.0)
        (one,) = store.unobserved(10)
        store.decide(lease, Decision([one.key], {"x": b"\x001"}, [INCIDENT], [NOTE]))
        assert store.unobserved(10) == []
        assert store.alert_states() == {"x": b"\x001"}
        assert store.open_incidents() == [INCIDENT]
        (waiting,) = store.unsent("webhook")
        assert replace(waiting, position=-1) == NOTE
        assert store.count_unsent() == {"webhook": 1}
        store.decide(lease, Decision(states={"x": b"2"}))
        assert store.alert_states() == {"x": b"2"}

    def test_an_incident_that_is_over_stays_until_retention(self, store: Store, lease: Lease) -> None:
        over = replace(INCIDENT, resolved_at=20.0)
        store.decide(lease, Decision(incidents=[INCIDENT, replace(INCIDENT, number=2)]))
        store.decide(lease, Decision(incidents=[over]))
        assert [one.number for one in store.open_incidents()] == [2]
        assert (store.incident_number("key"), store.incident_number("none")) == (2, 0)
        assert len(store.incidents()) == 2
        store.retain(before=30.0)
        assert [one.number for one in store.incidents()] == [2], "what is open is never forgotten"

    def test_incidents_that_were_over_lately_are_listed_the_last_first(self, store: Store, lease: Lease) -> None:
        over = [replace(INCIDENT, number=number, resolved_at=10.0 * number) for number in (1, 2, 4, 3)]
        store.decide(lease, Decision(incidents=[*over, replace(INCIDENT, number=5)]))
        assert [one.number for one in store.resolved_incidents(since=20.0, limit=10)] == [4, 3, 2]
        assert [one.number for one in store.resolved_incidents(since=20.0, limit=2)] == [4, 3]

    def test_each_receiver_is_told_in_order_and_only_the_last_update(self, store: Store, lease: Lease) -> None:
        update = replace(NOTE, event="updated")
        last = replace(update, body={"summary": "worse still"})
        other = replace(NOTE, receiver="pagerduty")
        store.decide(lease, Decision(notifications=[NOTE, update, other, last, replace(NOTE, event="resolved")]))
        told = []
        while waiting := store.unsent("webhook"):
            told.append((waiting[0].event, waiting[0].body))
            store.sent(lease, waiting[0])
        assert told == [("triggered", NOTE.body), ("updated", last.body), ("resolved", NOTE.body)]
        assert store.count_unsent() == {"pagerduty": 1}

    def test_an_incident_does_not_wait_behind_changes(self, store: Store, lease: Lease) -> None:
        change = replace(NOTE, event="change")
        store.decide(lease, Decision(notifications=[change, change, NOTE, replace(NOTE, event="resolved")]))
        assert [one.event for one in store.unsent("webhook", 9)] == ["triggered", "resolved", "change", "change"]

    def test_who_is_no_longer_told_has_nothing_waiting(self, store: Store, lease: Lease) -> None:
        store.decide(lease, Decision(notifications=[NOTE, replace(NOTE, receiver="pagerduty")]))
        store.drop_unsent(lease, ["pagerduty", "alertmanager"])
        assert store.count_unsent() == {"pagerduty": 1}
        store.retain(before=NOTE.created_at)
        assert store.count_unsent() == {"pagerduty": 1}
        store.retain(before=NOTE.created_at + 1)
        assert store.count_unsent() == {}

    def test_names_that_no_database_takes_as_text_are_kept(self, store: Store, lease: Lease) -> None:
        odd = replace(INCIDENT, agent="a\x00\ud800", body={"agent": "a\x00\ud800"})
        store.decide(lease, Decision(incidents=[odd], notifications=[replace(NOTE, body=odd.body)]))
        assert store.open_incidents() == [odd]
        assert store.unsent("webhook")[0].body == odd.body


class TestInMemory(AlertStoreContract):
    @pytest.fixture
    def url(self) -> str:
        return "sqlite://"


class TestSqlite(AlertStoreContract):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.mark.service
class TestPostgresql(AlertStoreContract):
    @pytest.fixture
    def url(self, postgresql_server: PostgresqlServer) -> Iterator[str]:
        with postgresql_server.database() as url:
            yield url
