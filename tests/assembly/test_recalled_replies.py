"""A reply that is only in the history of the next exchange."""

import json

from aem_monitor.model.span import Span
from tests.assembly.building import span, text
from tests.assembly.recordings import assembled


def _turn(number: int, *said: tuple[str, str]) -> list[Span]:
    trace = f"{number}" * 32
    history = json.dumps([text(role, words) for role, words in said])
    agent = span(f"a{number}", trace=trace, start=number * 10, end=number * 10 + 5, attributes=_of("invoke_agent"))
    chat = {**_of("chat"), "gen_ai.input.messages": history}
    return [agent, span(f"c{number}", f"a{number}", trace=trace, start=number * 10 + 1, attributes=chat)]


def _of(operation: str) -> dict[str, str]:
    return {"gen_ai.operation.name": operation, "session.id": "s"}


FIRST, ANSWER, SECOND = ("user", "Where is it?"), ("assistant", "On its way."), ("user", "Thanks!")


def test_the_reply_is_taken_from_the_next_history() -> None:
    (conversation,) = assembled(_turn(1, FIRST) + _turn(2, FIRST, ANSWER, SECOND))
    replies = [exchange.response.text if exchange.response else "none" for exchange in conversation.exchanges]
    assert replies == ["On its way.", None]


def test_a_history_that_ends_elsewhere_gives_no_reply() -> None:
    other = ("user", "What else?")
    (conversation,) = assembled(_turn(1, FIRST) + _turn(2, other, ANSWER, SECOND))
    assert [exchange.response.text for exchange in conversation.exchanges if exchange.response] == [None, None]
    (conversation,) = assembled(_turn(1, FIRST) + _turn(2, FIRST, SECOND))
    assert [exchange.response.text for exchange in conversation.exchanges if exchange.response] == [None, None]
