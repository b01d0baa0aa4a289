"""Event time is the minimum over senders that are heard of."""

from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.engine.watermark import Watermark

S = 10**9


def test_there_is_no_event_time_before_anything_came() -> None:
    assert Watermark(30).event_now(1000) == 0


def test_the_slowest_sender_decides() -> None:
    watermark = Watermark(30)
    watermark.observe("fast", 900 * S, 1000)
    watermark.observe("slow", 500 * S, 1000)
    assert watermark.event_now(1001) == 500 * S


def test_a_sender_never_goes_back() -> None:
    watermark = Watermark(30)
    watermark.observe("a", 900 * S, 1000)
    watermark.observe("a", 500 * S, 1001)
    assert watermark.event_now(1001) == 900 * S


def test_a_silent_sender_is_left_out_after_the_bound_and_counts_again_when_it_speaks() -> None:
    watermark = Watermark(30)
    watermark.observe("slow", 500 * S, 1000)
    watermark.observe("fast", 900 * S, 1020)
    assert watermark.event_now(1029) == 500 * S
    assert watermark.event_now(1030) == 900 * S
    watermark.observe("slow", 600 * S, 1031)
    assert watermark.event_now(1031) == 600 * S


def test_an_assigned_partition_holds_event_time_until_it_speaks_or_is_idle() -> None:
    watermark = Watermark(30)
    watermark.assign("p", 1000)
    watermark.observe("a", 900 * S, 1010)
    assert watermark.event_now(1011) == 0
    assert watermark.event_now(1031) == 900 * S
    watermark.forget("p")
    assert watermark.event_now(1012) == 900 * S


def test_when_all_are_silent_the_wall_clock_goes_on() -> None:
    watermark = Watermark(30)
    watermark.observe("a", 900 * S, 1000)
    assert watermark.event_now(1029) == 900 * S
    assert watermark.event_now(1100) == 1000 * S


def test_a_clock_far_ahead_moves_event_time_by_a_minute_at_most() -> None:
    watermark = Watermark(30)
    watermark.observe("a", 90_000 * S, 1000)
    assert watermark.event_now(1000) == 1060 * S


def test_a_message_without_times_keeps_its_sender_alive() -> None:
    watermark = Watermark(30)
    watermark.observe("a", 900 * S, 1000)
    watermark.observe("a", 0, 1029)
    watermark.observe("b", 950 * S, 1040)
    assert watermark.event_now(1041) == 900 * S


def test_senders_that_are_long_gone_are_forgotten() -> None:
    watermark = Watermark(30)
    for number in range(100):
        watermark.observe(f"peer-{number}", 900 * S, 1000)
    watermark.prune(5000, after=3600)
    assert watermark.event_now(5000) == 900 * S, "what was reached stays"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2000)), min_size=1))
def test_event_time_is_never_ahead_of_what_some_active_sender_sent(sent: list[tuple[str, int]]) -> None:
    watermark = Watermark(30)
    latest: dict[str, int] = {}
    for sender, at in sent:
        watermark.observe(sender, at * S, 3000)
        latest[sender] = max(latest.get(sender, 0), at)
    assert watermark.event_now(3001) == min(latest.values()) * S
