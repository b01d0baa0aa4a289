"""Microsoft Semantic Kernel: plugin functions, messages without parts, texts in log records."""

import json

import pytest

from aem_monitor.conventions.messages import Role
from aem_monitor.conventions.parts import TextPart
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.conventions.registry import registry
from aem_monitor.model.jsonvalue import AttributeValue
from aem_monitor.model.span import LogRecord, Resource, Scope, SpanEvent
from tests.assembly.building import span
from tests.assembly.recordings import assembled

FUNCTION_SCOPE = "semantic_kernel.functions.kernel_function"
MODEL_SCOPE = "semantic_kernel.utils.telemetry.model_diagnostics.decorators"
AGENT_SCOPE = "semantic_kernel.utils.telemetry.agent_diagnostics.decorators"


def read(
    scope: str, attributes: dict[str, AttributeValue], *events: SpanEvent, parent: str | None = "0"
) -> SpanReading:
    reading = registry().read(span("1", parent, scope=scope, attributes=attributes, events=events))
    assert reading is not None
    assert reading.convention == "semantic-kernel"
    return reading


def tool(name: str, **more: AttributeValue) -> dict[str, AttributeValue]:
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **more}


def log(span_id: str, event: str, body: object, at: int = 0) -> LogRecord:
    return LogRecord("a" * 32, span_id, at, event, json.dumps(body), {}, Resource(), Scope())


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("shop-lookup_order", ("shop", "lookup_order")),
        ("shop-lookup-order", ("shop", "lookup-order")),
        ("lookup_order", (None, None)),
        ("-lookup", (None, None)),
        ("shop-", (None, None)),
    ],
)
def test_plugin_and_function_are_tool_and_action(name: str, pair: tuple[str | None, str | None]) -> None:
    reading = read(FUNCTION_SCOPE, tool(name)).tool
    assert reading is not None
    assert (reading.tool, reading.action, reading.name) == (*pair, name)


def test_the_finish_reason_is_the_name_of_an_enum() -> None:
    chat: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.response.finish_reason": "FinishReason.TOOL_CALLS,FinishReason.STOP",
    }
    assert read(MODEL_SCOPE, chat).finish_reasons == ("tool_calls", "stop")


def test_messages_have_no_parts() -> None:
    reading = read(
        AGENT_SCOPE,
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "shop",
            "gen_ai.input.messages": '[{"role": "user", "content": "hi"}]',
            "gen_ai.output.messages": '[{"role": "assistant", "content": "hello", "name": "shop"}]',
        },
    )
    assert (reading.kind, reading.agent_name) == (SpanKind.AGENT, "shop")
    assert reading.input.items[0].text == TextPart("hi")
    assert reading.output.items[0].text == TextPart("hello")


def test_the_calling_loop_is_a_step() -> None:
    loop = "semantic_kernel.connectors.ai.chat_completion_client_base"
    assert read(loop, {"sk.available_functions": "shop-lookup_order"}).kind is SpanKind.STEP


def test_a_prompt_function_that_the_application_calls_is_no_tool_call() -> None:
    assert read(FUNCTION_SCOPE, tool("chat-answer"), parent=None).kind is SpanKind.STEP
    asked = tool("chat-answer", **{"gen_ai.tool.call.id": "c1"})
    assert read(FUNCTION_SCOPE, asked, parent=None).kind is SpanKind.TOOL


def test_contents_before_the_genai_events() -> None:
    reading = read(
        "Microsoft.SemanticKernel.Diagnostics",
        {"gen_ai.operation.name": "chat.completions", "gen_ai.request.model": "gpt-4o"},
        SpanEvent("gen_ai.content.prompt", 0, {"gen_ai.prompt": '[{"role": "user", "content": "hi"}]'}),
        SpanEvent("gen_ai.content.completion", 1, {"gen_ai.completion": '[{"role": "assistant", "content": "hey"}]'}),
    )
    assert reading.kind is SpanKind.MODEL
    assert [message.text for message in (reading.input + reading.output).items] == [TextPart("hi"), TextPart("hey")]


def test_log_records_bring_user_texts_calls_and_results() -> None:
    """A conversation of one turn whose texts and calls are in log records only."""
    asked = {"id": "c1", "type": "function", "function": {"name": "shop-look", "arguments": '{"order": "A-1"}'}}
    user = {"role": "user", "content": "Where is A-1?"}
    calls = {"role": "assistant", "tool_calls": [asked]}
    answered = {"role": "tool", "content": '{"status": "shipped"}', "tool_call_id": "c1"}
    chat: dict[str, AttributeValue] = {"gen_ai.operation.name": "chat"}
    spans = [
        span("1", scope=AGENT_SCOPE, end=9, attributes={"gen_ai.operation.name": "invoke_agent"}),
        span("2", "1", scope=MODEL_SCOPE, start=1, attributes=chat),
        span("3", "1", scope=FUNCTION_SCOPE, start=3, attributes=tool("shop-look", **{"gen_ai.tool.call.id": "c1"})),
        span("4", "1", scope=MODEL_SCOPE, start=5, attributes=chat),
    ]
    logs = [
        log("2", "gen_ai.user.message", user),
        log("2", "gen_ai.choice", {"message": calls, "finish_reason": "tool_calls"}, 1),
        log("4", "gen_ai.user.message", user, 5),
        log("4", "gen_ai.assistant.message", calls, 6),
        log("4", "gen_ai.tool.message", answered, 7),
        log("4", "gen_ai.choice", {"message": {"role": "assistant", "content": "Shipped."}}, 8),
    ]
    (conversation,) = assembled(spans, logs)
    (exchange,) = conversation.exchanges
    assert exchange.user.text == "Where is A-1?"
    assert exchange.response is not None
    assert exchange.response.text == "Shipped."
    (call,) = exchange.calls
    assert (call.tool, call.action, call.arguments) == ("shop", "look", {"order": "A-1"})
    assert call.result == {"status": "shipped"}


def test_results_of_parallel_functions_in_one_message() -> None:
    results = [{"tool_call_id": "c1", "content": "one"}, {"tool_call_id": "c2", "content": "two"}]
    message = {"role": "tool", "content": results, "tool_call_id": "c1"}
    reading = registry().read(
        span("1", scope=MODEL_SCOPE, attributes={"gen_ai.operation.name": "chat"}),
        [log("1", "gen_ai.tool.message", message)],
    )
    assert reading is not None
    (found,) = reading.input.items
    assert found.role is Role.TOOL
    assert [(part.call_id, part.result) for part in found.results] == [("c1", "one"), ("c2", "two")]
