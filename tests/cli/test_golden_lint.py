"""``aem-monitor golden lint``."""

import json
from pathlib import Path

import pytest

from aem_monitor.cli.main import main
from tests.cli.otlp import write_traces

Capture = pytest.CaptureFixture[str]

DIALOG = """\
dialog: cancel
review: {status: human}
tools:
  orders: {read_only: [Get]}
turns:
  - {turn: User, text: Cancel order A-1042}
  - turn_no: 1
    turn: Tool
    gold_turn: {tool_id: orders, action: Cancel, args: {order: A-1042}}
  - turn_no: 2
    turn: Agent
    gold_turn: {response: Order A-1042 is cancelled.}
    depends_on: [1]
"""


def write(folder: Path, text: str, name: str = "cancel.yaml") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_nothing_found_is_said_and_is_0(tmp_path: Path, capsys: Capture) -> None:
    assert main(["golden", "lint", write(tmp_path, DIALOG)]) == 0
    assert capsys.readouterr().out == "nothing found\n"


@pytest.mark.parametrize(("threshold", "code"), [("error", 0), ("warning", 1), ("hint", 1), ("never", 0)], ids=str)
def test_the_exit_code_follows_the_threshold(tmp_path: Path, threshold: str, code: int) -> None:
    path = write(tmp_path, DIALOG.replace("is cancelled", "is R-9"))
    text = Path(path).read_text().replace("order: A-1042}}", "order: A-1042}}\n    result: {status: gone}")
    Path(path).write_text(text)
    assert main(["golden", "lint", path, "--fail-on", threshold]) == code


def test_an_error_is_1_and_a_file_that_cannot_be_loaded_2(tmp_path: Path, capsys: Capture) -> None:
    path = write(tmp_path, DIALOG + "forbidden: [{tool_id: orders}]\n")
    assert main(["golden", "lint", path]) == 1
    assert f"{path}:7: error: turn 1 expects orders.Cancel" in capsys.readouterr().out
    assert main(["golden", "lint", path, "--fail-on", "never"]) == 0
    broken = write(tmp_path, "dialog: [", "broken.yaml")
    assert main(["golden", "lint", path, broken, "--fail-on", "never"]) == 2


def test_facts_are_looked_for_as_scoring_reads_them(tmp_path: Path, capsys: Capture) -> None:
    result = "\n    result: {refund: 1240000, at: 2026-11-30, by: Dana Reed}"
    said = (
        "About 1.24 million were paid on November 30th 2026 by Dana Reed for order A-1042. The first part is in R-99."
    )
    text = DIALOG.replace("order: A-1042}}", "order: A-1042}}" + result).replace(
        "Order A-1042 is cancelled.", f'"{said}"'
    )
    assert main(["golden", "lint", write(tmp_path, text)]) == 0
    out = capsys.readouterr().out
    assert out.count("unsupported-fact") == 1
    assert "turn 2 says R-99, which no golden result before it holds" in out


def test_an_id_that_is_compared_by_similarity_is_found(tmp_path: Path, capsys: Capture) -> None:
    text = DIALOG.replace("    gold_turn: {tool_id", "    match: {order: {text: true}}\n    gold_turn: {tool_id")
    assert main(["golden", "lint", write(tmp_path, text), "--fail-on", "warning"]) == 1
    assert "A-1042 is an identifier" in capsys.readouterr().out


def test_a_stale_day_is_seen_by_the_clock(tmp_path: Path, capsys: Capture) -> None:
    text = DIALOG.replace("Cancel order A-1042", "Cancel order A-1042 tomorrow") + "reference_date: 2019-03-01\n"
    assert main(["golden", "lint", write(tmp_path, text), "--fail-on", "hint"]) == 1
    assert "[stale-reference-date]" in capsys.readouterr().out


def test_first_messages_are_near_as_recognition_sees_them(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, DIALOG)
    other = DIALOG.replace("dialog: cancel", "dialog: other").replace("text: Cancel order", "text: Cancel my order")
    write(tmp_path, other, "other.yaml")
    main(["golden", "lint", str(tmp_path)])
    assert "[similar-first-message]" in capsys.readouterr().out


def test_annotations_for_github_have_file_line_and_code(tmp_path: Path, capsys: Capture) -> None:
    path = write(tmp_path, DIALOG + "forbidden: [{tool_id: orders}]\n")
    assert main(["golden", "lint", path, "--format", "github"]) == 1
    assert capsys.readouterr().out == (
        f"::error file={path},line=7,title=forbidden-but-expected"
        "::turn 1 expects orders.Cancel, which the dialog forbids\n"
    )


def recording(folder: Path, result: object) -> str:
    user, reply = "Cancel order A-1042", "Order A-1042 is cancelled."
    found = {"order": "A-1042", "status": "open"}
    calls = [("orders.Get", {"order": "A-1042"}, found), ("orders.Cancel", {"order": "A-1042"}, result)]
    return str(write_traces(folder / "runs.jsonl", one=[(user, calls, reply)]))


def test_a_golden_call_that_fails_in_its_own_recording_is_an_error(tmp_path: Path, capsys: Capture) -> None:
    traces = recording(tmp_path, "Error: order A-1042 has been shipped")
    assert main(["golden", "lint", write(tmp_path, DIALOG), "--recording", traces, "--json"]) == 1
    streams = capsys.readouterr()
    (finding,) = json.loads(streams.out)
    assert (finding["code"], finding["line"], finding["severity"]) == ("call-fails-in-recording", 7, "error")
    assert streams.err == "1 recorded run of these dialogs\n"


def test_a_golden_write_that_changes_nothing_in_its_own_recording_is_found(tmp_path: Path, capsys: Capture) -> None:
    traces = recording(tmp_path, {"order": "A-1042", "status": "open"})
    assert main(["golden", "lint", write(tmp_path, DIALOG), "--recording", traces]) == 0
    assert "[no-effect-in-recording]" in capsys.readouterr().out
    traces = recording(tmp_path, {"order": "A-1042", "status": "cancelled"})
    assert main(["golden", "lint", write(tmp_path, DIALOG), "--recording", traces]) == 0
    assert capsys.readouterr().out == "nothing found\n"


def test_the_recordings_of_cases_will_do(tmp_path: Path, capsys: Capture) -> None:
    recording(tmp_path, "Error: order A-1042 has been shipped")
    case = "{case: one, dialog: cancel, traces: [runs.jsonl], expect: {test_pass: null}}"
    cases = write(tmp_path, f"cases:\n  - {case}\n", "cancel.cases.yaml")
    dialog = write(tmp_path, DIALOG)
    assert main(["golden", "lint", dialog, "--recording", cases]) == 1
    assert "[call-fails-in-recording]" in capsys.readouterr().out
    write(tmp_path, "cases: []\n", "cancel.cases.yaml")
    assert main(["golden", "lint", dialog, "--recording", cases]) == 2
    assert f"{cases}: its cases name no traces" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "{", '{"resourceSpans": 1}', "no json"])
def test_a_recording_that_cannot_be_read_is_an_error(tmp_path: Path, capsys: Capture, content: str) -> None:
    path = tmp_path / "runs.json"
    path.write_text(content)
    dialog = write(tmp_path, DIALOG)
    assert main(["golden", "lint", dialog, "--recording", str(path)]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert str(path) in streams.err
    assert main(["golden", "lint", dialog, "--recording", str(tmp_path / "none")]) == 2


def test_facts_are_read_from_the_day_and_in_the_language_of_the_dialog(tmp_path: Path, capsys: Capture) -> None:
    result = "\n    result: {until: 2026-12-10}"
    given = DIALOG.replace("order: A-1042}}", "order: A-1042}}" + result)
    said = given.replace("Order A-1042 is cancelled.", "Order A-1042 is open until 10 December.")
    assert main(["golden", "lint", write(tmp_path, said + "reference_date: 2026-11-30\n", "a.yaml")]) == 0
    german = given.replace("Order A-1042 is cancelled.", "Der Auftrag ist bis zum 24.12. offen wie die Auskunft sagt.")
    assert main(["golden", "lint", write(tmp_path, german, "b.yaml")]) == 0
    assert "unsupported-fact" not in capsys.readouterr().out
