"""Schemas of called tools: whichever span states them, in whatever order spans come."""

import itertools
import json
from collections.abc import Sequence

from aem_monitor.assembly import read_trace
from aem_monitor.model.conversation import Conversation, ToolSchema
from aem_monitor.model.span import Span
from tests.assembly.building import agent, chat, span, tool
from tests.assembly.recordings import REGISTRY, SETTINGS, assembled

FIND = '{"properties":{"order_id":{"type":"string"}},"type":"object"}'
OTHER = '{"properties":{"order_id":{"type":"integer"}},"type":"object"}'


def stated(*definitions: tuple[str, str]) -> dict[str, str]:
    listed = [{"name": name, "parameters": json.loads(schema)} for name, schema in definitions]
    return {"gen_ai.tool.definitions": json.dumps(listed)}


def conversation(*spans: Span) -> Conversation:
    (found,) = assembled(list(spans), [])
    return found


def run(on_agent: dict[str, str], on_model: dict[str, str], called: str = "find") -> Sequence[Span]:
    return (
        agent("1", user="Where is it?", reply="It has shipped.", more=on_agent, start=0, end=9),
        chat("2", "1", more=on_model, start=1, end=2),
        tool("3", "1", called, arguments={"order_id": "A-1"}, result="shipped", start=3, end=4),
    )


def test_the_span_that_carries_a_schema_and_the_order_of_spans_do_not_matter() -> None:
    found = stated(("find", FIND), ("spare", OTHER))
    for spans in (run(found, {}), run({}, found)):
        for order in itertools.permutations(spans):
            assert conversation(*order).tool_schemas == (ToolSchema("find", FIND),)


def test_definitions_that_differ_are_all_kept() -> None:
    found = conversation(*run(stated(("find", OTHER)), stated(("find", FIND)))).tool_schemas
    assert found == (ToolSchema("find", OTHER), ToolSchema("find", FIND))


def test_the_closest_name_is_the_tool_s() -> None:
    prefixed = stated(("functions.find", FIND), ("shop-find", OTHER))
    assert conversation(*run({}, stated(("Shop_Find", FIND), ("find", OTHER)))).tool_schemas == (
        ToolSchema("find", OTHER),
    )
    assert [one.name for one in conversation(*run({}, prefixed)).tool_schemas] == ["find", "find"]
    assert conversation(*run({}, prefixed, called="shop.find")).tool_schemas == (ToolSchema("shop.find", OTHER),)
    assert conversation(*run({}, stated(("finder", FIND)))).tool_schemas == ()


def test_schemas_made_anew_for_each_request_say_nothing() -> None:
    definitions = [("find", json.dumps({"properties": {f"x{n}": {}}})) for n in range(17)]
    assert conversation(*run({}, stated(*definitions))).tool_schemas == ()


def test_spans_with_unreadable_definitions_are_counted_by_cause_and_harm_no_turn() -> None:
    spans = run({"gen_ai.tool.definitions": '[{"name": "fi'}, {"gen_ai.tool.definitions": "[7]"})
    reading = read_trace(list(spans), [], REGISTRY, SETTINGS)
    assert reading.unread_tools == {"malformed": 2}
    assert [call.name for exchange in reading.exchanges for call in exchange.calls] == ["find"]


def test_a_span_of_no_agent_states_nothing() -> None:
    spans = [*run({}, {}), span("9", "1", attributes=stated(("find", FIND)))]
    assert conversation(*spans).tool_schemas == ()
