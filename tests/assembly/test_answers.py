"""Calls by which a framework answers: the response, and no tool turn."""

import pytest

from aem_monitor.model.conversation import Exchange
from tests.assembly.building import agent, call, chat, result, text, tool
from tests.assembly.recordings import assembled

PERSON = {"name": "Ünal", "age": 30}
WRITTEN = '{"age": 30, "name": "Ünal"}'


def exchange(reply: str | None, told: str, *, after: bool = False) -> Exchange:
    """An agent that looks something up, then fills in a form once in vain and once well."""
    asked = [text("user", "Who?"), call("look", {"q": 1}, "l"), result("found", "l")]
    spans = [
        agent("1", user="Who?", reply=reply, end=30),
        chat("2", "1", input=asked[:1], output=[call("look", {"q": 1}, "l")], start=1, end=2),
        tool("3", "1", "look", arguments={"q": 1}, result="found", call_id="l", start=3, end=4),
        chat("4", "1", input=asked, output=[call("Person", {"name": "?"}, "p")], start=5, end=6),
        tool("5", "1", "Person", arguments={"name": "?"}, result="Error: age", call_id="p", start=7, end=8),
        chat("6", "1", input=asked, output=[call("Person", PERSON, "p2")], start=9, end=10),
        tool("7", "1", "Person", arguments=PERSON, result=told, call_id="p2", start=11, end=12),
    ]
    if after:
        spans.append(chat("8", "1", input=asked, output=[call("send", {"to": 1}, "s")], start=13, end=14))
        spans.append(tool("9", "1", "send", arguments={"to": 1}, result="sent", call_id="s", start=15, end=16))
    (conversation,) = assembled(spans)
    (found,) = conversation.exchanges
    return found


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (WRITTEN, "ok"),
        (WRITTEN, "Successfully validated Person structured output"),
        (None, "Returning structured response: name='Ünal' age=30"),
    ],
    ids=["the reply repeats it", "strands", "langchain"],
)
def test_a_form_under_the_name_of_its_schema_is_the_response(reply: str | None, told: str) -> None:
    found = exchange(reply, told)
    assert [one.name for one in found.calls] == ["look"]
    assert found.response is not None
    assert found.response.text == (reply or '{"age":30,"name":"Ünal"}')


@pytest.mark.parametrize("reply", ["It is Ünal.", '{"age": 31}', "{", None])
def test_a_call_that_the_reply_does_not_repeat_stays_a_call(reply: str | None) -> None:
    assert [one.name for one in exchange(reply, "saved").calls] == ["look", "Person", "Person"]


def test_a_call_before_the_last_step_stays_a_call() -> None:
    assert [one.name for one in exchange(WRITTEN, "ok", after=True).calls] == ["look", "Person", "Person", "send"]


def test_a_call_that_a_model_repeats_afterwards_in_its_reply_stays_a_call() -> None:
    asked = [text("user", "Save it."), call("save", PERSON, "s"), result("ok", "s")]
    (conversation,) = assembled(
        [
            agent("1", user="Save it.", reply=WRITTEN, end=9),
            chat("2", "1", input=asked[:1], output=[call("save", PERSON, "s")], start=1, end=2),
            tool("3", "1", "save", arguments=PERSON, result="ok", call_id="s", start=3, end=4),
            chat("4", "1", input=asked, output=[text("assistant", WRITTEN)], start=5, end=6),
        ]
    )
    assert [one.name for one in conversation.exchanges[0].calls] == ["save"]
