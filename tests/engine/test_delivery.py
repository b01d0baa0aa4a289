"""Offsets, restarts and a store that fails: nothing is lost, nothing is counted twice."""

import random
from collections.abc import Callable
from functools import partial
from operator import eq
from typing import Any

import pytest

from aem_monitor.engine.settings import EngineSettings
from aem_monitor.errors import StoreError
from aem_monitor.ingest.batch import Batch, Decoded, PartitionsAssigned, PartitionsRevoked, Position
from aem_monitor.model.span import Span
from aem_monitor.store import Store
from tests.engine.bench import (
    ASK,
    HELLO,
    PROFIT,
    SHOW,
    START,
    TOPIC,
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
from tests.playing import agent, golden


def _messages() -> list[list[Span]]:
    """Three conversations over eight messages, with other traffic between."""
    return [
        exchange(ASK, "a", 0),
        exchange(ASK, "b", 1),
        exchange(HELLO, "x", 2),
        [*exchange(SHOW, "a", 10)[:1]],
        [*exchange(SHOW, "a", 10)[1:], *exchange(PROFIT, "b", 11)],
        exchange(ASK, "a", 60),
        exchange(HELLO, "y", 61),
        exchange(PROFIT, "a", 70),
    ]


# Offsets


def test_an_unfinished_run_holds_its_first_offset() -> None:
    bench = Bench()
    for offset, spans in enumerate(_messages()[:5]):
        bench.feed(spans, offset=offset)
    bench.tick()
    assert bench.releasable() == {0: 0}
    bench.wait(40)
    assert bench.releasable() == {0: 5}


def test_offsets_of_other_traffic_are_free_as_soon_as_it_is_dropped() -> None:
    bench = Bench()
    bench.feed(exchange(HELLO, "x", 0), offset=7)
    bench.tick()
    assert bench.releasable() == {0: 7}
    bench.wait(30)
    assert bench.releasable() == {0: 8}


def test_a_final_run_frees_its_offsets_while_the_conversation_goes_on() -> None:
    bench = Bench()
    bench.feed(play("c", 0), offset=0)
    bench.wait(40)
    bench.feed(exchange(ASK, "c", 60), offset=1)
    bench.tick()
    assert bench.releasable() == {0: 1}


def test_a_late_span_holds_its_offset_until_the_revision_is_stored() -> None:
    spans = play("c", show=PROFIT)
    call = next(span for span in spans if span.name.startswith("execute_tool"))
    bench = Bench()
    bench.feed([span for span in spans if span is not call], offset=0)
    bench.wait(60)
    assert bench.releasable() == {0: 1}
    bench.feed([call], offset=1)
    assert bench.releasable() == {}
    bench.tick()
    assert bench.releasable() == {0: 2}
    assert [result.revision for result in bench.results()] == [1]


def test_a_pending_trace_expires_and_no_longer_holds_an_offset() -> None:
    (tool_span, _) = exchange(SHOW, "c", 0)
    bench = Bench(settings=EngineSettings(pending_max_age=60))
    bench.feed([tool_span], offset=3)
    bench.wait(58)
    assert bench.releasable() == {0: 3}
    bench.wait(5)
    assert bench.releasable() == {0: 4}
    assert bench.counter("aem_monitor_pending_expired_total") == 1


def test_a_run_holds_its_offsets_no_longer_than_its_greatest_age() -> None:
    talk = golden([agent(1, "It is on its way.")], dialog="talk", recognise={"first_user": [HELLO.text]})
    bench = Bench(pipeline_of(talk), EngineSettings(max_run_age=300))
    for beat in range(40):
        # An open dialog is over when it is idle, and this conversation never is.
        bench.feed(exchange(HELLO, "c", 10 * beat), offset=beat)
        bench.wait(10)
    (result,) = bench.results()
    assert result.partial
    assert result.revision == 0
    assert bench.counter("aem_monitor_evicted_conversations_total", cause="age") == 1
    assert bench.releasable()[0] > 30


def test_input_that_could_not_be_taken_before_the_end_is_never_committed() -> None:
    bench = Bench()
    bench.feed(exchange(HELLO, "x", 0), offset=4)
    lost = Batch("kafka", f"{TOPIC}/0", Decoded(), bench.now, Position(TOPIC, 0, 5))
    bench.engine.abandon(lost)
    bench.feed(exchange(HELLO, "y", 1), offset=6)
    bench.finish()
    assert bench.releasable() == {0: 5}


def test_how_far_the_input_is_done_is_stored_with_each_verdict() -> None:
    bench = Bench()
    bench.feed(exchange(HELLO, "x", 0), offset=0)
    bench.wait(30)
    assert bench.releasable() == {0: 1}
    bench.feed(play("c", 20), offset=1)
    bench.wait(40)
    assert bench.store.positions() == {(TOPIC, 0): 1}


# Partitions


def test_a_revoked_partition_takes_its_open_traces_with_it_and_may_bring_them_back() -> None:
    bench = Bench()
    bench.feed(exchange(ASK, "c", 0), offset=0)
    bench.tick()
    bench.submit(PartitionsRevoked("kafka", ((TOPIC, 0),)))
    bench.tick()
    assert bench.engine.figures.runs == 0
    assert bench.engine.figures.bytes_held == 0
    bench.submit(PartitionsAssigned("kafka", ((TOPIC, 0),)))
    for offset, spans in enumerate([exchange(ASK, "c", 0), exchange(SHOW, "c", 10)]):
        bench.feed(spans, offset=offset)
    bench.finish()
    (result,) = bench.results()
    assert result.complete
    assert bench.releasable() == {0: 2}
    assert bench.counter("aem_monitor_skipped_spans_total", cause="not_a_run") == 0


def test_a_run_that_another_replica_has_finished_is_not_counted_here() -> None:
    mine = Bench()
    theirs = mine.restarted()
    mine.feed(exchange(ASK, "c", 0), offset=0)
    mine.tick()
    mine.submit(PartitionsRevoked("kafka", ((TOPIC, 0),)))
    theirs.feed(play("c"), offset=0)
    theirs.finish()
    mine.submit(PartitionsAssigned("kafka", ((TOPIC, 0),)))
    mine.feed(play("c"), offset=0)
    mine.finish()
    assert len(mine.results()) == 1
    assert mine.counted_runs() == 0
    assert theirs.counted_runs() == 1
    assert mine.counter("aem_monitor_duplicate_spans_total") == 3
    assert mine.releasable() == {0: 1}


def test_a_revoked_partition_no_longer_holds_event_time_back() -> None:
    bench = Bench()
    bench.submit(PartitionsAssigned("kafka", ((TOPIC, 0), (TOPIC, 1))))
    bench.feed(exchange(HELLO, "x", 0), offset=0, partition=0)
    bench.tick()
    assert bench.engine.figures.event_ns == 0
    bench.submit(PartitionsRevoked("kafka", ((TOPIC, 1),)))
    bench.tick()
    assert bench.engine.figures.event_ns > START


# Restarts


@pytest.mark.parametrize("seed", range(8))
def test_kills_at_any_moment_change_no_verdict_and_no_total(seed: int) -> None:
    """After each kill the log is read again from what was committed; sometimes from before it."""
    chance = random.Random(seed)
    messages = _messages()
    expected = replayed(pipeline_of(sales()), [span for spans in messages for span in spans])
    bench = killed_now_and_then(messages, chance, Bench.tick)
    bench.finish()
    assert bench.results() == expected
    assert nonzero(bench.store.totals()) == totals_of(expected)
    assert bench.counted_runs() == len(expected)


def test_redelivery_of_everything_counts_nothing_again() -> None:
    messages = _messages()
    first = Bench()
    for offset, spans in enumerate(messages):
        first.feed(spans, offset=offset)
    first.finish()
    totals = nonzero(first.store.totals())
    second = first.restarted()
    for offset, spans in enumerate(messages):
        second.feed(spans, offset=offset)
        second.tick()
    second.finish()
    assert second.results() == first.results()
    assert nonzero(second.store.totals()) == totals
    assert second.exposed() == first.exposed()
    assert second.counter("aem_monitor_duplicate_spans_total") == 9
    assert second.releasable() == {0: 8}


def test_redelivery_of_a_part_of_a_stored_run_makes_no_run_and_no_revision() -> None:
    first = Bench()
    first.feed(exchange(ASK, "a", 0), offset=0)
    first.feed(exchange(SHOW, "a", 10), offset=1)
    first.finish()
    second = first.restarted()
    second.feed(exchange(SHOW, "a", 10)[:1], offset=1)
    second.wait(20)
    second.feed(exchange(SHOW, "a", 10), offset=1)
    second.finish()
    assert second.results() == first.results()
    assert second.counter("aem_verdict_revisions_total", cause="late_span") == 0
    assert second.counter("aem_monitor_unrecognised_conversations_total", outcome="none") == 0


def test_a_call_of_a_stored_run_that_is_read_again_alone_does_not_hold_its_offset_until_it_expires() -> None:
    first = Bench()
    spans = play("c", 0)
    first.feed(spans, offset=0)
    first.finish()
    again = first.restarted()
    (call,) = [span for span in spans if span.name.startswith("execute_tool")]
    again.feed([call], offset=7)
    again.wait(120)
    assert again.settings.pending_max_age > 120
    assert again.releasable() == {0: 8}
    assert again.counter("aem_monitor_pending_expired_total") == 0
    assert again.counted_runs() == 1


def test_dialogs_in_one_trace_of_which_one_was_stored_before_a_restart() -> None:
    trace = "5" * 32
    one, two = play("a", 0, trace=trace), exchange(ASK, "b", 3, trace=trace)
    rest = exchange(PROFIT, "b", 60, trace=trace)
    first = Bench()
    first.feed(one, offset=0)
    first.feed(two, offset=1)
    first.wait(35)
    assert [result.conversation_id for result in first.results()] == ["a"]
    assert first.releasable() == {0: 0}
    second = first.restarted()
    for offset, spans in enumerate([one, two, rest]):
        second.feed(spans, offset=offset)
    second.finish()
    assert second.results() == replayed(second.pipeline, [*one, *two, *rest])
    assert second.counted_runs() == 2
    assert second.releasable() == {0: 3}


# A store that fails


class FailingStore(Store):
    """Raises at the calls that ``fails`` chooses; ``after`` the work was done, or before."""

    def __init__(self) -> None:
        super().__init__("sqlite://", "tests")
        self.calls = 0
        self.fails: Callable[[int], bool] = lambda _: False
        self.after = False

    def _write(self, action: str, work: Any) -> Any:
        return self._failing(lambda: super(FailingStore, self)._write(action, work))

    def _read(self, action: str, work: Any) -> Any:
        return self._failing(lambda: super(FailingStore, self)._read(action, work))

    def _failing(self, step: Callable[[], Any]) -> Any:
        self.calls = getattr(self, "calls", 0) + 1
        fails = getattr(self, "fails", lambda _: False)(self.calls)
        done = step() if not fails or self.after else None
        if fails:
            raise StoreError("out of order", reason="unavailable")
        return done


def _run_with(store: FailingStore, fails: Callable[[int], bool] = lambda _: False) -> Bench:
    """The messages through an engine whose worker tries again what the store did not take."""
    bench = Bench(store=store)
    store.calls, store.fails = 0, fails
    for offset, spans in enumerate(_messages()):
        for attempt in range(100):
            try:
                bench.feed(spans, offset=offset)
            except StoreError:
                assert attempt < 99
                bench.wait(1)
                continue
            break
        bench.tick()
    bench.finish()
    store.fails = lambda _: False
    return bench


def _check(bench: Bench) -> None:
    expected = replayed(bench.pipeline, [span for spans in _messages() for span in spans])
    assert bench.results() == expected
    assert nonzero(bench.store.totals()) == totals_of(expected)
    assert bench.exposed() == bench.restarted().exposed(), "what is scraped is what is stored"
    assert bench.releasable() == {0: 8}


def _calls_of_a_quiet_run() -> int:
    store = FailingStore()
    _run_with(store)
    return store.calls


@pytest.mark.parametrize("after", [False, True])
def test_a_store_that_fails_at_any_one_call_changes_nothing(after: bool) -> None:
    for number in range(1, _calls_of_a_quiet_run() + 1):
        store = FailingStore()
        store.after = after
        _check(_run_with(store, partial(eq, number)))


@pytest.mark.parametrize("seed", range(5))
def test_a_store_that_fails_every_other_time_changes_nothing(seed: int) -> None:
    chance = random.Random(seed)
    store = FailingStore()
    store.after = bool(seed % 2)
    _check(_run_with(store, lambda _: chance.random() < 0.4))


def test_while_the_store_is_down_no_offset_is_released_and_no_run_counted() -> None:
    store = FailingStore()
    bench = Bench(store=store)
    bench.feed(play("c"), offset=0)
    store.fails = lambda _: True
    bench.wait(200)
    assert bench.counted_runs() == 0
    assert bench.releasable() == {0: 0}
    assert bench.counter("aem_monitor_store_errors_total", reason="unavailable") > 3
    assert not bench.store_is_up()
    with pytest.raises(StoreError):
        bench.feed(play("d", 100), offset=1)
    store.fails = lambda _: False
    bench.wait(30)
    assert bench.store_is_up()
    assert bench.counted_runs() == 1
    assert bench.releasable() == {0: 1}


# The end


def test_at_the_end_runs_from_kafka_are_left_to_the_next_reader() -> None:
    first = Bench()
    first.feed(play("c"), offset=0)
    first.tick()
    first.engine.drain(first.now)
    assert first.results() == []
    assert first.releasable() == {0: 0}
    second = first.restarted()
    second.feed(play("c"), offset=0)
    second.finish()
    assert len(second.results()) == 1


def test_at_the_end_runs_from_otlp_are_scored_as_far_as_they_go() -> None:
    bench = Bench()
    bench.feed([*play("whole"), *exchange(ASK, "half", 1)])
    bench.engine.drain(bench.now)
    assert {result.conversation_id: result.partial for result in bench.results()} == {"whole": False, "half": True}
    assert bench.counted_runs() == 2
    assert bench.counter("aem_monitor_engine_errors_total", step="drain") == 0
