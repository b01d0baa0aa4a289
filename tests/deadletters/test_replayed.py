"""How far letters were replayed is kept for each cause."""

from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.deadletters.causes import CAUSES
from aem_monitor.deadletters.replayed import Replayed

ALL_BUT_MALFORMED = [cause for cause in CAUSES if cause != "malformed"]


def test_one_cause_goes_on_without_the_others() -> None:
    replayed = Replayed().advanced(["malformed"], 10)
    assert replayed.of("malformed") == 10
    assert replayed.of("too_large") == 0
    assert replayed.offset == 0
    assert replayed.begin(["malformed"]) == 10
    assert replayed.begin(["malformed", "too_large"]) == 0


def test_the_offset_is_what_all_causes_have_reached() -> None:
    replayed = Replayed().advanced(["malformed"], 10).advanced(ALL_BUT_MALFORMED, 8)
    assert replayed == Replayed(8, {"malformed": 10})
    assert replayed.advanced(CAUSES, 12) == Replayed(12)


def test_nothing_goes_back() -> None:
    replayed = Replayed(5, {"malformed": 10})
    assert replayed.advanced(["malformed"], 7) == replayed


@given(st.lists(st.tuples(st.sets(st.sampled_from(CAUSES)), st.integers(0, 1000))))
def test_what_is_committed_is_read_again(steps: list[tuple[set[str], int]]) -> None:
    replayed = Replayed()
    for causes, offset in steps:
        replayed = replayed.advanced(causes, offset)
    assert Replayed.read(replayed.offset, replayed.written()) == replayed


@given(
    st.none() | st.text() | st.sampled_from(["[1]", "1", '{"malformed": "x"}', '{"unknown": 9}', '{"malformed": 3}'])
)
def test_metadata_of_others_counts_for_nothing(metadata: str | None) -> None:
    assert {Replayed.read(5, metadata).of(cause) for cause in CAUSES} == {5}


def test_an_offset_that_a_tool_has_set_holds_for_all_causes() -> None:
    assert Replayed.read(5, "").begin(CAUSES) == 5
