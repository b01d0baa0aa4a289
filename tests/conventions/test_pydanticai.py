"""Pydantic AI in its instrumentation versions: events, own attributes, GenAI names."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.conventions.pydanticai import PydanticAI
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.conventions.registry import registry
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.jsonvalue import AttributeValue
from aem_monitor.model.span import Span, SpanEvent
from tests.assembly.building import T0, call, result, span, text
from tests.assembly.recordings import assembled


def pydantic(span_id: str, name: str, parent: str | None = None, **rest: Any) -> Span:
    """A span of Pydantic AI."""
    return span(span_id, parent, name=name, scope="pydantic-ai", **rest)


def read(found: Span) -> SpanReading:
    """What Pydantic AI's convention says of a span."""
    assert PydanticAI().detect(found)
    return PydanticAI().read(found, ())


def run(messages: Sequence[Mapping[str, Any]], **more: AttributeValue) -> Span:
    """An agent's span with its whole history."""
    attributes = {"agent_name": "shop", "pydantic_ai.all_messages": json.dumps(list(messages))}
    return pydantic("1", "agent run", end=9, attributes={**attributes, **more})


def only(conversations: Sequence[Conversation]) -> Conversation:
    """The one conversation."""
    (conversation,) = conversations
    return conversation


def test_of_the_whole_history_the_last_message_of_the_user_begins_the_turn() -> None:
    history = [text("user", "Hello."), text("assistant", "Hi."), text("user", "Thanks."), text("assistant", "Welcome.")]
    exchange = only(assembled([run(history, final_result="Welcome.")])).exchanges[0]
    assert exchange.user.text == "Thanks."
    assert exchange.response is not None
    assert exchange.response.text == "Welcome."


def test_results_under_the_user_s_name_begin_no_turn() -> None:
    returned = {"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "name": "report", "result": "12"}]}
    history = [text("user", "How much?"), call("report", '{"region": "EU"}', "c1"), returned, text("assistant", "12.")]
    exchange = only(assembled([run(history, final_result="12.")])).exchanges[0]
    assert exchange.user.text == "How much?"
    (made,) = exchange.calls
    assert (made.arguments, made.result) == ({"region": "EU"}, "12")


@pytest.mark.parametrize("name", ["running tool", "execute_tool report"])
def test_arguments_and_result_of_a_tool_before_the_genai_names(name: str) -> None:
    attributes = {
        "gen_ai.tool.name": "report",
        "gen_ai.tool.call.id": "c1",
        "tool_arguments": '{"region": "EU"}',
        "tool_response": '{"total": 12}',
    }
    reading = read(pydantic("1", name, attributes=attributes))
    assert reading.kind is SpanKind.TOOL
    assert reading.tool is not None
    assert (reading.tool.arguments, reading.tool.result) == ({"region": "EU"}, {"total": 12})


def test_a_run_of_the_first_version_is_read_from_its_events() -> None:
    events = [
        {"event.name": "gen_ai.system.message", "content": "You help.", "role": "system"},
        {"event.name": "gen_ai.user.message", "content": "How much?", "role": "user"},
        {
            "event.name": "gen_ai.assistant.message",
            "role": "assistant",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "report", "arguments": '{"r": 1}'}}],
        },
        {"event.name": "gen_ai.tool.message", "content": "12", "role": "tool", "id": "c1", "name": "report"},
        {"event.name": "gen_ai.assistant.message", "content": "It is 12.", "role": "assistant"},
    ]
    attributes = {"agent_name": "shop", "model_name": "gpt-4o", "all_messages_events": json.dumps(events)}
    exchange = only(assembled([pydantic("1", "agent run", end=9, attributes=attributes)])).exchanges[0]
    assert exchange.user.text == "How much?"
    assert [(made.tool, made.arguments, made.result) for made in exchange.calls] == [("report", {"r": 1}, "12")]
    assert exchange.response is not None
    assert exchange.response.text == "It is 12."


def test_the_span_around_several_tools_is_no_call() -> None:
    assert read(pydantic("1", "running 2 tools", attributes={"tools": ["a", "b"]})).kind is SpanKind.STEP


def raised(message: str | None) -> tuple[SpanEvent, ...]:
    """The event of an exception."""
    attributes: dict[str, AttributeValue] = {"exception.type": "pydantic_ai.exceptions.ToolRetryError"}
    if message is not None:
        attributes["exception.message"] = message
    return (SpanEvent("exception", T0, attributes),)


@pytest.mark.parametrize(
    ("message", "reason"), [("", "no such address"), (None, "no such address"), ("SMTP timeout", "SMTP timeout")]
)
def test_a_call_to_be_tried_again_failed_for_the_reason_that_the_model_was_told(
    message: str | None, reason: str
) -> None:
    attributes = {"gen_ai.tool.name": "mail", "tool_arguments": "{}", "tool_response": "no such address"}
    failed = pydantic("1", "running tool", attributes=attributes, events=raised(message), error="ToolRetryError: ")
    assert read(failed).error == reason


def test_the_next_attempt_is_a_call_of_its_own() -> None:
    def attempt(span_id: str, call_id: str, at: float, error: str | None = None) -> Span:
        attributes = {"gen_ai.tool.name": "mail", "gen_ai.tool.call.id": call_id, "tool_arguments": '{"to": "a"}'}
        return pydantic(span_id, "running tool", "1", start=at, end=at + 1, attributes=attributes, error=error)

    history = [
        text("user", "Mail it."),
        call("mail", {"to": "a"}, "c1"),
        result("no", "c1"),
        call("mail", {"to": "a"}, "c2"),
    ]
    calls = only(assembled([run(history), attempt("2", "c1", 1, "no"), attempt("3", "c2", 3)])).exchanges[0].calls
    assert [made.error for made in calls] == ["no", None]


def test_a_structured_answer_is_the_reply_and_its_tool_no_call() -> None:
    attributes = {
        "gen_ai.tool.name": "final_result",
        "gen_ai.tool.call.id": "c1",
        "tool_arguments": '{"city": "Paris"}',
    }
    history = [text("user", "Where?"), call("final_result", {"city": "Paris"}, "c1")]
    spans = [run(history, final_result='{"city":"Paris"}'), pydantic("2", "running tool", "1", attributes=attributes)]
    exchange = only(assembled(spans)).exchanges[0]
    assert exchange.calls == ()
    assert exchange.response is not None
    assert exchange.response.text == '{"city":"Paris"}'


def test_without_content_a_run_has_its_structure() -> None:
    parts = {"role": "user", "parts": [{"type": "text"}]}
    asked = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "report"}]}
    tool = pydantic("2", "running tool", "1", attributes={"gen_ai.tool.name": "report", "gen_ai.tool.call.id": "c1"})
    exchange = only(
        assembled([run([parts, asked, {"role": "assistant", "parts": [{"type": "text"}]}]), tool])
    ).exchanges[0]
    assert exchange.user.text is None
    assert [(made.tool, made.arguments) for made in exchange.calls] == [("report", None)]
    assert exchange.response is not None
    assert exchange.response.text is None


def test_a_scrubbed_final_result_is_no_reply() -> None:
    history = [text("user", "Log me in."), text("assistant", "Your session is open.")]
    exchange = only(assembled([run(history, final_result="[Scrubbed due to 'session']")])).exchanges[0]
    assert exchange.response is not None
    assert exchange.response.text == "Your session is open."


def test_the_markers_keep_no_spans_of_services_that_only_log() -> None:
    assert not any(marker in "logfire.msg" for marker in registry().markers)


HOSTILE = st.one_of(
    st.sampled_from(
        ["{", "[", "[[", '[{"event.name": 1}]', '[{"event.name": "gen_ai.choice"}]', '[{"role": "user"', ""]
    ),
    st.text(max_size=40),
    st.integers(),
    st.lists(st.text(max_size=5), max_size=3),
)


@given(
    name=st.sampled_from(["agent run", "running tool", "chat x"]),
    named=st.booleans(),
    values=st.lists(HOSTILE, min_size=6, max_size=6),
)
def test_reading_never_raises(name: str, named: bool, values: list[Any]) -> None:
    keys = ("events", "all_messages_events", "pydantic_ai.all_messages", "final_result", "tool_arguments")
    attributes = dict(zip((*keys, "tool_response"), values, strict=True))
    attributes |= {"agent_name": "x"} if named else {"gen_ai.tool.name": "x"}
    read(pydantic("1", name, attributes=attributes, error="x", events=raised(None)))
