"""Only what was delivered in this assignment and released by the engine is committed."""

from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.ingest.kafka_progress import PartitionProgress

P = ("spans", 0)
Q = ("spans", 1)


def test_nothing_is_committable_before_a_release() -> None:
    progress = PartitionProgress()
    progress.assign([P])
    progress.delivered(P, 7)
    assert progress.committable() == {}
    assert progress.next_offset(P) == 8


def test_a_release_is_committable_until_it_is_committed() -> None:
    progress = PartitionProgress()
    progress.assign([P, Q])
    progress.delivered(P, 7)
    progress.delivered(Q, 0)
    progress.release({P: 8})
    assert progress.committable() == {P: 8}
    progress.committed({P: 8})
    assert progress.committable() == {}


def test_a_release_never_moves_backwards() -> None:
    progress = PartitionProgress()
    progress.assign([P])
    progress.delivered(P, 1)
    progress.delivered(P, 5)
    progress.release({P: 6})
    progress.release({P: 2})
    assert progress.committable() == {P: 6}


def test_a_release_of_an_earlier_assignment_is_ignored() -> None:
    progress = PartitionProgress()
    progress.assign([P])
    progress.delivered(P, 10)
    progress.revoke([P])
    progress.release({P: 11})
    progress.assign([P])
    progress.delivered(P, 40)  # another member has committed 40 in between
    progress.release({P: 11})
    assert progress.committable() == {}


def test_a_release_beyond_what_was_delivered_is_ignored() -> None:
    progress = PartitionProgress()
    progress.assign([P])
    progress.delivered(P, 3)
    progress.release({P: 99})
    assert progress.committable() == {}


def test_partitions_of_others_are_never_committable() -> None:
    progress = PartitionProgress()
    progress.assign([P])
    progress.delivered(Q, 3)
    progress.release({Q: 4})
    assert progress.committable() == {}


def test_nothing_from_a_held_message_on_is_committable_until_it_is_let_go() -> None:
    progress = PartitionProgress()
    progress.assign([P])
    progress.delivered(P, 3)
    hold = progress.hold(P, 5)
    later = progress.hold(P, 7)
    progress.delivered(P, 9)
    progress.release({P: 10})
    assert progress.committable() == {P: 5}
    progress.committed({P: 5})
    assert progress.committable() == {}
    progress.let_go(hold)
    assert progress.committable() == {P: 7}
    progress.let_go(later)
    assert progress.committable() == {P: 10}


def test_a_held_first_message_leaves_nothing_to_commit() -> None:
    progress = PartitionProgress()
    progress.assign([P])
    progress.hold(P, 3)
    progress.delivered(P, 3)
    progress.release({P: 4})
    assert progress.committable() == {}


def test_each_hold_of_one_message_counts() -> None:
    progress = PartitionProgress()
    progress.assign([P])
    progress.delivered(P, 3)
    one, two = progress.hold(P, 4), progress.hold(P, 4)
    progress.delivered(P, 4)
    progress.release({P: 5})
    progress.let_go(one)
    assert progress.committable() == {P: 4}
    progress.let_go(two)
    assert progress.committable() == {P: 5}


def test_a_hold_of_an_earlier_assignment_neither_holds_nor_lets_go() -> None:
    progress = PartitionProgress()
    progress.assign([P])
    before = progress.hold(P, 0)
    progress.assign([P])
    progress.delivered(P, 0)
    held = progress.hold(P, 1)
    progress.delivered(P, 1)
    progress.release({P: 2})
    progress.let_go(before)
    assert progress.committable() == {P: 1}
    progress.let_go(held)
    assert progress.committable() == {P: 2}


def test_a_frozen_partition_is_not_committable_until_it_is_assigned_anew() -> None:
    progress = PartitionProgress()
    progress.assign([P, Q])
    for partition in (P, Q):
        progress.delivered(partition, 0)
    progress.freeze(P)
    progress.release({P: 1, Q: 1})
    assert progress.committable() == {Q: 1}
    progress.assign([P])
    progress.delivered(P, 0)
    progress.release({P: 1})
    assert progress.committable() == {P: 1, Q: 1}


@given(
    offsets=st.lists(st.integers(0, 1000), min_size=1, unique=True).map(sorted),
    releases=st.lists(st.integers(0, 1002)),
)
def test_holes_in_the_offsets_do_not_matter(offsets: list[int], releases: list[int]) -> None:
    progress = PartitionProgress()
    progress.assign([P])
    for offset in offsets:
        progress.delivered(P, offset)
    for release in releases:
        progress.release({P: release})
    valid = [release for release in releases if offsets[0] < release <= offsets[-1] + 1]
    assert progress.committable() == ({P: max(valid)} if valid else {})


def test_where_nothing_can_be_read_is_committed_once_all_before_it_is_released() -> None:
    progress = PartitionProgress()
    progress.assign([P])
    progress.delivered(P, 3)
    progress.passed(P, 6)
    assert progress.committable() == {}, "the message at 3 is still needed"
    progress.release({P: 4})
    progress.passed(P, 6)
    assert progress.committable() == {P: 6}
    progress.committed({P: 6})
    progress.passed(P, 6)
    progress.release({P: 4})
    assert progress.committable() == {}
    progress.delivered(P, 6)
    progress.release({P: 7})
    assert progress.committable() == {P: 7}


def test_a_partition_without_a_message_is_committed_where_it_is_read_from() -> None:
    progress = PartitionProgress()
    progress.assign([P])
    progress.passed(P, 0)
    assert progress.committable() == {P: 0}
    progress.committed({P: 0})
    progress.passed(P, 0)
    assert progress.committable() == {}
    progress.delivered(P, 0)
    assert progress.committable() == {}
    progress.release({P: 1})
    assert progress.committable() == {P: 1}


def test_what_would_be_read_again_is_from_the_committed_offset_on() -> None:
    progress = PartitionProgress()
    progress.assign([P, Q])
    progress.delivered(P, 3)
    progress.delivered(P, 9)
    assert progress.uncommitted() == {P: (3, 10)}
    progress.release({P: 9})
    progress.committed({P: 9})
    assert progress.uncommitted() == {P: (9, 10)}
