"""LangSmith, Langfuse and MLflow."""

import json

import pytest

from aem_monitor.conventions.parts import CallPart, TextPart
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.conventions.registry import registry
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import AttributeValue
from tests.assembly.building import span
from tests.assembly.recordings import assembled

USER = {"role": "user", "content": "hi"}
ASKS = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": '{"a": 1}'}}]}


def read(attributes: dict[str, AttributeValue], name: str = "turn", parent: str | None = None) -> SpanReading:
    reading = registry().read(span("1", parent, name=name, attributes=attributes))
    assert reading is not None
    return reading


def langfuse(kind: str, **more: AttributeValue) -> dict[str, AttributeValue]:
    return {"langfuse.observation.type": kind, **{f"langfuse.{k.replace('__', '.')}": v for k, v in more.items()}}


def test_langfuse_texts_are_plain() -> None:
    reading = read(langfuse("agent", observation__input="hi", observation__output="ho"))
    assert (reading.convention, reading.kind, reading.agent_name) == ("langfuse", SpanKind.AGENT, "turn")
    assert (reading.input.items[0].text, reading.output.items[0].text) == (TextPart("hi"), TextPart("ho"))


def test_a_generation_has_messages_and_asks_for_calls() -> None:
    given, answered = json.dumps({"tools": [], "messages": [USER]}), json.dumps(ASKS)
    reading = read(langfuse("generation", observation__input=given, observation__output=answered))
    assert reading.kind is SpanKind.MODEL
    assert reading.output.items[0].calls == (CallPart("look", "c1", {"a": 1}),)


@pytest.mark.parametrize("mark", ["internal.is_app_root", "internal.as_root", "observation.metadata.is_langchain_root"])
def test_a_chain_is_the_turns_runner_at_the_root_or_by_its_mark(mark: str) -> None:
    assert read(langfuse("chain")).kind is SpanKind.RUN
    assert read(langfuse("chain"), parent="9").kind is SpanKind.STEP
    assert read({**langfuse("chain"), f"langfuse.{mark}": True}, parent="9").kind is SpanKind.RUN


def test_a_node_of_a_graph_is_a_step_even_when_it_is_called_agent() -> None:
    node = langfuse("agent", observation__metadata__langgraph_node='"agent"')
    assert read(node, "agent", parent="9").kind is SpanKind.STEP


def test_an_observations_level_tells_of_a_failure() -> None:
    reading = read(langfuse("tool", observation__level="ERROR", observation__status_message="SMTP down"), "send")
    assert reading.error == "SMTP down"
    assert read(langfuse("tool", observation__level="WARNING"), "send").error is None


def test_the_thread_of_a_graph_is_in_the_metadata_as_json_text() -> None:
    (conversation,) = assembled([span("1", attributes=langfuse("agent", trace__metadata__thread_id='"t-1"'))])
    assert conversation.conversation_id == "t-1"


def test_texts_of_the_whole_trace_stand_in_for_those_of_its_root() -> None:
    reading = read(langfuse("span", trace__input="hi", trace__output="ho"))
    assert (reading.input.items[0].text, reading.output.items[0].text) == (TextPart("hi"), TextPart("ho"))


def langsmith(kind: str, **more: AttributeValue) -> dict[str, AttributeValue]:
    return {"langsmith.span.kind": kind, **{key.replace("__", "."): value for key, value in more.items()}}


def test_langsmith_prompts_and_parsers_take_no_part_in_a_turn() -> None:
    for kind in ("prompt", "parser", "retriever"):
        assert read(langsmith(kind, gen_ai__operation__name="chat")).kind is SpanKind.OTHER


def test_a_langsmith_graph_below_a_web_request_is_the_runner() -> None:
    graph = langsmith("chain", langsmith__metadata__ls_integration="langgraph")
    assert read(graph, parent="9").kind is SpanKind.RUN
    node = {**graph, "langsmith.metadata.langgraph_node": "model"}
    assert read(node, parent="9").kind is SpanKind.STEP


def test_a_langsmith_tool_is_freed_from_its_wrapping() -> None:
    message = {"content": '{"b": 2}', "type": "tool", "tool_call_id": "c1", "status": "success"}
    tool = read(
        langsmith(
            "tool",
            gen_ai__tool__name="look",
            gen_ai__prompt='{"input": "{\'a\': 1}"}',
            gen_ai__completion=json.dumps({"output": message}),
        )
    ).tool
    assert tool is not None
    assert (tool.arguments, tool.result, tool.call_id, tool.failed) == ({"a": 1}, {"b": 2}, "c1", False)


def test_the_project_is_no_conversation() -> None:
    run = langsmith("chain", langsmith__trace__session_name="canary", gen_ai__prompt='{"messages": []}')
    (conversation,) = assembled([span("1", attributes=run)])
    assert conversation.conversation_id is None


def mlflow(kind: str, given: object, returned: object) -> dict[str, AttributeValue]:
    return {
        "mlflow.spanType": json.dumps(kind),
        "mlflow.spanInputs": json.dumps(given),
        "mlflow.spanOutputs": json.dumps(returned),
    }


def test_every_value_of_mlflow_is_json_text() -> None:
    reading = read(mlflow("AGENT", {"message": "hi"}, "ho"))
    assert (reading.convention, reading.kind) == ("mlflow", SpanKind.AGENT)
    assert (reading.input.items[0].text, reading.output.items[0].text) == (TextPart("hi"), TextPart("ho"))


def test_mlflow_completions_and_tools() -> None:
    completion = {"choices": [{"message": ASKS, "finish_reason": "tool_calls"}]}
    reading = read(mlflow("CHAT_MODEL", {"messages": [USER]}, completion))
    assert reading.output.items[0].calls == (CallPart("look", "c1", {"a": 1}),)
    assert reading.finish_reasons == ("tool_calls",)
    tool = read(mlflow("TOOL", {"a": 1}, '{"b": 2}'), "look").tool
    assert tool is not None
    assert (tool.name, tool.arguments, tool.result) == ("look", {"a": 1}, {"b": 2})


def test_a_session_in_quotes_is_the_one_without() -> None:
    turn = mlflow("AGENT", {"message": "hi"}, "ho")
    (conversation,) = assembled([span("1", attributes={**turn, "session.id": '"s-1"'})])
    assert conversation.conversation_id == "s-1"


def test_content_that_was_not_captured_is_unknown() -> None:
    tool = read({"mlflow.spanType": '"TOOL"'}, "look").tool
    assert tool is not None
    assert (tool.arguments, tool.result) == (None, NOT_CAPTURED)
    assert not read({"mlflow.spanType": '"AGENT"'}).input


@pytest.mark.parametrize(
    "value", ["", "{", "[[", "null", '"', '{"args": 5, "kwargs": []}', 5, b"\xff", ["a"], {}, None]
)
@pytest.mark.parametrize("kind", ["agent", "generation", "llm", "tool", "chain", "x", ""])
def test_no_content_breaks_them(kind: str, value: AttributeValue) -> None:
    read({**langfuse(kind), "langfuse.observation.input": value, "langfuse.observation.output": value})
    read({**langsmith(kind), "gen_ai.prompt": value, "gen_ai.completion": value, "gen_ai.tool.name": value})
    read({"mlflow.spanType": kind, "mlflow.spanInputs": value, "mlflow.spanOutputs": value, "metadata": value})
