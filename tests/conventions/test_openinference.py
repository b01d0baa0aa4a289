"""OpenInference: values that are neither chat messages nor text."""

import json
from typing import Any

import pytest

from aem_monitor.conventions.messages import Messages
from aem_monitor.conventions.parts import CallPart, TextPart
from aem_monitor.conventions.reading import SpanReading
from aem_monitor.conventions.registry import registry
from tests.assembly.building import span


def read(kind: str, *, name: str = "x", parent: str | None = "p", **values: Any) -> SpanReading:
    attributes = {"openinference.span.kind": kind, **{f"{key}.value": value for key, value in values.items()}}
    reading = registry().read(span("1", parent, name=name, attributes=attributes))
    assert reading is not None
    return reading


def said(messages: Messages) -> list[str | None]:
    return [message.text.text for message in messages.items if message.text]


@pytest.mark.parametrize("text", ["[1, 2]", "[[1, 2], [3]]", '["Köln", "Bonn"]', "[true, null]"])
def test_a_list_of_no_messages_is_the_text_that_was_said(text: str) -> None:
    reading = read("AGENT", input=text, output=text)
    assert said(reading.input) == [text]
    assert said(reading.output) == [text]


def test_reprs_in_a_list_are_not_said() -> None:
    assert not read("AGENT", output="[\"content='hi' id='1'\", \"HumanMessage(content='hi')\"]").output


def test_values_that_are_no_text_count() -> None:
    for value in (42, 2.5, True):
        tool = read("TOOL", output=value).tool
        assert tool is not None
        assert tool.result == value
    assert said(read("AGENT", output=42).output) == ["42"]


RESPONSE: dict[str, Any] = {
    "id": "r",
    "output": [
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "name": "look", "call_id": "c1", "arguments": '{"a": 1}'},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two."}]},
    ],
}
COMPLETION: dict[str, Any] = {"choices": [{"message": {"role": "assistant", "content": "Two."}}]}
GENERATIONS: dict[str, Any] = {"generations": [[{"text": "Two.", "message": {"role": "assistant", "content": "Two."}}]]}


@pytest.mark.parametrize("answer", [RESPONSE, COMPLETION, GENERATIONS])
def test_a_model_may_answer_in_its_providers_object(answer: dict[str, Any]) -> None:
    for value in (answer, [answer]):
        assert said(read("LLM", output=json.dumps(value)).output) == ["Two."]


def test_a_providers_object_holds_calls_and_may_be_cut() -> None:
    text = json.dumps([RESPONSE])
    (call,) = [call for message in read("LLM", output=text).output.items for call in message.calls]
    assert call == CallPart("look", "c1", {"a": 1})
    cut = read("LLM", output=text[: text.index("Two.") + 2]).output
    assert cut.truncated
    assert cut.items[-1].text == TextPart("Tw", truncated=True)
    assert not any(message.calls for message in read("LLM", output=text[: text.index("look") + 2]).output.items)
