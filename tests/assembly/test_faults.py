"""Lost, late, skewed, cut and hostile spans: never an exception, never a guess."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from aem_monitor.assembly.render import conversation_object
from aem_monitor.model.conversation import Exchange
from aem_monitor.model.jsonvalue import AttributeValue
from aem_monitor.model.span import LogRecord, Resource, Scope, Span, SpanEvent
from tests.assembly.building import T0, agent, call, chat, result, span, text, tool
from tests.assembly.recordings import TRACES, assembled, load


def exchange(spans: list[Span]) -> Exchange:
    (conversation,) = assembled(spans)
    (found,) = conversation.exchanges
    return found


def test_an_entry_parent_of_another_service_is_not_missing() -> None:
    assert exchange([agent("1", "never-seen", user="x", reply="y"), tool("2", "1", "t")]).complete


def test_a_parent_below_the_agent_that_never_came_leaves_the_exchange_incomplete() -> None:
    found = exchange([agent("1", user="x", reply="y", end=9), tool("2", "lost", "t", start=1, end=2)])
    assert found.missing_parents
    assert not found.complete
    assert [c.tool for c in found.calls] == ["t"]


def test_without_its_agent_span_a_turn_is_rebuilt_from_its_model_calls() -> None:
    history = [text("user", "x"), call("t", {"a": 1}, "c1"), result("r", "c1")]
    found = exchange(
        [
            chat("2", "lost", input=history[:1], output=[call("t", {"a": 1}, "c1")], start=1, end=2),
            tool("3", "lost", "t", call_id="c1", start=2, end=3),
            chat("4", "lost", input=history, output=[text("assistant", "y")], start=3, end=4),
        ]
    )
    assert (found.user.text, found.response.text if found.response else None) == ("x", "y")
    assert not found.root_seen
    assert [c.result for c in found.calls] == ["r"]


def test_without_agent_span_and_reply_there_is_no_response() -> None:
    found = exchange(
        [
            chat("2", "lost", input=[text("user", "x")], output=[call("t", {"a": 1}, "c1")], start=1, end=2),
            tool("3", "lost", "t", call_id="c1", start=2, end=3),
        ]
    )
    assert found.response is None
    assert not found.complete


def test_a_late_agent_span_completes_the_exchange() -> None:
    late = agent("1", user="x", reply="y", end=9)
    early = [chat("2", "1", input=[text("user", "x")], start=1, end=2), tool("3", "1", "t", start=2, end=3)]
    assert not exchange(early).root_seen
    assert exchange([*early, late]).complete


def test_of_two_copies_the_more_complete_one_wins_in_any_order() -> None:
    bare = agent("1", conversation="c-1")
    full = agent("1", user="x", reply="y")
    for spans in ([bare, full], [full, bare]):
        assert exchange(spans).user.text == "x"


def test_a_skewed_clock_of_another_service_does_not_reorder_a_trace() -> None:
    found = exchange(
        [
            agent("1", user="x", reply="y", start=100, end=110),
            chat("2", "1", input=[text("user", "x")], output=[call("one", {}, "c1")], start=101, end=102),
            tool("3", "1", "one", call_id="c1", start=40, end=41, service="far"),
            chat("4", "1", output=[call("two", {}, "c2")], start=104, end=105),
            tool("5", "1", "two", call_id="c2", start=30, end=31, service="far"),
        ]
    )
    assert [(c.tool, c.round) for c in found.calls] == [("one", 0), ("two", 1)]
    assert found.start_ns == T0 + 100 * 10**9


def test_a_span_that_ends_before_it_starts_has_no_length() -> None:
    found = exchange([agent("1", user="x", reply="y", start=5, end=2), tool("2", "1", "t", start=5, end=1)])
    assert found.end_ns >= found.start_ns
    assert found.calls[0].end_ns >= found.calls[0].start_ns


def test_circles_and_spans_that_are_their_own_parent_are_survived() -> None:
    assembled([agent("1", "1", user="x"), agent("2", "3", user="y"), agent("3", "2", user="z"), tool("4", "3", "t")])


def test_zero_ids_are_survived() -> None:
    assembled([agent("0" * 16, "0" * 16, trace="0" * 32, user="x"), tool("0" * 16, None, "t", trace="0" * 32)])


def test_a_very_deep_trace_is_read() -> None:
    spans = [
        agent("0", user="x", reply="y"),
        *(span(str(n), str(n - 1)) for n in range(1, 5000)),
        tool("t", "4999", "t"),
    ]
    assert [c.tool for c in exchange(spans).calls] == ["t"]


def test_cut_texts_are_marked() -> None:
    whole = json.dumps([text("user", "Where is my order A-1042?")])
    found = exchange(
        [
            agent(
                "1",
                more={
                    "gen_ai.input.messages": whole[:70],
                    "gen_ai.output.messages": whole.replace("user", "assistant")[:75],
                },
            )
        ]
    )
    assert (found.user.text, found.user.truncated) == ("Where is my o", True)
    assert found.response is not None
    assert (found.response.text, found.response.truncated) == ("Where is my o", True)


def test_cut_arguments_are_kept_as_far_as_they_go_and_marked() -> None:
    found = exchange(
        [
            agent("1", user="x", reply="y"),
            tool(
                "2",
                "1",
                "t",
                more={
                    "gen_ai.tool.call.arguments": '{"to": "dana", "amount": 12',
                    "gen_ai.tool.call.result": '{"a": "b',
                },
            ),
        ]
    )
    assert (found.calls[0].arguments, found.calls[0].arguments_truncated) == ({"to": "dana"}, True)
    assert (found.calls[0].result, found.calls[0].result_truncated) == ({"a": "b"}, True)


def test_whole_arguments_of_a_message_replace_cut_ones() -> None:
    found = exchange(
        [
            agent("1", user="x", reply="y", end=9),
            chat("2", "1", input=[text("user", "x")], output=[call("t", {"to": "dana", "amount": 1234}, "c1")], end=1),
            tool(
                "3", "1", "t", call_id="c1", more={"gen_ai.tool.call.arguments": '{"to": "dana", "amount": 12'}, start=1
            ),
        ]
    )
    assert (found.calls[0].arguments, found.calls[0].arguments_truncated) == ({"to": "dana", "amount": 1234}, False)


def test_a_cut_history_does_not_bring_back_an_older_message() -> None:
    """The cut input of the second turn still ends with the first turn's message."""

    def turn(number: int, user: str, reply: str, said: list[Any], cut: int | None) -> list[Span]:
        trace = str(number) * 32
        return [
            agent("1", trace=trace, reply=reply, start=number * 10, end=number * 10 + 5),
            chat(
                "2",
                "1",
                trace=trace,
                start=number * 10 + 1,
                more={"gen_ai.input.messages": json.dumps([*said, text("user", user)])[:cut]},
            ),
        ]

    (conversation,) = assembled(
        [
            *turn(1, "Where is my order?", "There.", [], None),
            *turn(2, "Refund it.", "Done.", [text("user", "Where is my order?"), text("assistant", "There.")], 80),
        ]
    )
    assert [e.user.text for e in conversation.exchanges] == ["Where is my order?", None]
    assert conversation.exchanges[1].user.truncated


ids = st.sampled_from(["1", "2", "3", "4", "", "0" * 16])
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "parts",
                    "content",
                    "type",
                    "text",
                    "tool_calls",
                    "function",
                    "arguments",
                    "name",
                    "id",
                    "response",
                    "toolUse",
                    "toolResult",
                    "message",
                    "isError",
                    "kwargs",
                    "lc",
                    "tool_call_id",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
known_texts = st.sampled_from(
    [
        "user",
        "assistant",
        "tool",
        "text",
        "tool_call",
        "tool_call_response",
        "invoke_agent",
        "chat",
        "execute_tool",
        "look",
        "error",
        "Error: x",
    ]
)
contents = (
    values
    | known_texts
    | values.map(lambda value: json.dumps(value, default=str))
    | st.builds(lambda value, cut: json.dumps(value, default=str)[:cut], values, st.integers(0, 40))
)
keys = st.sampled_from(
    [
        "gen_ai.operation.name",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.tool.name",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        "gen_ai.tool.call.id",
        "gen_ai.prompt",
        "gen_ai.completion",
        "gen_ai.conversation.id",
        "session.id",
        "content",
        "message",
        "id",
        "finish_reason",
        "gen_ai.event.content",
        "tool.result",
        "gen_ai.response.finish_reasons",
        "gen_ai.agent.name",
        "error.type",
        "event_loop.cycle_id",
        "aem.dialog.id",
        "service.name",
    ]
)
attributes: st.SearchStrategy[dict[str, AttributeValue]] = st.dictionaries(keys, contents, max_size=6)
event_names = st.sampled_from(
    [
        "gen_ai.user.message",
        "gen_ai.assistant.message",
        "gen_ai.tool.message",
        "gen_ai.choice",
        "gen_ai.client.inference.operation.details",
        "exception",
    ]
)
operations = st.sampled_from(["invoke_agent", "invoke_workflow", "chat", "execute_tool", "odd", "create_agent"])


shared_keys = st.sampled_from(
    [
        "openinference.span.kind",
        "llm.input_messages.0.message.role",
        "llm.input_messages.0.message.content",
        "llm.output_messages.1.message.tool_calls.0.tool_call.function.name",
        "input.value",
        "output.value",
        "tool.name",
        "tool.parameters",
        "crew_tasks",
        "metadata",
        "traceloop.span.kind",
        "traceloop.entity.input",
        "traceloop.entity.output",
        "gen_ai.prompt.0.content",
        "gen_ai.prompt.0.role",
        "gen_ai.completion.0.tool_calls.0.name",
        "llm.request.type",
        "tool.arguments",
        "ai.operationId",
        "ai.prompt",
        "ai.prompt.messages",
        "ai.response.text",
        "ai.response.toolCalls",
        "ai.toolCall.args",
        "ai.toolCall.result",
        "langsmith.span.kind",
        "langfuse.observation.type",
        "langfuse.observation.input",
        "langfuse.observation.output",
        "mlflow.spanType",
        "mlflow.spanInputs",
        "mlflow.spanOutputs",
        "gcp.vertex.agent.llm_request",
        "gcp.vertex.agent.llm_response",
        "gcp.vertex.agent.tool_call_args",
        "gcp.vertex.agent.tool_response",
        "pydantic_ai.all_messages",
        "final_result",
        "all_messages_events",
        "events",
        "tool_arguments",
        "tool_response",
        "agent_name",
        "mcp.method.name",
    ]
)
kinds = st.sampled_from(
    [
        "LLM",
        "AGENT",
        "TOOL",
        "CHAIN",
        "agent",
        "tool",
        "workflow",
        "task",
        "llm",
        "chain",
        "generation",
        '"TOOL"',
        '"AGENT"',
        "ai.generateText",
        "ai.toolCall",
        "tools/call",
        "chat",
    ]
)
scopes = st.sampled_from(["", "strands.telemetry.tracer", "gcp.vertex.agent", "pydantic-ai", "langsmith"])


@st.composite
def hostile_span(draw: st.DrawFn) -> Span:
    made = draw(attributes)
    made.update(draw(st.dictionaries(shared_keys, contents | kinds, max_size=5)))
    if draw(st.booleans()):
        made["gen_ai.operation.name"] = draw(operations)
    return span(
        draw(ids),
        draw(ids | st.none()),
        start=draw(st.integers(0, 5)),
        end=draw(st.integers(0, 5)),
        scope=draw(scopes),
        attributes=made,
        error=draw(st.none() | st.just("boom")),
        events=draw(st.lists(st.builds(SpanEvent, event_names, st.integers(0, 9), attributes), max_size=3)),
    )


hostile_logs = st.lists(
    st.builds(
        LogRecord,
        st.just("a" * 32),
        ids,
        st.integers(0, 5),
        event_names,
        contents,
        attributes,
        st.just(Resource()),
        st.just(Scope()),
    ),
    max_size=3,
)


@settings(max_examples=100, deadline=None)
@given(spans=st.lists(hostile_span(), min_size=1, max_size=6), logs=hostile_logs, data=st.data())
def test_no_content_raises_and_order_never_matters(
    spans: list[Span], logs: list[LogRecord], data: st.DataObject
) -> None:
    found = assembled(spans, logs)
    for conversation in found:
        json.dumps(conversation_object(conversation))
    again = assembled(data.draw(st.permutations(spans)), data.draw(st.permutations(logs)))
    assert repr(again) == repr(found)


@settings(max_examples=60, deadline=None)
@given(limit=st.integers(0, 400), name=st.sampled_from(["genai-sales", "legacy-refund", "v1.0.0-refund"]))
def test_a_recording_cut_at_any_length_keeps_its_turns(limit: int, name: str) -> None:
    """OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT cuts every text; calls and replies are still there, texts are prefixes."""
    spans, logs = load(TRACES / "strands" / f"{name}.json")
    kept = {"gen_ai.operation.name", "gen_ai.tool.name", "session.id", "gen_ai.tool.call.id", "event_loop.cycle_id"}
    (whole,) = assembled(spans, logs)
    (cut,) = assembled([_shortened(one, limit, kept) for one in spans], logs)
    assert len(cut.exchanges) == len(whole.exchanges)
    for before, after in zip(whole.exchanges, cut.exchanges, strict=True):
        assert [c.name for c in after.calls] == [c.name for c in before.calls]
        assert after.user.text is None or (before.user.text or "").startswith(after.user.text)
        if before.response is not None and after.response is not None and after.response.text is not None:
            assert (before.response.text or "").startswith(after.response.text.strip())


def _shortened(one: Span, limit: int, kept: set[str]) -> Span:
    def cut(value: AttributeValue, key: str) -> AttributeValue:
        return value[:limit] if isinstance(value, str) and key not in kept else value

    return Span(
        one.trace_id, one.span_id, one.parent_span_id, one.name, one.kind, one.start_ns, one.end_ns,
        {key: cut(value, key) for key, value in one.attributes.items()},
        tuple(SpanEvent(e.name, e.time_ns, {k: cut(v, k) for k, v in e.attributes.items()}) for e in one.events),
        one.status_code, one.status_message, one.resource, one.scope,
    )  # fmt: skip
