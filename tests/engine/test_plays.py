"""One dialog played again and again in one conversation: each play is a run with an identity of its own."""

from aem_monitor.engine.settings import EngineSettings
from tests.engine.bench import ASK, PROFIT, SHOW, Bench, exchange, nonzero, play, replayed, totals_of


def _plays(bench: Bench) -> list[int]:
    return [result.play for result in bench.results()]


def test_two_plays_of_one_conversation_are_two_runs() -> None:
    spans = [*play("c", 0), *play("c", 60, PROFIT)]
    bench = Bench()
    bench.feed(spans)
    bench.finish()
    assert bench.results() == replayed(bench.pipeline, spans)
    assert _plays(bench) == [1, 2]
    assert bench.counted_runs() == 2


def test_a_play_after_the_first_is_over_and_forgotten_is_not_swallowed() -> None:
    bench = Bench(settings=EngineSettings(late_window=50))
    for number in range(5):
        bench.feed(play("c", 1000 * number))
        bench.wait(1000, step=5)
        assert bench.engine.figures.bytes_held == 0
    assert _plays(bench) == [1, 2, 3, 4, 5]
    assert bench.counted_runs() == 5


def test_plays_follow_each_other_across_a_restart() -> None:
    first = Bench()
    first.feed(play("c", 0), offset=0)
    first.wait(60)
    second = first.restarted()
    second.now = first.now + 60
    second.feed(play("c", 120), offset=1)
    second.finish()
    assert _plays(second) == [1, 2]
    assert len({result.run_id for result in second.results()}) == 2
    assert second.counted_runs() == 2
    assert nonzero(second.store.totals()) == totals_of(second.results())


def test_a_canary_with_one_session_for_all_its_plays_does_not_pile_up() -> None:
    bench = Bench()
    for number in range(40):
        bench.feed(play("canary", 100 * number))
        bench.wait(100, step=5)
    assert _plays(bench) == list(range(1, 41))
    # Only what spans may still come for is held: the plays of the last ten minutes.
    assert bench.engine.figures.bytes_held < 20 * 16_000
    assert bench.counter("aem_monitor_late_spans_total") == 0


def test_plays_without_a_conversation_id_are_told_apart_by_their_traces() -> None:
    spans = [*play(None, 0), *play(None, 60)]
    bench = Bench()
    bench.feed(spans)
    bench.finish()
    assert bench.results() == replayed(bench.pipeline, spans)


def test_two_plays_in_one_trace_are_two_runs_also_after_a_restart() -> None:
    trace = "9" * 32
    first = Bench()
    first.feed(play("c", 0, trace=trace), offset=0)
    first.wait(60)
    assert _plays(first) == [1]
    first.feed(play("c", 80, PROFIT, trace=trace), offset=1)
    first.tick()
    assert first.releasable() == {0: 1}, "the second play still needs its message"
    second = first.restarted()
    second.feed(play("c", 80, PROFIT, trace=trace), offset=1)
    second.finish()
    assert _plays(second) == [1, 2]
    assert second.counted_runs() == 2
    assert second.releasable() == {0: 2}


def test_the_second_exchange_of_a_new_play_may_arrive_before_the_first() -> None:
    """While the play before is stored, it looks like a late piece of it."""
    first = Bench()
    first.feed(play("c", 0), offset=0)
    first.wait(60)
    second = first.restarted()
    second.feed(exchange(SHOW, "c", 110), offset=1)
    second.wait(5)
    assert second.releasable() == {0: 1}
    second.feed(exchange(ASK, "c", 100), offset=2)
    second.finish()
    assert _plays(second) == [1, 2]
    assert all(result.complete for result in second.results())


def test_what_comes_for_a_stored_run_after_a_restart_is_late_and_no_run() -> None:
    named = {"aem.dialog.id": "sales"}
    first = Bench()
    first.feed(exchange(ASK, "c", 0, attributes=named), offset=0)
    first.wait(200)
    assert _plays(first) == [1]
    second = first.restarted()
    second.feed(exchange(SHOW, "c", 10, attributes=named), offset=1)
    second.finish()
    assert _plays(second) == [1]
    assert second.counter("aem_monitor_late_spans_total") == 2
    assert second.counted_runs() == 1
    assert second.releasable() == {0: 2}


def test_one_play_in_another_conversation_takes_no_number_from_it() -> None:
    bench = Bench()
    bench.feed([*play("c", 0), *play("d", 1), *play("d", 100)])
    bench.finish()
    assert sorted((result.conversation_id, result.play) for result in bench.results()) == [("c", 1), ("d", 1), ("d", 2)]
