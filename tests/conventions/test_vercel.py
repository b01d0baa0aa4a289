"""Vercel AI SDK: the legacy attributes of v3 to v6, and v7's GenAI names with its own context."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.conventions.registry import registry
from aem_monitor.conventions.vercel import Vercel
from aem_monitor.model.conversation import NOT_CAPTURED, Conversation
from aem_monitor.model.span import Span
from tests.assembly.building import span
from tests.assembly.recordings import assembled


def ai(span_id: str, operation: str, parent: str | None = None, **rest: Any) -> Span:
    """A span of the SDK."""
    attributes = {"ai.operationId": operation, **rest.pop("more", {})}
    return span(span_id, parent, name=operation, scope="ai", attributes=attributes, **rest)


def read(found: Span) -> SpanReading:
    """What the convention says of a span."""
    assert Vercel().detect(found)
    return Vercel().read(found, ())


def user(text: str) -> dict[str, Any]:
    """A message of the user as a model gets it."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def asked(name: str, arguments: Mapping[str, Any], call_id: str) -> dict[str, Any]:
    """The assistant's message that asks for a call."""
    part = {"type": "tool-call", "toolCallId": call_id, "toolName": name, "input": dict(arguments)}
    return {"role": "assistant", "content": [part]}


def answered(name: str, call_id: str, **output: Any) -> dict[str, Any]:
    """The tool's message."""
    return {"role": "tool", "content": [{"type": "tool-result", "toolCallId": call_id, "toolName": name, **output}]}


def root(messages: Sequence[Mapping[str, Any]], **more: Any) -> Span:
    """The outermost span of one turn."""
    prompt = {"system": "You help.", "messages": list(messages)}
    return ai("1", "ai.generateText", end=9, more={"ai.prompt": json.dumps(prompt), **more})


def only(conversations: Sequence[Conversation]) -> Conversation:
    """The one conversation."""
    (conversation,) = conversations
    return conversation


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        ("ai.generateText", SpanKind.AGENT),
        ("ai.streamObject", SpanKind.AGENT),
        ("ai.streamText.doStream", SpanKind.MODEL),
        ("ai.generateObject.doGenerate", SpanKind.MODEL),
        ("ai.toolCall", SpanKind.TOOL),
        ("ai.embedMany.doEmbed", SpanKind.OTHER),
        ("ai.rerank", SpanKind.OTHER),
        ("ai.generateSpeech", SpanKind.OTHER),
        ("ai.transcribe", SpanKind.OTHER),
        ("ai.generateImage", SpanKind.OTHER),
    ],
)
def test_only_what_answers_someone_has_a_part_in_a_turn(operation: str, kind: SpanKind) -> None:
    assert read(ai("1", operation)).kind is kind


@pytest.mark.parametrize(
    "prompt",
    [
        {"prompt": "Hello."},
        {"system": "You help.", "prompt": "Hello."},
        {"prompt": [{"role": "user", "content": "Hello."}]},
        {
            "messages": [
                user("Before."),
                {"role": "assistant", "content": "Yes."},
                {"role": "user", "content": "Hello."},
            ]
        },
    ],
)
def test_the_user_s_text_is_the_last_message_of_any_prompt(prompt: Mapping[str, Any]) -> None:
    spans = [ai("1", "ai.streamText", end=9, more={"ai.prompt": json.dumps(prompt), "ai.response.text": "Hi."})]
    assert only(assembled(spans)).exchanges[0].user.text == "Hello."


@pytest.mark.parametrize("text", ["ai.response.text", "ai.result.text"])
@pytest.mark.parametrize("calls", ["ai.response.toolCalls", "ai.result.toolCalls"])
@pytest.mark.parametrize("given", ["input", "args"])
def test_answers_of_all_versions(text: str, calls: str, given: str) -> None:
    listed = [{"toolCallId": "c1", "toolName": "report", given: {"region": "EU"}}]
    (message,) = read(ai("1", "ai.generateText.doGenerate", more={calls: json.dumps(listed)})).output.items
    assert [(call.name, call.call_id, call.arguments) for call in message.calls] == [("report", "c1", {"region": "EU"})]
    (message,) = read(ai("1", "ai.generateText.doGenerate", more={text: "Hi."})).output.items
    assert message.text is not None
    assert message.text.text == "Hi."


@pytest.mark.parametrize(
    ("output", "result", "error"),
    [
        ({"output": {"type": "json", "value": {"total": 12}}}, {"total": 12}, None),
        ({"output": {"type": "text", "value": "sent"}}, "sent", None),
        ({"output": {"type": "error-text", "value": "SMTP timeout"}}, "SMTP timeout", "SMTP timeout"),
        ({"output": {"type": "execution-denied", "reason": "not allowed"}}, "not allowed", "not allowed"),
        ({"output": {"type": "content", "value": [{"type": "text", "text": "sent"}]}}, "sent", None),
        ({"result": {"total": 12}}, {"total": 12}, None),
    ],
)
def test_a_call_without_its_span_has_its_output_from_the_next_prompt(
    output: Mapping[str, Any], result: Any, error: str | None
) -> None:
    calls = [{"toolCallId": "c1", "toolName": "report", "input": '{"region": "EU"}'}]
    prompt = [user("How is EU?"), asked("report", {"region": "EU"}, "c1"), answered("report", "c1", **output)]
    first = {"ai.prompt.messages": json.dumps(prompt[:1]), "ai.response.toolCalls": json.dumps(calls)}
    second = {"ai.prompt.messages": json.dumps(prompt), "ai.response.text": "Done."}
    spans = [
        root([user("How is EU?")], **{"ai.response.text": "Done."}),
        ai("2", "ai.generateText.doGenerate", "1", start=1, end=2, more=first),
        ai("3", "ai.generateText.doGenerate", "1", start=3, end=4, more=second),
    ]
    (call,) = only(assembled(spans)).exchanges[0].calls
    assert (call.arguments, call.result, call.error) == ({"region": "EU"}, result, error)


def test_a_tool_that_threw_failed_and_the_turn_did_not() -> None:
    more = {"ai.toolCall.name": "mail", "ai.toolCall.id": "c1", "ai.toolCall.args": '{"to": "a"}'}
    spans = [
        root([user("Mail it.")], **{"ai.response.text": "I could not."}),
        ai("2", "ai.toolCall", "1", start=1, end=2, more=more, error="SMTP timeout"),
    ]
    exchange = only(assembled(spans)).exchanges[0]
    (call,) = exchange.calls
    assert (call.arguments, call.result, call.error) == ({"to": "a"}, NOT_CAPTURED, "SMTP timeout")
    assert exchange.response is not None
    assert (exchange.response.text, exchange.response.error) == ("I could not.", None)


def test_a_structured_answer_is_the_reply() -> None:
    more = {"ai.prompt": '{"prompt": "Where?"}', "ai.response.object": '{"city":"Paris"}'}
    exchange = only(assembled([ai("1", "ai.generateObject", end=2, more=more)])).exchanges[0]
    assert exchange.response is not None
    assert exchange.response.text == '{"city":"Paris"}'


def test_a_text_beside_tools_that_the_provider_ran_is_the_reply() -> None:
    calls = [{"toolCallId": "c1", "toolName": "web_search", "input": "{}", "providerExecuted": True}]
    more = {"ai.response.text": "It rains.", "ai.response.toolCalls": json.dumps(calls)}
    spans = [root([user("Weather?")], **more, **{"ai.response.finishReason": "stop"})]
    exchange = only(assembled(spans)).exchanges[0]
    assert exchange.response is not None
    assert exchange.response.text == "It rains."
    assert [call.tool for call in exchange.calls] == ["web_search"]


def test_a_text_beside_calls_that_were_asked_for_is_no_reply() -> None:
    calls = [{"toolCallId": "c1", "toolName": "report", "input": "{}"}]
    more = {"ai.response.text": "Let me look.", "ai.response.toolCalls": json.dumps(calls)}
    spans = [root([user("How is EU?")], **more, **{"ai.response.finishReason": "tool-calls"})]
    exchange = only(assembled(spans)).exchanges[0]
    assert exchange.response is not None
    assert exchange.response.text is None


def test_without_recorded_inputs_and_outputs_the_structure_is_left() -> None:
    more = {"ai.toolCall.name": "mail", "ai.toolCall.id": "c1"}
    spans = [ai("1", "ai.generateText", end=9), ai("2", "ai.toolCall", "1", start=1, end=2, more=more)]
    exchange = only(assembled(spans)).exchanges[0]
    (call,) = exchange.calls
    assert (call.tool, call.arguments, call.result) == ("mail", None, NOT_CAPTURED)
    assert (exchange.user.text, exchange.response is not None) == (None, True)


def test_redacted_texts_were_not_captured() -> None:
    exchange = only(assembled([root([user("Hi.")], **{"ai.response.text": "[redacted]"})])).exchanges[0]
    assert exchange.response is not None
    assert exchange.response.text is None


def test_equal_milliseconds_leave_parents_before_children_and_calls_in_their_steps() -> None:
    calls = [[{"toolCallId": f"c{n}", "toolName": name, "input": "{}"}] for n, name in enumerate(("one", "two"))]
    spans = [root([user("Both.")], **{"ai.response.text": "Done."})]
    for n, name in ((0, "one"), (1, "two")):
        step = {"ai.response.toolCalls": json.dumps(calls[n]), "ai.response.finishReason": "tool-calls"}
        tool = {"ai.toolCall.name": name, "ai.toolCall.id": f"c{n}", "ai.toolCall.args": "{}"}
        spans.append(ai(f"{n}a", "ai.generateText.doGenerate", "1", start=0, end=n, more=step))
        spans.append(ai(f"{9 - n}b", "ai.toolCall", "1", start=0, end=n, more=tool))
    assert [call.tool for call in only(assembled(spans)).exchanges[0].calls] == ["one", "two"]


@pytest.mark.parametrize("prefix", ["ai.telemetry.metadata", "ai.settings.context"])
@pytest.mark.parametrize("key", ["sessionId", "session_id", "threadId", "conversationId", "chatId", "session.id"])
def test_the_application_s_keys_join_traces(prefix: str, key: str) -> None:
    spans = [
        span(
            "1",
            trace=number * 32,
            start=int(number) * 9,
            scope="ai",
            attributes={"ai.operationId": "ai.generateText", "ai.prompt": '{"prompt": "Hi"}', f"{prefix}.{key}": "s-1"},
        )
        for number in ("1", "2")
    ]
    conversation = only(assembled(spans))
    assert conversation.conversation_id == "s-1"
    assert len(conversation.exchanges) == 2


def test_v7_has_a_whole_run_in_one_message_also_when_a_tool_failed() -> None:
    """The failed call has no response part beside it."""

    def genai(span_id: str, operation: str, parent: str | None, **rest: Any) -> Span:
        attributes = {"gen_ai.operation.name": operation, **rest.pop("more", {})}
        return span(span_id, parent, scope="gen_ai", attributes=attributes, **rest)

    call = {"type": "tool_call", "id": "c1", "name": "mail", "arguments": {"to": "a"}}
    text = {"type": "text", "content": "I could not."}
    asks = [{"role": "assistant", "parts": [call], "finish_reason": "tool_call"}]
    whole = [{"role": "assistant", "parts": [text, call], "finish_reason": "stop"}]
    last = [{"role": "assistant", "parts": [text], "finish_reason": "stop"}]
    question = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Mail it."}]}])
    tool = {"gen_ai.tool.name": "mail", "gen_ai.tool.call.id": "c1", "gen_ai.tool.call.arguments": '{"to": "a"}'}
    spans = [
        genai(
            "1",
            "invoke_agent",
            None,
            end=9,
            more={
                "gen_ai.input.messages": question,
                "gen_ai.output.messages": json.dumps(whole),
                "ai.settings.context.sessionId": "s-1",
            },
        ),
        genai("2", "agent_step", "1", end=4),
        genai("3", "chat", "2", end=1, more={"gen_ai.output.messages": json.dumps(asks)}),
        genai("4", "execute_tool", "2", start=1, end=2, more=tool, error="SMTP timeout"),
        genai("5", "agent_step", "1", start=4, end=8),
        genai("6", "chat", "5", start=4, end=7, more={"gen_ai.output.messages": json.dumps(last)}),
    ]
    conversation = only(assembled(spans))
    (exchange,) = conversation.exchanges
    assert conversation.conversation_id == "s-1"
    assert exchange.response is not None
    assert exchange.response.text == "I could not."
    assert [(one.tool, one.error) for one in exchange.calls] == [("mail", "SMTP timeout")]


def test_the_first_versions_have_the_operation_as_name_only() -> None:
    old = span("1", scope="ai", name="ai.generateText", attributes={"ai.model.id": "gpt-4", "ai.result.text": "Hi."})
    assert read(old).kind is SpanKind.AGENT
    assert registry().read(span("1", scope="ai", name="render", attributes={"ai.model.id": "gpt-4"})) is None


HOSTILE = st.one_of(
    st.sampled_from(["{", "[[", '{"messages": [1, null]}', '{"prompt": {"a": 1}}', '[{"toolName": 1}]', "null", ""]),
    st.text(max_size=40),
    st.integers(),
    st.lists(st.text(max_size=5), max_size=3),
)


@given(
    operation=st.sampled_from(["ai.generateText", "ai.streamText.doStream", "ai.toolCall", "ai.", "x"]),
    values=st.lists(HOSTILE, min_size=7, max_size=7),
)
def test_reading_never_raises(operation: str, values: list[Any]) -> None:
    keys = ("ai.prompt", "ai.prompt.messages", "ai.response.text", "ai.response.toolCalls", "ai.toolCall.args")
    attributes = dict(zip((*keys, "ai.toolCall.result", "ai.response.finishReason"), values, strict=True))
    read(ai("1", operation, more=attributes))
