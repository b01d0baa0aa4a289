"""Exchanges without any conversation id: the history that an input repeats tells where they belong."""

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.model.span import Span
from tests.assembly.building import agent, text
from tests.assembly.recordings import assembled

WORDS = st.sampled_from(["order", "refund", "thanks"])
DIALOGS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4)


def turn(trace: int, start: float, messages: Sequence[str], *, greeting: str | None = None) -> Span:
    """An agent's trace; ``messages`` are user and assistant by turns, the last one is the reply."""
    said = [text("assistant" if at % 2 else "user", word) for at, word in enumerate(messages)]
    if greeting is not None:
        said.insert(0, text("assistant", greeting))
    contents = {"gen_ai.input.messages": json.dumps(said[:-1]), "gen_ai.output.messages": json.dumps(said[-1:])}
    return agent("1", conversation=None, trace=f"{trace:032x}", start=start, end=start + 1, more=contents)


def test_a_history_of_nothing_but_the_agent_s_greeting_continues_nothing() -> None:
    found = assembled([turn(1, 0, ["hi", "hello"]), turn(2, 5, ["bye", "so long"], greeting="Welcome!")])
    assert [len(one.exchanges) for one in found] == [1, 1]


def test_a_conversation_that_went_on_is_not_continued_from_its_middle() -> None:
    found = assembled(
        [
            turn(1, 0, ["hi", "hello"]),
            turn(2, 5, ["hi", "hello", "refund", "done"]),
            turn(3, 10, ["hi", "hello", "order", "shipped"]),
        ]
    )
    assert [[one.user.text for one in conversation.exchanges] for conversation in found] == [
        ["hi", "refund"],
        ["order"],
    ]


@given(st.lists(DIALOGS, min_size=1, max_size=6))
def test_dialogs_played_side_by_side_are_put_together_turn_by_turn(dialogs: list[list[tuple[str, str]]]) -> None:
    # A name in each first message: dialogs that are alike word for word could not be told apart by anyone.
    named = [[(f"I am {name}. {played[0][0]}", played[0][1]), *played[1:]] for name, played in enumerate(dialogs)]
    spans = [
        turn(100 * number + index, 10 * index + number, [word for pair in played[: index + 1] for word in pair])
        for number, played in enumerate(named)
        for index in range(len(played))
    ]
    found = assembled(spans)
    wanted = [[f"{100 * number + index:032x}" for index in range(len(played))] for number, played in enumerate(named)]
    assert sorted(list(one.trace_ids) for one in found) == sorted(wanted)
