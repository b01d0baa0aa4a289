"""While a consumer holds messages back, runs do not end for want of them."""

import pytest

from aem_monitor.ingest.batch import PartitionsHeldBack
from tests.engine.bench import ASK, PROFIT, TOPIC, Bench, exchange, play, replayed

HELD_BACK = PartitionsHeldBack("kafka", ((TOPIC, 0), (TOPIC, 1)))


def stand_still(bench: Bench, seconds: int) -> None:
    for _ in range(seconds):
        bench.submit(HELD_BACK)
        bench.wait(1.0)


@pytest.mark.parametrize("seconds", [30, 900, 7200])
def test_a_run_goes_on_where_it_stood_still(seconds: int) -> None:
    spans = play("a", show=PROFIT)
    first = exchange(ASK, "a", 0)
    rest = [span for span in spans if span not in first]
    bench = Bench()
    bench.feed(first, offset=0)
    bench.tick()
    stand_still(bench, seconds)
    assert bench.results() == []
    assert bench.releasable() == {0: 0}
    bench.feed(rest, offset=1)
    bench.finish()
    assert bench.results() == replayed(bench.pipeline, spans)
    assert bench.counter("aem_monitor_late_spans_total") == 0
    assert bench.counter("aem_monitor_pending_expired_total") == 0
    assert bench.releasable() == {0: 2}


def test_a_complete_run_waits_with_the_others() -> None:
    bench = Bench()
    bench.feed(play("a"), offset=0)
    bench.tick()
    stand_still(bench, 120)
    assert bench.results() == []
    bench.wait(60)
    assert len(bench.results()) == 1


def test_a_part_without_its_beginning_is_waited_for() -> None:
    spans = play("a")
    bench = Bench()
    bench.feed([span for span in spans if span.parent_span_id], offset=0)
    bench.tick()
    stand_still(bench, 1200)
    bench.feed([span for span in spans if not span.parent_span_id], offset=1)
    bench.finish()
    assert bench.results() == replayed(bench.pipeline, spans)


def test_what_comes_over_otlp_does_not_wait() -> None:
    bench = Bench()
    bench.feed(play("a"), offset=0)
    bench.feed(play("b"))
    bench.tick()
    stand_still(bench, 900)
    assert [run.conversation_id for run in bench.results()] == ["b"]


def test_once_it_says_nothing_more_time_goes_on() -> None:
    bench = Bench()
    bench.feed(exchange(ASK, "a", 0), offset=0)
    stand_still(bench, 60)
    bench.finish()
    assert len(bench.results()) == 1
    bench.submit(HELD_BACK)
    bench.wait(1.0)
    assert len(bench.results()) == 1
