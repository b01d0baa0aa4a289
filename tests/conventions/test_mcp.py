"""Model Context Protocol: three spans of one call, errors in results, methods that are no part of a turn."""

import json

import pytest

from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.conventions.registry import registry
from aem_monitor.model.jsonvalue import AttributeValue
from tests.assembly.building import agent, span
from tests.assembly.recordings import assembled

CALL: dict[str, AttributeValue] = {"mcp.method.name": "tools/call"}
NAMED: dict[str, AttributeValue] = {
    **CALL,
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "look",
}


def read(attributes: dict[str, AttributeValue], name: str = "span") -> SpanReading:
    reading = registry().read(span("1", name=name, attributes=attributes))
    assert reading is not None
    assert reading.convention == "mcp"
    return reading


@pytest.mark.parametrize("method", ["initialize", "server/discover", "tools/list", "prompts/get", "resources/read", ""])
def test_other_methods_are_no_part_of_a_turn(method: str) -> None:
    assert read({"mcp.method.name": method}).kind is SpanKind.OTHER


@pytest.mark.parametrize("name", ["tools/call look", "MCP send tools/call look"])
def test_a_span_without_the_tools_name_says_it_in_its_own(name: str) -> None:
    tool = read(CALL, name).tool
    assert tool is not None
    assert (tool.name, tool.transport) == ("look", True)


@pytest.mark.parametrize("failed", [True, False])
def test_a_result_says_itself_that_it_is_an_error(failed: bool) -> None:
    result = {"content": [{"type": "text", "text": "no such order"}], "isError": failed}
    tool = read({**NAMED, "gen_ai.tool.call.result": json.dumps(result)}).tool
    assert tool is not None
    assert (tool.failed, tool.result) == (failed, "no such order")


def test_client_sending_and_server_span_are_one_call_beneath_an_agents_own() -> None:
    own: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "shop_look",
        "gen_ai.tool.call.arguments": '{"order": "A-1"}',
    }
    spans = [
        agent("1", user="hi", reply="hello", end=9),
        span("2", "1", start=1, end=8, attributes=own),
        span("3", "2", start=2, end=7, attributes=NAMED, name="tools/call look"),
        span("4", "3", start=3, end=6, attributes=CALL, name="MCP send tools/call look"),
        span("5", "4", start=4, end=5, attributes={**NAMED, "gen_ai.tool.call.result": '{"a": 1}'}, service="tools"),
    ]
    (conversation,) = assembled(spans)
    (call,) = conversation.exchanges[0].calls
    assert (call.name, call.arguments, call.result, call.span_id) == ("shop_look", {"order": "A-1"}, {"a": 1}, "2")


def test_a_tool_servers_own_trace_is_no_conversation() -> None:
    assert assembled([span("1", attributes=NAMED), span("2", "1", start=0.2, attributes=CALL)]) == []


def test_the_transports_session_is_no_conversation() -> None:
    spans = [
        agent("1", user="hi", reply="hello", conversation=None, end=9),
        span("2", "1", start=1, attributes={**NAMED, "mcp.session.id": "s-1"}),
    ]
    (conversation,) = assembled(spans)
    assert conversation.conversation_id is None
