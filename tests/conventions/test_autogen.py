"""AutoGen's own telemetry: names and call ids, no contents."""

from aem_monitor.conventions.reading import SpanKind
from aem_monitor.conventions.registry import registry
from aem_monitor.model.jsonvalue import AttributeValue
from tests.assembly.building import span
from tests.assembly.recordings import assembled

SCOPE = "autogen-core"


def spoken(operation: str, **more: AttributeValue) -> dict[str, AttributeValue]:
    return {"gen_ai.operation.name": operation, "gen_ai.system": "autogen", **more}


def test_the_convention_is_known_by_scope_or_by_system() -> None:
    for scope in (SCOPE, ""):
        reading = registry().read(span("1", scope=scope, attributes=spoken("invoke_agent")))
        assert reading is not None
        assert (reading.convention, reading.kind) == ("autogen", SpanKind.AGENT)


def test_spans_that_pass_messages_are_plain_spans() -> None:
    passed: dict[str, AttributeValue] = {"messaging.operation": "process", "messaging.destination": "shop"}
    assert registry().read(span("1", scope="autogen SingleThreadedAgentRuntime", attributes=passed)) is None


def test_a_hand_off_is_told_by_its_tools_description() -> None:
    for about, passes in (("Handoff to sales.", True), ("Moves money to sales.", False)):
        attributes = spoken(
            "execute_tool", **{"gen_ai.tool.name": "transfer_to_sales", "gen_ai.tool.description": about}
        )
        reading = registry().read(span("1", "0", scope=SCOPE, attributes=attributes))
        assert reading is not None
        assert reading.tool is not None
        assert reading.tool.handoff is passes


def test_an_agent_that_took_over_answers_the_same_turn_and_stays_in_charge() -> None:
    """A swarm under one span: the runtime's spans stand between, so that the agents are no siblings."""
    transfer = spoken("execute_tool", **{"gen_ai.tool.name": "transfer_to_sales"})
    look = spoken("execute_tool", **{"gen_ai.tool.name": "query_sales"})
    triage = spoken("invoke_agent", **{"gen_ai.agent.name": "triage"})
    sales = spoken("invoke_agent", **{"gen_ai.agent.name": "sales"})
    spans = [
        span("0", end=60),
        span("1", "0", start=1, name="autogen process triage"),
        span("2", "1", scope=SCOPE, start=2, end=4, attributes=triage),
        span("3", "2", scope=SCOPE, start=3, attributes=transfer),
        span("4", "0", start=5, name="autogen process sales"),
        span("5", "4", scope=SCOPE, start=6, end=9, attributes=sales),
        span("6", "5", scope=SCOPE, start=7, attributes=look),
        span("7", "0", start=20, name="autogen process sales"),
        span("8", "7", scope=SCOPE, start=21, end=24, attributes=sales),
    ]
    (first, second) = [exchange for conversation in assembled(spans) for exchange in conversation.exchanges]
    assert [call.name for call in first.tool_turns] == ["query_sales"]
    assert second.calls == ()


def test_a_turn_without_contents_has_its_structure_and_errors() -> None:
    look = spoken("execute_tool", **{"gen_ai.tool.name": "look", "gen_ai.tool.call.id": "c1"})
    spans = [
        span("0", trace="b" * 32, scope=SCOPE, attributes=spoken("create_agent")),
        span("1", scope=SCOPE, start=2, end=9, attributes=spoken("invoke_agent")),
        span("2", "1", scope=SCOPE, start=3, attributes=look, error="boom"),
    ]
    (conversation,) = assembled(spans)
    (exchange,) = conversation.exchanges
    (call,) = exchange.calls
    assert (exchange.user.text, call.tool, call.arguments, call.error) == (None, "look", None, "boom")
    assert exchange.response is not None
    assert exchange.response.text is None
