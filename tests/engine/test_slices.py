"""A tick that takes long is cut into slices: what comes in between is neither lost nor judged too early."""

import random

import pytest

from aem_monitor.engine.settings import EngineSettings
from tests.engine.bench import (
    ASK,
    HELLO,
    PROFIT,
    SHOW,
    Bench,
    exchange,
    killed_now_and_then,
    nonzero,
    pipeline_of,
    play,
    replayed,
    sales,
    totals_of,
)


def test_a_slice_is_one_trace_or_one_conversation_and_all_have_their_turn() -> None:
    bench = Bench()
    for number in range(10):
        bench.feed(exchange(ASK, f"c-{number}", number / 10), offset=number)
    slices = 0
    while not bench.slice():
        slices += 1
        # New ones come all the time; they wait for the next round.
        bench.feed(exchange(HELLO, f"x-{slices}", 2), offset=10 + slices)
    assert slices == 19
    assert bench.engine.figures.runs == 10
    assert bench.engine.figures.conversations == 10
    bench.tick()
    assert bench.engine.figures.conversations == 29


def test_a_call_without_a_budget_leaves_nothing_undone() -> None:
    bench = Bench()
    for number in range(5):
        bench.feed(exchange(ASK, f"c-{number}", number / 10), offset=number)
    assert not bench.slice()
    assert bench.engine.tick(bench.now)
    assert bench.engine.figures.runs == 5


def test_a_late_span_that_comes_between_slices_holds_its_offset_until_its_revision_is_stored() -> None:
    spans = play("c", show=PROFIT)
    call = next(span for span in spans if span.name.startswith("execute_tool"))
    bench = Bench()
    bench.feed([span for span in spans if span is not call], offset=0)
    bench.wait(60)
    assert bench.releasable() == {0: 1}
    # The final run is looked at again, because its conversation goes on.
    bench.feed(exchange(ASK, "c", 100), offset=0, partition=1)
    assert not bench.slice()
    bench.feed([call], offset=1)
    assert bench.slice()
    assert 0 not in bench.releasable()
    bench.tick()
    assert bench.releasable() == {0: 2}
    assert [result.revision for result in bench.results()] == [1]


def test_what_comes_between_slices_for_a_trace_that_is_over_is_not_forgotten_with_it() -> None:
    trace = "5" * 32
    bench = Bench(settings=EngineSettings(idle=100, max_run_age=60, late_window=100))
    bench.feed(exchange(ASK, "c", 0, trace=trace), offset=0)
    bench.wait(62)
    assert [result.partial for result in bench.results()] == [True]
    bench.now += 100
    bench.feed(exchange(HELLO, "x", 155), offset=1)
    assert not bench.slice()
    bench.feed(play("d", 156, trace=trace), offset=2)
    while not bench.slice():
        pass
    bench.finish()
    assert [result.partial for result in bench.results()] == [True, False]


def test_while_a_bound_is_exceeded_a_tick_makes_room_whatever_it_takes() -> None:
    bench = Bench(settings=EngineSettings(max_traces=20))
    for number in range(30):
        bench.feed(exchange(HELLO, f"x{number}", number / 10), offset=number)
    assert bench.slice()
    assert bench.engine.figures.conversations <= 20


def test_a_reload_between_two_slices_begins_anew() -> None:
    bench = Bench()
    for number in range(5):
        bench.feed(exchange(ASK, f"c-{number}", number / 10), offset=number)
    bench.slice()
    bench.engine.reconfigure(pipeline_of(sales()), EngineSettings(), {"reports"})
    bench.tick()
    assert bench.engine.figures.runs == 5


@pytest.mark.parametrize("seed", range(12))
def test_slices_and_kills_at_any_moment_change_no_verdict_and_no_total(seed: int) -> None:
    """What was committed before a kill is not read again: whatever was let go too early is missing."""
    chance = random.Random(seed)
    trace = "5" * 32
    conversations = [
        *(play(f"c-{number}", 3 * number, chance.choice([SHOW, PROFIT])) for number in range(4)),
        play("in one trace", 2, trace=trace),
        play("in one trace", 70, trace=trace),
        exchange(HELLO, "customer", 5),
    ]
    messages = sorted(([span] for spans in conversations for span in spans), key=lambda spans: spans[0].end_ns)
    expected = replayed(pipeline_of(sales()), [span for spans in messages for span in spans])
    assert len(expected) == 6
    bench = killed_now_and_then(messages, chance, Bench.slice)
    bench.finish()
    assert bench.results() == expected
    assert nonzero(bench.store.totals()) == totals_of(expected)
