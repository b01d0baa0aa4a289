"""Microsoft Agent Framework: response ids as conversation ids, workflows, whole runs in one output."""

import json

import pytest

from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.conventions.registry import registry
from aem_monitor.model.jsonvalue import AttributeValue
from aem_monitor.model.span import Span
from tests.assembly.building import agent, span, text
from tests.assembly.recordings import assembled

SCOPE = "agent_framework"


def read(one: Span) -> SpanReading:
    reading = registry().read(one)
    assert reading is not None
    assert reading.convention == "agent-framework"
    return reading


def test_a_response_id_is_no_conversation_but_chains_the_calls() -> None:
    chat: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": "resp_1",
        "gen_ai.response.id": "resp_2",
    }
    reading = read(span("1", scope=SCOPE, attributes=chat))
    assert reading.derived["gen_ai.conversation.id"] is None
    assert (reading.previous_response_id, reading.response_id) == ("resp_1", "resp_2")


def test_an_id_of_a_thread_on_the_server_is_the_conversation() -> None:
    chat: dict[str, AttributeValue] = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "conv_1"}
    reading = read(span("1", scope=SCOPE, attributes=chat))
    assert "gen_ai.conversation.id" not in reading.derived
    assert reading.previous_response_id is None


def test_finish_reasons_are_json_text() -> None:
    chat: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.response.finish_reasons": '["tool_calls"]',
    }
    assert read(span("1", scope=SCOPE, attributes=chat)).finish_reasons == ("tool_calls",)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("workflow.run", SpanKind.RUN),
        ("workflow.build", SpanKind.OTHER),
        ("executor.process writer", SpanKind.OTHER),
        ("message.send", SpanKind.OTHER),
    ],
)
def test_of_a_workflow_only_its_run_is_part_of_a_turn(name: str, kind: SpanKind) -> None:
    assert read(span("1", scope=SCOPE, name=name, attributes={"workflow.id": "w"})).kind is kind


def test_protocol_spans_stay_the_protocols() -> None:
    reading = registry().read(span("1", scope=SCOPE, attributes={"mcp.method.name": "initialize"}))
    assert reading is not None
    assert reading.convention == "mcp"


def test_agents_of_one_workflow_answer_together() -> None:
    spans = [
        span("1", scope=SCOPE, name="workflow.run", end=9, attributes={"workflow.name": "story"}),
        span("2", "1", scope=SCOPE, name="executor.process writer", start=1, end=4),
        agent("3", "2", user="A story, please.", reply="Draft.", agent_name="writer", conversation=None),
        span("4", "1", scope=SCOPE, name="executor.process editor", start=5, end=8),
        agent("5", "4", user="Draft.", reply="Final.", agent_name="editor", conversation=None, start=6),
    ]
    (conversation,) = assembled(spans)
    (exchange,) = conversation.exchanges
    assert exchange.user.text == "A story, please."
    assert exchange.response is not None
    assert exchange.response.text == "Final."


def test_traces_are_joined_by_their_chain_of_responses() -> None:
    """With the Responses API the inputs repeat no history: only the chain tells that one turn follows another."""
    spans = []
    for number, (question, answer) in enumerate([("One?", "1."), ("Two?", "2.")]):
        trace, at = f"{number}" * 32, number * 10.0
        known = {} if number == 0 else {"gen_ai.conversation.id": f"resp_{number - 1}"}
        spoken = {
            "gen_ai.input.messages": json.dumps([text("user", question)]),
            "gen_ai.output.messages": json.dumps([text("assistant", answer)]),
        }
        chat = {"gen_ai.operation.name": "chat", "gen_ai.response.id": f"resp_{number}", **known, **spoken}
        invoke = {"gen_ai.operation.name": "invoke_agent", **known, **spoken}
        spans.append(span(f"{number}1", trace=trace, scope=SCOPE, start=at, end=at + 5, attributes=invoke))
        spans.append(span(f"{number}2", f"{number}1", trace=trace, scope=SCOPE, start=at + 1, attributes=chat))
    (conversation,) = assembled(spans)
    assert conversation.conversation_id is None
    assert [exchange.user.text for exchange in conversation.exchanges] == ["One?", "Two?"]
