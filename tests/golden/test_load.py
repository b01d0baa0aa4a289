import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.examples import example_dialogs
from aem_monitor.golden import load
from aem_monitor.golden.cases import is_case_file
from aem_monitor.golden.form import DialogForm
from aem_monitor.golden.load import DialogFaultsError, dialog_from, load_dialogs, parse_dialog, read_dialogs
from aem_monitor.validation import known_keys
from tests.golden.regenerate import MESSAGES, bad_files, messages_of

EXPECTED: dict[str, list[str]] = yaml.safe_load(MESSAGES.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", bad_files(), ids=lambda path: path.name)
def test_a_bad_file_is_refused_with_file_line_field_and_what_to_do(path: Path) -> None:
    assert messages_of(path) == EXPECTED[path.name]
    assert EXPECTED[path.name]


def test_every_expected_message_has_its_file() -> None:
    assert set(EXPECTED) == {path.name for path in bad_files()}


def write(folder: Path, name: str, dialog: str, more: str = "turns: []\n") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"dialog: {dialog}\n{more}", encoding="utf-8")
    return path


def test_a_directory_is_read_recursively_in_order_of_name_without_hidden_files(tmp_path: Path) -> None:
    write(tmp_path, "b.yaml", "second")
    write(tmp_path, "a.yml", "first")
    write(tmp_path, "nested/c.yaml", "third")
    (tmp_path / "d.json").write_text('{"dialog": "fourth", "turns": []}', encoding="utf-8")
    write(tmp_path, ".hidden.yaml", "hidden")
    write(tmp_path, "..data/a.yaml", "what a Kubernetes volume keeps beside its links")
    (tmp_path / "README.md").write_text("not a dialog", encoding="utf-8")
    assert [dialog.name for dialog in load_dialogs([tmp_path])] == ["first", "second", "fourth", "third"]


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path, "a.yaml", "one")
    assert len(load_dialogs([tmp_path, path])) == 1


def test_two_dialogs_of_one_name_are_an_error_that_names_both_files(tmp_path: Path) -> None:
    first, second = write(tmp_path, "a.yaml", "same"), write(tmp_path, "b.yaml", "same")
    with pytest.raises(DialogFaultsError) as caught:
        load_dialogs([tmp_path])
    assert str(caught.value) == f"{second}:1: dialog: same is also the name of {first}:1; rename one"
    assert caught.value.reason == "golden"


def test_the_faults_of_all_files_are_reported_together(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "a", "turns: []\nvariantz: []\nturnz: []\n")
    write(tmp_path, "b.yaml", "b", "turns: nothing\n")
    write(tmp_path, "good.yaml", "good")
    dialogs, faults = read_dialogs([tmp_path, tmp_path / "missing.yaml"])
    assert [(Path(fault.file).name, fault.line) for fault in faults] == [
        ("a.yaml", 3),
        ("a.yaml", 4),
        ("b.yaml", 2),
        ("missing.yaml", 0),
    ]
    assert [dialog.name for dialog in dialogs] == ["good"]


def test_a_directory_without_dialogs_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(DialogFaultsError, match="holds no golden dialogs"):
        load_dialogs([tmp_path])


def test_a_named_file_that_is_no_dialog_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello", encoding="utf-8")
    with pytest.raises(DialogFaultsError, match=r"notes\.txt: is no golden dialog"):
        load_dialogs([path])


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "broken.yaml").symlink_to(tmp_path / "nowhere.yaml")
    _, faults = read_dialogs([tmp_path])
    assert [fault.message for fault in faults] == [
        "cannot be read: No such file or directory",
        "is no regular file",
    ]


def test_more_files_than_the_limit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "MAX_FILES", 2)
    for name in "abc":
        write(tmp_path, f"{name}.yaml", name)
    with pytest.raises(DialogFaultsError, match=r"c\.yaml: more than 2 golden dialogs"):
        load_dialogs([tmp_path])


def test_a_file_over_the_size_limit_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "MAX_BYTES", 100)
    path = write(tmp_path, "a.yaml", "a", "turns: []\n" + "# padding\n" * 50)
    with pytest.raises(DialogFaultsError, match="larger than 100 bytes"):
        load_dialogs([path])


def test_yaml_and_json_of_the_same_content_give_the_same_dialog() -> None:
    for path in (path for path in example_dialogs().glob("*.yaml") if not is_case_file(path.name)):
        content = yaml.load(path.read_bytes(), Loader=yaml.BaseLoader)
        assert content["dialog"]
        from_yaml = parse_dialog(path.read_bytes(), path.name)
        assert isinstance(from_yaml, tuple)
        as_json = json.dumps(from_yaml[1].document.value).encode()
        from_json = parse_dialog(as_json, "copy.json")
        assert isinstance(from_json, tuple)
        assert from_json[0] == from_yaml[0]


def test_what_looks_like_another_type_in_yaml_1_1_stays_text(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "a.yaml",
        "norway",
        "reference_date: 2026-11-02\n"
        "turns:\n"
        "  - turn_no: 1\n"
        "    turn: Tool\n"
        "    gold_turn:\n"
        "      tool_id: t\n"
        "      args: {country: no, at: 19:30, day: 2026-11-30, code: 007, n: 1_000, yes: on, real: 1.5, n2: -3}\n"
        "    result: 2026-11-30T10:00:00Z\n",
    )
    (dialog,) = load_dialogs([path])
    assert str(dialog.reference_date) == "2026-11-02"
    (turn,) = dialog.exchanges[0].tools
    assert turn.args == {
        "country": "no",
        "at": "19:30",
        "day": "2026-11-30",
        "code": "007",
        "n": "1_000",
        "yes": "on",
        "real": 1.5,
        "n2": -3,
    }
    assert turn.result == "2026-11-30T10:00:00Z"


def test_the_digest_depends_on_contents_and_names_only(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    write(one, "a.yaml", "a")
    write(one, "b.yaml", "b")
    write(other, "z.yaml", "a")
    write(other, "deep/y.yaml", "b")
    assert load_dialogs([one]).digest == load_dialogs([other]).digest
    write(other, "z.yaml", "a", "turns: []\nversion: 2\n")
    assert load_dialogs([one]).digest != load_dialogs([other]).digest


def test_dialogs_are_found_by_name(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "a")
    dialogs = load_dialogs([tmp_path])
    found = dialogs.get("a")
    assert found is not None
    assert found.name == "a"
    assert "a" in dialogs
    assert dialogs.get("b") is None


@given(st.binary(max_size=200), st.sampled_from(["a.yaml", "a.json"]))
def test_no_bytes_crash_the_loader(content: bytes, name: str) -> None:
    found = parse_dialog(content, name)
    assert isinstance(found, tuple) or found


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["User", "Tool", "Agent", "${1.result}"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(sorted(known_keys(DialogForm, ()))) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
turns = st.fixed_dictionaries(
    {"turn": st.sampled_from(["User", "Tool", "Agent", "x"])},
    optional={
        "turn_no": st.integers(-1, 4) | values,
        "text": values,
        "gold_turn": st.fixed_dictionaries({"tool_id": st.just("t")}, optional={"args": values, "action": values})
        | values,
        "match": st.dictionaries(st.text(max_size=3), values, max_size=2),
        "depends_on": st.lists(st.integers(-1, 4), max_size=2) | values,
        "must_mention": values,
        "result": values,
    },
)


dialogs = st.fixed_dictionaries(
    {"dialog": st.just("d"), "turns": st.lists(turns, max_size=4)}, optional={"tools": values, "recognise": values}
)


@given(dialogs)
def test_no_content_crashes_the_loader(content: dict[str, Any]) -> None:
    found = parse_dialog(json.dumps(content).encode(), "a.json")
    assert isinstance(found, tuple) or all(fault.message for fault in found)


def test_a_dialog_from_a_value_names_the_field_of_a_fault() -> None:
    with pytest.raises(DialogFaultsError, match=r"here:1: turns\[0\]\.turn_no: -1 is too small; at least 0"):
        dialog_from({"dialog": "d", "turns": [{"turn": "Agent", "turn_no": -1}]}, "here")
