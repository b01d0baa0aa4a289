"""Recorded runs of real frameworks become the conversations that their sidecars describe."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aem_monitor.assembly import join, read_trace
from tests.assembly.recordings import REGISTRY, SETTINGS, TRACES, assembled, differences, load, recordings, sidecar_of

FILES = recordings()
UNKNOWN_CALLS = {"without-steps-sales.json": [False, False, True]}
NO_HISTORY = {
    "agno-flights.json",
    "steps-flights.json",
    "own-traces-sales.json",
    "stream-sales.json",
    "without-steps-sales.json",
    "fastmcp-sales.json",
    "crewai-refund.json",
    "smolagents-flights.json",
}


def test_there_are_recordings() -> None:
    assert len(FILES) >= 11


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_recording_becomes_its_conversation(path: Path) -> None:
    assert differences(sidecar_of(path), assembled(*load(path))) == []


def test_log_records_bring_the_texts_that_the_spans_lack() -> None:
    trace = TRACES / "otel-genai" / "openai-v2-events-refund.json"
    spans, logs = load(trace, trace.with_name("openai-v2-events-refund.logs.json"))
    (conversation,) = assembled(spans, logs)
    assert [exchange.user.text for exchange in conversation.exchanges] == [
        "Where is my order A-1042?",
        "Please refund it, the box was damaged.",
        "Thanks. What is the refund number again?",
    ]
    assert [exchange.response.text for exchange in conversation.exchanges if exchange.response] == [
        "Your order A-1042 has shipped and should arrive on 2026-12-03.",
        "I opened refund R-77 for 59.90 USD. It is pending.",
        "Your refund number is R-77.",
    ]
    refund = conversation.exchanges[1].calls[0]
    assert refund.arguments == {"order_id": "A-1042", "amount": 59.9, "reason": "box was damaged"}
    assert refund.result == {"refund_id": "R-77", "state": "pending", "amount": 59.9}


def test_without_its_log_records_the_same_trace_has_structure_only() -> None:
    (conversation,) = assembled(*load(TRACES / "otel-genai" / "openai-v2-events-refund.json"))
    assert [call.tool for exchange in conversation.exchanges for call in exchange.calls] == [
        "lookup_order",
        "create_refund",
    ]
    assert all(exchange.user.text is None for exchange in conversation.exchanges)
    assert all(exchange.response is not None for exchange in conversation.exchanges)
    assert all(call.arguments is None for exchange in conversation.exchanges for call in exchange.calls)


def test_parallel_calls_share_a_round_and_a_retry_does_not() -> None:
    (conversation,) = assembled(*load(TRACES / "strands" / "genai-sales.json"))
    second, third = conversation.exchanges[1], conversation.exchanges[2]
    assert [call.round for call in second.calls] == [0, 0]
    assert [call.round for call in third.calls] == [0, 1]
    assert third.calls[0].error == "SMTP timeout after 30s"
    assert third.calls[1].error is None


def test_the_model_of_a_call_is_the_one_that_asked_for_it() -> None:
    (conversation,) = assembled(*load(TRACES / "otel-genai" / "langchain-refund.json"))
    assert {call.model for exchange in conversation.exchanges for call in exchange.calls} == {"gpt-4o-2024-08-06"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_recording_is_complete(path: Path) -> None:
    for conversation in assembled(*load(path)):
        complete = [exchange.complete for exchange in conversation.exchanges]
        assert complete == UNKNOWN_CALLS.get(path.name, [True] * len(complete))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(path=st.sampled_from(FILES), data=st.data())
def test_order_duplicates_and_batching_never_change_the_outcome(path: Path, data: st.DataObject) -> None:
    spans, logs = load(path)
    shuffled = data.draw(st.permutations(spans + data.draw(st.lists(st.sampled_from(spans), max_size=8))))
    assert assembled(shuffled, logs) == assembled(spans, logs)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_log_records_may_come_in_any_order_and_twice(data: st.DataObject) -> None:
    trace = TRACES / "otel-genai" / "openai-v2-events-refund.json"
    spans, logs = load(trace, trace.with_name("openai-v2-events-refund.logs.json"))
    shuffled = data.draw(st.permutations(logs + logs[:5]))
    assert assembled(spans, shuffled) == assembled(spans, logs)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_conversations_that_interleave_do_not_touch_each_other(data: st.DataObject) -> None:
    """Two recordings of different conversations at once give what each gives alone."""
    first, second = data.draw(st.lists(st.sampled_from(FILES), min_size=2, max_size=2, unique=True))
    alone = [load(first)[0], load(second)[0]]
    marked = [
        [replace(span, trace_id=f"{number}{span.trace_id[1:]}") for span in spans] for number, spans in enumerate(alone)
    ]
    ids = [{name for c in assembled(spans) for name in (c.conversation_id, *c.aliases)} for spans in marked]
    if ids[0] & ids[1]:
        return
    together = assembled(data.draw(st.permutations(marked[0] + marked[1])))
    apart = [conversation for spans in marked for conversation in assembled(spans)]
    assert sorted(together, key=lambda c: c.key) == sorted(apart, key=lambda c: c.key)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_readings_kept_a_trace_join_to_the_same_conversations(path: Path) -> None:
    spans, logs = load(path)
    traces = {span.trace_id for span in spans}
    readings = [
        read_trace(
            [span for span in spans if span.trace_id == trace],
            [record for record in logs if record.trace_id == trace],
            REGISTRY,
            SETTINGS,
        )
        for trace in sorted(traces, reverse=True)
    ]
    assert join(readings, SETTINGS) == assembled(spans, logs)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_without_ids_the_growing_history_joins_the_traces(path: Path) -> None:
    """The same recording, with no attribute configured as an id. Without texts or history nothing can join traces."""
    spans, logs = load(path)
    known = assembled(spans, logs)
    if any(exchange.user.text is None for conversation in known for exchange in conversation.exchanges):
        pytest.skip("no texts")
    if path.name in NO_HISTORY:
        pytest.skip("no input repeats earlier turns")
    found = assembled(spans, logs, replace(SETTINGS, conversation_id=()))
    assert [c.conversation_id for c in found] == [None] * len(known)
    assert [[e.user.text for e in c.exchanges] for c in found] == [[e.user.text for e in c.exchanges] for c in known]


def test_any_half_of_a_recording_is_read_without_an_exception() -> None:
    spans, logs = load(TRACES / "strands" / "genai-sales.json")
    for cut in range(1, len(spans)):
        assembled(spans[cut:], logs)
        assembled(spans[:cut], logs)
