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
