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
