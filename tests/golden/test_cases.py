"""Regression cases: files of expected verdicts."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.errors import DocumentError
from aem_monitor.golden.cases import Case, beside, read_cases, with_case, write_cases
from aem_monitor.golden.load import DialogFaultsError, load_dialogs
from aem_monitor.model.verdict import FailureReason, NotScored
from tests.golden.regenerate import CASE_MESSAGES, bad_case_files, case_messages_of

EXPECTED: dict[str, list[str]] = yaml.safe_load(CASE_MESSAGES.read_text(encoding="utf-8"))


def case(name: str = "one", **more: Any) -> Case:
    return Case.model_validate({"case": name, "dialog": "d", "expect": {"test_pass": True}, **more})


@pytest.mark.parametrize("path", bad_case_files(), ids=lambda path: path.name)
def test_a_bad_case_file_is_refused_with_line_key_and_what_to_do(path: Path) -> None:
    assert case_messages_of(path) == EXPECTED[path.name]
    assert EXPECTED[path.name]


def test_every_expected_message_has_its_file() -> None:
    assert set(EXPECTED) == {path.name for path in bad_case_files()}


def test_a_file_of_another_name_is_no_case_file(tmp_path: Path) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text("cases: []\n")
    with pytest.raises(DocumentError, match=r"is no case file; its name ends in \.cases\.yaml"):
        read_cases(path)


def test_a_case_is_read_with_its_expectation_and_traces_beside_its_file(tmp_path: Path) -> None:
    path = tmp_path / "sales.cases.yaml"
    path.write_text(
        "cases:\n"
        "  - case: profit\n"
        "    dialog: sales-report\n"
        "    version: 3\n"
        "    traces: [recordings/profit.jsonl]\n"
        "    conversation: c-7\n"
        "    expect:\n"
        "      test_pass: false\n"
        "      roots: [{turn: 2, reason: inconsistent_parameter_values, fields: [metric]}]\n"
        "      cascades: [3, 4]\n"
        "      not_scored: [{turn: 5, cause: tool_error}]\n"
    )
    found = read_cases(path)
    (profit,) = found.cases
    assert found.traces_of(profit) == (tmp_path / "recordings" / "profit.jsonl",)
    assert found.where(0, "expect", "roots") == f"{path}:9"
    assert (profit.conversation, profit.play, profit.version) == ("c-7", 1, 3)
    assert profit.expect.roots[0].reason is FailureReason.INCONSISTENT_PARAMETER_VALUES
    assert profit.expect.not_scored[0].cause is NotScored.TOOL_ERROR
    assert profit.expect.cascades == (3, 4)


def test_an_expected_null_is_stated_and_a_missing_key_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.cases.yaml"
    path.write_text("cases:\n  - {case: one, dialog: d, expect: {test_pass: null}}\n")
    assert read_cases(path).cases[0].expect.model_fields_set == {"test_pass"}


@pytest.mark.parametrize("name", ["a.cases.yaml", "a.cases.json"])
def test_what_is_written_reads_back_and_states_no_more(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    cases = (
        case("no: 1", traces=["x.jsonl"], conversation="007", note="why\nso"),
        case(
            "two", expect={"roots": [{"call": "orders.Delete", "reason": "tool_mismatch", "detail": "forbidden_call"}]}
        ),
    )
    write_cases(path, cases)
    again = read_cases(path).cases
    assert again == cases
    assert [one.expect.model_fields_set for one in again] == [{"test_pass"}, {"roots"}]
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@given(st.lists(st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=20), unique=True, max_size=4))
def test_cases_of_any_name_survive_a_file(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    path = tmp_path_factory.mktemp("cases") / "a.cases.yaml"
    cases = tuple(case(name, conversation=name) for name in names)
    write_cases(path, cases)
    assert read_cases(path).cases == cases


def test_a_link_to_a_case_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    link = tmp_path / "a.cases.yaml"
    link.symlink_to(Path("kept") / "real.cases.yaml")
    write_cases(link, (case(),))
    assert link.is_symlink()
    assert read_cases(tmp_path / "kept" / "real.cases.yaml").cases == (case(),)


def test_a_case_replaces_the_one_of_its_name_in_its_place() -> None:
    cases = (case("one"), case("two"))
    changed = case("one", note="new")
    assert with_case(cases, changed) == (changed, case("two"))
    assert with_case(cases, case("three")) == (*cases, case("three"))


def test_cases_lie_beside_the_dialog_and_are_no_dialogs(tmp_path: Path) -> None:
    dialog = tmp_path / "sales.yaml"
    dialog.write_text("dialog: sales\nturns: []\n")
    cases = beside(dialog)
    write_cases(cases, (case(),))
    (tmp_path / "more.cases.json").write_text("{}")
    assert [found.name for found in load_dialogs([tmp_path])] == ["sales"]
    with pytest.raises(DialogFaultsError, match="holds cases for `aem-monitor golden test`"):
        load_dialogs([cases])
