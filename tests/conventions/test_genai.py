"""One span of GenAI attributes and events, in the forms of all versions."""

import json
from typing import Any

import pytest

from aem_monitor.conventions.genai import GenAI
from aem_monitor.conventions.parts import CallPart, ResultPart, TextPart
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.conventions.registry import registry
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.span import LogRecord, Resource, Scope, Span, SpanEvent
from tests.assembly.building import span

HI = [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]
HELLO = [{"role": "assistant", "parts": [{"type": "text", "content": "hello"}], "finish_reason": "stop"}]


def read(one: Span, *logs: LogRecord) -> SpanReading:
    return GenAI().read(one, logs)


def log(name: str, body: Any, time: int = 0, **attributes: Any) -> LogRecord:
    return LogRecord("a" * 32, "1", time, name, body, attributes, Resource(), Scope())


def spoken(reading: SpanReading) -> list[str | None]:
    return [m.text.text if m.text else None for m in (*reading.input.items, *reading.output.items)]


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        ("chat", SpanKind.MODEL),
        ("generate_content", SpanKind.MODEL),
        ("text_completion", SpanKind.MODEL),
        ("invoke_agent", SpanKind.AGENT),
        ("invoke_workflow", SpanKind.RUN),
        ("handle_conversation_turn", SpanKind.RUN),
        ("execute_tool", SpanKind.TOOL),
        ("create_agent", SpanKind.OTHER),
        ("embeddings", SpanKind.OTHER),
        ("search_memory", SpanKind.OTHER),
        ("execute_task", SpanKind.STEP),
    ],
)
def test_kinds(operation: str, kind: SpanKind) -> None:
    assert read(span("1", attributes={"gen_ai.operation.name": operation})).kind is kind


@pytest.mark.parametrize("encode", [json.dumps, lambda value: value])
def test_contents_in_attributes_are_json_text_or_structured(encode: Any) -> None:
    reading = read(
        span(
            "1",
            attributes={
                "gen_ai.operation.name": "chat",
                "gen_ai.input.messages": encode(HI),
                "gen_ai.output.messages": encode(HELLO),
            },
        )
    )
    assert spoken(reading) == ["hi", "hello"]
    assert reading.finish_reasons == ("stop",)


def test_operation_details_on_the_span_may_be_one_event_an_attribute() -> None:
    details = "gen_ai.client.inference.operation.details"
    events = [
        SpanEvent(details, 1, {"gen_ai.input.messages": json.dumps(HI)}),
        SpanEvent(details, 2, {"gen_ai.output.messages": json.dumps(HELLO)}),
    ]
    assert spoken(read(span("1", events=events, attributes={"gen_ai.operation.name": "chat"}))) == ["hi", "hello"]


def test_operation_details_as_a_log_record() -> None:
    record = log(
        "gen_ai.client.inference.operation.details",
        None,
        0,
        **{"gen_ai.input.messages": HI, "gen_ai.output.messages": HELLO},
    )
    assert spoken(read(span("1", attributes={"gen_ai.operation.name": "chat"}), record)) == ["hi", "hello"]


def test_one_event_a_message_as_span_events_or_log_records() -> None:
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("gen_ai.system.message", {"content": "be kind"}),
        ("gen_ai.user.message", {"content": "hi"}),
        (
            "gen_ai.assistant.message",
            {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}]},
        ),
        ("gen_ai.tool.message", {"content": '{"b": 2}', "id": "c1"}),
        ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}),
    ]
    plain = span("1", attributes={"gen_ai.operation.name": "chat"})
    logs = [log(name, body, time) for time, (name, body) in enumerate(bodies)]
    events = [SpanEvent(name, 0, {"gen_ai.event.content": json.dumps(body)}) for name, body in bodies]
    flat = [
        SpanEvent(
            name, 0, {key: value if isinstance(value, str | int) else json.dumps(value) for key, value in body.items()}
        )
        for name, body in bodies
    ]
    for reading in (
        read(plain, *logs),
        read(plain, *reversed(logs)),
        read(plain, *logs, *logs),
        read(span("1", events=events, attributes=plain.attributes)),
        read(span("1", events=flat, attributes=plain.attributes)),
    ):
        assert [m.role.value for m in reading.input.items] == ["system", "user", "assistant", "tool"]
        assert reading.input.items[2].calls == (CallPart("look", "c1", {"a": 1}),)
        assert reading.input.items[3].results == (ResultPart("c1", '{"b": 2}'),)
        assert reading.output.items[0].text == TextPart("hello")
        assert reading.finish_reasons == ("stop",)


def test_json_that_a_user_typed_is_text() -> None:
    typed = '{"order": "A-1"}'
    events = [SpanEvent("gen_ai.user.message", 0, {"content": typed})]
    assert spoken(read(span("1", events=events, attributes={"gen_ai.operation.name": "chat"}))) == [typed]


def test_deprecated_prompt_and_completion() -> None:
    reading = read(
        span(
            "1",
            attributes={
                "gen_ai.operation.name": "chat",
                "gen_ai.prompt": json.dumps([{"role": "user", "content": "hi"}]),
                "gen_ai.completion": "hello",
            },
        )
    )
    assert spoken(reading) == ["hi", "hello"]


def test_a_tool_span_of_the_attribute_form() -> None:
    tool = read(
        span(
            "1",
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "look",
                "gen_ai.tool.call.id": "c1",
                "gen_ai.tool.call.arguments": '{"a": 1}',
                "gen_ai.tool.call.result": '{"b": 2}',
            },
        )
    ).tool
    assert tool is not None
    assert (tool.name, tool.call_id, tool.arguments, tool.result) == ("look", "c1", {"a": 1}, {"b": 2})


def test_a_tool_span_with_nothing_but_its_name() -> None:
    tool = read(span("1", attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"})).tool
    assert tool is not None
    assert (tool.arguments, tool.result, tool.call_id) == (None, NOT_CAPTURED, None)


@pytest.mark.parametrize("value", [["tool_calls"], '["tool_calls"]', "tool_calls"])
def test_finish_reasons_are_a_list_json_text_or_one(value: Any) -> None:
    reading = read(span("1", attributes={"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": value}))
    assert reading.finish_reasons == ("tool_calls",)


def test_a_failure_is_told_in_the_exception_s_words() -> None:
    stack = SpanEvent("exception", 0, {"exception.type": "TimeoutError", "exception.message": "SMTP timeout"})
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "mail"}
    assert (
        read(span("1", error="TimeoutError: SMTP\nTraceback ..", events=[stack], attributes=attributes)).error
        == "SMTP timeout"
    )
    assert read(span("1", error="it broke", attributes=attributes)).error == "it broke"
    assert read(span("1", attributes={**attributes, "error.type": "_OTHER"})).error == "_OTHER"
    assert read(span("1", attributes=attributes)).error is None


def test_spans_of_no_agent_are_read_by_no_convention() -> None:
    assert registry().read(span("1", attributes={"http.request.method": "GET"})) is None
