"""Definitions of tools as instrumentations state them: the forms they take, and what is not read of them."""

import json
from pathlib import Path

import pytest

from aem_monitor.conventions.registry import registry
from aem_monitor.conventions.tooldefinitions import (
    MAX_SCHEMA_CHARS,
    MAX_TEXT,
    MAX_TOOLS,
    NO_TOOLS,
    Unread,
    tools_in_attributes,
    tools_in_request,
    tools_of,
)
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.span import SpanEvent
from tests.assembly.building import span
from tests.assembly.recordings import TRACES, load

SCHEMA: JSON = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
CANONICAL = '{"properties":{"order_id":{"type":"string"}},"required":["order_id"],"type":"object"}'


@pytest.mark.parametrize(
    "stated",
    [
        {"type": "function", "function": {"name": "find", "parameters": SCHEMA}},
        {"type": "function", "name": "find", "parameters": SCHEMA},
        {"name": "find", "input_schema": SCHEMA},
        {"name": "find", "inputSchema": SCHEMA},
        {"toolSpec": {"name": "find", "inputSchema": {"json": SCHEMA}}},
        {"name": "find", "parameters_json_schema": SCHEMA},
        {"name": "find", "parameters": json.dumps(SCHEMA)},
        {"function_declarations": [{"name": "find", "parameters": SCHEMA}]},
        {"function_tools": [{"name": "find", "parameters_json_schema": SCHEMA}], "output_tools": []},
        json.dumps({"name": "find", "inputSchema": SCHEMA}),
    ],
)
def test_every_form_of_a_definition_says_the_same(stated: JSON) -> None:
    for value in ([stated], json.dumps([stated])):
        found = tools_of(value)
        assert [(tool.name, tool.schema) for tool in found.tools] == [("find", CANONICAL)]
        assert not found.unread


@pytest.mark.parametrize(
    ("trace", "tools"),
    [
        ("agent-framework/refund.json", {"create_refund", "lookup_order"}),
        ("google-adk/v1.14-refund.json", {"create_refund", "lookup_order"}),
        ("google-adk/v2-genai-flights.json", {"book_flight", "search_flights"}),
        ("langfuse/refund.json", {"create_refund", "lookup_order"}),
        ("langsmith/langchain-refund.json", {"create_refund", "lookup_order"}),
        ("mlflow/refund.json", {"create_refund", "lookup_order"}),
        ("openinference/crewai-refund.json", {"create_refund", "lookup_order"}),
        ("openinference/langchain-refund.json", {"create_refund", "lookup_order"}),
        ("otel-genai/agno-flights.json", {"book_flight", "search_flights"}),
        ("pydantic-ai/v0.8-refund.json", {"create_refund", "lookup_order"}),
        ("pydantic-ai/v5-flights.json", {"book_flight", "search_flights"}),
        ("semantic-kernel/refund.json", {"shop-create_refund", "shop-lookup_order"}),
        ("strands/legacy-refund.json", {"create_refund", "lookup_order"}),
        ("traceloop/v0.44-refund.json", {"create_refund", "lookup_order"}),
        ("vercel-ai/v7-refund.json", {"create_refund", "lookup_order"}),
    ],
)
def test_recorded_frameworks_state_their_tools_with_schemas(trace: str, tools: set[str]) -> None:
    conventions = registry()
    readings = [conventions.read(one) for one in load(TRACES / trace)[0]]
    stated = [tool for reading in readings if reading is not None for tool in reading.tools.tools]
    assert {tool.name for tool in stated} == tools
    assert all("properties" in json.loads(tool.schema) for tool in stated)


def test_an_event_with_the_details_of_an_operation_states_tools() -> None:
    details = SpanEvent(
        "gen_ai.client.inference.operation.details",
        0,
        {"gen_ai.tool.definitions": [{"type": "function", "name": "find", "parameters": SCHEMA}]},
    )
    reading = registry().read(span("1", events=[details], attributes={"gen_ai.operation.name": "chat"}))
    assert reading is not None
    assert [tool.schema for tool in reading.tools.tools] == [CANONICAL]


def test_functions_that_are_numbered_attributes_are_read_up_to_the_first_gap() -> None:
    attributes = {
        "llm.request.functions.0.name": "find",
        "llm.request.functions.0.parameters": json.dumps(SCHEMA),
        "llm.request.functions.1.name": "look",
        "llm.request.functions.1.input_schema": json.dumps(SCHEMA),
        "llm.request.functions.3.name": "lost",
    }
    found = tools_in_attributes(attributes)
    assert [(tool.name, tool.schema) for tool in found.tools] == [("find", CANONICAL), ("look", CANONICAL)]


def test_arguments_of_a_tool_span_are_no_schema() -> None:
    assert tools_in_attributes({"tool.name": "find", "tool.parameters": '{"order_id": "A-1"}'}) == NO_TOOLS
    stated = tools_in_attributes({"tool.name": "find", "tool.parameters": json.dumps(SCHEMA)})
    assert [(tool.name, tool.schema) for tool in stated.tools] == [("find", CANONICAL)]


def test_a_request_without_tools_says_nothing_and_a_provider_s_own_tool_is_none() -> None:
    assert tools_in_request('{"messages": []}') == NO_TOOLS
    assert tools_in_request('{"messages": ["\\"tools\\""]}') == NO_TOOLS
    assert tools_of('[{"type": "web_search"}]') == NO_TOOLS
    assert tools_of("[Scrubbed due to 'token']") == NO_TOOLS


@pytest.mark.parametrize(
    ("text", "cause", "read"),
    [
        (json.dumps([{"name": "find", "parameters": SCHEMA}])[:-20], Unread.MALFORMED, 0),
        ("[{'name': 'find'}]", Unread.MALFORMED, 0),
        ("7", Unread.MALFORMED, 0),
        ('[{"name": "find"}, 7]', Unread.MALFORMED, 1),
        ('[{"name": "find", "parameters": 7}]', Unread.MALFORMED, 1),
        ('[{"name": "find", "parameters": "none"}]', Unread.MALFORMED, 1),
        (f'["{"x" * MAX_TEXT}"]', Unread.TOO_LARGE, 0),
        (json.dumps([{"name": "f", "parameters": {"x": "y" * MAX_SCHEMA_CHARS}}]), Unread.TOO_LARGE, 1),
        (json.dumps([{"name": f"f{n}"} for n in range(MAX_TOOLS + 1)]), Unread.TOO_MANY, MAX_TOOLS),
    ],
)
def test_what_cannot_be_read_is_named_by_its_cause_and_harms_nothing_else(text: str, cause: Unread, read: int) -> None:
    found = tools_of(text)
    assert found.unread == {cause}
    assert len(found.tools) == read
    assert not any(tool.schema for tool in found.tools)


def test_half_a_surrogate_pair_is_malformed() -> None:
    assert tools_of([{"name": "find", "parameters": {"x": "\ud83d"}}]).unread == {Unread.MALFORMED}
    assert tools_in_request({"tools": [{"name": "\ud83d"}]}).unread == {Unread.MALFORMED}


def test_one_text_is_read_once() -> None:
    path = Path(TRACES / "otel-genai" / "agno-flights.json")
    conventions = registry()
    readings = [conventions.read(one) for one in load(path)[0]]
    stated = [reading.tools for reading in readings if reading is not None and reading.tools]
    assert len(stated) > 1
    assert len({id(one) for one in stated}) == 1
