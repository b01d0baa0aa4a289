"""``aem-monitor golden``."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from aem_monitor.cli.main import main
from aem_monitor.golden.cases import is_case_file
from aem_monitor.yamlfile import read_yaml

Capture = pytest.CaptureFixture[str]

EXAMPLES = Path(__file__).parents[2] / "aem_monitor" / "examples" / "golden"


def test_lint_passes_the_examples(capsys: Capture) -> None:
    assert main(["golden", "lint", str(EXAMPLES)]) == 0
    assert "error" not in capsys.readouterr().out


def test_lint_exits_2_where_a_dialog_cannot_be_used(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text("dialog: x\nversion: 1\nturnz: []\n")
    assert main(["golden", "lint", str(path)]) == 2
    assert f"{path}:3: error: turnz: unknown key" in capsys.readouterr().out


def test_lint_findings_as_json_have_file_line_and_code(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text("dialog: x\nversion: 1\nturnz: []\n")
    assert main(["golden", "lint", "--json", str(path)]) == 2
    findings = json.loads(capsys.readouterr().out)
    assert {"invalid"} == {finding["code"] for finding in findings}
    assert all(finding["file"] == str(path) and finding["line"] >= 1 for finding in findings)


def test_lint_knows_a_mention_in_any_equivalent_form(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "time.yaml"
    path.write_text(
        "dialog: time\nversion: 1\nreview: {status: human}\nturns:\n"
        "  - {turn: User, text: When do we meet?}\n"
        "  - turn_no: 1\n    turn: Agent\n    gold_turn: {response: At half past 7 in the evening.}\n"
        "    must_mention: ['7:30 pm', '8:15 pm']\n"
    )
    main(["golden", "lint", str(path)])
    out = capsys.readouterr().out
    assert "8:15 pm" in out
    assert "7:30 pm" not in out


def test_lint_names_a_path_that_is_not_there(tmp_path: Path, capsys: Capture) -> None:
    assert main(["golden", "lint", str(tmp_path / "none")]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert "none: no such file or folder" in streams.err


def test_the_schema_accepts_the_examples(capsys: Capture) -> None:
    assert main(["golden", "schema"]) == 0
    validator = Draft202012Validator(json.loads(capsys.readouterr().out))
    for path in EXAMPLES.glob("*.yaml"):
        if is_case_file(path.name):
            continue
        assert list(validator.iter_errors(read_yaml(path).value)) == []
