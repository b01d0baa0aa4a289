"""A whole conversation in one trace, under a span that was left open all the time."""

from collections.abc import Sequence
from typing import Any

import pytest

from aem_monitor.model.span import Span
from tests.assembly.building import agent, call, chat, result, span, text
from tests.assembly.recordings import assembled

RUNNER = agent("0", operation="invoke_workflow", agent_name="", end=90)
NAMELESS = span("0", attributes={"openinference.span.kind": "AGENT", "session.id": "c-1"}, end=90)
PLANNER = agent("0", agent_name="planner", end=90)


def run(
    number: int, said: Sequence[dict[str, Any]], reply: str | dict[str, Any], name: str = "shop", **more: Any
) -> list[Span]:
    """An agent of which only the model call has texts."""
    output = text("assistant", reply) if isinstance(reply, str) else reply
    at = number * 10
    return [
        agent(f"a{number}", "0", agent_name=name, start=at, end=at + 5, **more),
        chat(f"m{number}", f"a{number}", input=said, output=[output], start=at + 1, end=at + 2),
    ]


def texts(spans: Sequence[Span]) -> list[tuple[str | None, str | None]]:
    (conversation,) = assembled(list(spans))
    return [(one.user.text, one.response.text if one.response else None) for one in conversation.exchanges]


@pytest.mark.parametrize("root", [RUNNER, NAMELESS, PLANNER], ids=["runner", "nameless", "planner"])
@pytest.mark.parametrize("words", [("first", "second"), ("again", "again")], ids=str)
def test_a_user_message_behind_the_reply_before_begins_an_exchange_whatever_its_words(
    root: Span, words: tuple[str, str]
) -> None:
    history = [text("user", words[0]), text("assistant", "ok"), text("user", words[1])]
    assert texts([root, *run(1, history[:1], "ok"), *run(2, history, "ok")]) == [(words[0], "ok"), (words[1], "ok")]


@pytest.mark.parametrize("root", [RUNNER, NAMELESS], ids=["runner", "nameless"])
def test_without_a_history_the_same_agent_under_a_plain_runner_begins_anew_with_another_text(root: Span) -> None:
    spans = [root, *run(1, [text("user", "q")], "a"), *run(2, [text("user", "r")], "b")]
    assert texts(spans) == [("q", "a"), ("r", "b")]


def test_work_that_an_agent_gives_to_agents_below_it_is_one_exchange() -> None:
    spans = [PLANNER, *run(1, [text("user", "q")], "a", "x"), *run(2, [text("user", "r")], "b", "x")]
    assert len(texts(spans)) == 1


def test_an_invocation_that_is_in_no_other_by_its_own_word_begins_an_exchange() -> None:
    outer = {"gen_ai.invocation.is_nested": False}
    one, two = run(1, [text("user", "q")], "a", more=outer), run(2, [text("user", "q")], "b", more=outer)
    assert texts([RUNNER, *one, *two]) == [("q", "a"), ("q", "b")]


def test_who_takes_over_or_edits_answers_the_same_message() -> None:
    first = [text("user", "u1")]
    second = [*first, text("assistant", "a1"), text("user", "u2")]
    moved = [*second, call("transfer_to_two", {}, "c"), result("ok", "c")]
    spans = [
        RUNNER,
        *run(1, first, "draft", "one"),
        *run(2, [*first, text("assistant", "draft")], "a1", "two"),
        *run(3, second, call("transfer_to_two", {}, "c"), "one"),
        *run(4, moved, "a2", "two"),
    ]
    assert texts(spans) == [("u1", "a1"), ("u2", "a2")]


def test_what_another_agent_wrote_is_no_new_message_where_it_comes_as_one_of_the_user() -> None:
    """A writer and a critic in turns: each finds the other's words in the role of the user."""
    task = text("user", "Write.")
    spans = [
        RUNNER,
        *run(1, [task], "draft", "writer"),
        *run(2, [task, text("user", "draft")], "shorter", "critic"),
        *run(3, [task, text("assistant", "draft"), text("user", "shorter")], "text", "writer"),
    ]
    assert texts(spans) == [("Write.", "text")]
