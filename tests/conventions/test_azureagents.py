"""Azure AI Agents: turns told by operations on threads, in one trace or each in its own."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.conventions.parts import TextPart
from aem_monitor.conventions.reading import SpanKind
from aem_monitor.conventions.registry import registry
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.span import Span, SpanEvent
from tests.assembly.building import SECOND, T0, span
from tests.assembly.recordings import assembled
from tests.conventions.azure import asked, event, listed, operation, returned, step


def one_turn(number: int, parent: str | None = None) -> list[Span]:
    """Question, run with a call, polled, steps and messages listed newest first, older messages too."""
    at, run = number * 20.0, f"run_{number}"
    spans = [
        operation("create_message", f"{number}1", asked(f"Question {number}?"), message_id=f"q{number}", start=at),
        operation("start_thread_run", f"{number}2", run=run, status="queued", start=at + 2, end=at + 3),
        operation("get_thread_run", f"{number}3", run=run, status="requires_action", start=at + 4, end=at + 5),
        operation("submit_tool_outputs", f"{number}4", returned(f"c{number}", '{"a": 1}'), run=run, start=at + 6),
        operation("get_thread_run", f"{number}5", run=run, status="completed", start=at + 8, end=at + 9),
        operation(
            "list_run_steps",
            f"{number}6",
            step(run, "2026-11-30T17:42:12+00:00", (f"c{number}", "look", {"order": number})),
            thread=run,
            run="thread_1",
            start=at + 10,
        ),
    ]
    for place, old in enumerate(range(number, -1, -1)):
        reply = listed("assistant", f"Answer {old}.", f"r{old}", f"run_{old}")
        question = listed("user", f"Question {old}?", f"q{old}")
        when = at + 12 + place / 10
        spans.append(operation("list_messages", f"{number}7{place}", reply, start=when))
        spans.append(operation("list_messages", f"{number}8{place}", question, start=when + 0.05))
    return [replace(one, parent_span_id=parent) for one in spans]


def in_own_traces(spans: list[Span]) -> list[Span]:
    return [replace(one, trace_id=one.span_id.rjust(32, "f")) for one in spans]


def check_both_turns(spans: list[Span]) -> None:
    (conversation,) = assembled(spans)
    assert conversation.conversation_id == "thread_1"
    assert [exchange.user.text for exchange in conversation.exchanges] == ["Question 0?", "Question 1?"]
    for number, exchange in enumerate(conversation.exchanges):
        (call,) = exchange.calls
        assert (call.name, call.arguments, call.result) == ("look", {"order": number}, {"a": 1})
        assert exchange.response is not None
        assert exchange.response.text == f"Answer {number}."
        assert exchange.start_ns == T0 + number * 20 * SECOND
        assert exchange.end_ns == T0 + (number * 20 + 9) * SECOND
        assert exchange.complete


def test_a_turn_a_trace_under_a_plain_span() -> None:
    spans = []
    for number in (0, 1):
        trace = str(number) * 32
        turn = [span("0", trace=trace, start=number * 20.0, end=number * 20.0 + 19), *one_turn(number, "0")]
        spans += [replace(one, trace_id=trace) for one in turn]
    check_both_turns(spans)


def test_the_whole_conversation_in_one_trace() -> None:
    check_both_turns([span("0", end=60), *one_turn(0, "0"), *one_turn(1, "0")])


def test_every_operation_in_a_trace_of_its_own() -> None:
    check_both_turns(in_own_traces(one_turn(0) + one_turn(1)))


@given(st.permutations(in_own_traces(one_turn(0) + one_turn(1))))
def test_order_does_not_matter(spans: list[Span]) -> None:
    check_both_turns(spans)


def test_swapped_ids_are_put_right() -> None:
    swapped = operation("list_run_steps", "1", step("run_1", "2026", ("c", "look", {})), thread="run_1", run="thread_1")
    reading = registry().read(swapped)
    assert reading is not None
    assert (reading.run, reading.derived["gen_ai.thread.id"]) == ("run_1", "thread_1")
    without_events = registry().read(operation("list_run_steps", "1", thread="run_1", run="thread_1"))
    assert without_events is not None
    assert (without_events.run, without_events.derived["gen_ai.thread.id"]) == ("run_1", "thread_1")


def test_a_thread_whose_runs_are_not_seen_is_no_conversation() -> None:
    question = operation("create_message", "1", asked("Hello?"))
    reply = operation("list_messages", "2", listed("assistant", "Hi.", "m2", "run_0"), start=3)
    assert assembled([question, reply]) == []


def test_a_message_that_no_run_follows_is_not_of_the_run_before() -> None:
    turn = one_turn(0)
    late = operation("create_message", "99", asked("And now?"), start=30)
    (conversation,) = assembled([*turn, late])
    assert [exchange.user.text for exchange in conversation.exchanges] == ["Question 0?"]


def test_the_last_of_several_messages_before_a_run_is_the_users() -> None:
    spans = [
        operation("create_message", "1", asked("Hello.")),
        operation("create_message", "2", asked("Where is A-1?"), start=2),
        operation("start_thread_run", "3", run="run_1", status="completed", start=4),
    ]
    for made in (spans, in_own_traces(spans)):
        (conversation,) = assembled(made)
        assert [exchange.user.text for exchange in conversation.exchanges] == ["Where is A-1?"]


def test_without_listed_steps_calls_are_unknown_and_none_can_be_missing() -> None:
    spans = [one for one in one_turn(0) if one.name != "list_run_steps"]
    for made in (spans, in_own_traces(spans)):
        (conversation,) = assembled(made)
        (exchange,) = conversation.exchanges
        assert exchange.calls == ()
        assert exchange.response is not None
        assert exchange.response.text == "Answer 0."
        assert not exchange.complete


def test_without_content_recording_there_is_structure_only() -> None:
    spans = [
        operation("create_message", "1", asked(None)),
        operation("start_thread_run", "2", run="run_1", status="completed", start=2, end=9),
        operation("submit_tool_outputs", "3", returned("c1", ""), parent="2", run="run_1", start=4),
        operation("list_run_steps", "4", step("run_1", "2026", ("c1", None, None)), start=10),
        operation("list_messages", "5", event("gen_ai.assistant.message", {"role": "assistant"}), start=11),
    ]
    (conversation,) = assembled(spans)
    (exchange,) = conversation.exchanges
    assert (exchange.user.text, exchange.calls, exchange.complete) == (None, (), False)
    assert exchange.response is not None
    assert exchange.response.text is None


def test_a_run_that_failed_is_a_failed_reply() -> None:
    polled = [
        operation("create_message", "1", asked("Hello?")),
        operation("start_thread_run", "2", run="run_1", status="queued", start=2),
        operation("get_thread_run", "3", run="run_1", status="failed", start=4, error="Rate limit is exceeded."),
    ]
    waited = [
        operation(
            "start_thread_run", "2", run="run_1", status="failed", start=2, end=9, error="Rate limit is exceeded."
        ),
    ]
    for made in (polled, in_own_traces(polled), waited):
        (conversation,) = assembled(made)
        assert conversation.exchanges[0].response is not None
        assert conversation.exchanges[0].response.error == "Rate limit is exceeded."


def test_a_poll_that_failed_is_no_failed_reply() -> None:
    spans = [*one_turn(0), operation("get_thread_run", "33", start=7, error="connection reset")]
    (conversation,) = assembled(spans)
    assert conversation.exchanges[0].response is not None
    assert conversation.exchanges[0].response.error is None


def test_calls_of_one_step_are_parallel_and_steps_are_in_the_order_of_the_server() -> None:
    second = step("run_1", "2026-11-30T17:42:15+00:00", ("c3", "book", {}))
    first = step("run_1", "2026-11-30T17:42:12+00:00", ("c1", "look", {"n": 1}), ("c2", "look", {"n": 2}))
    spans = [
        operation("start_thread_run", "1", run="run_1", status="completed", end=9),
        operation("list_run_steps", "2", second, start=10),
        operation("list_run_steps", "3", first, start=11),
    ]
    (conversation,) = assembled(spans)
    calls = conversation.exchanges[0].calls
    assert [(call.name, call.round) for call in calls] == [("look", 0), ("look", 0), ("book", 1)]


def test_steps_of_one_second_are_in_the_order_of_their_results() -> None:
    at = "2026-11-30T17:42:12+00:00"
    spans = [
        operation("start_thread_run", "1", run="run_1", status="completed", end=9),
        operation("submit_tool_outputs", "2", returned("c1", "one"), run="run_1", start=2),
        operation("submit_tool_outputs", "3", returned("c2", "two"), run="run_1", start=4),
        operation("list_run_steps", "4", step("run_1", at, ("c1", "look", {})), start=10),
        operation("list_run_steps", "5", step("run_1", at, ("c2", "book", {})), start=11),
    ]
    (conversation,) = assembled(spans)
    assert [(call.name, call.result) for call in conversation.exchanges[0].calls] == [("look", "one"), ("book", "two")]


def test_a_streamed_run_has_all_its_events_on_one_span() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": {"order": "A-1"}}}]
    streamed = operation(
        "process_thread_run",
        "2",
        returned("c1", '{"status": "shipped"}'),
        event("gen_ai.assistant.message", {"tool_calls": calls}),
        listed("assistant", "It has shipped.", "m3", "run_1"),
        run="run_1",
        status="completed",
        start=2,
        end=9,
    )
    (conversation,) = assembled([operation("create_message", "1", asked("Where is A-1?")), streamed])
    (exchange,) = conversation.exchanges
    (call,) = exchange.calls
    assert (exchange.user.text, call.name, call.result) == ("Where is A-1?", "look", {"status": "shipped"})
    assert exchange.response is not None
    assert exchange.response.text == "It has shipped."


def test_a_tool_that_the_client_ran_has_its_own_span() -> None:
    turn = one_turn(0, "0")
    tool = span(
        "50",
        "0",
        scope="azure.core.tracing.ext.opentelemetry_span",
        start=5.5,
        end=5.8,
        attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look", "gen_ai.tool.call.id": "c0"},
    )
    (conversation,) = assembled([*turn, tool])
    (call,) = conversation.exchanges[0].calls
    assert (call.span_id, call.arguments, call.result) == ("50", {"order": 0}, {"a": 1})


@pytest.mark.parametrize(
    ("call", "name", "arguments", "result"),
    [
        (
            {"id": "c", "type": "code_interpreter", "code_interpreter": {"input": "1+1", "outputs": ["2"]}},
            "code_interpreter",
            {"input": "1+1"},
            ["2"],
        ),
        ({"id": "c", "type": "file_search", "file_search": {"results": []}}, "file_search", None, NOT_CAPTURED),
        (
            {"id": "c", "type": "mcp", "name": "find", "arguments": '{"q": 1}', "output": "found", "server_label": "s"},
            "find",
            {"q": 1},
            "found",
        ),
    ],
)
def test_tools_that_the_service_runs(call: dict[str, object], name: str, arguments: object, result: object) -> None:
    done = event("gen_ai.run_step.tool_calls", {"tool_calls": [call]}, **{"gen_ai.thread.run.id": "run_1"})
    spans = [
        operation("start_thread_run", "1", run="run_1", status="completed", end=9),
        operation("list_run_steps", "2", done, start=10),
    ]
    (conversation,) = assembled(spans)
    (found,) = conversation.exchanges[0].calls
    assert (found.name, found.arguments, found.result) == (name, arguments, result)


def test_users_texts_come_from_a_listing_where_no_message_was_seen_to_be_created() -> None:
    spans = [one for one in one_turn(0) if one.name != "create_message"]
    for made in (spans, list(reversed(spans))):
        (conversation,) = assembled(made)
        assert conversation.exchanges[0].user.text == "Question 0?"


def test_content_that_was_cut_is_marked() -> None:
    content = json.dumps({"content": "Where is my order?", "role": "user"})[:30]
    cut = SpanEvent("gen_ai.user.message", 0, {"gen_ai.event.content": content})
    reading = registry().read(operation("create_message", "1", cut))
    assert reading is not None
    assert reading.reports[0].message.text == TextPart("Where is my order", truncated=True)


@pytest.mark.parametrize(
    "content", ["", "null", "[]", "{", '{"tool_calls": 7}', '{"tool_calls": [1, null, {}]}', "\x00"]
)
@pytest.mark.parametrize("name", ["start_thread_run", "list_run_steps", "list_messages", "create_message", "other"])
def test_hostile_contents_are_read(name: str, content: str) -> None:
    events = [
        SpanEvent(kind, 0, {"gen_ai.event.content": content, "gen_ai.thread.run.id": "r"})
        for kind in (
            "gen_ai.user.message",
            "gen_ai.assistant.message",
            "gen_ai.tool.message",
            "gen_ai.run_step.tool_calls",
        )
    ]
    reading = registry().read(operation(name, "1", *events))
    assert reading is not None
    assert reading.kind in (SpanKind.AGENT, SpanKind.REPORT, SpanKind.STEP)
    assembled([operation(name, "1", *events), operation("start_thread_run", "2", run="r")])
