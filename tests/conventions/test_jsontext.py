"""JSON text is read as far as it goes; nothing raises."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.conventions.jsontext import MAX_DEPTH, canonical, parse, parse_nested, to_json

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)


@given(json_values.filter(lambda value: isinstance(value, dict | list)))
def test_whole_json_is_itself(value: Any) -> None:
    parsed = parse(json.dumps(value))
    assert (parsed.value, parsed.is_json, parsed.truncated) == (value, True, False)


@given(json_values.filter(lambda value: isinstance(value, dict | list)), st.integers(1, 200), st.booleans())
def test_cut_json_is_a_part_of_the_whole(value: Any, cut: int, ascii_only: bool) -> None:
    whole = json.dumps(value, ensure_ascii=ascii_only)
    parsed = parse(whole[: min(cut, len(whole) - 1)])
    assert parsed.is_json
    assert parsed.truncated
    assert part_of(parsed.value, value)


def part_of(part: Any, whole: Any) -> bool:
    """Whether a value is a beginning of another: of its texts and lists, with some of its members."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and part_of(item, whole[key]) for key, item in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(part_of, part, whole))
    if isinstance(part, str) and isinstance(whole, str):
        # A cut surrogate pair leaves a replacement character.
        return whole.startswith((part.removesuffix("�"), part))
    return bool(part == whole and type(part) is type(whole))


@given(st.text(max_size=60) | st.text(alphabet='{}[]":,\\u0123456789truefalsn -.eE', max_size=60))
def test_any_text_is_survived(text: str) -> None:
    parsed = parse(text)
    if not parsed.is_json:
        assert parsed.value == text
    parse_nested(text)


@pytest.mark.parametrize(
    "text",
    [
        "plain text",
        "{not json}",
        "[Error] no such order",
        "{'order_id': 'A'}",
        '{"a": 1} and more',
        "",
        "  ",
        "tru",
        "12 apples",
    ],
)
def test_what_is_no_json_is_text(text: str) -> None:
    assert parse(text).value == text
    assert not parse(text).is_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 12', {}),
        ('{"a": 12, "b": "x', {"a": 12, "b": "x"}),
        ('{"a": tru', {}),
        ('{"a": -', {}),
        ('{"a": 59.', {}),
        ('{"a": 1e', {}),
        ('{"a": 1.5E+', {}),
        ('{"a": "x\\', {"a": "x"}),
        ('{"a": "x\\u00', {"a": "x"}),
        ('{"a', {}),
        ('{"a": ', {}),
        ("[", []),
        ('[1, {"b": [2, 3', [1, {"b": [2]}]),
    ],
)
def test_what_a_cut_leaves(text: str, value: Any) -> None:
    parsed = parse(text)
    assert (parsed.value, parsed.truncated) == (value, True)


def test_json_in_json_is_opened_three_levels_deep() -> None:
    text: Any = {"a": 1}
    for _ in range(3):
        text = json.dumps(text)
    assert parse_nested(text).value == {"a": 1}
    assert parse_nested(json.dumps(text)).value == '{"a": 1}'


@pytest.mark.parametrize("text", ["59.9", "true", "null", "R-77"])
def test_a_scalar_text_stays_text(text: str) -> None:
    assert parse_nested(text).value == text
    assert parse_nested(json.dumps(text)).value == text


def test_depth_is_bounded() -> None:
    deep = "[" * 2000 + "]" * 2000
    assert not parse(deep).is_json
    within = parse("[" * 500 + "]" * 500)
    assert within.truncated
    value, depth = within.value, 0
    while isinstance(value, list) and value:
        value, depth = value[0], depth + 1
    assert depth <= MAX_DEPTH
    assert parse("[" * 5000).value == "[" * 5000


def test_many_values_side_by_side_are_not_deep() -> None:
    history = [{"role": "user", "parts": [{"type": "text", "content": str(number)}]} for number in range(MAX_DEPTH)]
    parsed = parse(json.dumps(history))
    assert (parsed.value, parsed.truncated) == (history, False)


@pytest.mark.parametrize(("levels", "cut"), [(MAX_DEPTH, False), (MAX_DEPTH + 1, True)])
def test_what_lies_deeper_than_the_bound_is_cut_and_said_to_be(levels: int, cut: bool) -> None:
    text = "[" * levels + "1, [], {}" + "]" * levels
    assert parse(text).truncated is cut


def test_attribute_values_become_json() -> None:
    assert to_json({"a": b"x\xff", "b": float("nan"), "c": [1, (2,)]}) == {"a": "x�", "b": None, "c": [1, [2]]}


def test_equal_values_have_one_canonical_text() -> None:
    assert canonical({"b": 1.0, "a": [2]}) == canonical({"a": [2.0], "b": 1})
    assert canonical({"a": True}) != canonical({"a": 1})
    assert canonical("\ud800") == canonical("?")
