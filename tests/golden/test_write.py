"""What is written reads back as it was, by our own reader and by others."""

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from aem_monitor.golden.write import write_yaml
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.yamlfile import parse_document

CHARS = st.characters(exclude_categories=["Cs"])
TEXTS = st.text(CHARS, max_size=30) | st.sampled_from(
    [
        "no",
        "19:30",
        "2026-11-02",
        "007",
        "1e3",
        "~",
        "- x",
        "a: b",
        "a #b",
        "${1.result.id}",
        "%",
        "@x",
        "'",
        '"',
        "=",
        "<<",
        "two\nlines",
        "two\nlines\n",
        " lead\nx",
        "x\n\ny",
        "x \ny",
        "\n",
        "#",
        "? x",
        "!tag",
        "&a",
        "*a",
        "|",
        ">",
        "[]",
        "0x1F",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | TEXTS
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    SCALARS | FLOATS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(VALUES)
def test_what_is_written_reads_back_as_the_same_value(value: Any) -> None:
    assert parse_document(write_yaml(value).encode(), "x.yaml").value == value


PLAIN_VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)


@settings(deadline=None)
@given(PLAIN_VALUES)
def test_a_reader_of_yaml_1_1_reads_the_same(value: Any) -> None:
    assert yaml.safe_load(write_yaml(value)) == value


@settings(deadline=None)
@given(VALUES, st.data())
def test_comments_change_nothing(value: Any, data: st.DataObject) -> None:
    places = list(_places(value))
    chosen = data.draw(st.lists(st.sampled_from(places), max_size=5)) if places else []
    comments = {place: ["a: b # c", "x" * 300, "bell \a and \ud800"] for place in chosen}
    assert parse_document(write_yaml(value, comments).encode(), "x.yaml").value == value


def _places(value: Any, at: tuple[str | int, ...] = ()) -> Any:
    yield at
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _places(item, (*at, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _places(item, (*at, index))


def test_a_file_is_block_yaml_with_its_comments_where_they_belong() -> None:
    value: dict[str, JSON] = {
        "dialog": "d",
        "turns": [{"turn_no": 1, "args": {"id": "A-1", "on": "19:30"}}, {"text": "two\nlines"}],
    }
    comments = {
        (): ["head"],
        ("turns", 0): ["about the turn"],
        ("turns", 0, "turn_no"): ["about its first key"],
        ("turns", 0, "args", "on"): ["about one argument"],
    }
    assert write_yaml(value, comments) == (
        "# head\n"
        "dialog: d\n"
        "turns:\n"
        "  # about the turn\n"
        "  # about its first key\n"
        "  - turn_no: 1\n"
        "    args:\n"
        "      id: A-1\n"
        "      # about one argument\n"
        '      "on": "19:30"\n'
        "  - text: |-\n"
        "      two\n"
        "      lines\n"
    )


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_does_not_have_become_text(number: float) -> None:
    assert parse_document(write_yaml({"x": number}).encode(), "x.yaml").value == {"x": str(number)}
