"""The dialect that golden dialogs and configuration are written in."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.document import key_path
from aem_monitor.errors import DocumentError
from aem_monitor.yamlfile import parse_document, read_yaml

BAD = sorted((Path(__file__).parent / "bad").iterdir())
SURROGATES = st.characters(codec="utf-8")
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(SURROGATES)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(SURROGATES), inner, max_size=4),
    max_leaves=12,
)

TEXTS = st.recursive(
    st.text(SURROGATES),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(SURROGATES), inner, max_size=4),
    max_leaves=12,
)


def value_of(text: str, *, json: bool = False) -> object:
    return parse_document(text.encode(), "file", json=json).value


def faults_of(text: str, *, json: bool = False) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        parse_document(text.encode(), "file", json=json)
    return list(caught.value.faults)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("no", "no"),
        ("on", "on"),
        ("y", "y"),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("2026-11-02", "2026-11-02"),
        ("2026-11-02T10:00:00Z", "2026-11-02T10:00:00Z"),
        ("19:30", "19:30"),
        ("190:20:30", "190:20:30"),
        ("007", "007"),
        ("0x10", "0x10"),
        ("0o17", "0o17"),
        ("1_000", "1_000"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("1.50", 1.5),
        ("1e3", 1000.0),
        ("=", "="),
        ("'12'", "12"),
        ('"true"', "true"),
        ('"\\ud83d\\ude00"', "\U0001f600"),
    ],
)
def test_plain_scalars_follow_json_and_everything_else_is_text(written: str, read: object) -> None:
    value = value_of(f"key: {written}\n")
    assert value == {"key": read}
    assert isinstance(value, dict)
    assert type(value["key"]) is type(read)


def test_keys_are_text_as_they_are_written() -> None:
    assert value_of("on: 1\n1: 2\n2026-01-01: 3\nnull: 4\n") == {"on": 1, "1": 2, "2026-01-01": 3, "null": 4}


def test_every_value_knows_the_line_of_its_key() -> None:
    document = parse_document(b"# comment\nfirst: 1\nlist:\n  - a: 1\n    b:\n      - x\n      - y\n  - 2\n", "file")
    assert document.line(("first",)) == 2
    assert document.line(("list",)) == 3
    assert document.line(("list", 0, "a")) == 4
    assert document.line(("list", 0, "b", 1)) == 7
    assert document.line(("list", 1)) == 8


def test_the_line_of_what_the_file_lacks_is_that_of_its_nearest_parent() -> None:
    document = parse_document(b"a:\n  b:\n    c: 1\n", "file")
    assert document.line(("a", "b", "missing")) == 2
    assert document.line(("a", "SomeUnionTag", "b", "c")) == 3
    assert document.where(("nothing",)) == "file:1"


def test_json_has_the_same_lines() -> None:
    text = '{"first": 1,\n "list": [\n  {"a": 1,\n   "b": ["x",\n"y"]},\n 2]}'
    document = parse_document(text.encode(), "file", json=True)
    assert document.value == json.loads(text)
    assert document.line(("list", 0, "b", 1)) == 5
    assert document.line(("list", 0, "b")) == 4
    assert document.line(("list", 1)) == 6


@given(VALUES)
def test_json_reads_as_the_standard_decoder_reads_it(value: object) -> None:
    for indent in (None, 1):
        text = json.dumps(value, indent=indent)
        assert value_of(text, json=True) == json.loads(text)
    assert value_of(json.dumps(value, ensure_ascii=False), json=True) == value


@given(TEXTS)
def test_quoted_yaml_reads_back_whatever_its_texts_hold(value: object) -> None:
    assert value_of(yaml.safe_dump(value, default_style='"')) == value


@given(VALUES)
def test_json_is_yaml_too(value: object) -> None:
    assert value_of(json.dumps(value)) == json.loads(json.dumps(value))


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode), st.booleans())
def test_any_bytes_are_read_or_refused_with_a_line(data: bytes, as_json: bool) -> None:
    try:
        parse_document(data, "file", json=as_json)
    except DocumentError as error:
        faults = error.faults
    else:
        faults = ()
    assert all(fault.startswith("file:") and fault.split(":")[1].isdigit() for fault in faults)


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.name)
def test_a_bad_file_is_refused_with_its_line_and_reason(path: Path) -> None:
    expected = {
        "alias.yaml": ("2", "anchors and aliases are not supported"),
        "control-character.yaml": ("2", "control character"),
        "duplicate-key.json": ("3", "written twice (first in line 2)"),
        "duplicate-key.yaml": ("3", "written twice (first in line 2)"),
        "half-surrogate.json": ("2", "half of a surrogate pair"),
        "half-surrogate.yaml": ("2", "half of a surrogate pair"),
        "huge-number.json": ("2", "too large"),
        "huge-number.yaml": ("2", "too large"),
        "key-is-a-list.yaml": ("2", "a key must be plain or quoted text"),
        "merge-key.yaml": ("4", "merge keys"),
        "not-utf8.yaml": ("2", "not UTF-8"),
        "python-tag.yaml": ("2", "tags (tag:yaml.org,2002:python/object/apply:os.system) are not supported"),
        "trailing-text.json": ("3", "text after the end"),
        "two-documents.yaml": ("3", "a second document begins"),
        "unclosed.json": ("3", "ends too early"),
        "unclosed.yaml": ("3", "not valid YAML"),
        "tab.yaml": ("2", "not valid YAML"),
    }[path.name]
    with pytest.raises(DocumentError) as caught:
        read_yaml(path)
    line, message = expected
    assert any(fault.startswith(f"{path}:{line}: ") and message in fault for fault in caught.value.faults), caught.value


def test_all_faults_of_a_file_are_reported_together_in_order() -> None:
    faults = faults_of("a: &x 1\nb: 2\nb: 3\nc: !t 4\nd: *x\n")
    assert [fault.split(":")[1] for fault in faults] == ["1", "3", "4", "5"]


def test_nesting_is_bounded_in_both_formats() -> None:
    for as_json in (False, True):
        assert "nested deeper than 64 levels" in faults_of("[" * 500, json=as_json)[0]
        assert value_of("[" * 64 + "]" * 64, json=as_json)


def test_the_number_of_values_is_bounded_in_both_formats() -> None:
    assert "more than 250000 values" in faults_of("-\n" * 300_000)[0]
    assert "more than 250000 values" in faults_of("[" + "1," * 300_000, json=True)[0]


def test_size_is_bounded_before_anything_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_text("a: " + "x" * 100)
    with pytest.raises(DocumentError, match="larger than 50 bytes"):
        read_yaml(path, max_bytes=50)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"none\.yaml: cannot be read: No such file"):
        read_yaml(tmp_path / "none.yaml")
    with pytest.raises(DocumentError, match="cannot be read: Is a directory"):
        read_yaml(tmp_path)


def test_a_byte_order_mark_is_no_content() -> None:
    assert value_of("\ufeffa: 1") == {"a": 1}
    assert value_of('\ufeff{"a": 1}', json=True) == {"a": 1}


def test_paths_are_written_as_people_write_them() -> None:
    assert key_path(("turns", 2, "gold_turn", "args")) == "turns[2].gold_turn.args"
    assert key_path(("where", "deployment.name")) == "where.deployment.name"


def test_a_path_of_strange_keys_stays_on_one_short_line() -> None:
    assert key_path(("a", "\r\nforged: line")) == 'a["\\r\\nforged: line"]'
    assert key_path(("", "x" * 1000)) == '[""].' + "x" * 80 + "..."
