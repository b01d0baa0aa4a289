"""Logfire: requests and answers of model clients, pending spans, scrubbed values."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.conventions.jsontext import without_redacted
from aem_monitor.conventions.logfire import Logfire
from aem_monitor.conventions.parts import read_arguments
from aem_monitor.conventions.reading import SpanKind
from aem_monitor.conventions.registry import registry
from aem_monitor.conventions.results import unwrap
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.span import Span
from tests.assembly.building import agent, chat, span, tool
from tests.assembly.recordings import assembled

MARK = "[Scrubbed due to 'password']"
ASKED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "report", "arguments": '{"region": "EU"}'}}],
}


def client(
    span_id: str,
    request: Mapping[str, Any] | None = None,
    answer: Mapping[str, Any] | None = None,
    *,
    scope: str = "logfire.openai",
    **rest: Any,
) -> Span:
    """A span around a model client."""
    more = rest.pop("more", {})
    attributes = {"gen_ai.request.model": "gpt-4o", **more}
    if request is not None:
        attributes["request_data"] = json.dumps({"model": "gpt-4o", **request})
    if answer is not None:
        attributes["response_data"] = json.dumps(dict(answer))
    return span(span_id, scope=scope, attributes=attributes, **rest)


def user(text: str) -> dict[str, str]:
    """A message of the user."""
    return {"role": "user", "content": text}


def test_request_and_answer_of_a_client_are_messages() -> None:
    history = [user("How is EU?"), ASKED, {"role": "tool", "tool_call_id": "c1", "content": "12"}]
    spans = [
        client("1", {"messages": [user("How is EU?")]}, {"message": ASKED}, end=1),
        client("2", {"messages": history}, {"message": {"role": "assistant", "content": "12."}}, start=2, end=3),
    ]
    (conversation,) = assembled(spans)
    (exchange,) = conversation.exchanges
    assert exchange.user.text == "How is EU?"
    assert [(one.tool, one.arguments, one.result) for one in exchange.calls] == [("report", {"region": "EU"}, "12")]
    assert exchange.response is not None
    assert exchange.response.text == "12."


def test_a_streamed_answer_comes_beside_its_request() -> None:
    request = {"messages": [user("How is EU?")], "stream": True}
    streamed = client("2", request, {"combined_chunk_content": "It is 12.", "chunk_count": 3}, start=1, end=1)
    (conversation,) = assembled([client("1", request, end=1), streamed])
    (exchange,) = conversation.exchanges
    assert exchange.response is not None
    assert exchange.response.text == "It is 12."


def test_the_responses_api_comes_as_events() -> None:
    events = [
        {"event.name": "gen_ai.user.message", "content": "How is EU?", "role": "user"},
        {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": "It is 12."}},
    ]
    more = {"events": json.dumps(events), "gen_ai.operation.name": "chat"}
    (conversation,) = assembled([client("1", {"stream": False}, more=more)])
    (exchange,) = conversation.exchanges
    assert exchange.user.text == "How is EU?"
    assert exchange.response is not None
    assert exchange.response.text == "It is 12."


def test_an_embedding_is_no_turn() -> None:
    reading = Logfire().read(client("1", {"input": "How is EU?"}, {"usage": {}}), ())
    assert reading.kind is SpanKind.OTHER


def test_other_spans_of_logfire_are_left_alone() -> None:
    web = span("1", scope="logfire.fastapi", attributes={"request_data": '{"messages": ["x"]}'})
    assert not Logfire().detect(web)
    assert registry().read(web) is None


@pytest.mark.parametrize("scope", ["pydantic-ai", "logfire.openai", "test", "gcp.vertex.agent"])
def test_a_pending_span_of_any_instrumentation_has_no_part_in_a_turn(scope: str) -> None:
    real = agent("1", user="Hello.", reply="Hi.", scope=scope, end=9)
    pending = agent("2", "1", user="Hello.", scope=scope, end=0, more={"logfire.span_type": "pending_span"})
    reading = registry().read(pending)
    assert reading is not None
    assert reading.kind is SpanKind.OTHER
    assert assembled([real, pending])[0].exchanges == assembled([real])[0].exchanges


def test_a_scrubbed_session_joins_nothing() -> None:
    more = {"session.id": "[Scrubbed due to 'session']"}
    spans = [
        agent(one, user=f"Hello {one}.", reply="Hi.", conversation=None, more=more, trace=one * 32, start=int(one) * 9)
        for one in ("1", "2")
    ]
    assert [conversation.conversation_id for conversation in assembled(spans)] == [None, None]


def test_scrubbed_members_of_arguments_are_unknown_and_the_rest_is_known() -> None:
    assert read_arguments(json.dumps({"user": "ana", "password": MARK})) == ({"user": "ana"}, True)
    assert read_arguments({"user": "ana", "login": {"password": MARK}}) == ({"user": "ana", "login": {}}, True)
    assert read_arguments('{"user": "ana"}') == ({"user": "ana"}, False)


def test_scrubbed_members_of_a_result_are_unknown() -> None:
    found = unwrap(json.dumps({"order": "A-1", "token": MARK}))
    assert (found.value, found.truncated) == ({"order": "A-1"}, True)
    assert unwrap(MARK).value is NOT_CAPTURED


def test_a_text_about_redaction_is_a_text() -> None:
    value = {"note": "The form says [redacted] in two places, which the customer asked us about on Monday morning."}
    assert without_redacted(value) == (value, False)


def test_a_scrubbed_argument_of_a_tool_span_is_filled_from_the_model_s_message() -> None:
    asked = {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c1", "name": "login", "arguments": {"user": "ana", "pin": 7}}],
    }
    spans = [
        agent("1", user="Log me in.", reply="Done.", end=9),
        chat("2", "1", output=[asked], start=1, end=2),
        tool("3", "1", "login", arguments={"user": "ana", "pin": MARK}, call_id="c1", start=3, end=4),
    ]
    (call,) = assembled(spans)[0].exchanges[0].calls
    assert (call.arguments, call.arguments_truncated) == ({"user": "ana", "pin": 7}, False)


NESTED = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.just(MARK)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)),
    max_leaves=20,
)


@given(NESTED)
def test_nothing_that_was_taken_away_is_left_and_nothing_else_is_lost(value: JSON) -> None:
    kept, lost = without_redacted({"value": value})
    assert MARK not in json.dumps(kept)
    assert lost == (MARK in json.dumps(value))
    assert lost or kept == {"value": value}


@given(
    request=st.one_of(st.text(max_size=40), st.integers(), st.just('{"messages": [[{}, 1]]}'), st.just('{"prompt": {')),
    answer=st.one_of(st.text(max_size=40), st.integers(), st.just('{"message": [1]}'), st.just('{"text": {"a": 1}}')),
)
def test_reading_never_raises(request: Any, answer: Any) -> None:
    attributes = {"request_data": request, "response_data": answer, "events": request}
    Logfire().read(span("1", scope="logfire.openai", attributes=attributes), ())
