"""The tool's own value comes out of every wrapping, and keeps what is its own."""

import json
from typing import Any

import pytest

from aem_monitor.conventions.results import unwrap
from aem_monitor.model.conversation import NOT_CAPTURED

VALUE: dict[str, Any] = {"order": "A-1", "total": 59.9}
TEXT = json.dumps(VALUE)


@pytest.mark.parametrize(
    "wrapped",
    [
        VALUE,
        TEXT,
        json.dumps(TEXT),
        [{"type": "text", "text": TEXT}],
        {"content": [{"type": "text", "text": TEXT}], "isError": False},
        {"role": "tool", "content": TEXT, "tool_call_id": "c1"},
        {"content": TEXT, "name": "look", "tool_call_id": "c1", "status": "success"},
        {"lc": 1, "type": "constructor", "id": ["ToolMessage"], "kwargs": {"content": TEXT, "tool_call_id": "c1"}},
    ],
)
def test_wrappings_of_frameworks_and_protocols(wrapped: Any) -> None:
    assert unwrap(wrapped).value == VALUE


def test_untyped_blocks_are_wrapping_only_where_the_emitter_always_wraps() -> None:
    assert unwrap([{"text": TEXT}], blocks=True).value == VALUE
    assert unwrap([{"text": TEXT}]).value == [{"text": TEXT}]
    assert unwrap([{"text": json.dumps([{"text": "own"}])}], blocks=True).value == [{"text": "own"}]
    assert unwrap([{"json": VALUE}], blocks=True).value == VALUE


@pytest.mark.parametrize("value", [{"result": 1}, {"content": "x"}, [], [1], "R-77", "59.9", None, True, {"text": "x"}])
def test_a_tool_s_own_value_stays(value: Any) -> None:
    assert unwrap(value).value == value


def test_several_texts_are_lines_several_values_a_list() -> None:
    assert unwrap([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]).value == "a\nb"
    assert unwrap([{"type": "text", "text": "1"}, {"type": "text", "text": "[2]"}]).value == ["1", [2]]


def test_what_a_protocol_says_about_failure_is_kept() -> None:
    assert unwrap({"content": [{"type": "text", "text": "boom"}], "isError": True}).failed is True
    assert unwrap({"role": "tool", "content": "x", "status": "error"}).failed is True
    assert unwrap("x").failed is None


def test_not_captured_and_cut_are_not_values() -> None:
    assert unwrap(NOT_CAPTURED).value is NOT_CAPTURED
    assert unwrap('{"a": "b').truncated


@pytest.mark.parametrize(
    "wrapped",
    [
        '[{"te',
        '[{"type": "text", "te',
        '{"type": "tool", "da',
        '{"lc": 1, "type": "constructor", "id": ["langchain", "schema"',
        '{"isError": fal',
        '{"re',
        "[",
    ],
)
def test_a_wrapping_that_was_cut_before_its_content_holds_nothing(wrapped: str) -> None:
    found = unwrap(wrapped, blocks=True)
    assert (found.value, found.truncated) == (NOT_CAPTURED, True)


@pytest.mark.parametrize(
    "wrapped",
    [
        '{"type": "tool", "data": {"content": "shipp',
        '[{"type": "text", "text": "shipp"}, {"type": "te',
        '[{"text": "shipp',
    ],
)
def test_a_wrapping_that_was_cut_after_its_content_began_gives_that_beginning(wrapped: str) -> None:
    found = unwrap(wrapped, blocks=True)
    assert (found.value, found.truncated) == ("shipp", True)


def test_an_empty_object_of_the_tool_stays() -> None:
    assert unwrap("{}").value == {}
    assert unwrap({"type": "tool", "data": {"content": "x"}}).value == {"type": "tool", "data": {"content": "x"}}
