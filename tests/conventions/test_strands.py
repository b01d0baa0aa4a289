"""Strands Agents from 0.2 to 1.62."""

import json

from aem_monitor.conventions.parts import CallPart, TextPart
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.conventions.registry import registry
from aem_monitor.conventions.strands import SCOPE
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import AttributeValue
from aem_monitor.model.span import Span, SpanEvent
from tests.assembly.building import span
from tests.assembly.recordings import assembled

AGENT: dict[str, AttributeValue] = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.system": "strands-agents",
    "gen_ai.agent.name": "shop",
}


def read(name: str, attributes: dict[str, AttributeValue], *events: SpanEvent) -> SpanReading:
    reading = registry().read(span("1", scope=SCOPE, name=name, attributes=attributes, events=events))
    assert reading is not None
    assert reading.convention == "strands"
    return reading


def test_the_reply_loses_the_newline_behind_it() -> None:
    reading = read(
        "invoke_agent",
        AGENT,
        SpanEvent("gen_ai.user.message", 0, {"content": '[{"text": "hi"}]'}),
        SpanEvent("gen_ai.choice", 1, {"message": "hello\n", "finish_reason": "end_turn"}),
    )
    assert reading.input.items[0].text == TextPart("hi")
    assert reading.output.items[0].text == TextPart("hello")
    assert reading.finish_reasons == ("end_turn",)


def test_the_user_text_of_0_2_is_plain() -> None:
    reading = read("invoke_agent", AGENT, SpanEvent("gen_ai.user.message", 0, {"content": "Where is my order?"}))
    assert reading.input.items[0].text == TextPart("Where is my order?")


def test_kinds_of_spans_before_operations_were_named() -> None:
    assert read("Model invoke", {}).kind is SpanKind.MODEL
    assert read("Cycle 1234", {}).kind is SpanKind.STEP
    assert read("Tool: look", {}).kind is SpanKind.TOOL
    assert read("execute_event_loop_cycle", {"gen_ai.operation.name": "execute_event_loop_cycle"}).kind is SpanKind.STEP


def test_a_structured_output_is_an_agents_invocation() -> None:
    reading = read(
        "execute_structured_output",
        {**AGENT, "gen_ai.operation.name": "execute_structured_output"},
        SpanEvent("gen_ai.user.message", 0, {"role": "user", "content": '[{"text": "Who is it?"}]'}),
        SpanEvent("gen_ai.choice", 1, {"message": '{"name": "Ada"}'}),
    )
    assert reading.kind is SpanKind.AGENT
    assert reading.input.items[0].text == TextPart("Who is it?")
    assert reading.output.items[0].text == TextPart('{"name": "Ada"}')


def test_tool_contents_in_legacy_events() -> None:
    tool = read(
        "execute_tool look",
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"},
        SpanEvent("gen_ai.tool.message", 0, {"role": "tool", "content": '{"a": 1}', "id": "c1"}),
        SpanEvent("gen_ai.choice", 1, {"message": json.dumps([{"text": '{"b": 2}'}]), "id": "c1"}),
    ).tool
    assert tool is not None
    assert (tool.call_id, tool.arguments, tool.result) == ("c1", {"a": 1}, {"b": 2})


def test_span_attributes_only() -> None:
    tool = read(
        "execute_tool look",
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look",
            "gen_ai.input.messages": json.dumps(
                [{"role": "tool", "parts": [{"type": "tool_call", "name": "look", "id": "c1", "arguments": {"a": 1}}]}]
            ),
            "gen_ai.output.messages": json.dumps(
                [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": [{"text": "r"}]}]}]
            ),
        },
    ).tool
    assert tool is not None
    assert (tool.call_id, tool.arguments, tool.result) == ("c1", {"a": 1}, "r")


def test_a_tool_status_of_error_is_a_failure_also_without_an_error_status() -> None:
    for name in ("gen_ai.tool.status", "tool.status"):
        reading = read(
            "execute_tool mail",
            {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "mail", name: "error"},
            SpanEvent("gen_ai.choice", 1, {"message": '[{"text": "Error: no route"}]'}),
        )
        assert reading.error == "Error: no route"


def test_content_lists_inside_text_parts() -> None:
    said = [
        {"role": "user", "parts": [{"type": "text", "content": [{"text": "hi"}]}]},
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": [{"toolUse": {"toolUseId": "c1", "name": "look", "input": {"a": 1}}}]}
            ],
        },
    ]
    reading = read("chat", {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(said)})
    assert reading.input.items[0].text == TextPart("hi")
    assert reading.input.items[1].calls == (CallPart("look", "c1", {"a": 1}),)


def test_a_cycle_is_evidence_for_calls_whose_spans_are_lost() -> None:
    cycle = [
        SpanEvent("gen_ai.user.message", 0, {"content": '[{"text": "hi"}]'}),
        SpanEvent(
            "gen_ai.choice",
            1,
            {
                "message": json.dumps([{"toolUse": {"toolUseId": "c1", "name": "look", "input": {"a": 1}}}]),
                "tool.result": json.dumps(
                    [{"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": "boom"}]}}]
                ),
            },
        ),
    ]
    (conversation,) = assembled(
        [
            span(
                "1",
                scope=SCOPE,
                attributes=AGENT,
                events=[SpanEvent("gen_ai.choice", 1, {"message": "sorry\n"})],
                end=9,
            ),
            span("2", "1", scope=SCOPE, attributes={"event_loop.cycle_id": "x"}, events=cycle, start=1, end=5),
        ]
    )
    (call,) = conversation.exchanges[0].calls
    assert (call.name, call.arguments, call.result, call.error, call.span_id) == (
        "look",
        {"a": 1},
        "boom",
        "boom",
        None,
    )
    assert conversation.exchanges[0].response is not None
    assert conversation.exchanges[0].response.text == "sorry"


def test_redacted_contents_are_not_captured() -> None:
    (conversation,) = assembled(
        [
            span(
                "1",
                scope=SCOPE,
                attributes=AGENT,
                events=[
                    SpanEvent("gen_ai.user.message", 0, {"content": "[REDACTED]"}),
                    SpanEvent("gen_ai.choice", 1, {"message": "[REDACTED]"}),
                ],
                end=9,
            ),
            span(
                "2",
                "1",
                scope=SCOPE,
                attributes={
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "look",
                    "gen_ai.tool.call.arguments": "[REDACTED]",
                    "gen_ai.tool.call.result": "[REDACTED]",
                },
                start=1,
                end=2,
            ),
        ]
    )
    (exchange,) = conversation.exchanges
    assert exchange.user.text is None
    assert exchange.response is not None
    assert exchange.response.text is None
    assert (exchange.calls[0].arguments, exchange.calls[0].result) == (None, NOT_CAPTURED)


def test_a_swarm_is_one_turn_and_its_hand_offs_are_no_tools() -> None:
    def inner(span_id: str, name: str, start: float) -> Span:
        return span(
            span_id, "1", scope=SCOPE, attributes={**AGENT, "gen_ai.agent.name": name}, start=start, end=start + 2
        )

    (conversation,) = assembled(
        [
            span(
                "1",
                scope=SCOPE,
                attributes={"gen_ai.operation.name": "invoke_swarm", "gen_ai.agent.name": "swarm"},
                events=[SpanEvent("gen_ai.user.message", 0, {"content": "book it"})],
                end=9,
            ),
            inner("2", "triage", 1),
            span(
                "3",
                "2",
                scope=SCOPE,
                attributes={
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "handoff_to_agent",
                    "gen_ai.tool.call.arguments": '{"agent_name": "flights", "message": "book"}',
                },
                start=1.5,
                end=2,
            ),
            inner("4", "flights", 4),
            span(
                "5", "4", scope=SCOPE, attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "book"}
            ),
        ]
    )
    (exchange,) = conversation.exchanges
    assert exchange.user.text == "book it"
    assert sorted((call.name, call.handoff) for call in exchange.calls) == [("book", False), ("handoff_to_agent", True)]
