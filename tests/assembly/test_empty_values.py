"""Values that are empty and still values."""

from tests.assembly.building import agent, chat, result, text, tool
from tests.assembly.recordings import assembled


def test_a_call_without_arguments_keeps_its_empty_ones_from_a_history_where_the_first_source_had_none() -> None:
    asked = {"role": "assistant", "parts": [{"type": "tool_call", "name": "ping", "id": "c"}]}
    full = {"role": "assistant", "parts": [{"type": "tool_call", "name": "ping", "id": "c", "arguments": {}}]}
    (conversation,) = assembled(
        [
            agent("1", user="hi", reply="done", end=9),
            chat("2", "1", input=[text("user", "hi")], output=[asked], start=1, end=2),
            tool("3", "1", "ping", result="pong", call_id="c", start=3, end=4),
            chat(
                "4",
                "1",
                input=[text("user", "hi"), full, result("pong", "c")],
                output=[text("assistant", "done")],
                start=5,
                end=6,
            ),
        ]
    )
    assert [one.arguments for one in conversation.exchanges[0].calls] == [{}]
