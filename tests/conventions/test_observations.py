"""What user and agent said, out of recorded inputs and outputs of functions."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.conventions.messages import NO_MESSAGES, Role
from aem_monitor.conventions.observations import spoken
from aem_monitor.conventions.parts import TextPart
from aem_monitor.model.jsonvalue import JSON

USER = {"role": "user", "content": "hello there"}
REPLY = {"role": "assistant", "content": "good day"}


def user_text(value: JSON) -> str | None:
    found = spoken(json.dumps(value), Role.USER)
    return found.items[-1].text.text if found and found.items[-1].text else None


def reply_text(value: JSON) -> str | None:
    found = spoken(json.dumps(value), Role.ASSISTANT)
    return found.items[-1].text.text if found and found.items[-1].text else None


@pytest.mark.parametrize(
    "value",
    [
        "hello there",
        {"messages": [USER]},
        {"messages": [["user", "hello there"]]},
        {"messages": [{"type": "human", "content": "hello there"}]},
        {"inputs": {"messages": [USER]}, "tags": [], "metadata": {"thread_id": "t"}, "kwargs": {"name": "graph"}},
        {"args": ["hello there"], "kwargs": {}},
        {"args": ["s-1", "hello there"], "kwargs": {}},
        {"args": ["ShopAgent", "hello there"], "kwargs": {"locale": "en_US"}},
        {"args": [], "kwargs": {"question": "hello there", "context": "as usual here"}},
        {"args": [[USER]], "kwargs": {"model": "gpt-4o"}},
        {"args": [[{"role": "user", "content": "older words"}, REPLY], "hello there"], "kwargs": {}},
        {"session_id": "a b", "words": "hello there"},
        {"input": [USER], "instructions": "You are kind."},
        {"input": "hello there"},
    ],
)
def test_the_users_text_is_found(value: JSON) -> None:
    assert user_text(value) == "hello there"


@pytest.mark.parametrize(
    "value",
    [
        {"args": ["first words", "second words"], "kwargs": {}},
        {"args": [], "kwargs": {"session_id": "s-1"}},
        {"args": [[USER, REPLY], "yes"], "kwargs": {}},
        {"args": [], "kwargs": {}},
        {"args": ["<app.Agent object at 0x7f3a>"], "kwargs": {}},
        {"messages": ["HumanMessage(content='hello there')"]},
        {},
        None,
    ],
)
def test_where_it_is_not_clear_what_the_user_said_nothing_is_read(value: JSON) -> None:
    assert user_text(value) is None


@pytest.mark.parametrize(
    "value",
    [
        "good day",
        REPLY,
        {"messages": [USER, REPLY]},
        {"outputs": {"messages": [USER, REPLY]}, "kwargs": {}},
        {"choices": [{"message": REPLY, "finish_reason": "stop"}]},
        {
            "generations": [
                [{"text": "good day", "message": {"lc": 1, "kwargs": {"type": "ai", "content": "good day"}}}]
            ]
        },
        {
            "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "good day"}]}
            ]
        },
        {"response": {"role": "assistant", "blocks": [{"block_type": "text", "text": "good day"}]}, "tool_calls": []},
        {"answer": "good day", "sources": []},
        {"output": "good day"},
    ],
)
def test_the_reply_is_found(value: JSON) -> None:
    assert reply_text(value) == "good day"


@pytest.mark.parametrize("value", ["WorkflowHandler", "<coroutine object f at 0x7f1234>", {"elapsed": 1}, [], ""])
def test_the_repr_of_an_object_is_no_reply(value: JSON) -> None:
    assert reply_text(value) is None


def test_a_reply_that_is_json_text_stays_text() -> None:
    assert reply_text('{"total": 5}') == '{"total": 5}'


def test_the_finish_reason_of_a_completion_is_kept() -> None:
    found = spoken(json.dumps({"choices": [{"message": REPLY, "finish_reason": "stop"}]}), Role.ASSISTANT)
    assert found.items[0].finish_reason == "stop"


def test_a_cut_text_is_marked() -> None:
    found = spoken('"good d', Role.ASSISTANT)
    assert found.items[-1].text == TextPart("good d", truncated=True)


def test_a_redaction_mark_is_no_text() -> None:
    assert spoken("[REDACTED]", Role.USER) == NO_MESSAGES
    assert spoken('"[REDACTED]"', Role.USER) == NO_MESSAGES


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["args", "kwargs", "messages", "role", "content", "choices", "generations", "blocks", "output", "type"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(JSONS, st.sampled_from(Role))
def test_no_value_breaks_it(value: JSON, role: Role) -> None:
    spoken(json.dumps(value), role)
