"""Single bad messages are borne, a topic of them is not."""

from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.deadletters.bounds import Bounds
from aem_monitor.deadletters.causes import Bound

P = ("spans", 0)
Q = ("spans", 1)


def test_a_run_is_borne_up_to_its_length() -> None:
    bounds = Bounds(max_ratio=1.0, window=100, max_run=3)
    assert [bounds.bad(P, offset) for offset in range(4)] == [None, None, None, Bound.RUN]


def test_a_good_message_ends_a_run() -> None:
    bounds = Bounds(max_ratio=1.0, window=100, max_run=2)
    for offset in range(0, 30, 3):
        assert bounds.bad(P, offset) is None
        assert bounds.bad(P, offset + 1) is None
        bounds.usable(P, offset + 2)


def test_partitions_are_looked_at_apart() -> None:
    bounds = Bounds(max_ratio=1.0, window=100, max_run=2)
    found = [bounds.bad(partition, offset) for offset in range(2) for partition in (P, Q)]
    assert found == [None] * 4
    bounds.usable(Q, 2)
    assert bounds.bad(P, 2) is Bound.RUN


def test_a_share_of_the_window_is_borne_also_before_it_is_full() -> None:
    bounds = Bounds(max_ratio=0.5, window=10, max_run=100)
    assert [bounds.bad(P, offset) for offset in range(6)] == [None] * 5 + [Bound.RATIO]


def test_what_has_left_the_window_no_longer_counts() -> None:
    bounds = Bounds(max_ratio=0.5, window=4, max_run=100)
    for offset in range(0, 40, 2):
        assert bounds.bad(P, offset) is None
        bounds.usable(P, offset + 1)


def test_a_message_that_is_bad_after_all_counts_in_the_share_once() -> None:
    bounds = Bounds(max_ratio=0.5, window=4, max_run=100)
    for offset in (10, 12, 15):
        bounds.usable(P, offset)
    found = [bounds.bad_after_all(P, offset) for offset in (10, 10, 12, 15)]
    assert found == [None, None, None, Bound.RATIO]


def test_a_message_before_the_window_or_of_a_forgotten_partition_is_of_no_account() -> None:
    bounds = Bounds(max_ratio=0.0, window=1, max_run=100)
    bounds.usable(P, 1)
    bounds.usable(P, 2)
    assert bounds.bad_after_all(P, 1) is None
    bounds.forget([P])
    assert bounds.bad_after_all(P, 2) is None


def test_a_forgotten_partition_begins_anew() -> None:
    bounds = Bounds(max_ratio=1.0, window=100, max_run=1)
    assert bounds.bad(P, 0) is None
    bounds.forget([P])
    assert bounds.bad(P, 0) is None


@given(st.lists(st.booleans()), st.integers(1, 8), st.integers(1, 8))
def test_both_bounds_are_what_counting_gives(bad: list[bool], window: int, max_run: int) -> None:
    bounds = Bounds(0.5, window, max_run)
    run = 0
    for offset, is_bad in enumerate(bad):
        run = run + 1 if is_bad else 0
        if not is_bad:
            bounds.usable(P, offset)
            continue
        share = sum(bad[max(0, offset - window + 1) : offset + 1]) > 0.5 * window
        expected = Bound.RUN if run > max_run else Bound.RATIO if share else None
        assert bounds.bad(P, offset) is expected
