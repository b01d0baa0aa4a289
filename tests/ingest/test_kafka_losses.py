"""Which gaps in the offsets of a partition are losses."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pytest

from aem_monitor.ingest.batch import Partition
from aem_monitor.ingest.kafka_losses import Losses

PLACE = ("spans", 0)
OTHER = ("spans", 1)


@dataclass
class Record:
    offset: int
    partition: int = 0
    topic: str = "spans"
    timestamp: int = 0
    key: bytes | None = None
    value: bytes | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()


@dataclass
class Brokers:
    """Where partitions begin, and where the group goes on."""

    begins: dict[Partition, int] = field(default_factory=dict)
    committed: dict[Partition, int] = field(default_factory=dict)
    asked: list[Sequence[Partition]] = field(default_factory=list)

    def beginnings(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        self.asked.append(list(partitions))
        return {partition: self.begins.get(partition, 0) for partition in self.asked[-1]}

    def losses(self) -> Losses:
        losses = Losses(self.beginnings, self.committed.get)
        losses.assigned([PLACE, OTHER])
        return losses


def records(*offsets: int) -> list[Record]:
    return [Record(offset) for offset in offsets]


def test_holes_of_compaction_and_transactions_are_no_losses() -> None:
    losses = Brokers(committed={PLACE: 3}).losses()
    assert losses.fetched(records(5, 6, 9), 0.0) == {}
    assert losses.fetched(records(20), 5.0) == {}


def test_what_was_removed_before_the_group_came_back_is_counted() -> None:
    losses = Brokers(begins={PLACE: 10}, committed={PLACE: 4}).losses()
    assert losses.fetched(records(10, 11), 0.0) == {PLACE: 6}
    assert losses.fetched(records(12, 13), 5.0) == {}


def test_a_hole_behind_what_was_removed_is_not_counted_with_it() -> None:
    losses = Brokers(begins={PLACE: 10}, committed={PLACE: 4}).losses()
    assert losses.fetched(records(15), 0.0) == {PLACE: 6}


def test_what_was_removed_while_it_was_behind_is_counted() -> None:
    brokers = Brokers()
    losses = brokers.losses()
    assert losses.fetched(records(0, 1), 0.0) == {}
    brokers.begins[PLACE] = 7
    assert losses.fetched(records(8), 0.5) == {PLACE: 5}


@pytest.mark.parametrize("committed", [{}, {PLACE: 10}, {PLACE: 12}])
def test_a_group_that_begins_where_it_should_loses_nothing(committed: dict[Partition, int]) -> None:
    losses = Brokers(begins={PLACE: 10}, committed=committed).losses()
    assert losses.fetched(records(committed.get(PLACE, 10)), 0.0) == {}


def test_a_partition_that_comes_back_begins_anew() -> None:
    brokers = Brokers(begins={PLACE: 10}, committed={PLACE: 4, OTHER: 0})
    losses = brokers.losses()
    assert losses.fetched([*records(10), Record(0, 1)], 0.0) == {PLACE: 6}
    losses.forget([PLACE])
    brokers.committed[PLACE] = 11
    losses.assigned([PLACE])
    assert losses.fetched([*records(11), Record(1, 1)], 0.1) == {}


def test_brokers_are_asked_about_a_partition_once_a_second_at_most() -> None:
    brokers = Brokers()
    losses = brokers.losses()
    for number in range(20):
        losses.fetched(records(2 * number), number / 10)
    assert len(brokers.asked) == 2
