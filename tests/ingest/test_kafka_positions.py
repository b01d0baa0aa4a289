"""What the Kafka source does with the messages of partitions that are not where they were."""

import math
from collections.abc import Iterable, Sequence
from typing import cast

import pytest
from kafka import TopicPartition
from kafka.errors import KafkaTimeoutError

from aem_monitor.ingest.batch import Partition, PartitionsAssigned, PartitionsHeldBack, PartitionsRevoked
from aem_monitor.ingest.kafka import KafkaSource
from aem_monitor.ingest.kafka_connection import KafkaConnection
from aem_monitor.ingest.kafka_group import Assigned, GroupEvents
from aem_monitor.ingest.kafka_poison import PassedOver
from aem_monitor.ingest.kafka_settings import KafkaSettings, KafkaTopic
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from tests.ingest.kafka_engine import Queue, message, said


class Record:
    """A message as the client hands it over."""

    def __init__(self, offset: int) -> None:
        self.topic, self.partition, self.offset = "spans", 0, offset
        self.timestamp = 0
        self.key: bytes | None = None
        self.headers: Sequence[tuple[str, bytes | None]] = ()
        self.value: bytes | None = message()


def test_a_partition_that_went_back_is_lost_and_gained_before_its_messages(caplog: pytest.LogCaptureFixture) -> None:
    queue = Queue()
    settings = KafkaSettings(("nowhere:9092",), topics=(KafkaTopic("spans"),))
    source = KafkaSource(settings, Limits(), Prefilter(["gen_ai."]), queue.submit, lambda cause, number: None)
    place = ("spans", 0)
    source._apply(source._ownership.apply(Assigned(frozenset({place}), 1)))
    source._waiting.extend(Record(offset) for offset in (5, 6, 0))
    source._deliver(5.0)
    assert queue.offsets(place) == [5, 6, 0]
    assert queue.items[3:5] == [PartitionsRevoked("kafka", (place,)), PartitionsAssigned("kafka", (place,))]
    source.release({place: 1})
    assert source._progress.committable() == {place: 1}
    (line,) = said(caplog)
    assert "went back from offset 7 to 0" in line


class GenerationMissed:
    """A connection whose next poll tells of a generation that was missed, and still returns what it had fetched."""

    connected = True
    replaced = False
    heard_at = math.inf

    def __init__(self) -> None:
        self.events = GroupEvents(lambda: 9)
        self.rewound: list[Partition] = []

    def poll(self, timeout: float) -> list[Record]:
        self.events.on_partitions_revoked([])
        self.events.on_partitions_assigned([TopicPartition("spans", 0)])
        return [Record(7)]

    def rewind(self, partitions: Iterable[Partition], timeout: float) -> None:
        self.rewound.extend(partitions)

    def lag(self, partition: Partition, next_offset: int | None) -> int | None:
        return None

    def position(self, partition: Partition) -> int | None:
        return None

    def missing_topics(self) -> list[str]:
        return []


def test_messages_fetched_from_a_position_that_is_not_valid_any_more_are_dropped() -> None:
    queue = Queue()
    settings = KafkaSettings(("nowhere:9092",), topics=(KafkaTopic("spans"),))
    source = KafkaSource(settings, Limits(), Prefilter(["gen_ai."]), queue.submit, lambda cause, number: None)
    place = ("spans", 0)
    source._apply(source._ownership.apply(Assigned(frozenset({place}), 1)))
    connection = GenerationMissed()
    source._turn(cast("KafkaConnection", connection))
    assert connection.rewound == [place]
    assert queue.items == [
        PartitionsAssigned("kafka", (place,)),
        PartitionsRevoked("kafka", (place,)),
        PartitionsAssigned("kafka", (place,)),
    ]


class NowhereToGoBackTo(GenerationMissed):
    """The brokers do not say what the group has committed."""

    def rewind(self, partitions: Iterable[Partition], timeout: float) -> None:
        raise KafkaTimeoutError


def test_what_the_group_took_away_is_told_also_where_the_rest_cannot_be_read_again() -> None:
    """Else the engine would keep it for good, and commit what another member reads."""
    queue = Queue()
    settings = KafkaSettings(("nowhere:9092",), topics=(KafkaTopic("spans"),))
    source = KafkaSource(settings, Limits(), Prefilter(["gen_ai."]), queue.submit, lambda cause, number: None)
    kept, taken = ("spans", 0), ("spans", 1)
    source._apply(source._ownership.apply(Assigned(frozenset({kept, taken}), 1)))
    with pytest.raises(KafkaTimeoutError):
        source._turn(cast("KafkaConnection", NowhereToGoBackTo()))
    source._apply(source._ownership.forget())
    source._deliver(5.0)
    assert queue.items == [
        PartitionsAssigned("kafka", (kept, taken)),
        PartitionsRevoked("kafka", (kept, taken)),
        PartitionsAssigned("kafka", (kept,)),
        PartitionsRevoked("kafka", (kept,)),
    ]
    assert source._progress.owned == frozenset()


class Quiet(GenerationMissed):
    """A connection on which nothing happens."""

    def poll(self, timeout: float) -> list[Record]:
        return []

    def pause(self, partitions: Iterable[Partition]) -> None:
        pass

    def end_offsets(self, partitions: Iterable[Partition], timeout: float) -> dict[Partition, int]:
        return {}


class Held(PassedOver):
    """A topic for dead letters that takes none."""

    stalled = True


@pytest.mark.parametrize("poison", [Held(), PassedOver()])
def test_it_says_so_while_poison_keeps_it_from_reading(poison: PassedOver) -> None:
    """Else runs would end without what stands behind the poison."""
    queue = Queue()
    settings = KafkaSettings(("nowhere:9092",), topics=(KafkaTopic("spans"),))
    source = KafkaSource(settings, Limits(), Prefilter(["gen_ai."]), queue.submit, lambda cause, number: None, poison)
    places = (("spans", 0), ("spans", 1))
    source._apply(source._ownership.apply(Assigned(frozenset(places), 1)))
    for _ in range(3):
        source._turn(cast("KafkaConnection", Quiet()))
    held_back = [PartitionsHeldBack("kafka", places)] * (3 if poison.stalled else 0)
    assert queue.items == [PartitionsAssigned("kafka", places), *held_back]
