"""Every form of a message becomes the same values."""

import json
from typing import Any

import pytest

from aem_monitor.conventions.messages import Message, Role, read_content, read_messages
from aem_monitor.conventions.parts import CallPart, ResultPart, TextPart

USER = Message(Role.USER, (TextPart("hi"),))
CALL = Message(Role.ASSISTANT, (CallPart("look", "c1", {"a": 1}),))
RESULT = ResultPart("c1", "r")


@pytest.mark.parametrize(
    "form",
    [
        [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}],
        [{"role": "user", "parts": [{"type": "text", "content": [{"text": "hi"}]}]}],
        [{"role": "user", "content": "hi"}],
        [{"role": "human", "content": [{"type": "text", "text": "hi"}]}],
        [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        [{"role": "user", "content": [{"text": "hi"}]}],
        [{"role": "user", "content": {"text": {"value": "hi"}}}],
        {"messages": [{"role": "user", "content": "hi"}]},
        {"role": "user", "content": "hi"},
        [{"text": "hi"}],
        "hi",
        json.dumps([{"text": "hi"}]),
        json.dumps(json.dumps([{"role": "user", "content": "hi"}])),
    ],
)
def test_forms_of_a_user_message(form: Any) -> None:
    assert read_messages(form, Role.USER).items == (USER,)


@pytest.mark.parametrize(
    "form",
    [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"a": 1}}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": '{"a": 1}'}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}],
        },
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "look", "input": {"a": 1}}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"a": 1}}]},
        {
            "role": "assistant",
            "parts": [
                {
                    "type": "text",
                    "content": "ResponseFunctionToolCall(arguments='{\"a\": 1}', call_id='c1', name='look')",
                }
            ],
        },
    ],
)
def test_forms_of_a_call(form: Any) -> None:
    assert read_messages([form], Role.ASSISTANT).items == (CALL,)


@pytest.mark.parametrize(
    ("form", "role"),
    [
        ({"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "r"}]}, Role.TOOL),
        ({"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "result": "r"}]}, Role.TOOL),
        ({"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "result": "r"}]}, Role.USER),
        ({"role": "tool", "tool_call_id": "c1", "content": "r"}, Role.TOOL),
        ({"role": "tool", "id": "c1", "content": "r"}, Role.TOOL),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "r"}]}, Role.USER),
    ],
)
def test_forms_of_a_result(form: Any, role: Role) -> None:
    assert read_messages([form], Role.USER).items == (Message(role, (RESULT,)),)


def test_a_bedrock_result_says_whether_it_failed() -> None:
    block: dict[str, Any] = {"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": "boom"}]}}
    (message,) = read_messages([{"role": "user", "parts": [{"type": "text", "content": [block]}]}], Role.USER).items
    assert message.results == (ResultPart("c1", [{"text": "boom"}], failed=True),)


def test_reasoning_and_pictures_are_not_spoken() -> None:
    parts: list[Any] = [
        {"type": "reasoning", "content": "hm"},
        {"type": "blob", "content": "eA=="},
        {"type": "text", "content": "hi"},
    ]
    (message,) = read_messages([{"role": "assistant", "parts": parts}], Role.USER).items
    assert message.text == TextPart("hi")


def test_a_part_whose_content_was_not_captured_is_no_empty_text() -> None:
    (message,) = read_messages([{"role": "user", "parts": [{"type": "text"}]}], Role.USER).items
    assert message.text == TextPart(None)
    (message,) = read_messages([{"role": "assistant", "parts": [{"type": "tool_call", "name": "t"}]}], Role.USER).items
    assert message.calls == (CallPart("t", None, None),)


def test_empty_argument_text_is_a_call_without_arguments() -> None:
    call: dict[str, Any] = {
        "role": "assistant",
        "tool_calls": [{"id": "c", "function": {"name": "t", "arguments": ""}}],
    }
    assert read_messages([call], Role.USER).items[0].calls == (CallPart("t", "c", {}),)


def test_a_cut_list_says_so_and_marks_its_last_part() -> None:
    whole = json.dumps([{"role": "user", "content": "first"}, {"role": "user", "content": "second"}])
    found = read_messages(whole[:-5], Role.USER)
    assert found.truncated
    assert [message.text for message in found.items] == [TextPart("first"), TextPart("seco", truncated=True)]


def test_half_a_tool_name_is_no_tool() -> None:
    whole = json.dumps([{"role": "assistant", "parts": [{"type": "tool_call", "name": "query_sales"}]}])
    assert read_messages(whole[: whole.index("query") + 3], Role.ASSISTANT).items[0].calls == ()


def test_a_message_that_was_cut_before_its_role_says_nothing() -> None:
    """Many emitters write the content first, and a tool's result must not become the reply."""
    text = '[{"content": "hi", "role": "user"}, {"content": "found 3 ord'
    found = read_messages(text, Role.ASSISTANT)
    assert [message.role for message in found.items] == [Role.USER]
    assert found.truncated


@pytest.mark.parametrize(
    "other",
    [
        {"image": {"format": "png", "source": {"bytes": "<replaced>"}}},
        {"document": {"name": "d", "format": "pdf", "source": {"bytes": "<replaced>"}}},
        {"cachePoint": {"type": "default"}},
        {"reasoningContent": {"reasoningText": {"text": "hmm"}}},
        {"somethingNew": {"text": "hmm"}},
        {"type": "video_url", "video_url": {"url": "x"}},
        {"type": "something_new", "content": "AAAA"},
        {"type": "document", "text": "JVBERi0="},
        {"type": "server_tool_call_response", "content": "page text"},
    ],
)
def test_blocks_of_other_types_stand_beside_text_and_say_nothing(other: dict[str, Any]) -> None:
    blocks: list[Any] = [{"text": "hi"}, other] if "type" not in other else [{"type": "text", "text": "hi"}, other]
    content, cut = read_content(json.dumps(blocks))
    assert (content, cut) == (blocks, False)
    assert read_messages(content, Role.USER).items == (USER,)
    assert read_messages([{"role": "user", "content": [other, *blocks]}], Role.USER).items == (USER,)


def test_what_bedrock_guards_or_cites_is_spoken() -> None:
    for block in ({"guardContent": {"text": {"text": "hi"}}}, {"citationsContent": {"content": [{"text": "hi"}]}}):
        assert read_messages(json.dumps([block]), Role.USER).items == (USER,)


@pytest.mark.parametrize(
    "text", ['[{"sku": "A", "count": 2}]', '[{"text": "a", "id": 1}]', '{"document": {"name": "d"}}', "[1, 2]"]
)
def test_json_that_somebody_wrote_is_text(text: str) -> None:
    assert read_content(text) == (text, False)
