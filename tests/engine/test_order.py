"""Whatever the order, the batches and the repetitions in which spans arrive within the grace: one outcome, replay's."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aem_monitor.examples import example_dialogs
from aem_monitor.golden.load import load_dialogs
from aem_monitor.model.span import LogRecord, Span
from aem_monitor.pipeline import Pipeline
from tests.assembly.recordings import TRACES, load
from tests.engine.bench import HELLO, PROFIT, Bench, exchange, nonzero, pipeline_of, play, replayed, sales, totals_of

EXAMPLES = example_dialogs()
RECORDED = [
    "otel-genai/openai-v2-events-refund.json",
    "otel-genai/langchain-refund.json",
    "otel-genai/openai-loop-sales.json",
    "otel-genai/agno-flights.json",
    "strands/genai-sales.json",
    "strands/legacy-refund.json",
    "azure-ai-agents/steps-flights.json",
]


@cache
def _recorded(name: str) -> tuple[Pipeline, tuple[Span, ...], tuple[LogRecord, ...]]:
    path = TRACES / name
    logs = path.with_name(path.name.replace(".json", ".logs.json"))
    spans, records = load(path, *([logs] if logs.exists() else []))
    return pipeline_of(*load_dialogs([EXAMPLES])), tuple(spans), tuple(records)


def _batches(items: Sequence[Span | LogRecord], cuts: Sequence[int]) -> list[Sequence[Span | LogRecord]]:
    edges = [0, *sorted(cut % (len(items) + 1) for cut in cuts), len(items)]
    return [items[low:high] for low, high in itertools.pairwise(edges)]


def _live(bench: Bench, batches: Sequence[Sequence[Span | LogRecord]], tick_after: frozenset[int]) -> None:
    for index, batch in enumerate(batches):
        spans = [item for item in batch if isinstance(item, Span)]
        logs = [item for item in batch if isinstance(item, LogRecord)]
        bench.feed(spans, logs, offset=index, partition=index % 2)
        if index in tick_after:
            bench.now += 0.5
            bench.tick()
    bench.finish()


def _compare(pipeline: Pipeline, spans: Sequence[Span], logs: Sequence[LogRecord], data: st.DataObject) -> None:
    expected = replayed(pipeline, spans, logs)
    sliced = data.draw(st.booleans(), label="sliced")
    bench = Bench(pipeline, now=max(span.end_ns for span in spans) / 1e9 + 1, sliced=sliced)
    items: list[Span | LogRecord] = [*spans, *logs]
    repeated = data.draw(st.lists(st.sampled_from(range(len(items))), max_size=5), label="repeated")
    arrival = data.draw(st.permutations([*range(len(items)), *repeated]), label="arrival")
    cuts = data.draw(st.lists(st.integers(0, 1000), max_size=6), label="cuts")
    batches = _batches([items[index] for index in arrival], cuts)
    ticks = data.draw(st.frozensets(st.integers(0, len(batches)), max_size=5), label="ticks")
    _live(bench, batches, ticks)
    assert bench.results() == expected
    assert nonzero(bench.store.totals()) == totals_of(expected)
    assert bench.counter("aem_monitor_engine_errors_total", step="conversation") == 0
    assert bench.counter("aem_monitor_engine_errors_total", step="trace") == 0
    assert bench.counter("aem_verdict_revisions_total", cause="late_span") == 0
    assert bench.store.provisional_runs() == []


SLOW = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", RECORDED)
@given(data=st.data())
@SLOW
def test_recorded_spans_give_the_verdicts_of_replay_in_any_order(name: str, data: st.DataObject) -> None:
    pipeline, spans, logs = _recorded(name)
    _compare(pipeline, spans, logs, data)


def test_recordings_are_recognised_by_what_is_said() -> None:
    """Else the property above would hold of nothing."""
    for name in RECORDED:
        pipeline, spans, logs = _recorded(name)
        assert replayed(pipeline, spans, logs), name


@given(data=st.data())
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_interleaved_conversations_give_the_verdicts_of_replay_in_any_order(data: st.DataObject) -> None:
    """Two plays of one conversation, a broken one of another, one without any id, and a customer."""
    spans = [
        *play("c-1", 0),
        *play("c-1", 100),
        *play("c-2", 5, PROFIT),
        *play(None, 40, service="helpdesk"),
        *exchange(HELLO, "customer", 50),
    ]
    _compare(pipeline_of(sales()), spans, [], data)


@given(data=st.data())
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_dialogs_driven_side_by_side_in_one_trace_are_scored_each_once(data: st.DataObject) -> None:
    """A test driver often wraps its whole suite in one span, and all conversations share its trace id."""
    trace = "5" * 32
    spans = [
        *play("c-1", 0, trace=trace),
        *(replace(span, span_id="a" + span.span_id[1:]) for span in play("c-2", 4, PROFIT, trace=trace)),
        *play("c-3", 60, trace=trace),
    ]
    spans = [
        replace(span, parent_span_id="a" + span.parent_span_id[1:])
        if span.parent_span_id and span.span_id.startswith("a")
        else span
        for span in spans
    ]
    _compare(pipeline_of(sales()), spans, [], data)
