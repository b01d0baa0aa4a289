"""Since when the oldest uncommitted message is there, from a bounded number of marks."""

from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.ingest.kafka_measures import Receipts


def test_the_time_is_that_of_the_message_or_up_to_a_second_before() -> None:
    receipts = Receipts()
    for offset in range(20):
        receipts.received(offset, 100.0 + offset / 4)
    assert receipts.since(0) == 100.0
    assert receipts.since(3) == 100.0
    assert receipts.since(4) == 101.0
    assert receipts.since(19) == 104.0
    assert Receipts().since(3) is None


def test_marks_are_bounded_and_the_oldest_is_known_exactly() -> None:
    receipts = Receipts()
    for second in range(50_000):
        receipts.received(second, float(second))
    assert receipts.since(0) == 0.0
    assert len(receipts._times) <= 512
    asked = receipts.since(25_000)
    assert asked is not None
    assert 24_700 <= asked <= 25_000


@given(gaps=st.lists(st.tuples(st.integers(1, 50), st.floats(0, 30)), min_size=1, max_size=300), data=st.data())
def test_the_time_is_never_after_the_message(gaps: list[tuple[int, float]], data: st.DataObject) -> None:
    receipts = Receipts()
    offset, at = 0, 1000.0
    times: dict[int, float] = {}
    for hole, pause in gaps:
        offset, at = offset + hole, at + pause
        times[offset] = at
        receipts.received(offset, at)
    wanted = data.draw(st.sampled_from(sorted(times)))
    since = receipts.since(wanted)
    assert since is not None
    assert since <= times[wanted]
