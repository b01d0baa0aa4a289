"""What is open is bounded; what is evicted is counted, and scored as far as it goes."""

from dataclasses import replace

from aem_monitor.engine.settings import EngineSettings
from aem_monitor.model.span import LogRecord, Resource, Scope
from tests.engine.bench import ASK, HELLO, SECOND, SHOW, START, Bench, exchange, play, replayed


def test_too_many_conversations_evict_other_traffic_before_canaries() -> None:
    bench = Bench(settings=EngineSettings(max_conversations=10))
    bench.feed(exchange(ASK, "canary", 0), offset=0)
    for number in range(30):
        bench.feed(exchange(HELLO, f"customer-{number}", 1 + number / 10), offset=1 + number)
    bench.tick()
    assert bench.engine.figures.conversations <= 10
    assert bench.engine.figures.runs == 1
    assert bench.counter("aem_monitor_evicted_conversations_total", cause="conversations") >= 21
    bench.feed(exchange(SHOW, "canary", 10), offset=40)
    bench.finish()
    (result,) = bench.results()
    assert result.complete
    assert not result.partial


def test_too_many_canaries_are_scored_as_far_as_they_go() -> None:
    bench = Bench(settings=EngineSettings(max_conversations=4))
    for number in range(6):
        bench.feed(exchange(ASK, f"c-{number}", number), offset=number)
        bench.wait(1)
    assert bench.engine.figures.runs <= 4
    evicted = bench.results()
    assert evicted
    assert all(result.partial for result in evicted)
    assert [result.conversation_id for result in evicted] == [f"c-{number}" for number in range(len(evicted))]
    assert bench.counter("aem_monitor_evicted_conversations_total", cause="conversations") == len(evicted)
    assert bench.releasable() == {0: len(evicted)}
    bench.finish()
    assert bench.counted_runs() == 6


def test_a_whole_run_that_is_evicted_in_its_grace_is_not_partial() -> None:
    bench = Bench(settings=EngineSettings(max_conversations=1))
    bench.feed([*play("c"), *exchange(ASK, "d", 1)])
    bench.tick()
    (result,) = bench.results()
    assert (result.conversation_id, result.partial) in {("c", False), ("d", True)}


def test_the_bytes_held_are_bounded_and_pending_traces_go_first() -> None:
    bench = Bench(settings=EngineSettings(pending_max_bytes=400_000))
    bench.feed(exchange(ASK, "canary", 0), offset=0)
    for number in range(100):
        (call, _) = exchange(SHOW, f"lost-{number}", 1 + number, trace=f"{number + 1:032x}")
        bench.feed([call], offset=1 + number)
    bench.tick()
    assert bench.engine.figures.bytes_held <= 400_000
    assert bench.engine.figures.runs == 1
    gone = bench.counter("aem_monitor_pending_expired_total") + bench.counter(
        "aem_monitor_evicted_conversations_total", cause="bytes"
    )
    assert gone >= 1


def test_the_number_of_traces_is_bounded() -> None:
    bench = Bench(settings=EngineSettings(max_traces=20))
    for number in range(50):
        bench.feed(exchange(HELLO, f"x{number}", number / 10), offset=number)
    bench.tick()
    assert bench.engine.figures.conversations <= 20
    assert bench.counter("aem_monitor_evicted_conversations_total", cause="spans") >= 30


def test_a_long_lived_chat_of_a_customer_is_not_held_for_ever() -> None:
    bench = Bench(settings=EngineSettings(pending_max_age=60))
    for beat in range(60):
        bench.feed(exchange(HELLO, "chat", 5 * beat), offset=beat)
        bench.wait(5)
        assert bench.engine.figures.bytes_held < 150_000
    assert bench.releasable()[0] > 45
    assert bench.counter("aem_monitor_unrecognised_conversations_total", outcome="none") == 1


def test_a_trace_whose_id_came_late_does_not_tie_its_conversation_to_all_others() -> None:
    """Before its root arrives, a tool span carries no conversation id and may belong to anyone."""
    bench = Bench()
    for number in range(20):
        (call, root) = exchange(SHOW, f"c-{number}", number, trace=f"{number + 1:032x}")
        bench.feed([call])
        bench.tick()
        bench.feed([root])
        bench.tick()
    assert len(bench.engine._held.cells) == 20


def test_a_crowd_without_conversation_ids_is_assembled_now_and_then_and_hides_no_canary() -> None:
    """All traces of an agent that sends no id have to be looked at together."""
    bench = Bench()
    spans = []
    for second in range(20):
        for number in range(25):
            asked = replace(HELLO, text=f"{second}.{number}")
            spans += exchange(asked, None, second + number / 100)
            bench.feed(spans[-1:])
        if second == 8:
            spans += play(None, second)
            bench.feed(spans[-3:])
        bench.wait(1, step=0.25)
    bench.wait(200)
    assert bench.results() == replayed(bench.pipeline, spans)
    assert bench.results()
    assert bench.counter("aem_monitor_unrecognised_conversations_total", outcome="none") >= 500


def test_a_run_that_too_many_offsets_wait_for_is_scored_as_far_as_it_goes() -> None:
    bench = Bench(settings=EngineSettings(max_uncommitted=20))
    bench.feed(exchange(ASK, "canary", 0), offset=0)
    bench.feed(exchange(ASK, "elsewhere", 0), offset=0, partition=1)
    for offset in range(1, 21):
        bench.feed(exchange(HELLO, f"customer-{offset}", 1 + offset / 10), offset=offset)
    bench.wait(35)
    assert bench.results() == []
    assert bench.releasable() == {0: 0, 1: 0}
    bench.feed(exchange(HELLO, "one more", 3), offset=21)
    bench.wait(1)
    (result,) = bench.results()
    assert (result.conversation_id, result.partial) == ("canary", True)
    assert bench.counter("aem_monitor_evicted_conversations_total", cause="offsets") == 1
    assert bench.releasable()[0] > 0
    assert bench.engine.figures.runs == 1, "another partition has not come far"


def test_a_log_record_without_its_span_that_too_many_offsets_wait_for_is_dropped() -> None:
    record = LogRecord("a" * 32, "b" * 16, START * SECOND, "x", "text", {}, Resource(), Scope())
    bench = Bench(settings=EngineSettings(max_uncommitted=20))
    bench.feed([], [record], offset=0)
    bench.tick()
    assert bench.releasable() == {0: 0}
    bench.feed(exchange(HELLO, "x", 1), offset=19)
    bench.tick()
    assert bench.counter("aem_monitor_pending_expired_total") == 0
    bench.feed(exchange(HELLO, "y", 1), offset=20)
    bench.tick()
    assert bench.counter("aem_monitor_pending_expired_total") == 1
    assert bench.releasable() == {0: 19}


def test_a_trace_in_which_one_run_follows_the_other_is_not_held_for_ever() -> None:
    """The trace of a driver that never stops: each of its runs ends, but there is always an open one."""
    trace = "7" * 32
    bench = Bench(settings=EngineSettings(max_run_age=300, pending_max_age=60, grace=2))
    for number in range(30):
        bench.feed(exchange(ASK, f"c-{number}", 20 * number, trace=trace), offset=2 * number)
        bench.wait(10)
        if number:
            bench.feed(exchange(SHOW, f"c-{number - 1}", 20 * number + 10, trace=trace), offset=2 * number + 1)
        bench.wait(10)
    assert bench.counter("aem_monitor_evicted_conversations_total", cause="age") >= 1
    assert bench.releasable()[0] > 20
    assert len(bench.results()) >= 25
