"""What is particular to one framework and easy to break; whole runs of them are among the recordings."""

import json
from typing import Any

import pytest

from aem_monitor.conventions.flattened import unflatten
from aem_monitor.conventions.parts import CallPart
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.conventions.registry import registry
from aem_monitor.model.conversation import NOT_CAPTURED
from tests.assembly.building import span


def read(attributes: dict[str, Any], *, name: str = "x", scope: str = "", parent: str | None = "p") -> SpanReading:
    reading = registry().read(span("1", parent, name=name, scope=scope, attributes=attributes))
    assert reading is not None
    return reading


@pytest.mark.parametrize(
    ("attributes", "scope", "convention"),
    [
        ({"openinference.span.kind": "LLM", "gen_ai.operation.name": "chat"}, "", "openinference"),
        ({"traceloop.span.kind": "tool", "gen_ai.operation.name": "execute_tool"}, "", "traceloop"),
        ({"ai.operationId": "ai.toolCall", "gen_ai.system": "openai"}, "ai", "vercel"),
        ({"langsmith.span.kind": "llm", "gen_ai.operation.name": "chat"}, "langsmith", "langsmith"),
        ({"langfuse.observation.type": "agent"}, "langfuse-sdk", "langfuse"),
        ({"mlflow.spanType": '"TOOL"'}, "mlflow.tracing.provider", "mlflow"),
        ({"gen_ai.operation.name": "execute_tool"}, "gcp.vertex.agent", "adk"),
        ({"gen_ai.operation.name": "invoke_agent"}, "pydantic-ai", "pydantic-ai"),
        ({"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool"}, "", "mcp"),
        ({"gen_ai.operation.name": "execute_tool"}, "opentelemetry.instrumentation.genai.openai", "genai"),
    ],
)
def test_who_reads_which_span(attributes: dict[str, Any], scope: str, convention: str) -> None:
    assert read(attributes, scope=scope).convention == convention


def test_flattened_attributes_come_back_in_numeric_order() -> None:
    found = unflatten({"m.10.a": 2, "m.2.a": 1, "m.2.b.c": 3, "n.0": 9}, "m")
    assert found == [{"a": 1, "b": {"c": 3}}, {"a": 2}]
    assert unflatten({"m": 1}, "m") is None


def test_openinference_a_tool_of_one_argument_has_the_bare_value() -> None:
    tool = read({"openinference.span.kind": "TOOL", "tool.name": "look", "input.value": "A-1042"}).tool
    assert tool is not None
    assert (tool.arguments, tool.bare) == (None, "A-1042")


def test_openinference_parameters_may_be_schema_or_arguments() -> None:
    base = {"openinference.span.kind": "TOOL", "tool.name": "look"}
    schema = {"order_id": {"type": "string"}}
    for given, expected in (({"order_id": "A"}, {"order_id": "A"}), (schema, None), ({"type": "object"}, None)):
        tool = read({**base, "tool.parameters": json.dumps(given)}).tool
        assert tool is not None
        assert tool.arguments == expected


def test_openinference_a_hand_off_is_no_tool() -> None:
    reading = read({"openinference.span.kind": "TOOL", "input.value": "triage_agent", "output.value": "flights_agent"})
    assert reading.tool is not None
    assert reading.tool.handoff


def test_openinference_hidden_contents_are_not_captured() -> None:
    tool = read(
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "look",
            "input.value": "__REDACTED__",
            "output.value": "__REDACTED__",
        }
    ).tool
    assert tool is not None
    assert (tool.arguments, tool.bare, tool.result) == (None, NOT_CAPTURED, NOT_CAPTURED)


def test_traceloop_returns_json_text_in_json_text() -> None:
    tool = read(
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "look",
            "traceloop.entity.input": '{"args": [], "kwargs": {"a": 1}}',
            "traceloop.entity.output": json.dumps(json.dumps({"b": 2})),
        }
    ).tool
    assert tool is not None
    assert (tool.name, tool.arguments, tool.result) == ("look", {"a": 1}, {"b": 2})


def test_vercel_calls_of_version_4_and_later() -> None:
    for key in ("args", "input"):
        listed = json.dumps([{"toolCallId": "c1", "toolName": "look", key: '{"a": 1}'}])
        reading = read({"ai.operationId": "ai.streamText.doStream", "ai.response.toolCalls": listed})
        assert reading.kind is SpanKind.MODEL
        assert reading.output.items[0].calls == (CallPart("look", "c1", {"a": 1}),)


def test_adk_unwraps_results_and_passes_over_merged_spans() -> None:
    base = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
    tool = read({**base, "gcp.vertex.agent.tool_response": '{"result": "{\\"b\\": 2}"}'}, scope="gcp.vertex.agent").tool
    assert tool is not None
    assert tool.result == {"b": 2}
    merged = {**base, "gen_ai.tool.name": "(merged tools)"}
    assert read(merged, scope="gcp.vertex.agent", name="execute_tool (merged)").kind is SpanKind.OTHER


def test_pydantic_ai_pending_spans_say_nothing() -> None:
    reading = read({"logfire.span_type": "pending_span", "gen_ai.operation.name": "invoke_agent"}, scope="pydantic-ai")
    assert reading.kind is SpanKind.OTHER


def test_langfuse_failures_are_a_level() -> None:
    reading = read(
        {
            "langfuse.observation.type": "tool",
            "langfuse.observation.level": "ERROR",
            "langfuse.observation.status_message": "boom",
        }
    )
    assert reading.error == "boom"


def test_mcp_methods_other_than_calls_are_no_part_of_a_turn() -> None:
    assert read({"mcp.method.name": "tools/list"}).kind is SpanKind.OTHER
    called = read({"mcp.method.name": "tools/call"}, name="tools/call look")
    assert called.tool is not None
    assert (called.tool.name, called.tool.transport) == ("look", True)
