"""From stored verdicts to those who are told: once, whoever decides, whatever dies meanwhile."""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from aem_monitor.alerting.deciding import MOST_CHANGES, Told
from aem_monitor.alerting.http import Poster, Target
from aem_monitor.alerting.notification import About
from aem_monitor.alerting.receivers import Alertmanager
from aem_monitor.alerting.sending import Limits
from aem_monitor.alerting.service import Alerting, AlertingSettings
from aem_monitor.errors import NotifyError, StoreError
from aem_monitor.metrics.registry import Metrics
from aem_monitor.store import Store
from aem_monitor.store.alerts import Decision, Lease, Notification
from aem_monitor.store.conversations import Keeping
from aem_monitor.store.outbox import ALERTING
from tests.alerting.answering import Receiving
from tests.alerting.runs import SETTINGS, Agent, teach
from tests.services.postgresql import PostgresqlServer

FED = Keeping(sinks=(ALERTING,))
WALL = 1_790_100_000.0


class Killed(BaseException):
    """The process ends here."""


class Receiver:
    """Keeps what it is told, unless it is told to fail."""

    def __init__(self, name: str = "webhook") -> None:
        self.name = name
        self.told: list[Mapping[str, Any]] = []
        self.fails: NotifyError | None = None
        self.dies_before = self.dies_after = False

    def send(self, body: Mapping[str, Any]) -> None:
        if self.dies_before:
            raise Killed
        if self.fails is not None:
            raise self.fails
        self.told.append(body)
        if self.dies_after:
            raise Killed

    @property
    def events(self) -> list[str]:
        return [str(body["event"]) for body in self.told]


class Process:
    """One replica, whose clocks a test turns."""

    def __init__(self, store: Store, *receivers: Any, **limits: Any) -> None:
        self.now, self.wall = 1000.0, WALL
        self.metrics = Metrics(CollectorRegistry())
        told = Told(About("tests"), tuple(one.name for one in receivers), None, "https://aem.example")
        settings = AlertingSettings(told, SETTINGS, Limits(**limits), lease=30.0)
        self.alerting = Alerting(
            settings, receivers, store, self.metrics, clock=lambda: self.now, wall=lambda: self.wall
        )

    def rounds(self, count: int = 6, seconds: float = 1.0) -> None:
        for _ in range(count):
            self.alerting.round()
            self.now += seconds
            self.wall += seconds

    def takes_over(self) -> None:
        """Wait for as long as a dead one may give no sign."""
        self.rounds(2, 31.0)

    def notified(self, result: str, receiver: str = "webhook") -> float:
        return self.metrics.counter("aem_monitor_alerting_notifications_total", receiver=receiver, result=result).value


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(f"sqlite:///{tmp_path / 'store.db'}", "a", FED) as store:
        teach(store)
        yield store


@pytest.fixture
def agent(store: Store) -> Agent:
    return Agent(store)


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def process(store: Store, receiver: Receiver) -> Process:
    return Process(store, receiver)


def test_runs_that_pass_tell_nobody_anything(process: Process, receiver: Receiver, agent: Agent, store: Store) -> None:
    process.rounds(2)
    agent.passes(30)
    process.rounds()
    assert store.count_unobserved() == 0
    assert receiver.events == []
    assert process.metrics.counter("aem_monitor_alerting_runs_total", result="observed").value == 30


def test_a_spike_is_told_once_with_its_evidence_and_again_when_it_is_over(
    process: Process, receiver: Receiver, agent: Agent, store: Store
) -> None:
    agent.fails(30)
    process.rounds(20)
    (triggered,) = receiver.told
    assert (triggered["event"], triggered["kind"], triggered["severity"]) == (
        "triggered",
        "root_cause_spike",
        "critical",
    )
    assert (triggered["agent"], triggered["release"], triggered["reason"]) == ("reporting", "1.0.0", "tool_mismatch")
    example = triggered["evidence"]["examples"][0]
    assert (example["dialog"], example["dialog_version"], example["turn"]) == ("sales-report", 1, 2)
    assert (example["tool"], example["called"], example["field"]) == (
        "reports.FilterData",
        "reports.SortData",
        "region",
    )
    assert example["run_link"].startswith("https://aem.example/runs/")
    assert len(store.open_incidents()) == 1
    agent.passes(150)
    process.rounds(20)
    assert receiver.events == ["triggered", "resolved"]
    assert receiver.told[1]["dedup_key"] == triggered["dedup_key"]
    assert receiver.told[1]["why"] == "recovered"
    assert store.open_incidents() == []
    assert process.notified("sent") == 2


def test_a_process_after_another_says_nothing_twice_and_ends_what_is_over(
    process: Process, receiver: Receiver, agent: Agent, store: Store
) -> None:
    agent.fails(30)
    process.rounds(20)
    after = Process(store, receiver)
    after.takes_over()
    after.rounds(20)
    assert receiver.events == ["triggered"]
    agent.passes(150)
    after.rounds(20)
    assert receiver.events == ["triggered", "resolved"]
    assert len({body["dedup_key"] for body in receiver.told}) == 1


@pytest.mark.parametrize(("moment", "told"), [("dies_before", 1), ("dies_after", 2)])
def test_a_process_that_dies_while_it_sends_loses_nothing_and_repeats_the_same(
    store: Store, agent: Agent, moment: str, told: int
) -> None:
    receiver = Receiver()
    dying = Process(store, receiver)
    agent.fails(30)
    setattr(receiver, moment, True)
    with pytest.raises(Killed):
        dying.rounds(20)
    setattr(receiver, moment, False)
    after = Process(store, receiver)
    after.takes_over()
    after.rounds(20)
    assert receiver.events == ["triggered"] * told
    assert all(body == receiver.told[0] for body in receiver.told)


def test_a_decision_that_could_not_be_stored_is_made_again(
    process: Process, receiver: Receiver, agent: Agent, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    process.rounds(1, 5.0)

    def full(lease: Lease, decision: Decision) -> None:
        raise StoreError("the disk is full", reason="full")

    agent.fails(30)
    with monkeypatch.context() as patched:
        patched.setattr(store, "decide", full)
        process.rounds(3, 5.0)
        assert process.metrics.counter("aem_monitor_store_errors_total", reason="full").value == 3
    process.rounds(20)
    assert receiver.events.count("triggered") == 1
    assert store.count_unobserved() == 0


def test_what_was_sent_while_the_store_could_not_note_it_is_not_sent_again(
    process: Process, receiver: Receiver, agent: Agent, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(lease: Lease, notification: Notification) -> None:
        raise StoreError("the disk is full", reason="full")

    agent.fails(30)
    with monkeypatch.context() as patched:
        patched.setattr(store, "sent", full)
        process.rounds(20)
    process.rounds()
    assert receiver.events == ["triggered"]
    assert store.count_unsent() == {}


# Who decides


def test_of_two_replicas_one_tells(store: Store, agent: Agent, receiver: Receiver) -> None:
    first, second = Process(store, receiver), Process(store, receiver)
    agent.fails(30)
    for _ in range(20):
        first.rounds(1)
        second.rounds(1)
    assert receiver.events == ["triggered"]
    held = [
        {family.name: family.samples for family in one.metrics.registry.collect()}["aem_monitor_alerting_lease_held"][
            0
        ].value
        for one in (first, second)
    ]
    assert held == [1.0, 0.0]


def test_a_thread_that_hangs_shows_that_nobody_decides(process: Process) -> None:
    def held() -> float:
        return {family.name: family.samples for family in process.metrics.registry.collect()}[
            "aem_monitor_alerting_lease_held"
        ][0].value

    process.rounds(1)
    assert held() == 1.0
    process.now += 31.0
    assert held() == 0.0


def test_who_takes_over_ends_what_the_other_began(store: Store, agent: Agent, receiver: Receiver) -> None:
    first, second = Process(store, receiver), Process(store, receiver)
    agent.fails(30)
    first.rounds(20)
    second.takes_over()
    agent.passes(150)
    for _ in range(20):
        second.rounds(1)
        first.rounds(1)
    assert receiver.events == ["triggered", "resolved"]


def test_one_that_was_held_up_tells_nothing_once_another_has_taken_over(
    store: Store, agent: Agent, caplog: pytest.LogCaptureFixture
) -> None:
    mine, theirs = Receiver(), Receiver()
    first, second = Process(store, mine), Process(store, theirs)
    mine.fails = NotifyError("away", reason="unreachable")
    agent.fails(30)
    first.rounds(5)
    second.takes_over()
    second.rounds(20)
    mine.fails = None
    first.now += 1000.0
    first.rounds(20)
    assert (mine.events, theirs.events) == ([], ["triggered"])
    assert "Another replica decides" in caplog.text


def test_a_clock_of_the_wall_that_jumps_changes_neither_the_lease_nor_what_waits(
    store: Store, agent: Agent, receiver: Receiver
) -> None:
    first, second = Process(store, receiver), Process(store, receiver)
    receiver.fails = NotifyError("away", reason="unreachable")
    agent.fails(30)
    first.rounds(10)
    for process in (first, second):
        process.wall += 10 * 86400.0
    second.rounds(10)
    receiver.fails = None
    first.now += 400.0
    first.rounds(10)
    second.rounds(3)
    first.wall -= 20 * 86400.0
    first.rounds(10)
    assert receiver.events == ["triggered"]
    assert first.notified("expired") == 0


def test_a_process_that_stops_lets_another_decide_at_once(store: Store, agent: Agent, receiver: Receiver) -> None:
    first, second = Process(store, receiver), Process(store, receiver)
    first.rounds(1)
    first.alerting.start()
    first.alerting.stop(30.0)
    agent.fails(30)
    second.rounds(20)
    assert receiver.events == ["triggered"]


@pytest.mark.service
def test_two_replicas_on_postgresql_tell_once_of_the_runs_of_both(postgresql_server: PostgresqlServer) -> None:
    with (
        postgresql_server.database() as url,
        Store(url, "a", FED) as one,
        Store(url, "b", FED) as other,
    ):
        teach(one)
        receiver = Receiver()
        first, second = Process(one, receiver), Process(other, receiver)
        mine, theirs = Agent(one), Agent(other)
        for _ in range(15):
            theirs.at = mine.at
            mine.fails(1)
            mine.at += 36.0
            theirs.at = mine.at
            theirs.fails(1)
        for _ in range(10):
            first.rounds(1)
            second.rounds(1)
        assert receiver.events == ["triggered"]
        assert one.count_unobserved() == 0
        second.takes_over()
        mine.at = theirs.at
        mine.passes(150)
        for _ in range(20):
            first.rounds(1)
            second.rounds(1)
        assert receiver.events == ["triggered", "resolved"]


# Receivers that fail


def test_a_receiver_that_is_away_is_told_later_and_keeps_no_other_waiting(
    store: Store, agent: Agent, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    away, there = Receiver("pagerduty"), Receiver("webhook")
    away.fails = NotifyError("https://events.pagerduty.com does not answer", reason="unreachable")
    process = Process(store, away, there)
    agent.fails(30)
    process.rounds(60)
    assert (away.events, there.events) == ([], ["triggered"])
    assert 2 <= process.notified("failed", "pagerduty") < 10, "pauses grow"
    assert store.count_unsent() == {"pagerduty": 1}
    away.fails = None
    process.rounds(3, 400.0)
    assert away.events == ["triggered"]
    assert caplog.text.count("The receiver pagerduty failed") == 1
    assert "answers again" in caplog.text


def test_a_wish_of_the_receiver_is_heeded(store: Store, agent: Agent, receiver: Receiver) -> None:
    process = Process(store, receiver)
    receiver.fails = NotifyError("too many", reason="overloaded", retry_after=120.0)
    agent.fails(30)
    process.rounds(100)
    assert process.notified("failed") == 1


def test_what_a_receiver_refuses_for_good_is_sent_once_and_named_in_the_log(
    process: Process, receiver: Receiver, agent: Agent, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.fails = NotifyError("400: invalid", reason="rejected", final=True)
    agent.fails(30)
    process.rounds(60)
    assert process.notified("rejected") == 1
    assert store.count_unsent() == {}
    assert "will never be told" in caplog.text


def test_what_nobody_took_for_a_day_is_dropped(store: Store, agent: Agent, receiver: Receiver) -> None:
    process = Process(store, receiver, give_up=3600.0)
    receiver.fails = NotifyError("away", reason="unreachable")
    agent.fails(30)
    process.wall = agent.at
    process.rounds(30, 200.0)
    assert process.notified("expired") == 1
    assert store.count_unsent() == {}


def test_no_receiver_is_told_more_often_than_it_should_be(store: Store, receiver: Receiver, agent: Agent) -> None:
    process = Process(store, receiver, per_hour=60.0)
    process.rounds(1)
    for number in range(15):
        store.note_release("reporting", f"2.{number}", "m", WALL)
    process.rounds(20)
    assert receiver.events == ["change"] * 5, "half of the burst is kept for incidents"
    agent.fails(30)
    process.rounds(10)
    assert receiver.events == ["change"] * 5 + ["triggered"]
    process.rounds(15, 60.0)
    assert receiver.events.count("change") == 15


def test_changes_that_take_turns_are_no_sign_of_a_receiver_that_fails(store: Store, receiver: Receiver) -> None:
    def oldest(process: Process) -> list[float]:
        families = {family.name: family.samples for family in process.metrics.registry.collect()}
        samples = families.get("aem_monitor_alerting_oldest_notification_timestamp_seconds", [])
        return [sample.value for sample in samples]

    process = Process(store, receiver, per_hour=1.0)
    process.rounds(1)
    for number in range(15):
        store.note_release("reporting", f"2.{number}", "m", WALL)
    process.rounds(20)
    assert (len(receiver.told), oldest(process)) == (5, [])
    receiver.fails = NotifyError("away", reason="unreachable")
    process.rounds(3, 3600.0)
    assert oldest(process) == [WALL]


def test_of_names_that_are_new_with_every_run_some_are_told(
    store: Store, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    process = Process(store, receiver, per_hour=3600.0)
    process.rounds(1)
    for number in range(60):
        store.note_release("reporting", f"2.{number}", "m", WALL)
    process.rounds(30, 16.0)
    assert receiver.events == ["change"] * MOST_CHANGES
    assert "60 releases or models are new at once" in caplog.text


# Changes


def test_a_release_is_told_when_it_is_first_seen_and_those_before_are_not(store: Store, receiver: Receiver) -> None:
    store.note_release("reporting", "1.0.0", "small-1", WALL)
    process = Process(store, receiver)
    process.rounds(3)
    assert receiver.events == []
    store.note_release("reporting", "1.0.0", "small-2", WALL)
    process.rounds(3, 10.0)
    store.note_release("reporting", "1.0.0", "small-2", WALL + 50)
    after = Process(store, receiver)
    after.takes_over()
    after.rounds(3, 10.0)
    (told,) = receiver.told
    assert (told["event"], told["agent"], told["release"], told["model"]) == ("change", "reporting", "1.0.0", "small-2")


def test_alertmanager_is_not_told_of_changes_and_again_and_again_of_what_is_open(
    store: Store, agent: Agent, receiving: Receiving
) -> None:
    alertmanager = Alertmanager(Poster(Target(receiving.url, "k")), {"job": "aem-monitor"}, 300.0)
    process = Process(store, alertmanager)
    process.rounds(1)
    store.note_release("reporting", "2.0.0", "m", WALL)
    agent.fails(30)
    process.rounds(10)
    first = len(receiving.requests)
    assert first >= 1
    process.rounds(10, 76.0)
    assert len(receiving.requests) >= first + 9
    alerts = [request.json[0] for request in receiving.requests]
    assert len({str(alert["labels"]) for alert in alerts}) == 1
    assert all(alert["labels"]["alertname"] == "AemRootCauseSpike" for alert in alerts)


# What is lost


def test_a_state_that_cannot_be_read_ends_what_was_open_and_is_said(
    process: Process, receiver: Receiver, agent: Agent, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    agent.fails(30)
    process.rounds(20)
    process.alerting.start()
    process.alerting.stop(30.0)
    lease = store.take_alert_lease("other", store.alert_lease())
    assert lease is not None
    store.decide(lease, Decision(states={"detectors": b"{"}))
    store.release_alert_lease(lease)
    after = Process(store, receiver)
    after.rounds(5)
    assert receiver.events == ["triggered", "resolved"]
    assert "begin anew" in caplog.text
    assert store.open_incidents() == []


def test_a_damaged_run_is_counted_and_holds_up_none(
    process: Process, agent: Agent, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any) -> None:
        raise ZeroDivisionError

    agent.passes(3)
    with monkeypatch.context() as patched:
        patched.setattr("aem_monitor.alerting.deciding.observed", broken)
        process.rounds(2)
    agent.passes(2)
    process.rounds(2, 5.0)
    counter = process.metrics.counter
    assert counter("aem_monitor_alerting_runs_total", result="defect").value == 3
    assert counter("aem_monitor_alerting_runs_total", result="observed").value == 2
