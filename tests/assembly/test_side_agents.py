"""Agents that work beside the one that answers the user, under the same web request and with the user's own words."""

import pytest

from aem_monitor.model.conversation import Conversation
from aem_monitor.model.span import Span
from tests.assembly.building import agent, span, tool
from tests.assembly.recordings import assembled

WORDS = ("Where is my order?", "Please refund it.", "Thanks.")


def turn(number: int, *agents: tuple[str, float, str], calls: bool = False) -> list[Span]:
    """One request of one user message; agents are (name, start, reply), each a second long; the first one may call."""
    trace = str(number) * 32
    base = number * 20
    spans = [span("r", trace=trace, start=base, end=base + 9, attributes={"session.id": "s-1", "http.method": "POST"})]
    for name, start, reply in agents:
        more = {"agent_name": name, "conversation": None, "user": WORDS[number - 1], "reply": reply}
        spans.append(agent(name, "r", trace=trace, start=base + start, end=base + start + 1, **more))  # type: ignore[arg-type]
    if calls:
        spans.append(tool("t", agents[0][0], "lookup", arguments={}, trace=trace, start=base + 0.2, end=base + 0.4))
    return spans


def replies(spans: list[Span]) -> list[str | None]:
    """What the user of the one conversation was answered."""
    conversation: Conversation
    (conversation,) = assembled(spans)
    return [exchange.response.text if exchange.response else None for exchange in conversation.exchanges]


def test_a_title_maker_that_answers_last_is_no_turn() -> None:
    spans = [
        *turn(1, ("shop", 0, "Shipped."), ("titler", 2, "Order and refund"), calls=True),
        *turn(2, ("shop", 0, "Refunded."), calls=True),
        *turn(3, ("shop", 0, "Welcome.")),
    ]
    assert replies(spans) == ["Shipped.", "Refunded.", "Welcome."]


def test_a_title_maker_is_known_also_where_the_agent_beside_it_called_nothing() -> None:
    spans = [
        *turn(1, ("shop", 0, "Which order?"), ("titler", 2, "Order")),
        *turn(2, ("shop", 0, "Refunded."), calls=True),
    ]
    assert replies(spans) == ["Which order?", "Refunded."]


@pytest.mark.parametrize("calls", [True, False])
def test_a_guardrail_before_agents_of_which_each_answers_once_is_no_turn(calls: bool) -> None:
    spans = [
        *turn(1, ("orders", 2, "Shipped."), ("guard", 0, "ok"), calls=calls),
        *turn(2, ("refunds", 2, "Refunded."), ("guard", 0, "ok")),
        *turn(3, ("small_talk", 2, "Welcome."), ("guard", 0, "ok")),
    ]
    assert replies(spans) == ["Shipped.", "Refunded.", "Welcome."]


def test_a_guardrail_of_the_first_turn_only_is_no_turn() -> None:
    spans = [
        *turn(1, ("shop", 2, "Shipped."), ("guard", 0, "ok"), calls=True),
        *turn(2, ("shop", 0, "Refunded."), calls=True),
    ]
    assert replies(spans) == ["Shipped.", "Refunded."]
