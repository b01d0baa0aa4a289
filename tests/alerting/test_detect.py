"""What runs show: spikes, regressions and drift, each once, and when they are over."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from aem_monitor.alerting.detect import Detectors, Settings, StateError
from aem_monitor.alerting.observed import (
    SEVERAL,
    Cause,
    Event,
    Explained,
    Kind,
    Observed,
    Opened,
    Resolved,
    Signature,
    Why,
)
from aem_monitor.model.verdict import FailureReason

WRONG_ORDER = Cause("tool_mismatch", "orders")
WRONG_USER = Cause("tool_mismatch", "users")
WRONG_VALUE = Cause("inconsistent_parameter_values", "orders")


class Agent:
    """An agent whose runs, one each 36 seconds, fail as the test says."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.detectors = Detectors(settings or Settings())
        self.random = random.Random(7)
        self.at = 1_790_000_000.0

    def play(
        self,
        count: int,
        failing: float = 0.1,
        causes: Sequence[Cause] = (WRONG_VALUE, WRONG_ORDER),
        release: str = "1",
        agent: str = "shop",
    ) -> list[Event]:
        """So many runs; a failing one has one of the causes. What was told meanwhile."""
        told: list[Event] = []
        for number in range(count):
            self.at += 36
            failed = self.random.random() < failing
            found = frozenset({self.random.choice(causes)}) if failed and causes else frozenset[Cause]()
            run = Observed(agent, release, "m", f"d{number % 5}", self.at, not failed, found)
            told += self.detectors.observe(run)
        return told


def _opened(events: Sequence[Event]) -> list[Signature]:
    return [event.signature for event in events if isinstance(event, Opened)]


@pytest.fixture
def agent() -> Agent:
    found = Agent()
    assert _opened(found.play(1000)) == []
    return found


def test_nothing_is_said_before_there_is_anything_to_compare_with() -> None:
    assert Agent().play(300, failing=0.9) == []


def test_a_root_cause_that_becomes_frequent_is_one_incident(agent: Agent) -> None:
    events = agent.play(150, 0.3, [WRONG_ORDER])
    assert _opened(events) == [Signature(Kind.ROOT_CAUSE_SPIKE, "shop", "1", "tool_mismatch", "orders")]
    opened = next(event for event in events if isinstance(event, Opened))
    finding = opened.finding
    assert finding.log_evidence >= finding.log_threshold
    assert finding.seen_rate == finding.failed / finding.runs
    assert finding.tools == {"orders": finding.failed}
    assert 0.02 < finding.expected_rate < 0.1 < finding.seen_rate
    assert list(agent.detectors.open) == [opened.signature]


def test_a_swap_that_breaks_several_tools_is_one_incident(agent: Agent) -> None:
    events = agent.play(300, 0.4, [WRONG_ORDER, WRONG_USER])
    assert _opened(events) == [Signature(Kind.ROOT_CAUSE_SPIKE, "shop", "1", "tool_mismatch", SEVERAL)]


def test_failing_runs_are_the_symptom_of_a_spike(agent: Agent) -> None:
    events = agent.play(300, 0.4, [WRONG_ORDER])
    assert len(_opened(events)) == 1
    told = [event for event in events if isinstance(event, Explained)]
    assert [(event.also, event.cause) for event in told] == [(Kind.DRIFT, None)]


def test_two_root_causes_are_two_incidents(agent: Agent) -> None:
    events = agent.play(300, 0.5, [WRONG_VALUE, WRONG_ORDER])
    assert len(_opened(events)) == 2
    explained = {event.cause.reason for event in events if isinstance(event, Explained) and event.cause}
    assert {one.reason for one in _opened(events)} - {""} | explained == {WRONG_VALUE.reason, WRONG_ORDER.reason}


def test_runs_that_fail_for_no_one_reason_are_drift() -> None:
    many = [Cause(reason, "") for reason in FailureReason if reason != FailureReason.PRIOR_ACTION_FAILED]
    agent = Agent()
    agent.play(1500, 0.1, many)
    events = agent.play(200, 0.3, many)
    assert _opened(events)[0] == Signature(Kind.DRIFT, "shop", "1")


def test_a_worse_release_is_one_incident_and_its_cause_is_told_when_known(agent: Agent) -> None:
    events = agent.play(400, 0.3, [WRONG_ORDER, WRONG_VALUE, WRONG_VALUE, WRONG_VALUE], release="2")
    assert _opened(events) == [Signature(Kind.RELEASE_REGRESSION, "shop", "2")]
    causes = [event.cause for event in events if isinstance(event, Explained) and event.cause is not None]
    assert causes == [WRONG_VALUE]


def test_a_new_release_that_breaks_at_once_is_a_regression_whatever_finds_it_first() -> None:
    # With a past without failures a few runs say it, before those of the release are enough to compare.
    many = [Cause(reason, "") for reason in FailureReason if reason != FailureReason.PRIOR_ACTION_FAILED]
    agent = Agent()
    agent.play(250, 0.0, many)
    events = agent.play(30, 0.6, many, release="2")
    assert _opened(events) == [Signature(Kind.RELEASE_REGRESSION, "shop", "2")]


def test_a_release_as_good_as_the_one_before_is_none(agent: Agent) -> None:
    assert agent.play(1500, 0.1, release="2") == []


def test_a_rollback_ends_it(agent: Agent) -> None:
    agent.play(100, 0.5, release="2")
    open_before = list(agent.detectors.open)
    assert open_before
    events = agent.play(60, 0.1)
    assert {(event.signature, event.why) for event in events if isinstance(event, Resolved)} == {
        (one, Why.SUPERSEDED) for one in open_before
    }
    assert not agent.detectors.open
    assert _opened(agent.play(500, 0.1)) == [], "what was bad is no measure"
    assert _opened(agent.play(100, 0.5, release="2")), "should it come back, it is found again"


def test_a_fault_that_is_mended_ends_by_itself(agent: Agent) -> None:
    agent.play(150, 0.4, [WRONG_ORDER])
    assert agent.detectors.open
    events = agent.play(400, 0.1)
    assert [event.why for event in events if isinstance(event, Resolved)] == [Why.RECOVERED]
    assert _opened(events) == []


def test_a_fault_that_goes_on_does_not_end_and_is_told_once(agent: Agent) -> None:
    events = agent.play(600, 0.4, [WRONG_ORDER])
    assert len(_opened(events)) == 1
    assert not [event for event in events if isinstance(event, Resolved)]


def test_silence_ends_nothing(agent: Agent) -> None:
    agent.play(150, 0.4, [WRONG_ORDER])
    agent.at += 86400
    assert agent.play(1, 0.0) == []
    assert agent.detectors.open


def test_what_went_wrong_is_not_learnt_as_usual(agent: Agent) -> None:
    agent.play(1500, 0.4, [WRONG_ORDER])
    events = agent.play(400, 0.1)
    assert [event.why for event in events if isinstance(event, Resolved)] == [Why.RECOVERED]


def test_undecided_runs_are_neither_good_nor_bad() -> None:
    agent = Agent()
    for number in range(1000):
        agent.at += 36
        passed = None if number % 2 else number % 20 != 0
        agent.detectors.observe(Observed("shop", "1", "m", "d", agent.at, passed))
    told = []
    for _ in range(300):
        agent.at += 36
        told += agent.detectors.observe(Observed("shop", "1", "m", "d", agent.at, None))
    assert told == []


def test_agents_do_not_mix(agent: Agent) -> None:
    agent.play(1000, 0.1, agent="bank")
    events = agent.play(200, 0.5, [WRONG_ORDER], agent="bank")
    assert {one.agent for one in _opened(events)} == {"bank"}


def test_the_next_process_goes_on_where_the_last_one_was(agent: Agent) -> None:
    again = Agent()
    again.at = agent.at
    again.random.setstate(agent.random.getstate())
    again.detectors = Detectors(Settings(), agent.detectors.state())
    for one in (100, 60, 300):
        for release, failing in (("1", 0.1), ("2", 0.4)):
            assert agent.play(one, failing, release=release) == again.play(one, failing, release=release)
            again.detectors = Detectors(Settings(), again.detectors.state())
    assert agent.detectors.state() == again.detectors.state()
    assert agent.detectors.open == again.detectors.open


def test_a_state_of_another_version_is_refused() -> None:
    state = Agent().detectors.state()
    with pytest.raises(StateError, match="cannot be read"):
        Detectors(Settings(), state.replace(b'"version":1', b'"version":2'))
    with pytest.raises(StateError, match="cannot be read"):
        Detectors(Settings(), b"{")


def test_what_is_found_at_once_is_told_in_the_same_order_by_every_process(agent: Agent) -> None:
    both = frozenset({Cause("missing_parameters", "orders"), Cause("extra_parameters", "orders")})
    events: list[Event] = []
    while not events:
        agent.at += 36
        events = agent.detectors.observe(Observed("shop", "1", "m", "d0", agent.at, None, both))
    assert [one.reason for one in _opened(events)] == ["extra_parameters", "missing_parameters"]


def test_less_error_borne_waits_for_more() -> None:
    bold, careful = Agent(), Agent(replace(Settings(), false_pages=0.001))
    found = []
    for one in (bold, careful):
        one.play(1000)
        events = one.play(400, 0.3, [WRONG_ORDER])
        found.append(next(event.at for event in events if isinstance(event, Opened)))
    assert found[0] < found[1]


def test_what_is_remembered_is_bounded() -> None:
    agent = Agent()
    for number in range(30):
        agent.play(30, 0.5, [Cause("tool_mismatch", f"tool-{number}")], release=f"r{number}", agent=f"a{number % 2}")
    size = len(agent.detectors.state())
    for number in range(30, 60):
        agent.play(30, 0.5, [Cause("tool_mismatch", f"tool-{number}")], release=f"r{number}", agent=f"a{number % 2}")
    assert len(agent.detectors.state()) < 1.3 * size
