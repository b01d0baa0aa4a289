"""A lasting condition is said at once and then rarely."""

import logging

import pytest

from aem_monitor.ingest.complaints import Complaints


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def complaints(clock: Clock) -> Complaints:
    return Complaints(logging.getLogger("complaints"), 60.0, clock)


def test_repetitions_within_the_interval_are_counted_and_not_said(
    complaints: Complaints, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    complaints.complain("broker", "away")
    for _ in range(3):
        clock.now += 10
        complaints.complain("broker", "away")
    assert caplog.messages == ["away"]
    clock.now += 60
    complaints.complain("broker", "still away")
    assert caplog.messages == ["away", "still away (3 more like this since)"]


def test_kinds_do_not_silence_each_other(complaints: Complaints, caplog: pytest.LogCaptureFixture) -> None:
    complaints.complain("broker", "away")
    complaints.complain("topic", "missing")
    assert caplog.messages == ["away", "missing"]


def test_a_condition_that_ended_is_said_at_once_when_it_returns(
    complaints: Complaints, caplog: pytest.LogCaptureFixture
) -> None:
    complaints.complain("broker", "away")
    assert complaints.over("broker")
    assert not complaints.over("broker")
    complaints.complain("broker", "away again")
    assert caplog.messages == ["away", "away again"]
