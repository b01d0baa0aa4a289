"""OpenInference: values that are neither chat messages nor text."""

import json
from typing import Any

import pytest

from aem_monitor.conventions.messages import Messages
from aem_monitor.conventions.parts import CallPart, TextPart
from aem_monitor.conventions.reading import SpanReading
from aem_monitor.conventions.registry import registry
from aem_monitor.model.span import Span
from tests.assembly.building import span
from tests.assembly.recordings import assembled


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


LLAMA = "openinference.instrumentation.llama_index"


def llama(name: str, given: dict[str, Any], span_id: str = "1", parent: str | None = "p", start: float = 0) -> Span:
    attributes: dict[str, Any] = {"openinference.span.kind": "CHAIN", "input.value": json.dumps(given)}
    return span(span_id, parent, name=name, scope=LLAMA, attributes=attributes, start=start, end=start + 1)


def chat(role: str, text: str) -> str:
    return (
        f"ChatMessage(role=<MessageRole.{role.upper()}: {role!r}>, additional_kwargs={{}}, "
        f"blocks=[TextBlock(block_type='text', text={text!r})])"
    )


def agent_input(*messages: str) -> dict[str, Any]:
    return {"ctx": "<Context>", "ev": f"AgentInput(input=[{', '.join(messages)}], current_agent_name='Agent')"}


def agent_output(message: str) -> dict[str, Any]:
    return {"ctx": "<Context>", "ev": f"AgentOutput(response={message}, current_agent_name='Agent', raw={{}})"}


TRICKY = "it's \"so\"\n\\ ChatMessage(role=<MessageRole.USER: 'user'>) TextBlock(block_type='text', text='no')"


def test_a_llamaindex_workflow_is_one_turn() -> None:
    (conversation,) = assembled(
        [
            llama("FunctionAgent.run", {"init_state": {}, "start_event": "AgentWorkflowStartEvent()"}, "1", None),
            llama("BaseWorkflowAgent.setup_agent", agent_input(chat("user", TRICKY)), "2", "1", 0.1),
            llama("BaseWorkflowAgent.parse_agent_output", agent_output(chat("assistant", "")), "3", "1", 0.2),
            llama("BaseWorkflowAgent.setup_agent", agent_input(chat("user", TRICKY)), "4", "1", 0.3),
            llama("BaseWorkflowAgent.parse_agent_output", agent_output(chat("assistant", "done")), "5", "1", 0.4),
        ]
    )
    (exchange,) = conversation.exchanges
    assert exchange.user.text == TRICKY
    assert exchange.response is not None
    assert exchange.response.text == "done"


@pytest.mark.parametrize(
    "event", ["AgentInput(input=[" + "\\'" * 50_000, "AgentInput(" + "'\\" * 50_000, "AgentInput("]
)
def test_a_hostile_repr_is_read_in_time_and_says_nothing(event: str) -> None:
    reading = registry().read(llama("X.setup_agent", {"ev": event}))
    assert reading is not None
    assert not reading.input


@pytest.mark.parametrize(
    ("raw", "expected"),
    [(42, 42), ('{"a": 1}', {"a": 1}), (None, "42"), ([{"text": "x", "id": 1}], [{"text": "x", "id": 1}])],
)
def test_a_llamaindex_result_is_free_of_its_wrapping(raw: Any, expected: Any) -> None:
    wrapped = {"blocks": [{"text": "42"}], "tool_name": "t", "raw_input": {}, "raw_output": raw, "is_error": False}
    tool = read("TOOL", output=json.dumps(wrapped)).tool
    assert tool is not None
    assert (tool.result, tool.failed) == (expected, False)
    tool = read("TOOL", output=json.dumps({**wrapped, "is_error": True})).tool
    assert tool is not None
    assert tool.failed


def test_what_a_smolagents_run_streamed_is_not_its_reply() -> None:
    streamed = (
        "ToolCall(name='look', arguments={}, id='c')ToolOutput(id='c', output='r')FinalAnswerStep(output='Done.')"
    )
    for attributes, expected in (({"smolagents.max_steps": 20}, []), ({}, [streamed])):
        given: dict[str, Any] = {"openinference.span.kind": "AGENT", "output.value": streamed, **attributes}
        reading = registry().read(span("1", attributes=given))
        assert reading is not None
        assert said(reading.output) == expected


def test_arguments_that_flattening_lost_are_in_the_models_own_output() -> None:
    calls: list[Any] = [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": {}}},
        {"id": "c2", "type": "function", "function": {"name": "ask", "arguments": {"a": 1}}},
    ]
    written = json.dumps({"role": "assistant", "content": "", "tool_calls": calls})
    generations = json.dumps({"generations": [[{"text": "", "message": json.loads(written)}]]})
    flat = "llm.output_messages.0.message"
    attributes: dict[str, Any] = {"openinference.span.kind": "LLM", f"{flat}.role": "assistant"}
    for at, name in enumerate(("look", "ask")):
        attributes[f"{flat}.tool_calls.{at}.tool_call.id"] = f"c{at + 1}"
        attributes[f"{flat}.tool_calls.{at}.tool_call.function.name"] = name
    for output, expected in ((written, [{}, {"a": 1}]), (generations, [{}, {"a": 1}]), (written[:-5], [None, None])):
        reading = registry().read(span("1", attributes={**attributes, "output.value": output}))
        assert reading is not None
        assert [call.arguments for message in reading.output.items for call in message.calls] == expected
