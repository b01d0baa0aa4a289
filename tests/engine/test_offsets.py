"""What may be committed: never beyond what an unfinished trace needs."""

from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.engine.offsets import OffsetTracker
from aem_monitor.ingest.batch import Position


def at(offset: int, partition: int = 0) -> Position:
    return Position("t", partition, offset)


def test_a_message_that_nothing_holds_is_done() -> None:
    offsets = OffsetTracker()
    offsets.received(at(5))
    assert offsets.releasable() == {("t", 0): 6}
    assert offsets.releasable() == {}, "each rise is told once"


def test_holes_in_the_log_are_normal() -> None:
    offsets = OffsetTracker()
    for offset in (3, 10, 400):
        offsets.received(at(offset))
    assert offsets.releasable() == {("t", 0): 401}


def test_a_trace_holds_its_first_message() -> None:
    offsets = OffsetTracker()
    for offset in (1, 2, 3):
        offsets.received(at(offset))
        offsets.hold("a", at(offset))
    assert offsets.releasable() == {("t", 0): 1}
    assert offsets.holds("a")
    offsets.let_go(["a", "never held"])
    assert offsets.releasable() == {("t", 0): 4}
    assert not offsets.holds("a")


def test_where_the_messages_of_traces_begin() -> None:
    offsets = OffsetTracker()
    for trace, offset, partition in (("a", 4, 0), ("a", 7, 0), ("b", 2, 0), ("b", 9, 1), ("c", 1, 0)):
        offsets.hold(trace, at(offset, partition))
    assert offsets.held_from(["a", "never held"]) == {("t", 0): 4}
    assert offsets.held_from(["a", "b"]) == {("t", 0): 2, ("t", 1): 9}


def test_what_is_abandoned_is_never_released() -> None:
    offsets = OffsetTracker()
    offsets.abandon(at(2))
    offsets.received(at(3))
    offsets.let_go(["a"])
    assert offsets.releasable() == {("t", 0): 2}
    assert offsets.revoke([("t", 0)]) == set()


def test_a_revoked_partition_gives_back_the_traces_that_only_it_held() -> None:
    offsets = OffsetTracker()
    for trace, partition in (("one", 0), ("both", 0), ("both", 1)):
        offsets.received(at(1, partition))
        offsets.hold(trace, at(1, partition))
    assert offsets.revoke([("t", 0)]) == {"one"}
    assert offsets.holds("both")
    assert offsets.releasable() == {("t", 1): 1}
    assert offsets.revoke([("t", 1)]) == {"both"}


def test_a_partition_that_comes_back_begins_anew() -> None:
    offsets = OffsetTracker()
    offsets.received(at(9))
    assert offsets.releasable() == {("t", 0): 10}
    offsets.revoke([("t", 0)])
    offsets.received(at(3))
    assert offsets.releasable() == {("t", 0): 4}


@given(st.lists(st.tuples(st.sampled_from(["hold", "go"]), st.sampled_from("abc"), st.integers(0, 1)), max_size=40))
def test_the_released_offset_is_never_beyond_what_is_held(steps: list[tuple[str, str, int]]) -> None:
    offsets = OffsetTracker()
    held: dict[tuple[str, int], int] = {}
    released = {0: 0, 1: 0}
    for offset, (step, trace, partition) in enumerate(steps):
        if step == "hold":
            offsets.received(at(offset, partition))
            offsets.hold(trace, at(offset, partition))
            held.setdefault((trace, partition), offset)
        else:
            offsets.let_go([trace])
            held = {key: value for key, value in held.items() if key[0] != trace}
        for (_, number), value in offsets.releasable().items():
            assert value > released[number] or value == 0
            released[number] = value
        for (_, number), needed in held.items():
            assert released[number] <= needed
