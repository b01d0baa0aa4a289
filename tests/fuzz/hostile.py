"""Contents that no well-meaning instrumentation writes, as OTLP JSON holds them."""

import json
from typing import Any, Final

from hypothesis import strategies as st

DEEP: Final = 1000


def nested(depth: int, opening: str, closing: str, middle: str = "1") -> str:
    """JSON text of arrays or objects in each other."""
    return opening * depth + middle + closing * depth


def nested_value(depth: int) -> dict[str, Any]:
    """An AnyValue of maps in arrays in maps."""
    value: dict[str, Any] = {"stringValue": "bottom"}
    for level in range(depth):
        if level % 2:
            value = {"arrayValue": {"values": [value]}}
        else:
            value = {"kvlistValue": {"values": [{"key": "content", "value": value}]}}
    return value


_WORDS: Final = ("role", "user", "assistant", "tool", "content", "parts", "type", "text", "name", "arguments", "id")
_WORDS_OF_RESULTS: Final = ("tool_calls", "function", "response", "kwargs", "lc", "data", "messages", "isError", "args")

json_values: Final[st.SearchStrategy[Any]] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(_WORDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_WORDS + _WORDS_OF_RESULTS), inner, max_size=4)
    ),
    max_leaves=10,
)
"""JSON in the shapes of messages and calls, with wrong types at any place."""

json_texts: Final = st.builds(lambda value, cut: json.dumps(value)[:cut], json_values, st.integers(1, 200))
"""JSON text, whole or cut."""

texts: Final = st.one_of(
    json_texts,
    st.text(max_size=20),
    st.sampled_from(
        [
            "",
            "\x00",
            "a\x00b",
            "\ud800",
            '{"a": "\\ud800"}',
            '"\\udfff\\ud800"',
            "\ufeff{}",
            "\ufffd" * 3,
            "NaN",
            "-Infinity",
            '{"a": NaN}',
            "9" * 5000,
            f'{{"amount": {"9" * 5000}}}',
            '{"amount": 1e999999}',
            "[" * DEEP,
            '{"content":' * DEEP,
            nested(DEEP, "[", "]"),
            nested(DEEP, '{"content":', "}"),
            nested(DEEP, '{"messages":[', "]}", '{"role":"user","content":"x"}'),
            json.dumps(json.dumps(json.dumps(json.dumps({"a": [1, "x"]})))),
            "{'a': 'b', 'c': None}",
            "(" * 200 + ")" * 200,
            "<x at 0x7f00>",
            "[Scrubbed due to 'session']",
            "-" * 3000,
        ]
    ),
)
"""Texts of attributes."""

any_values: Final[st.SearchStrategy[Any]] = st.one_of(
    texts.map(lambda text: {"stringValue": text}),
    st.integers(-(2**70), 2**70).map(lambda number: {"intValue": str(number)}),
    st.integers(-(2**63), 2**63 - 1).map(lambda number: {"intValue": number}),
    st.floats().map(lambda number: {"doubleValue": number}),
    st.booleans().map(lambda flag: {"boolValue": flag}),
    st.binary(max_size=6).map(lambda data: {"bytesValue": data.hex()}),
    st.lists(texts.map(lambda text: {"stringValue": text}), max_size=3).map(lambda v: {"arrayValue": {"values": v}}),
    st.sampled_from([1, 2, 40, 70]).map(nested_value),
    st.just({}),
    json_values,
)
"""Values of attributes, well-formed ones of any type and others."""
