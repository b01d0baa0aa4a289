from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.ingest.prefilter import Prefilter


def test_finds_a_marker_anywhere_in_a_body() -> None:
    keep = Prefilter(["gen_ai.", "session.id"])
    assert keep.in_bytes(b"\x00\x12session.id\x00")
    assert not keep.in_bytes(b"http.route")


def test_looks_only_at_the_given_part_of_a_body() -> None:
    body = b"xxgen_ai.xx"
    keep = Prefilter(["gen_ai."])
    assert keep.in_bytes(body, 2, 9)
    assert not keep.in_bytes(body, 3, 11)
    assert not keep.in_bytes(body, 0, 8)


def test_finds_a_marker_in_a_name_also_when_asked_again() -> None:
    keep = Prefilter(["gen_ai."])
    assert [keep.in_name("gen_ai.system") for _ in range(2)] == [True, True]
    assert [keep.in_name("http.route") for _ in range(2)] == [False, False]


def test_a_marker_that_contains_another_is_not_searched_for() -> None:
    assert Prefilter(["gen_ai.tool.name", "gen_ai.", "strands"]).markers == ("gen_ai.", "strands")


def test_bytes_are_searched_for_what_markers_begin_with_alike_and_names_decide() -> None:
    keep = Prefilter(["ai.settings.context.chat_id", "ai.settings.context.threadId", "ai.operationId", "ai.prompt"])
    assert keep.in_bytes(b"ai.settings.context.locale")
    assert not keep.in_name("ai.settings.context.locale")
    assert keep.in_name("ai.settings.context.threadId")
    assert not keep.in_bytes(b"kai.zen")


@given(st.lists(st.text("ab.", min_size=1, max_size=12), min_size=1), st.text("ab.", max_size=40))
def test_what_a_name_says_the_bytes_around_it_say_too(markers: list[str], name: str) -> None:
    keep = Prefilter(markers)
    assert keep.in_name(name) is any(marker in name for marker in markers)
    assert keep.in_bytes(f"x{name}y".encode()) or not keep.in_name(name)


def test_a_span_marker_counts_everywhere_but_on_resources() -> None:
    keep = Prefilter(["aem.dialog.id"], ["deployment.environment"])
    assert keep.in_bytes(b"deployment.environment.name")
    assert keep.in_name("deployment.environment.name")
    assert not keep.in_resource_name("deployment.environment.name")
    assert keep.in_resource_name("aem.dialog.id")


def test_without_markers_nothing_is_of_an_agent() -> None:
    keep = Prefilter([])
    assert not keep.in_bytes(b"gen_ai.")
    assert not keep.in_name("gen_ai.")


def test_the_empty_marker_matches_everything() -> None:
    keep = Prefilter(["", "gen_ai."])
    assert keep.in_bytes(b"")
    assert keep.in_name("")


def test_any_number_of_distinct_names_is_answered_right_with_bounded_memory() -> None:
    keep = Prefilter(["gen_ai."])
    for number in range(10_000):
        assert keep.in_name(f"gen_ai.{number}")
        assert not keep.in_name(f"http.{number}")
    assert len(keep._known) <= 4096
