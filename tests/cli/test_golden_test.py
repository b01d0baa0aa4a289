"""``aem-monitor golden test``."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from aem_monitor.cli.main import main
from aem_monitor.golden.cases import read_cases
from tests.cli.otlp import Said, write_traces

Capture = pytest.CaptureFixture[str]

DIALOG = """\
dialog: sales
version: 3
review: {status: human}
tools:
  reports: {read_only: [FilterData]}
turns:
  - {turn: User, text: How much did we sell in the EU?}
  - turn_no: 1
    turn: Tool
    gold_turn: {tool_id: reports, action: FilterData, args: {metric: revenue}}
    result: {total: 1240000}
  - turn_no: 2
    turn: Agent
    gold_turn: {response: EU revenue was 1.24 million.}
    depends_on: [1]
"""


def said(metric: str, total: int) -> Said:
    reply = f"EU {metric} was {total / 1e6:.2f} million."
    return "How much did we sell in the EU?", [("reports.FilterData", {"metric": metric}, {"total": total})], reply


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A folder with one dialog; beside it recordings of a run that is right and one that is wrong."""
    folder = tmp_path / "golden"
    folder.mkdir()
    (folder / "sales.yaml").write_text(DIALOG)
    write_traces(tmp_path / "traces.jsonl", right=[said("revenue", 1240000)], wrong=[said("profit", 310000)])
    return folder


def traces(golden: Path) -> str:
    return str(golden.parent / "traces.jsonl")


def write_case(golden: Path, expect: str, conversation: str = "wrong", name: str = "sales.cases.yaml") -> Path:
    path = golden / name
    path.write_text(
        f"cases:\n  - case: profit\n    dialog: sales\n    version: 2\n    traces: [../traces.jsonl]\n"
        f"    conversation: {conversation}\n    expect: {expect}\n"
    )
    return path


ROOT = "roots: [{turn: 1, reason: inconsistent_parameter_values, fields: [metric]}]"


def test_cases_beside_the_dialogs_are_tried_and_met(golden: Path, capsys: Capture) -> None:
    write_case(golden, f"{{test_pass: false, {ROOT}, cascades: [2]}}")
    assert main(["golden", "test", str(golden)]) == 0
    assert capsys.readouterr().out == "1 case, all as expected\n"
    assert main(["golden", "test", str(golden / "sales.yaml")]) == 0
    assert main(["golden", "test", str(golden / "sales.cases.yaml")]) == 0


def test_a_verdict_that_differs_is_told_with_its_place_and_what_broke(golden: Path, capsys: Capture) -> None:
    path = write_case(golden, "{test_pass: true, roots: [], cascades: [1]}")
    assert main(["golden", "test", str(golden)]) == 1
    first = "reports.FilterData(metric) expected revenue, got profit; 1 later turn only inherited it."
    assert capsys.readouterr().out.splitlines() == [
        f"{path}:2: profit (sales, conversation wrong)",
        "    test_pass: expected true, got false",
        "    turn 1: expected cascade, got root cause inconsistent_parameter_values in metric",
        "    turn 2: expected no cascade, got cascade of turn 1",
        f"    Release 1.0.0 broke first in turn 1 of sales: {first}",
        "    recorded with version 2 of sales, which is now 3",
        "1 case, 1 not as expected",
    ]


def test_runs_that_no_case_is_about_have_to_pass(golden: Path, capsys: Capture) -> None:
    assert main(["golden", "test", str(golden), traces(golden)]) == 1
    out = capsys.readouterr().out
    assert "no case: wrong (sales, conversation wrong)\n    test_pass: expected true, got false" in out
    assert out.endswith("2 cases, 1 not as expected\n")
    write_case(golden, "{test_pass: false}")
    assert main(["golden", "test", str(golden), traces(golden)]) == 0


def test_recording_writes_cases_that_then_hold_and_says_what_changed(golden: Path, capsys: Capture) -> None:
    path = write_case(golden, "{test_pass: true}")
    path.write_text("# why we test\n" + path.read_text())
    assert main(["golden", "test", str(golden), traces(golden), "--record"]) == 0
    streams = capsys.readouterr()
    assert streams.out == "2 cases, 2 recorded, all as expected\n"
    assert "recorded profit: test_pass: expected true, got false\nrecorded right: new\n" in streams.err
    assert path.read_text().startswith("# why we test\ncases:\n")
    profit, right = read_cases(path).cases
    assert (profit.version, profit.expect.model_dump(exclude_unset=True)) == (3, {"test_pass": False})
    assert (right.traces, right.conversation, right.expect.roots) == (("../traces.jsonl",), "right", ())
    before = path.read_text()
    assert main(["golden", "test", str(golden), "--record"]) == 0
    assert path.read_text() == before
    assert main(["golden", "test", str(golden)]) == 0


def test_recording_does_not_settle_a_case_whose_run_is_not_there(golden: Path, capsys: Capture) -> None:
    path = write_case(golden, "{test_pass: false}", conversation="lost")
    before = path.read_text()
    assert main(["golden", "test", str(golden), "--record"]) == 1
    assert "conversation: expected lost, got right, wrong" in capsys.readouterr().out
    assert path.read_text() == before


def test_each_recorded_run_names_the_file_that_holds_it(golden: Path) -> None:
    other = write_traces(golden.parent / "more" / "b.jsonl", third=[said("revenue", 1240000)])
    again = other.read_text().replace(f"{1:032x}", f"{9:032x}")
    other.write_text(again)
    assert main(["golden", "test", str(golden), traces(golden), str(other.parent), "--record"]) == 0
    held = {case.conversation: case.traces for case in read_cases(golden / "sales.cases.yaml").cases}
    assert held == {"right": ("../traces.jsonl",), "wrong": ("../traces.jsonl",), "third": ("../more",)}


def test_json_has_one_object_a_case(golden: Path, capsys: Capture) -> None:
    path = write_case(golden, "{cascades: []}")
    assert main(["golden", "test", str(golden), "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out) == [
        {
            "case": "profit",
            "file": str(path),
            "line": 2,
            "dialog": "sales",
            "conversation": "wrong",
            "play": 1,
            "as_expected": False,
            "recorded": False,
            "differences": [{"where": "turn 2", "expected": "no cascade", "got": "cascade of turn 1"}],
            "remark": "recorded with version 2 of sales, which is now 3",
        }
    ]


def test_junit_xml_is_written_beside_the_text(golden: Path, capsys: Capture) -> None:
    write_case(golden, "{test_pass: true}")
    out = golden.parent / "junit.xml"
    assert main(["golden", "test", str(golden), traces(golden), "--junit-xml", str(out)]) == 1
    assert capsys.readouterr().out.endswith("2 cases, 1 not as expected\n")
    root = ET.parse(out).getroot()
    (suite,) = root
    assert (root.attrib["tests"], suite.attrib["name"], suite.attrib["failures"]) == ("2", "sales", "1")
    failed, passed = suite
    assert (failed.attrib["name"], failed.attrib["line"]) == ("profit", "2")
    assert failed[0].attrib["message"] == "test_pass: expected true, got false"
    assert "broke first in turn 1" in str(failed[0].text)
    assert len(passed) == 0


def test_junit_xml_of_a_conversation_with_control_characters_is_xml(golden: Path) -> None:
    path = write_traces(golden.parent / "odd.jsonl", odd=[said("profit", 1)])
    path.write_text(path.read_text().replace('"odd"', '"a\\u0001\\u001bb"'))
    out = golden.parent / "junit.xml"
    assert main(["golden", "test", str(golden), str(path), "--junit-xml", str(out)]) == 1
    assert ET.parse(out).getroot()[0][0].attrib["name"] == "a??b"


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("cases:\n  - {case: one, dialog: other, expect: {test_pass: true}}\n", "other is none of the golden dialogs"),
        ("cases:\n  - {case: one, dialog: sales, expect: {test_pass: true}}\n", "names no traces, and none are given"),
        (
            "cases:\n  - {case: one, dialog: sales, traces: [gone.jsonl], expect: {test_pass: true}}\n",
            "gone.jsonl: no such file or folder",
        ),
        ("cases: []\n", "nothing to test"),
        ("cases: [", "not valid YAML"),
    ],
)
def test_what_cannot_be_tried_is_an_error_and_not_a_difference(
    golden: Path, capsys: Capture, case: str, message: str
) -> None:
    (golden / "sales.cases.yaml").write_text(case)
    assert main(["golden", "test", str(golden)]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert message in streams.err


def test_a_dialog_that_cannot_be_loaded_is_an_error(golden: Path, capsys: Capture) -> None:
    (golden / "broken.yaml").write_text("dialog: broken\nturnz: []\n")
    assert main(["golden", "test", str(golden), traces(golden)]) == 2
    assert "broken.yaml:2: turnz: unknown key" in capsys.readouterr().err


def test_a_path_that_is_not_there_is_an_error(golden: Path, capsys: Capture) -> None:
    assert main(["golden", "test", str(golden), str(golden / "none.jsonl")]) == 2
    assert "none.jsonl: no such file or folder" in capsys.readouterr().err


def test_dialogs_and_their_cases_may_be_those_of_the_configuration(golden: Path, capsys: Capture) -> None:
    config = golden.parent / "aem-monitor.yaml"
    config.write_text(f"golden: {{paths: [{golden}]}}\n")
    write_case(golden, "{test_pass: false}")
    assert main(["golden", "test", "--config", str(config), traces(golden)]) == 0
    assert capsys.readouterr().out == "2 cases, all as expected\n"


def test_xml_that_cannot_be_written_costs_the_exit_code_and_not_the_outcome(golden: Path, capsys: Capture) -> None:
    write_case(golden, "{test_pass: false}")
    assert main(["golden", "test", str(golden), "--junit-xml", str(golden / "none" / "junit.xml")]) == 2
    streams = capsys.readouterr()
    assert streams.out == "1 case, all as expected\n"
    assert "junit.xml: cannot be written: No such file or directory" in streams.err


def test_cases_that_cannot_be_written_are_an_error(
    golden: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_case(golden, "{test_pass: true}")

    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert main(["golden", "test", str(golden), "--record"]) == 2
    assert f"{path}: cannot be written: No space left on device" in capsys.readouterr().err


def test_a_json_file_is_known_by_what_is_in_it(golden: Path, capsys: Capture) -> None:
    first = Path(traces(golden)).read_text().splitlines()[0]
    (golden.parent / "right.json").write_text(first)
    assert main(["golden", "test", str(golden), str(golden.parent / "right.json")]) == 0
    assert capsys.readouterr().out == "1 case, all as expected\n"
