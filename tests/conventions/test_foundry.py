"""Azure AI projects: each call of the Responses API is a model call, whoever answers."""

import json
from typing import Any

from aem_monitor.conventions.reading import SpanKind
from aem_monitor.conventions.registry import registry
from aem_monitor.model.jsonvalue import AttributeValue
from aem_monitor.model.span import Span, SpanEvent
from tests.assembly.building import call, result, span, text
from tests.assembly.recordings import assembled


def response(span_id: str, said: list[Any], answer: list[Any], *, trace: str = "a" * 32, start: float = 0) -> Span:
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "microsoft.foundry",
        "gen_ai.agent.name": "shop",
        "gen_ai.conversation.id": "conv_1",
        "gen_ai.input.messages": json.dumps(said),
        "gen_ai.output.messages": json.dumps(answer),
    }
    return span(span_id, trace=trace, start=start, attributes=attributes)


def test_the_responses_of_one_turn_are_one_exchange() -> None:
    asked = [text("user", "Where is A-1?")], [call("look", {"order": "A-1"}, "c1")]
    answered = [result({"status": "shipped"}, "c1")], [text("assistant", "Shipped.")]
    for second in ("a" * 32, "b" * 32):
        (conversation,) = assembled([response("1", *asked), response("2", *answered, trace=second, start=3)])
        (exchange,) = conversation.exchanges
        assert exchange.user.text == "Where is A-1?"
        assert [(one.name, one.result) for one in exchange.calls] == [("look", {"status": "shipped"})]
        assert exchange.response is not None
        assert exchange.response.text == "Shipped."


def test_messages_of_the_event_form_with_nested_calls() -> None:
    nested = {"type": "function_call", "id": "c1", "function": {"name": "look", "arguments": "{}"}}
    output = {"type": "function_call_output", "id": "c1", "output": {"a": 1}}

    def event(name: str, role: str, part: dict[str, Any]) -> SpanEvent:
        return SpanEvent(name, 0, {"gen_ai.event.content": json.dumps([{"role": role, "parts": [part]}])})

    events = [
        event("gen_ai.input.messages", "user", {"type": "text", "content": "Where is A-1?"}),
        event("gen_ai.output.messages", "assistant", {"type": "tool_call", "content": nested}),
        event("gen_ai.input.messages", "tool", {"type": "tool_call_output", "content": output}),
    ]
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "responses",
        "gen_ai.provider.name": "microsoft.foundry",
    }
    reading = registry().read(span("1", attributes=attributes, events=events))
    assert reading is not None
    assert reading.kind is SpanKind.MODEL
    assert reading.output.items[0].calls[0].name == "look"
    assert reading.input.items[1].results[0].result == {"a": 1}


def test_conversations_made_and_listed_are_no_part_of_a_turn() -> None:
    for name in ("create_conversation", "list_conversation_items", "create_agent"):
        attributes: dict[str, AttributeValue] = {
            "gen_ai.operation.name": name,
            "gen_ai.provider.name": "microsoft.foundry",
        }
        reading = registry().read(span("1", attributes=attributes))
        assert reading is not None
        assert reading.kind is SpanKind.OTHER
