"""OpenLLMetry / Traceloop: old and new message forms, decorators, frameworks."""

import json
from dataclasses import replace

import pytest

from aem_monitor.conventions.messages import Role
from aem_monitor.conventions.parts import CallPart, TextPart
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.conventions.registry import registry
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import AttributeValue
from tests.assembly.building import span
from tests.assembly.recordings import assembled

OPENAI = "opentelemetry.instrumentation.openai.v1"
AGENT: dict[str, AttributeValue] = {"traceloop.span.kind": "agent", "traceloop.entity.name": "shop"}
TOOL: dict[str, AttributeValue] = {"traceloop.span.kind": "tool", "traceloop.entity.name": "look"}
TASK: dict[str, AttributeValue] = {"traceloop.span.kind": "task", "traceloop.entity.name": "BaseWorkflowAgent.task"}


def read(attributes: dict[str, AttributeValue], scope: str = "traceloop.tracer", dropped: int = 0) -> SpanReading:
    reading = registry().read(replace(span("1", scope=scope, attributes=attributes), dropped=dropped))
    assert reading is not None
    assert reading.convention == "traceloop"
    return reading


def chat(**attributes: AttributeValue) -> dict[str, AttributeValue]:
    return {"llm.request.type": "chat", **{key.replace("__", "."): value for key, value in attributes.items()}}


def test_flattened_messages_of_a_model_call() -> None:
    reading = read(
        {
            "llm.request.type": "chat",
            "gen_ai.prompt.10.role": "user",
            "gen_ai.prompt.10.content": "and now?",
            "gen_ai.prompt.2.role": "tool",
            "gen_ai.prompt.2.content": '{"a": 1}',
            "gen_ai.prompt.2.tool_call_id": "c0",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.finish_reason": "tool_calls",
            "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "look",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"b": 2}',
        },
        OPENAI,
    )
    assert reading.kind is SpanKind.MODEL
    assert [message.role for message in reading.input.items] == [Role.TOOL, Role.USER]
    assert reading.output.items[0].calls == (CallPart("look", "c1", {"b": 2}),)
    assert reading.finish_reasons == ("tool_calls",)


def test_the_empty_text_that_langchain_writes_beside_calls_is_no_text() -> None:
    reading = read(
        chat(
            gen_ai__completion__0__content='""',
            gen_ai__completion__0__role="unknown",
            gen_ai__completion__0__tool_calls__0__name="look",
        )
    )
    assert reading.output.items[0].text is None
    assert reading.output.items[0].role is Role.ASSISTANT


def test_content_blocks_as_json_text() -> None:
    reading = read(chat(gen_ai__prompt__0__role="user", gen_ai__prompt__0__content='[{"type": "text", "text": "hi"}]'))
    assert reading.input.items[0].text == TextPart("hi")


def test_a_user_who_pastes_json_is_quoted_whole() -> None:
    reading = read(chat(gen_ai__prompt__0__role="user", gen_ai__prompt__0__content='{"order": 5}'))
    assert reading.input.items[0].text == TextPart('{"order": 5}')


def test_dropped_attributes_cut_the_end_of_a_history_or_only_its_beginning() -> None:
    first = chat(gen_ai__prompt__0__role="user", gen_ai__prompt__0__content="hi")
    later = chat(gen_ai__prompt__4__role="user", gen_ai__prompt__4__content="hi")
    assert read(first, dropped=3).input.truncated
    assert not read(first).input.truncated
    assert not read(later, dropped=3).input.truncated


def test_association_properties_do_not_make_a_span_traceloops() -> None:
    marked: dict[str, AttributeValue] = {"traceloop.association.properties.session_id": "s"}
    assert registry().read(span("1", scope="opentelemetry.instrumentation.requests", attributes=marked)) is None
    other = registry().read(
        span("1", scope="mlflow.tracing.provider", attributes={**marked, "mlflow.spanType": '"TOOL"'})
    )
    assert other is not None
    assert other.convention == "mlflow"


@pytest.mark.parametrize("operation", ["chat", "text_completion"])
def test_a_task_that_calls_a_model_is_a_model_call(operation: str) -> None:
    assert read({**TASK, "gen_ai.operation.name": operation}).kind is SpanKind.MODEL


def test_a_decorated_agent_has_its_users_text_and_reply() -> None:
    reading = read(
        {**AGENT, "traceloop.entity.input": '{"args": ["hi"], "kwargs": {}}', "traceloop.entity.output": '"ho"'}
    )
    assert (reading.kind, reading.agent_name) == (SpanKind.AGENT, "shop")
    assert reading.input.items[0].text == TextPart("hi")
    assert reading.output.items[0].text == TextPart("ho")


def test_a_decorated_tool_returns_json_in_json() -> None:
    output = json.dumps(json.dumps({"b": 2}))
    tool = read(
        {**TOOL, "traceloop.entity.input": '{"args": [], "kwargs": {"a": 1}}', "traceloop.entity.output": output}
    ).tool
    assert tool is not None
    assert (tool.name, tool.arguments, tool.result) == ("look", {"a": 1}, {"b": 2})


def test_a_tool_without_contents_has_neither_arguments_nor_result() -> None:
    tool = read(TOOL).tool
    assert tool is not None
    assert (tool.arguments, tool.result) == (None, NOT_CAPTURED)


def test_a_langchain_tool_has_its_arguments_id_and_message_in_the_callbacks_objects() -> None:
    given = {"input_str": "{'a': 1}", "inputs": {"a": 1}, "tags": [], "kwargs": {"tool_call_id": "c1"}}
    message = {"lc": 1, "kwargs": {"type": "tool", "content": "no such order", "tool_call_id": "c1", "status": "error"}}
    tool = read(
        {
            **TOOL,
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look",
            "gen_ai.tool.call.arguments": json.dumps(given),
            "gen_ai.tool.call.result": json.dumps({"output": message, "kwargs": {}}),
        }
    ).tool
    assert tool is not None
    assert (tool.call_id, tool.arguments, tool.result, tool.failed) == ("c1", {"a": 1}, "no such order", True)


def test_langgraphs_tools_node_is_evidence_for_calls_and_results() -> None:
    asked = {"inputs": [{"type": "tool_call", "name": "look", "args": {"a": 1}, "id": "c1"}], "tags": []}
    message = {"lc": 1, "kwargs": {"type": "tool", "content": "5", "tool_call_id": "c1"}}
    reading = read(
        {
            **TASK,
            "traceloop.entity.input": json.dumps(asked),
            "traceloop.entity.output": json.dumps({"outputs": {"messages": [message]}, "kwargs": {}}),
        }
    )
    assert reading.kind is SpanKind.STEP
    assert reading.evidence.items[0].calls == (CallPart("look", "c1", {"a": 1}),)
    assert [part.result for message in reading.evidence.items for part in message.results] == ["5"]


def test_a_crew_answers_and_its_task_is_what_the_user_wants() -> None:
    scope = "opentelemetry.instrumentation.crewai.instrumentation"
    crew: dict[str, AttributeValue] = {"crewai.crew.result": "It is on its way.", "gen_ai.system": "crewai"}
    task: dict[str, AttributeValue] = {
        **TASK,
        "crewai.task.description": "Where is it?",
        "traceloop.entity.output": "x",
    }
    (conversation,) = assembled(
        [
            span("1", scope=scope, start=0, end=5, attributes=crew),
            span("2", "1", scope=scope, start=1, end=4, attributes=task),
            span("3", "2", scope=scope, start=2, end=3, attributes={**AGENT, "traceloop.entity.name": "clerk"}),
        ]
    )
    (exchange,) = conversation.exchanges
    assert exchange.user.text == "Where is it?"
    assert exchange.response is not None
    assert exchange.response.text == "It is on its way."


def test_a_crew_that_lists_its_tasks_names_the_first() -> None:
    tasks = json.dumps([{"description": "Where is it?"}, {"description": "Write a mail."}])
    reading = read({"crewai.crew.tasks": tasks}, "opentelemetry.instrumentation.crewai")
    assert reading.kind is SpanKind.RUN
    assert reading.input.items[0].text == TextPart("Where is it?")


def _blocks(role: str, words: str) -> dict[str, object]:
    return {"role": role, "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": words}]}


def test_llamaindex_steps_say_what_user_and_agent_said() -> None:
    given = {"input": [_blocks("system", "Help."), _blocks("user", "Where is it?")], "current_agent_name": "shop"}
    result = {"result": {"response": _blocks("assistant", "Here."), "tool_calls": [], "current_agent_name": "shop"}}
    output = {"tool_name": "look", "raw_input": {"kwargs": {"a": 1}}, "raw_output": '{"b": 2}', "is_error": False}
    called = {"tool_name": "look", "tool_kwargs": {"a": 1}, "tool_id": "c1", "tool_output": output}
    run: dict[str, AttributeValue] = {
        "traceloop.span.kind": "workflow",
        "traceloop.entity.name": "FunctionAgent.workflow",
    }
    tool: dict[str, AttributeValue] = {"tool.name": "look", "tool.arguments": '{"a": 1}'}
    (conversation,) = assembled(
        [
            span("1", start=0, end=9, attributes=run),
            span("2", "1", start=1, end=2, attributes={**TASK, "traceloop.entity.output": json.dumps(given)}),
            span("3", "1", start=3, end=5, attributes={**TASK, **tool, "traceloop.entity.output": json.dumps(called)}),
            span("4", "3", start=4, end=5, attributes={**TASK, "traceloop.entity.output": json.dumps(output)}),
            span("5", "1", start=6, end=7, attributes={**TASK, "traceloop.entity.output": json.dumps(result)}),
        ]
    )
    (exchange,) = conversation.exchanges
    (call,) = exchange.calls
    assert exchange.user.text == "Where is it?"
    assert (call.name, call.arguments, call.result, call.call_id) == ("look", {"a": 1}, {"b": 2}, "c1")
    assert exchange.response is not None
    assert exchange.response.text == "Here."


HOSTILE = [
    "",
    "{",
    "[]",
    "null",
    "[[[[",
    '"',
    '{"args": 5, "kwargs": []}',
    "\x00",
    '{"result": {"current_agent_name": 1}}',
]


@pytest.mark.parametrize("value", [*HOSTILE, 5, b"\xff", ["a"], {"output": {"tool_name": 5}}, None])
@pytest.mark.parametrize("kind", ["workflow", "agent", "task", "tool", "handoff", "new", 5])
def test_no_content_breaks_it(kind: AttributeValue, value: AttributeValue) -> None:
    names = ("traceloop.entity.input", "traceloop.entity.output", "tool.arguments", "gen_ai.tool.call.result")
    more = ("gen_ai.prompt.0.content", "gen_ai.completion.0", "gen_ai.completion.tool_calls", "crewai.crew.tasks")
    read({"traceloop.span.kind": kind, **dict.fromkeys((*names, *more), value)})


@pytest.mark.parametrize(
    ("cut", "result"),
    [
        ('{"tool_name": "look", "tool_kwargs": {"a": 1}, "tool_i', NOT_CAPTURED),
        ('{"blocks": [{"block_type": "text", "text": "shipp', "shipp"),
        ('{"blocks": [{"block_type": "text", "text": "shipped"}], "tool_name": "look", "raw_inp', "shipped"),
    ],
)
def test_llamaindex_outputs_that_were_cut_show_no_wrapping(cut: str, result: object) -> None:
    tool = read({**TASK, "tool.name": "look", "traceloop.entity.output": cut}).tool
    assert tool is not None
    assert (tool.result, tool.result_truncated) == (result, True)
