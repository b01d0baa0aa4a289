"""Sessions that come to nothing are given up, and only those."""

import pytest
from kafka.errors import KafkaError

from aem_monitor.ingest.causes import Stall
from aem_monitor.ingest.kafka_membership import SAID_AFTER, Membership
from aem_monitor.ingest.kafka_settings import KafkaSettings

SETTINGS = KafkaSettings(("nowhere:9092",), max_poll_interval_seconds=100.0, session_timeout_seconds=20.0)


class Scene:
    def __init__(self) -> None:
        self.stalls: list[Stall] = []
        self.membership = Membership(SETTINGS, self.stalls.append)
        self.membership.begin(1000.0)
        self.heard_at = 1000.0

    def observe(self, now: float, *, able: bool = True, joined: bool = False) -> None:
        self.membership.observe(now, able=able, joined=joined, heard_at=self.heard_at)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_a_join_may_take_as_long_as_the_group_waits_for_its_slowest_member(scene: Scene) -> None:
    for now in range(1000, 1121):
        scene.observe(now)
    assert scene.stalls == []
    with pytest.raises(KafkaError, match="not joined within"):
        scene.observe(1121)
    assert scene.stalls == [Stall.NOT_JOINED]


def test_the_next_session_has_as_long_again_but_the_first_sentence_stands(scene: Scene) -> None:
    scene.observe(1000)
    with pytest.raises(KafkaError):
        scene.observe(1121)
    scene.membership.begin(1125)
    scene.observe(1126)
    scene.observe(1240)
    assert scene.stalls == [Stall.NOT_JOINED]
    assert scene.membership.problem(1240) == (
        "Kafka answers, and has not let this replica into group aem-monitor for 240 seconds"
    )
    scene.heard_at = 1241
    scene.observe(1241, joined=True)
    assert scene.membership.problem(1400) is None


def test_a_rebalance_is_not_said_before_it_is_long(scene: Scene) -> None:
    scene.observe(1000)
    assert scene.membership.problem(1000 + SAID_AFTER) is None
    assert scene.membership.problem(1001 + SAID_AFTER) is not None


def test_brokers_that_are_away_are_waited_for(scene: Scene) -> None:
    for now in range(1000, 5000, 10):
        scene.observe(now, able=False)
    assert scene.membership.problem(5000) is None
    scene.observe(5100)
    assert scene.stalls == []


def test_a_member_that_is_not_heard_any_more_joins_anew(scene: Scene) -> None:
    scene.observe(1040, joined=True)
    with pytest.raises(KafkaError, match="heartbeat"):
        scene.observe(1041, joined=True)
    assert scene.stalls == [Stall.NO_HEARTBEAT]


def test_what_is_not_heard_while_brokers_are_away_is_no_reason(scene: Scene) -> None:
    scene.observe(2000, able=False, joined=True)
    assert scene.stalls == []
