"""What is a turn, what is a repetition, what is nested: one statement a test."""

import json

import pytest

from aem_monitor.model.conversation import NOT_CAPTURED, Conversation, Exchange
from aem_monitor.model.span import Span
from tests.assembly.building import agent, call, call_part, chat, result, span, text, tool
from tests.assembly.recordings import assembled


def only(spans: list[Span]) -> Conversation:
    (conversation,) = assembled(spans)
    return conversation


def exchange(spans: list[Span]) -> Exchange:
    (found,) = only(spans).exchanges
    return found


def texts(conversation: Conversation) -> list[tuple[str | None, str | None]]:
    return [(one.user.text, one.response.text if one.response else None) for one in conversation.exchanges]


def test_several_agent_spans_under_one_plain_parent_are_several_turns() -> None:
    conversation = only(
        [
            span("0", end=10),
            agent("1", "0", user="hi", reply="hello", start=1, end=2),
            agent("2", "0", user="bye", reply="so long", start=3, end=4),
        ]
    )
    assert texts(conversation) == [("hi", "hello"), ("bye", "so long")]


def test_nested_invocations_of_one_agent_are_one_turn() -> None:
    conversation = only(
        [
            agent("1", user="hi", reply="hello", end=5),
            agent("2", "1", user="hi", reply="hello", start=1, end=4),
            agent("3", "2", user="hi", reply="hello", start=2, end=3),
            tool("4", "3", "look", arguments={"a": 1}, start=2, end=2.5),
        ]
    )
    assert texts(conversation) == [("hi", "hello")]
    assert [c.nested for c in conversation.exchanges[0].calls] == [False]


@pytest.mark.parametrize("operation", ["handle_conversation_turn", "invoke_workflow"])
def test_a_runner_around_an_agent_is_the_turn_and_the_agent_fills_its_texts(operation: str) -> None:
    conversation = only(
        [
            agent("1", operation=operation, end=5),
            agent("2", "1", user="hi", reply="hello", start=1, end=4),
        ]
    )
    assert texts(conversation) == [("hi", "hello")]
    assert conversation.exchanges[0].response is not None
    assert conversation.exchanges[0].response.span_id == "1"


def test_a_runner_around_a_whole_session_holds_several_turns() -> None:
    conversation = only(
        [
            agent("0", operation="invoke_workflow", end=10),
            agent("1", "0", user="hi", reply="hello", start=1, end=2),
            agent("2", "0", user="bye", reply="so long", start=3, end=4),
        ]
    )
    assert texts(conversation) == [("hi", "hello"), ("bye", "so long")]


def test_what_runs_inside_a_tool_call_is_nested() -> None:
    found = exchange(
        [
            agent("1", user="hi", reply="done", end=9),
            tool("2", "1", "ask_expert", arguments={"q": "why"}, result="because", start=1, end=8),
            agent("3", "2", user="why", reply="because", agent_name="expert", start=2, end=7),
            chat("4", "3", input=[text("user", "why")], output=[call("search", {"q": "x"}, "c9")], start=3, end=4),
            tool("5", "3", "search", arguments={"q": "x"}, result="y", call_id="c9", start=5, end=6),
        ]
    )
    assert [(c.tool, c.nested, c.agent_name) for c in found.calls] == [
        ("ask_expert", False, "shop"),
        ("search", True, "expert"),
    ]
    assert (found.user.text, found.response.text if found.response else None) == ("hi", "done")
    assert [c.tool for c in found.tool_turns] == ["ask_expert"]


def test_agents_that_hand_over_are_one_turn_and_the_last_one_answers() -> None:
    conversation = only(
        [
            span("0", end=10),
            agent("1", "0", user="book it", agent_name="triage", start=1, end=3),
            chat(
                "2",
                "1",
                input=[text("user", "book it")],
                output=[call("transfer_to_flights", {}, "c1")],
                start=1,
                end=2,
            ),
            agent("3", "0", user="book it", reply="booked", agent_name="flights", start=4, end=6),
            tool("4", "3", "book", arguments={"f": 1}, start=5, end=5.5),
        ]
    )
    assert texts(conversation) == [("book it", "booked")]
    assert [(c.tool, c.handoff) for c in conversation.exchanges[0].calls] == [
        ("transfer_to_flights", True),
        ("book", False),
    ]


def test_a_transfer_to_no_agent_of_the_trace_is_an_ordinary_tool() -> None:
    found = exchange(
        [
            agent("1", user="help", reply="ok"),
            tool("2", "1", "transfer_to_human_agents", arguments={"summary": "x"}),
        ]
    )
    assert [c.handoff for c in found.calls] == [False]


def test_the_same_tool_twice_nested_is_one_call() -> None:
    found = exchange(
        [
            agent("1", user="x", reply="y", end=9),
            tool("2", "1", "shop.mail", result="sent", start=1, end=8),
            tool("3", "2", "mail", arguments={"to": "d"}, start=2, end=7),
            span("4", "3", start=3, end=6),
            tool("5", "4", "mail", more={"mcp.method.name": "tools/call"}, service="mcp", start=4, end=5),
        ]
    )
    assert [(c.tool, c.action, c.arguments, c.result, c.span_id) for c in found.calls] == [
        ("shop", "mail", {"to": "d"}, "sent", "2")
    ]


def test_a_call_that_only_the_model_names_has_no_span() -> None:
    found = exchange(
        [
            agent("1", user="x", reply="y", end=9),
            chat("2", "1", input=[text("user", "x")], output=[call("look", {"a": 1}, "c1")], start=1, end=2),
            chat(
                "3",
                "1",
                input=[text("user", "x"), call("look", {"a": 1}, "c1"), result('{"b": 2}', "c1")],
                output=[text("assistant", "y")],
                start=3,
                end=4,
            ),
        ]
    )
    (only_call,) = found.calls
    assert only_call.span_id is None
    assert (only_call.arguments, only_call.result, only_call.model) == ({"a": 1}, {"b": 2}, "m-1")


def test_a_tool_span_without_contents_is_filled_from_the_messages() -> None:
    found = exchange(
        [
            agent("1", user="x", reply="y", end=9),
            chat("2", "1", input=[text("user", "x")], output=[call("look", {"a": 1}, "c1")], start=1, end=2),
            tool("3", "1", "look", call_id="c1", start=2, end=3),
            chat(
                "4",
                "1",
                input=[text("user", "x"), call("look", {"a": 1}, "c1"), result("Error: no such order", "c1")],
                output=[text("assistant", "y")],
                start=3,
                end=4,
            ),
        ]
    )
    (only_call,) = found.calls
    assert (only_call.arguments, only_call.result) == ({"a": 1}, "Error: no such order")
    assert only_call.error == "Error: no such order"
    assert only_call.span_id == "3"


def test_calls_without_ids_are_paired_by_name_and_arguments_never_by_place() -> None:
    asked = {"role": "assistant", "parts": [call_part("look", {"a": 1}, "c1"), call_part("look", {"a": 2}, "c2")]}
    found = exchange(
        [
            agent("1", user="x", reply="y", end=9),
            chat("2", "1", input=[text("user", "x")], output=[asked], start=1, end=2),
            tool("3", "1", "look", arguments={"a": 2}, start=2, end=3),
            tool("4", "1", "look", arguments={"a": 1}, start=2.5, end=3),
            chat(
                "5",
                "1",
                input=[text("user", "x"), asked, result("one", "c1"), result("two", "c2")],
                output=[text("assistant", "y")],
                start=4,
                end=5,
            ),
        ]
    )
    assert [(c.arguments, c.result, c.call_id) for c in found.calls] == [
        ({"a": 2}, "two", "c2"),
        ({"a": 1}, "one", "c1"),
    ]


def test_another_id_in_the_history_is_the_same_call() -> None:
    found = exchange(
        [
            agent("1", user="x", reply="y", end=9),
            chat("2", "1", input=[text("user", "x")], output=[call("look", {"a": 1}, "call_1")], start=1, end=2),
            tool("3", "1", "look", arguments={"a": 1}, call_id="call_1", start=2, end=3),
            chat(
                "4",
                "1",
                input=[text("user", "x"), call("look", {"a": 1}, "fc_1"), result("r", "fc_1")],
                output=[text("assistant", "y")],
                start=3,
                end=4,
            ),
        ]
    )
    assert [(c.call_id, c.result) for c in found.calls] == [("call_1", "r")]


def test_equal_calls_with_different_ids_are_two_calls() -> None:
    found = exchange(
        [
            agent("1", user="x", reply="y", end=9),
            chat("2", "1", input=[text("user", "x")], output=[call("mail", {"to": "d"}, "c1")], start=1, end=2),
            tool("3", "1", "mail", arguments={"to": "d"}, start=2, end=3, error="timeout"),
            chat(
                "4",
                "1",
                input=[text("user", "x"), call("mail", {"to": "d"}, "c1"), result("Error: timeout", "c1")],
                output=[call("mail", {"to": "d"}, "c2")],
                start=4,
                end=5,
            ),
            tool("5", "1", "mail", arguments={"to": "d"}, result="sent", start=6, end=7),
        ]
    )
    assert [(c.call_id, c.round, c.error) for c in found.calls] == [("c1", 0, "timeout"), ("c2", 1, None)]


def test_text_beside_a_call_is_no_response() -> None:
    beside = {"role": "assistant", "parts": [{"type": "text", "content": "Let me look."}, call_part("look", {}, "c1")]}
    found = exchange(
        [
            agent("1", end=9),
            chat("2", "1", input=[text("user", "x")], output=[beside], start=1, end=2),
            tool("3", "1", "look", call_id="c1", start=2, end=3),
        ]
    )
    assert found.response is not None
    assert found.response.text is None


def test_the_history_is_not_new_turns() -> None:
    history = [text("user", "one"), text("assistant", "1"), text("user", "two")]
    found = exchange(
        [agent("1", end=9), chat("2", "1", input=history, output=[text("assistant", "2")], start=1, end=2)]
    )
    assert (found.user.text, found.response.text if found.response else None) == ("two", "2")


def test_calls_of_earlier_turns_in_the_history_are_not_calls_of_this_turn() -> None:
    history = [
        text("user", "one"),
        call("look", {"a": 1}, "c1"),
        result("r", "c1"),
        text("assistant", "1"),
        text("user", "two"),
    ]
    assert exchange([agent("1", end=9), chat("2", "1", input=history, output=[text("assistant", "2")])]).calls == ()


def test_a_failed_agent_is_a_failed_reply() -> None:
    found = exchange(
        [
            agent("1", end=9, error="RateLimitError: 429"),
            chat(
                "2", "1", input=[text("user", "x")], start=1, end=2, error="429", more={"error.type": "RateLimitError"}
            ),
        ]
    )
    assert found.user.text == "x"
    assert found.response is not None
    assert (found.response.text, found.response.error) == (None, "RateLimitError: 429")


def test_a_failed_model_call_that_was_tried_again_is_no_failed_reply() -> None:
    found = exchange(
        [
            agent("1", user="x", end=9),
            chat("2", "1", input=[text("user", "x")], start=1, end=2, error="429"),
            chat("3", "1", input=[text("user", "x")], output=[text("assistant", "y")], start=3, end=4),
        ]
    )
    assert found.response is not None
    assert (found.response.text, found.response.error) == ("y", None)


@pytest.mark.parametrize(
    ("more", "reply", "error"),
    [
        ({"error.type": "_OTHER"}, None, "_OTHER"),
        ({}, "Error: boom", "Error: boom"),
        ({}, json.dumps({"content": [{"type": "text", "text": "boom"}], "isError": True}), "boom"),
        ({}, json.dumps({"content": [{"type": "text", "text": "fine"}], "isError": False}), None),
        ({}, "No error: all fine", None),
    ],
)
def test_how_a_call_fails(more: dict[str, str], reply: str | None, error: str | None) -> None:
    (found,) = exchange([agent("1", user="x", reply="y", end=9), tool("2", "1", "t", result=reply, more=more)]).calls
    assert found.error == error


def test_create_agent_embeddings_and_tool_lists_are_no_turns() -> None:
    assert (
        assembled(
            [
                agent("1", trace="b" * 32, operation="create_agent"),
                span(
                    "2", trace="c" * 32, attributes={"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e"}
                ),
            ]
        )
        == []
    )


def test_an_agent_that_makes_a_title_is_not_part() -> None:
    spans = [
        span("0", end=9, service="driver", attributes={"session.id": "web-1"}),
        agent(
            "1",
            "0",
            user="Title for: where is it?",
            reply="Where",
            agent_name="titler",
            conversation="t-1",
            start=1,
            end=2,
        ),
        agent("2", "0", user="where is it?", reply="here", agent_name="shop", conversation="s-1", start=3, end=4),
        span("5", trace="b" * 32, start=10, end=19, service="driver", attributes={"session.id": "web-1"}),
        agent("6", "5", trace="b" * 32, user="thanks", reply="welcome", conversation="s-1", start=11, end=12),
    ]
    conversation = only(spans)
    assert texts(conversation) == [("where is it?", "here"), ("thanks", "welcome")]
    assert conversation.conversation_id == "s-1"
    assert conversation.aliases == ("web-1",)
    assert texts(only(spans[:3])) == [("where is it?", "here")]


def test_a_model_call_beside_the_agent_is_not_its_reply() -> None:
    conversation = only(
        [
            span("0", end=9),
            chat("1", "0", input=[text("user", "title for: hi")], output=[text("assistant", "Greeting")], end=1),
            agent("2", "0", user="hi", reply="hello", start=2, end=5),
            chat("3", "2", input=[text("user", "hi")], output=[text("assistant", "hello")], start=3, end=4),
        ]
    )
    assert texts(conversation) == [("hi", "hello")]


def test_model_calls_alone_are_cut_into_turns_by_their_replies() -> None:
    one = [text("user", "hi"), call("look", {"a": 1}, "c1"), result("r", "c1")]
    two = [*one, text("assistant", "hello"), text("user", "bye")]
    conversation = only(
        [
            span("0", end=20),
            chat("1", "0", input=one[:1], output=[call("look", {"a": 1}, "c1")], start=1, end=2),
            chat("2", "0", input=one, output=[text("assistant", "hello")], start=3, end=4),
            chat("3", "0", input=two, output=[text("assistant", "so long")], start=5, end=6),
        ]
    )
    assert texts(conversation) == [("hi", "hello"), ("bye", "so long")]
    assert [c.result for c in conversation.exchanges[0].calls] == ["r"]
    assert all(one.complete for one in conversation.exchanges)


def test_model_calls_in_traces_of_their_own_join_into_turns() -> None:
    one = [text("user", "hi"), call("look", {"a": 1}, "c1"), result("r", "c1")]
    two = [*one, text("assistant", "hello"), text("user", "bye")]
    conversation = only(
        [
            chat("1", trace="1" * 32, input=one[:1], output=[call("look", {"a": 1}, "c1")], start=1, end=2),
            chat("2", trace="2" * 32, input=one, output=[text("assistant", "hello")], start=3, end=4),
            chat("3", trace="3" * 32, input=two, output=[text("assistant", "so long")], start=5, end=6),
        ]
    )
    assert texts(conversation) == [("hi", "hello"), ("bye", "so long")]
    assert [(c.tool, c.result) for c in conversation.exchanges[0].calls] == [("look", "r")]
    assert conversation.conversation_id is None
    assert conversation.key == "1" * 32


def test_two_equal_conversations_at_once_stay_apart() -> None:
    def turn(trace: str, start: float, instance: str, *history: str) -> Span:
        said = [text("assistant" if at % 2 else "user", word) for at, word in enumerate(history)]
        one = chat("1", trace=trace * 32, input=said[:-1], output=said[-1:], start=start, end=start + 1)
        one.resource.attributes["service.instance.id"] = instance  # type: ignore[index]
        return one

    conversations = assembled(
        [
            turn("1", 0, "a", "hi", "hello"),
            turn("2", 0.5, "b", "hi", "hello"),
            turn("3", 3, "a", "hi", "hello", "bye", "so long"),
            turn("4", 3.5, "b", "hi", "hello", "bye", "so long"),
        ]
    )
    assert [c.trace_ids for c in conversations] == [("1" * 32, "3" * 32), ("2" * 32, "4" * 32)]


def test_two_instrumentations_in_two_traces_are_one_turn() -> None:
    conversation = only(
        [
            agent("1", trace="1" * 32, user="hi", reply="hello", end=4),
            tool("2", "1", "look", trace="1" * 32, call_id="c1", start=1, end=2),
            agent("1", trace="2" * 32, user="hi", reply="hello", start=0.1, end=4.1),
            tool("2", "1", "look", trace="2" * 32, call_id="c1", arguments={"a": 1}, result="r", start=1, end=2),
        ]
    )
    assert texts(conversation) == [("hi", "hello")]
    assert [(c.arguments, c.result) for c in conversation.exchanges[0].calls] == [({"a": 1}, "r")]


def test_tool_spans_that_lost_their_trace_go_to_the_call_that_was_asked_for() -> None:
    conversation = only(
        [
            agent("1", user="x", reply="y", end=9),
            chat("2", "1", input=[text("user", "x")], output=[call("look", {"a": 1}, "c1")], start=1, end=2),
            tool(
                "3",
                None,
                "look",
                trace="f" * 32,
                call_id="c1",
                result="r",
                start=2,
                end=3,
                more={"gen_ai.conversation.id": "c-1"},
            ),
        ]
    )
    (found,) = conversation.exchanges[0].calls
    assert (found.span_id, found.arguments, found.result) == ("3", {"a": 1}, "r")
    assert len(conversation.exchanges) == 1


def test_an_answer_tool_is_the_response() -> None:
    found = exchange(
        [
            agent("1", user="x", end=9),
            chat(
                "2",
                "1",
                input=[text("user", "x")],
                output=[call("final_answer", {"answer": "42"}, "c1")],
                start=1,
                end=2,
            ),
            tool("3", "1", "final_answer", arguments={"answer": "42"}, result="42", call_id="c1", start=2, end=3),
        ]
    )
    assert found.calls == ()
    assert found.response is not None
    assert found.response.text == "42"


def test_what_is_not_captured_is_not_empty() -> None:
    found = exchange([agent("1", end=9), tool("2", "1", "look", start=1, end=2)])
    assert found.user.text is None
    assert found.calls[0].arguments is None
    assert found.calls[0].result is NOT_CAPTURED
    assert found.response is not None
    assert found.response.text is None


def test_a_guardrail_agent_beside_the_agent_is_not_part() -> None:
    conversation = only(
        [
            span("0", end=9),
            agent("1", "0", user="where is it?", reply="SAFE", agent_name="guard", start=1, end=2),
            agent("2", "0", user="where is it?", reply="here", agent_name="shop", start=1, end=4),
        ]
    )
    assert texts(conversation) == [("where is it?", "here")]


def test_two_agents_that_answer_one_after_the_other_are_two_turns() -> None:
    second = [text("user", "where is it?"), text("assistant", "here"), text("user", "where is it? really, tell me")]
    conversation = only(
        [
            span("0", end=9),
            agent("1", "0", user="where is it?", reply="here", agent_name="orders", start=1, end=2),
            agent("2", "0", reply="there", agent_name="refunds", start=3, end=5),
            chat("3", "2", input=second, output=[text("assistant", "there")], start=3, end=4),
        ]
    )
    assert texts(conversation) == [("where is it?", "here"), ("where is it? really, tell me", "there")]


def test_a_trace_of_a_tool_server_alone_is_no_conversation() -> None:
    assert assembled([tool("1", None, "look", more={"mcp.method.name": "tools/call"}, service="mcp")]) == []


def test_an_agent_inside_a_tool_call_that_lost_its_agent_is_nested() -> None:
    found = exchange(
        [
            tool("1", "lost", "ask", arguments={"q": 1}, end=9),
            agent("2", "1", user="q", reply="r", conversation="inner", start=1, end=5),
            tool("3", "2", "search", start=2, end=3),
        ]
    )
    assert [(c.tool, c.nested) for c in found.calls] == [("ask", False), ("search", True)]
    assert found.user.text is None
    assert not found.complete


def test_an_agent_used_as_a_tool_may_be_reported_beside_its_caller() -> None:
    found = exchange(
        [
            agent("0", operation="invoke_workflow", agent_name="flow", end=20),
            agent("1", "0", user="hi", reply="done", agent_name="coordinator", start=1, end=19),
            tool("2", "1", "ask_expert", arguments={"q": "why"}, result="because", start=2, end=10),
            agent("3", "0", user="why", reply="because", agent_name="expert", start=3, end=9),
            tool("4", "3", "search", start=4, end=5),
        ]
    )
    assert [(c.tool, c.nested) for c in found.calls] == [("ask_expert", False), ("search", True)]
    assert (found.user.text, found.response.text if found.response else None) == ("hi", "done")


def test_agents_of_one_workflow_that_take_turns_are_not_nested() -> None:
    found = exchange(
        [
            agent("0", operation="invoke_workflow", agent_name="flow", end=20),
            agent("1", "0", user="hi", agent_name="triage", start=1, end=3),
            tool("2", "1", "classify", start=1.5, end=2),
            agent("3", "0", user="hi", reply="done", agent_name="expert", start=4, end=9),
            tool("4", "3", "search", start=5, end=6),
        ]
    )
    assert [(c.tool, c.nested) for c in found.calls] == [("classify", False), ("search", False)]
    assert found.response is not None
    assert found.response.text == "done"


def test_a_tool_span_without_its_parent_goes_to_the_agent_that_asked_for_it() -> None:
    found = exchange(
        [
            agent("1", user="hi", reply="done", end=9),
            tool("2", "1", "ask_expert", start=1, end=8),
            agent("3", "2", agent_name="expert", start=2, end=7),
            chat("4", "3", output=[call("search", {"q": "x"}, "c9")], start=3, end=4),
            tool("5", "lost", "search", call_id="c9", start=5, end=6),
        ]
    )
    assert [(c.tool, c.nested, c.span_id) for c in found.calls] == [("ask_expert", False, "2"), ("search", True, "5")]
    assert found.missing_parents
