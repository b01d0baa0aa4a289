"""A rebalance changes only what really changed hands."""

from aem_monitor.ingest.kafka_group import Assigned, GroupEvents, Lost, Ownership, OwnershipChange, Revoked

P = ("spans", 0)
Q = ("spans", 1)


def _owning(*partitions: tuple[str, int], generation: int = 1) -> Ownership:
    ownership = Ownership()
    ownership.apply(Revoked())
    ownership.apply(Assigned(frozenset(partitions), generation))
    return ownership


def test_the_first_assignment_is_a_gain() -> None:
    ownership = Ownership()
    assert ownership.apply(Revoked()) == OwnershipChange()
    change = ownership.apply(Assigned(frozenset({P, Q}), 5))
    assert change == OwnershipChange(gained=frozenset({P, Q}))
    assert ownership.joined


def test_a_partition_that_comes_back_in_the_next_generation_was_never_lost() -> None:
    ownership = _owning(P, Q)
    ownership.apply(Revoked())
    assert not ownership.joined
    assert ownership.apply(Assigned(frozenset({P}), 2)) == OwnershipChange(lost=frozenset({Q}))


def test_a_partition_that_comes_back_after_a_missed_generation_is_read_again() -> None:
    ownership = _owning(P)
    ownership.apply(Revoked())
    change = ownership.apply(Assigned(frozenset({P}), 3))
    assert change == OwnershipChange(lost=frozenset({P}), gained=frozenset({P}), rewound=frozenset({P}))


def test_an_evicted_member_loses_everything_at_once() -> None:
    ownership = _owning(P, Q)
    assert ownership.apply(Lost()) == OwnershipChange(lost=frozenset({P, Q}))
    assert not ownership.joined
    assert ownership.apply(Assigned(frozenset({P}), 2)) == OwnershipChange(gained=frozenset({P}))


def test_events_are_taken_in_the_order_in_which_they_came() -> None:
    events = GroupEvents(lambda: 4)
    events.on_partitions_revoked([])
    events.on_partitions_assigned([])
    events.on_partitions_lost([])
    assert [events.take() for _ in range(4)] == [Revoked(), Assigned(frozenset(), 4), Lost(), None]
