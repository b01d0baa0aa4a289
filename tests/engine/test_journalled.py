"""Runs whose requests are in a journal: its segments are partitions that nobody else reads."""

from collections.abc import Iterable

from aem_monitor.ingest.batch import (
    JOURNAL,
    Batch,
    Decoded,
    PartitionsAssigned,
    PartitionsDropped,
    PartitionsRevoked,
    Position,
)
from aem_monitor.model.span import Span
from tests.engine.bench import ASK, HELLO, SHOW, Bench, exchange, nonzero, play, totals_of

HELD = ((JOURNAL, 0),)


def feed(bench: Bench, spans: Iterable[Span], segment: int, index: int, sender: str = "peer") -> None:
    kept = tuple(spans)
    decoded = Decoded(kept, (), len(kept), max_end_ns=max((span.end_ns for span in kept), default=0))
    bench.submit(Batch("otlp_http", sender, decoded, bench.now, Position(JOURNAL, segment, index)))


def test_a_segment_is_needed_until_the_verdicts_of_its_runs_are_stored() -> None:
    bench = Bench()
    feed(bench, exchange(ASK, "c", 0), 1, 0)
    feed(bench, exchange(HELLO, "x", 1), 1, 1)
    feed(bench, exchange(SHOW, "c", 10), 2, 0)
    bench.tick()
    assert bench.releasable() == {1: 0, 2: 0}
    assert bench.engine.needed_by_runs() == {(JOURNAL, 1), (JOURNAL, 2)}
    bench.finish()
    assert len(bench.results()) == 1
    assert bench.releasable() == {1: 2, 2: 1}
    assert bench.engine.needed_by_runs() == set()


def test_what_open_runs_need_is_told_apart_from_what_may_become_one() -> None:
    bench = Bench()
    feed(bench, exchange(HELLO, "x", 0), 1, 0)
    feed(bench, exchange(ASK, "c", 0), 2, 0)
    assert bench.engine.needed_by_runs() == {(JOURNAL, 1), (JOURNAL, 2)}, "nothing is known of them yet"
    bench.tick()
    assert bench.releasable() == {1: 0, 2: 0}
    assert bench.engine.needed_by_runs() == {(JOURNAL, 2)}


def test_how_far_a_journal_is_done_is_no_row_of_the_store() -> None:
    bench = Bench()
    feed(bench, exchange(HELLO, "x", 0), 1, 0)
    bench.wait(30)
    feed(bench, play("c", 20), 2, 0)
    bench.finish()
    assert len(bench.results()) == 1
    assert bench.store.positions() == {}


def test_a_deleted_segment_leaves_its_runs_in_memory_and_holds_nothing_for_them() -> None:
    bench = Bench()
    feed(bench, exchange(ASK, "c", 0, trace="a" * 32), 1, 0)
    feed(bench, exchange(HELLO, "x", 0, trace="b" * 32), 1, 1)
    feed(bench, exchange(SHOW, "c", 10, trace="a" * 32), 2, 0)
    bench.tick()
    bench.releasable()
    bench.submit(PartitionsDropped(((JOURNAL, 1),)))
    assert bench.releasable() == {2: 1}, "half a run would be taken for a whole one"
    bench.engine.drain(bench.now)
    (result,) = bench.results()
    assert result.test_pass is True


def test_at_the_end_of_the_process_journalled_runs_are_left_to_the_next() -> None:
    bench = Bench()
    feed(bench, play("kept"), 1, 0)
    bench.feed(play("lost"))
    bench.engine.drain(bench.now)
    assert [result.conversation_id for result in bench.results()] == ["lost"]
    again = bench.restarted()
    feed(again, play("kept"), 1, 0)
    again.finish()
    results = again.results()
    assert sorted(str(result.conversation_id) for result in results) == ["kept", "lost"]
    assert nonzero(again.store.totals()) == totals_of(results)


def test_a_journal_that_is_read_again_closes_nothing_before_its_end() -> None:
    """The second half comes long after the first in event time, and minutes later by the clock on the wall."""
    bench = Bench()
    bench.submit(PartitionsAssigned("journal", HELD))
    feed(bench, exchange(ASK, "c", 0), 1, 0)
    feed(bench, exchange(HELLO, "other", 3000), 1, 1, "other peer")
    for _ in range(20):
        bench.wait(10)
        bench.submit(PartitionsAssigned("journal", HELD))
        feed(bench, exchange(HELLO, "third", 3000), 1, 2)
    assert bench.results() == []
    feed(bench, exchange(SHOW, "c", 10), 1, 3)
    bench.submit(PartitionsRevoked("journal", HELD))
    bench.finish()
    (result,) = bench.results()
    assert result.test_pass is True
    assert not result.partial


def test_requests_read_again_are_counted_once() -> None:
    bench = Bench()
    feed(bench, play("c"), 1, 0)
    bench.finish()
    again = bench.restarted()
    feed(again, exchange(SHOW, "c", 10), 1, 1)
    feed(again, play("c"), 1, 0)
    again.finish()
    assert len(again.results()) == 1
    assert again.counted_runs() == 1
    assert again.releasable() == {1: 2}
