"""An agent whose output runs the texts of all its model calls together."""

import json

import pytest

from tests.assembly.building import span, text
from tests.assembly.recordings import assembled


def _of(operation: str, said: list[object]) -> dict[str, str]:
    return {
        "gen_ai.operation.name": operation,
        "gen_ai.conversation.id": "c",
        "gen_ai.output.messages": json.dumps(said),
    }


ASKS = {
    "role": "assistant",
    "parts": [{"type": "text", "content": "Let me look."}, {"type": "tool_call", "name": "find"}],
}


@pytest.mark.parametrize(
    ("whole", "reply"),
    [
        ("Let me look.Done: two.", "Done: two."),
        ("Let me look. Done: two, and one more.", "Let me look. Done: two, and one more."),
    ],
)
def test_a_text_beside_calls_is_no_part_of_the_reply(whole: str, reply: str) -> None:
    spans = [
        span("a1", start=1, end=9, attributes=_of("invoke_agent", [text("assistant", whole)])),
        span("c1", "a1", start=2, end=3, attributes=_of("chat", [ASKS])),
        span("c2", "a1", start=5, end=6, attributes=_of("chat", [text("assistant", "Done: two.")])),
    ]
    (conversation,) = assembled(spans)
    assert [exchange.response.text for exchange in conversation.exchanges if exchange.response] == [reply]
