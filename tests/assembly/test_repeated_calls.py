"""The same call again: equal name and arguments, another call id."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aem_monitor.model.span import Span
from tests.assembly.building import call, span, text
from tests.assembly.recordings import assembled


def test_a_retry_in_a_trace_of_its_own_keeps_the_result_of_each_attempt() -> None:
    """Only a model client is instrumented, each of its calls is a trace; the tool fails and is called again."""
    asked = [text("user", "Mail it.")]
    attempts = [(f"c{number}", result) for number, result in enumerate(("Error: SMTP down", '{"sent": true}'))]
    spans = []
    for number, (call_id, result) in enumerate(attempts):
        spans.append(_chat(number, asked, [call("send", {"to": "eve"}, call_id)]))
        asked = [*asked, call("send", {"to": "eve"}, call_id), _result(call_id, result)]
    spans.append(_chat(2, asked, [text("assistant", "It is sent.")]))
    (conversation,) = assembled(spans)
    (exchange,) = conversation.exchanges
    assert [one.result for one in exchange.calls] == ["Error: SMTP down", {"sent": True}]
    assert [one.error for one in exchange.calls] == ["Error: SMTP down", None]


def _result(call_id: str, response: str) -> dict[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": response}]}


def _chat(number: int, asked: Sequence[Mapping[str, Any]], answered: Sequence[Mapping[str, Any]]) -> Span:
    return span(
        f"{number}",
        trace=f"{number}" * 32,
        start=number * 2,
        attributes={
            "gen_ai.operation.name": "chat",
            "session.id": "s",
            "gen_ai.input.messages": json.dumps(asked),
            "gen_ai.output.messages": json.dumps(answered),
        },
    )
