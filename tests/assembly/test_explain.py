"""Why an invocation has no turn of its own, and that a whole trace may have none."""

from aem_monitor.assembly.explain import explain_trace
from aem_monitor.model.span import Span
from tests.assembly.building import agent, chat, span, text, tool
from tests.assembly.recordings import REGISTRY, SETTINGS, assembled


def became(spans: list[Span]) -> dict[str, str]:
    notes = explain_trace(spans, (), REGISTRY, SETTINGS, assembled(spans))
    return {note.span.span_id: " / ".join(note.became) for note in notes}


def test_an_invocation_within_another_names_the_span_that_has_the_turns() -> None:
    found = became(
        [
            agent("1", user="hi", reply="hello", end=9),
            agent("2", "1", agent_name="helper", start=1, end=2),
            tool("3", "1", "ask", arguments={}, start=3, end=6),
            agent("4", "3", agent_name="expert", start=4, end=5),
        ]
    )
    assert "reply of exchange 1" in found["1"]
    assert "part of the exchange of span 1" in found["2"]
    assert "within the call of ask" in found["4"]


def test_a_runner_around_a_session_is_told_from_the_turns_below_it() -> None:
    history = [text("user", "q"), text("assistant", "a"), text("user", "r")]
    found = became(
        [
            agent("0", operation="invoke_workflow", end=90),
            agent("1", "0", start=1, end=9),
            chat("2", "1", input=history[:1], output=[text("assistant", "a")], start=2, end=3),
            agent("3", "0", start=11, end=19),
            chat("4", "3", input=history, output=[text("assistant", "b")], start=12, end=13),
        ]
    )
    assert "a runner around the exchanges below it" in found["0"]
    assert "reply of exchange 2" in found["3"]


def test_a_trace_without_a_conversation_says_so_once() -> None:
    found = became([span("1", end=9), span("2", "1", start=1, end=2)])
    assert [("nothing of this trace" in words) for words in found.values()] == [True, False]
