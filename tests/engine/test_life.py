"""The life of a run: open, provisional, final, revised, over."""

from dataclasses import replace

import pytest

from aem_monitor.engine.settings import EngineSettings
from aem_monitor.ingest.batch import Decoded, PartitionsAssigned
from aem_monitor.model.span import LogRecord, Resource, Scope
from tests.engine.bench import (
    ASK,
    HELLO,
    PROFIT,
    SECOND,
    SHOW,
    START,
    TOPIC,
    Bench,
    exchange,
    pipeline_of,
    play,
    replayed,
    sales,
)
from tests.playing import agent, golden, user

DAY = 86_400


def test_a_verdict_is_provisional_until_the_grace_has_passed_and_counted_once_then() -> None:
    bench = Bench()
    bench.feed(play("c"))
    bench.tick()
    ((provisional, _),) = bench.store.provisional_runs()
    assert provisional.test_pass is True
    assert bench.results() == []
    assert bench.counted_runs() == 0
    bench.wait(9)
    assert bench.results() == []
    bench.wait(25)
    assert bench.results() == [provisional]
    assert bench.store.provisional_runs() == []
    assert bench.counted_runs() == 1
    bench.finish()
    assert bench.counted_runs() == 1
    assert len(bench.results()) == 1


def test_every_series_that_a_run_may_add_to_is_shown_at_zero_before() -> None:
    bench = Bench()
    bench.feed(play("c", show=PROFIT))
    bench.tick()
    shown = {(total.metric, total.labels) for total in bench.store.totals()}
    bench.finish()
    added = {(total.metric, total.labels) for total in bench.store.totals() if total.value and total.bucket is None}
    assert added <= shown


def test_a_span_within_the_grace_changes_the_verdict_before_it_is_counted() -> None:
    spans = play("c", show=PROFIT)
    call = next(span for span in spans if span.name.startswith("execute_tool"))
    bench = Bench()
    bench.feed([span for span in spans if span is not call])
    bench.wait(8)
    bench.feed([call])
    bench.finish()
    (result,) = bench.results()
    assert result.root_cause_count == 1
    assert result.revision == 0
    assert bench.counter("aem_verdict_revisions_total", cause="late_span") == 0
    assert bench.counter("aem_monitor_late_spans_total") == 0


def test_a_late_span_within_the_window_makes_a_revision_and_no_second_count() -> None:
    spans = play("c", show=PROFIT)
    call = next(span for span in spans if span.name.startswith("execute_tool"))
    bench = Bench()
    bench.feed([span for span in spans if span is not call])
    bench.wait(60)
    before = bench.exposed()
    bench.feed([call])
    bench.tick()
    (result,) = bench.results()
    assert result.revision == 1
    assert result.root_cause_count == 1
    assert bench.counter("aem_verdict_revisions_total", cause="late_span") == 1
    assert bench.counter("aem_monitor_late_spans_total") == 1
    after = bench.exposed()
    assert {key for key in after if after[key] != before.get(key)} == {
        ("aem_verdict_revisions_total", (("cause", "late_span"),))
    }
    bench.finish()
    assert bench.counted_runs() == 1


def test_a_late_span_that_changes_nothing_makes_no_revision() -> None:
    bench = Bench()
    bench.feed(play("c"))
    bench.wait(60)
    sibling = replace(play("c")[0], span_id="f" * 16, attributes={"gen_ai.operation.name": "embeddings"})
    bench.feed([sibling])
    bench.wait(5)
    assert [result.revision for result in bench.results()] == [0]
    assert bench.counter("aem_monitor_late_spans_total") == 1


def test_a_span_after_the_window_is_late_and_nothing_else() -> None:
    spans = play("c")
    call = next(span for span in spans if span.name.startswith("execute_tool"))
    bench = Bench(settings=EngineSettings(late_window=100))
    bench.feed([span for span in spans if span is not call])
    bench.finish()
    assert bench.engine.figures.bytes_held == 0
    bench.feed([call])
    bench.finish()
    assert bench.counter("aem_monitor_late_spans_total") == 1
    assert len(bench.results()) == 1
    assert bench.counter("aem_monitor_unrecognised_conversations_total", outcome="none") == 0


def test_a_span_that_comes_twice_is_counted_as_duplicate() -> None:
    spans = play("c")
    bench = Bench()
    bench.feed(spans)
    bench.feed(spans[:2])
    bench.finish()
    assert bench.counter("aem_monitor_duplicate_spans_total") == 2
    assert bench.counted_runs() == 1


def test_spans_with_definitions_of_tools_that_cannot_be_read_are_counted_once_and_change_no_verdict() -> None:
    cut = {"gen_ai.tool.definitions": '[{"name": "query_sal'}
    spans = [replace(span, attributes={**span.attributes, **cut}) for span in play("c")]
    bench = Bench()
    for span in spans:
        bench.feed([span])
        bench.tick()
    bench.finish()
    assert bench.counter("aem_monitor_unread_tool_definitions_total", cause="malformed") == len(spans)
    assert [result.test_pass for result in bench.results()] == [True]


def test_a_run_that_stops_half_way_is_final_when_it_is_idle_in_event_time() -> None:
    bench = Bench()
    bench.feed(exchange(ASK, "c", 0))
    bench.feed(exchange(HELLO, "other", 0))
    bench.wait(20)
    assert bench.results() == []
    for seconds in range(20, 110, 10):
        # Other traffic moves event time on; the run itself stays silent.
        bench.feed(exchange(HELLO, "other", seconds))
        bench.wait(10)
    (result,) = bench.results()
    assert not result.complete
    assert result.test_pass is None


def test_event_time_that_stands_still_holds_a_half_run_open() -> None:
    """One partition lags behind: what is missing may well be in it."""
    bench = Bench()
    bench.submit(PartitionsAssigned("kafka", ((TOPIC, 0), (TOPIC, 1))))
    bench.feed(exchange(ASK, "c", 0), offset=1, partition=0)
    for minute in range(4):
        old = exchange(HELLO, f"old-{minute}", -5000 + minute)
        bench.feed(old, offset=minute, partition=1)
        bench.feed(exchange(HELLO, f"new-{minute}", 20 + 25 * minute), offset=minute + 2, partition=0)
        bench.wait(25)
    assert bench.results() == []
    bench.feed(exchange(SHOW, "c", 10), offset=9, partition=1)
    bench.finish()
    (result,) = bench.results()
    assert result.complete
    assert result.revision == 0


def test_when_all_senders_are_silent_the_wall_clock_goes_on() -> None:
    bench = Bench()
    bench.feed(exchange(ASK, "c", 0))
    bench.wait(140)
    assert len(bench.results()) == 1


@pytest.mark.parametrize("skew", [-DAY, DAY])
def test_a_producer_whose_clock_is_a_day_wrong_neither_closes_nor_holds_the_others(skew: int) -> None:
    settings = EngineSettings(pending_max_age=120)
    bench = Bench(settings=settings)
    bench.feed(exchange(ASK, "right", 0), sender="a")
    bench.feed(exchange(ASK, "wrong", skew), sender="b")
    bench.wait(5)
    assert bench.results() == [], "the skewed span must close nothing"
    bench.feed(exchange(SHOW, "right", 10), sender="a")
    bench.feed(exchange(SHOW, "wrong", skew + 10), sender="b")
    for beat in range(20):
        bench.feed(exchange(HELLO, f"x{beat}", 25 + 10 * beat), sender="a")
        bench.feed(exchange(HELLO, f"y{beat}", skew + 25 + 10 * beat), sender="b")
        bench.wait(10)
    results = {result.conversation_id: result for result in bench.results()}
    assert set(results) == {"right", "wrong"}
    assert all(result.complete and result.test_pass for result in results.values())


def test_an_end_marker_completes_a_run_at_once() -> None:
    bench = Bench()
    bench.feed(exchange(ASK, "c", 0, attributes={"aem.run.end": True}))
    bench.tick()
    assert len(bench.store.provisional_runs()) == 1


def test_an_idle_run_that_goes_on_within_its_grace_is_waited_for_again() -> None:
    bench = Bench(settings=EngineSettings(idle=20, wall_idle=5))
    bench.feed(exchange(ASK, "c", 0))
    bench.wait(26)
    assert len(bench.store.provisional_runs()) == 1
    bench.feed(exchange(SHOW, "c", 45))
    bench.finish()
    (result,) = bench.results()
    assert result.complete
    assert result.revision == 0
    assert bench.counted_runs() == 1


def test_drafts_are_in_no_quality_metric() -> None:
    draft = sales(review={"status": "draft"})
    bench = Bench(pipeline_of(draft))
    bench.feed(play("c"))
    bench.finish()
    (result,) = bench.results()
    assert result.draft
    assert bench.counter("aem_draft_runs_total", dialog="sales", result="pass") == 1
    assert {name for name, _ in bench.exposed()} == {"aem_draft_runs_total"}


def test_other_traffic_is_dropped_early_and_counted_once_a_conversation() -> None:
    bench = Bench()
    for at in range(0, 40, 10):
        bench.feed(exchange(HELLO, "customer", at))
        bench.wait(10)
    bench.wait(30)
    assert bench.engine.figures.bytes_held == 0
    assert bench.engine.figures.conversations == 0
    assert bench.counter("aem_monitor_unrecognised_conversations_total", outcome="none") == 1
    assert bench.counter("aem_monitor_pending_expired_total") == 0
    assert bench.results() == []


def test_a_late_span_of_other_traffic_is_skipped() -> None:
    spans = exchange(replace(HELLO, calls=[("parcels.find", {})]), "customer", 0)
    bench = Bench()
    bench.feed(spans[1:])
    bench.wait(60)
    bench.feed(spans[:1])
    bench.wait(2)
    assert bench.counter("aem_monitor_skipped_spans_total", cause="not_a_run") == 1
    assert bench.engine.figures.bytes_held == 0


def test_a_canary_that_begins_later_in_the_trace_of_other_traffic_is_seen() -> None:
    trace = "7" * 32
    bench = Bench()
    bench.feed(exchange(HELLO, "customer", 0, trace=trace))
    bench.wait(60)
    bench.feed(play("c", 70, trace=trace))
    bench.finish()
    assert [result.conversation_id for result in bench.results()] == ["c"]


def test_recognised_conversations_are_counted_once_by_what_named_them() -> None:
    bench = Bench()
    bench.feed(play("said"))
    bench.feed(play("named", 1, attributes={"aem.dialog.id": "sales"}))
    bench.tick()
    bench.feed(play("named", 100, attributes={"aem.dialog.id": "sales"}))
    bench.finish()
    assert bench.counter("aem_monitor_recognised_conversations_total", by="text") == 1
    assert bench.counter("aem_monitor_recognised_conversations_total", by="id") == 1


def test_when_a_release_was_first_seen_is_shown_with_its_first_run() -> None:
    bench = Bench()
    first = bench.now
    bench.feed(play("c"))
    bench.tick()
    bench.wait(100)
    bench.feed(play("d", 100))
    bench.tick()
    assert bench.metrics.gauge("aem_release_first_seen_timestamp_seconds", agent="shop", release="1.0").value == first


def test_log_records_may_come_before_their_spans() -> None:
    (span,) = exchange(ASK, "c", 0)
    record = LogRecord(span.trace_id, span.span_id, span.start_ns, "x", "text", {}, Resource(), Scope())
    bench = Bench()
    bench.feed([], [record])
    bench.wait(2)
    assert bench.counter("aem_monitor_engine_errors_total", step="trace") == 0
    bench.feed(play("c"))
    bench.finish()
    assert bench.results() == replayed(bench.pipeline, play("c"), [record])


def test_log_records_without_spans_say_nothing_in_a_replay() -> None:
    record = LogRecord("1" * 32, "2" * 16, SECOND, "x", "text", {}, Resource(), Scope())
    assert replayed(pipeline_of(sales()), [], [record]) == []


def test_what_was_received_skipped_and_altered_is_counted() -> None:
    decoded = Decoded(
        seen_spans=5,
        seen_logs=2,
        skipped={"no_agent_content": 4, "invalid_id": 1},
        skipped_logs={"no_span_id": 2},
        altered={"string_cut": 3},
        size=1000,
    )
    bench = Bench()
    bench.feed([], decoded=decoded)
    bench.feed([], decoded=decoded, offset=0)
    for source in ("otlp_http", "kafka"):
        assert bench.counter("aem_monitor_received_batches_total", source=source) == 1
        assert bench.counter("aem_monitor_received_bytes_total", source=source) == 1000
        assert bench.counter("aem_monitor_received_spans_total", source=source) == 5
        assert bench.counter("aem_monitor_received_logs_total", source=source) == 2
    assert bench.counter("aem_monitor_skipped_spans_total", cause="no_agent_content") == 8
    assert bench.counter("aem_monitor_skipped_spans_total", cause="no_span_id") == 4
    assert bench.counter("aem_monitor_altered_values_total", cause="string_cut") == 6


def test_dialogs_that_begin_alike_are_told_apart_by_what_comes_later() -> None:
    """An ambiguous beginning is no reason to drop a conversation."""
    one = golden([user("Hello"), agent(1, "Hi."), user("Buy"), agent(2, "Done.")], dialog="buy")
    two = golden([user("Hello"), agent(1, "Hi."), user("Sell"), agent(2, "Done.")], dialog="sell")
    bench = Bench(pipeline_of(one, two))
    hello, sell = replace(HELLO, text="Hello", reply="Hi."), replace(HELLO, text="Sell", reply="Done.")
    bench.feed(exchange(hello, "c", 0))
    bench.wait(40)
    bench.feed(exchange(sell, "c", 40))
    bench.finish()
    assert [result.dialog for result in bench.results()] == ["sell"]


def test_a_defect_in_one_conversation_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench()
    real = type(bench.pipeline).recognise

    def recognise(self: object, conversation: object) -> object:
        if getattr(conversation, "key", None) == "broken":
            raise ZeroDivisionError
        return real(self, conversation)  # type: ignore[arg-type]

    monkeypatch.setattr(type(bench.pipeline), "recognise", recognise)
    bench.feed(play("broken"), offset=1)
    bench.feed(play("sound", 1), offset=2)
    bench.finish()
    assert [result.conversation_id for result in bench.results()] == ["sound"]
    assert bench.counter("aem_monitor_engine_errors_total", step="conversation") == 1
    assert bench.releasable() == {0: 3}
    (said,) = [record.getMessage() for record in caplog.records if "given up" in record.getMessage()]
    assert play("broken")[0].trace_id in said
    assert "their messages: otlp_spans/0 from offset 1 on" in said


def test_a_defect_in_reading_one_trace_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench()
    real = type(bench.pipeline).read
    broken = exchange(HELLO, "broken", 3)

    def read(self: object, spans: list[object], logs: object) -> object:
        if spans[0] in broken:
            raise ZeroDivisionError
        return real(self, spans, logs)  # type: ignore[arg-type]

    monkeypatch.setattr(type(bench.pipeline), "read", read)
    bench.feed([*broken, *play("sound")])
    bench.finish()
    assert len(bench.results()) == 1
    assert bench.counter("aem_monitor_engine_errors_total", step="trace") == 1
    assert f"They are {broken[0].trace_id}; their messages: sent over OTLP" in caplog.text


def test_figures_are_a_snapshot_of_the_last_tick() -> None:
    bench = Bench()
    bench.feed([*play("c"), *exchange(HELLO, "x", 1)])
    before = bench.engine.figures
    assert (before.conversations, before.runs, before.event_ns) == (0, 0, 0)
    bench.tick()
    after = bench.engine.figures
    assert (after.conversations, after.runs) == (2, 1)
    assert after.oldest_run == bench.now
    assert after.bytes_held > 1000
    assert after.event_ns >= (START + 10) * SECOND
