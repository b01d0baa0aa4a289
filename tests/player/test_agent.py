"""What an agent is sent, and where its reply is found."""

import json
from typing import Any

import pytest

from aem_monitor.player.agent import ChatCompletions, Dialect, JsonOverHttp, body_of, pointer, pointer_text, reply_of
from aem_monitor.player.client import Answer
from aem_monitor.player.faults import ExchangeError, Outcome
from aem_monitor.player.template import Message, Values

SAID = Values("c-1", "refund", "And now?", (Message("user", "Hi"), Message("assistant", "Hello")))
CHAT = ChatCompletions("shop")


def sent(dialect: Dialect) -> Any:
    return json.loads(body_of(dialect, SAID))


def test_chat_completions_repeat_what_was_said_unless_the_agent_keeps_it() -> None:
    now = {"role": "user", "content": "And now?"}
    before = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    assert sent(CHAT) == {"model": "shop", "stream": False, "messages": [*before, now]}
    kept = ChatCompletions("shop", history=False, body={"user": "{{ conversation_id }}", "seed": 2**70})
    assert sent(kept) == {"model": "shop", "stream": False, "user": "c-1", "seed": 2**70, "messages": [now]}


def test_half_a_character_of_a_reply_is_sent_on() -> None:
    said = Values("c-1", "refund", "And now?", (Message("assistant", "half \ud83d"),))
    assert json.loads(body_of(CHAT, said))["messages"][0]["content"] == "half \ud83d"


def test_json_over_http_is_what_the_file_says() -> None:
    dialect = JsonOverHttp({"text": "{{ message }}", "session": {"id": "{{ conversation_id }}"}}, ("reply",))
    assert sent(dialect) == {"text": "And now?", "session": {"id": "c-1"}}


def answered(value: Any, content_type: str = "application/json") -> Answer:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Answer(200, content_type, body)


@pytest.mark.parametrize(
    ("dialect", "answer", "reply"),
    [
        (CHAT, {"choices": [{"message": {"content": "Yes."}}, {"message": {"content": "No."}}]}, "Yes."),
        (CHAT, {"choices": [{"message": {"content": ""}}]}, ""),
        (CHAT, {"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}, {}]}}]}, "ab"),
        (CHAT, {"choices": [{"message": {"content": None, "refusal": "I cannot."}}]}, "I cannot."),
        (CHAT, {"choices": [{"message": {"content": "Done.", "tool_calls": [{}]}}]}, "Done."),
        (JsonOverHttp({}, ()), "Yes.", "Yes."),
        (JsonOverHttp({}, ("out", "1", "a/b")), {"out": [0, {"a/b": "Yes."}]}, "Yes."),
        (JsonOverHttp({}, ("1",)), {"1": "Yes."}, "Yes."),
        (JsonOverHttp({}, ("a",)), b'{"a": "half \\ud83d"}', "half \ud83d"),
        (JsonOverHttp({}, ("a",)), b'\xef\xbb\xbf{"a": "Yes."}', "Yes."),
    ],
)
def test_a_reply_is_found(dialect: Dialect, answer: Any, reply: str) -> None:
    assert reply_of(dialect, answered(answer)) == reply


@pytest.mark.parametrize(
    ("dialect", "answer", "outcome", "said"),
    [
        (CHAT, {"error": {"message": "secret"}}, Outcome.NO_REPLY, "has no choices[0].message, as chat"),
        (CHAT, {"error": {}}, Outcome.NO_REPLY, "(it has error)"),
        (CHAT, [], Outcome.NO_REPLY, "has no choices[0].message"),
        (CHAT, {"choices": []}, Outcome.NO_REPLY, "has no choices[0].message"),
        (
            CHAT,
            {"choices": [{"message": {"content": 1}}]},
            Outcome.NO_REPLY,
            "has no text in choices[0].message",
        ),
        (CHAT, {"choices": [{"message": {"content": None, "tool_calls": [{}]}}]}, Outcome.NO_REPLY, "that is a model"),
        (JsonOverHttp({}, ("a", "b")), {"a": {"c": 1}}, Outcome.NO_REPLY, "has nothing at /a/b (it has c); correct"),
        (JsonOverHttp({}, ("a",)), {"a": {"c": 1}}, Outcome.NO_REPLY, "has no text at /a; correct agent.http.reply"),
        (JsonOverHttp({}, ()), {"a": 1}, Outcome.NO_REPLY, "has no text at its root"),
        (JsonOverHttp({}, ("01",)), ["x", "y"], Outcome.NO_REPLY, "has nothing at /01"),
        (JsonOverHttp({}, ("9" * 30,)), ["x"], Outcome.NO_REPLY, "has nothing at /999"),
        (CHAT, b"<html>\x1b[2J", Outcome.UNREADABLE, "no JSON: it begins with '<html> [2J'"),
        (CHAT, b"", Outcome.UNREADABLE, "no JSON"),
        (CHAT, b"\xff\xfe", Outcome.UNREADABLE, "no JSON"),
        (CHAT, b"[" * 100_000, Outcome.UNREADABLE, "no JSON"),
    ],
)
def test_what_is_no_reply_is_said_without_what_it_says(
    dialect: Dialect, answer: Any, outcome: Outcome, said: str
) -> None:
    with pytest.raises(ExchangeError) as caught:
        reply_of(dialect, answered(answer))
    assert (caught.value.outcome, caught.value.status) == (outcome, 200)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_stream_is_refused() -> None:
    with pytest.raises(ExchangeError, match="no streaming") as caught:
        reply_of(CHAT, answered(b"data: {}\n\n", "text/event-stream"))
    assert caught.value.outcome is Outcome.UNREADABLE


@pytest.mark.parametrize(
    ("text", "steps"),
    [("", ()), ("/", ("",)), ("/a/0", ("a", "0")), ("/a~1b/m~0n", ("a/b", "m~n")), ("/~01", ("~1",))],
)
def test_pointers_are_those_of_rfc_6901(text: str, steps: tuple[str, ...]) -> None:
    assert pointer(text) == steps
    assert pointer_text(steps) == text


@pytest.mark.parametrize("text", ["a", "$.a", "/~", "/a~2"])
def test_what_is_no_pointer_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="JSON pointer"):
        pointer(text)
