"""``aem-monitor golden bootstrap``: what it writes where, and what it adds to a dialog that is there."""

from pathlib import Path

import pytest

from aem_monitor.cli.main import main
from aem_monitor.golden.load import load_dialogs
from aem_monitor.yamlfile import read_yaml

Capture = pytest.CaptureFixture[str]

ROOT = Path(__file__).parents[2]
TRACES = ROOT / "tests" / "data" / "traces"
DEMO = ROOT / "aem_monitor" / "examples" / "traces" / "2026.11.1"
REFUND = TRACES / "strands" / "genai-batches-refund.jsonl"


def draft(tmp_path: Path, *arguments: object) -> Path:
    path = tmp_path / "draft.yaml"
    assert main(["golden", "bootstrap", *map(str, arguments), "-o", str(path)]) == 0
    return path


def test_a_draft_goes_to_standard_output_and_what_is_said_about_it_does_not(capsys: Capture) -> None:
    assert main(["golden", "bootstrap", str(REFUND), "--name", "refund"]) == 0
    streams = capsys.readouterr()
    assert streams.out.startswith("# Draft: ")
    assert "dialog: refund\n" in streams.out
    assert "refund: drafted from 1 conversation" in streams.err


def test_a_draft_lints_and_scores_the_run_that_it_was_drafted_from_as_passing(tmp_path: Path, capsys: Capture) -> None:
    path = draft(tmp_path, REFUND)
    assert main(["golden", "lint", str(path)]) == 0
    assert main(["replay", "--golden", str(path), "--verdicts", str(REFUND)]) == 0
    assert '"test_pass":true' in capsys.readouterr().out


def test_conversations_with_several_scripts_need_a_choice_or_a_folder(tmp_path: Path, capsys: Capture) -> None:
    assert main(["golden", "bootstrap", str(DEMO)]) == 2
    assert 'canary-quarter-1, canary-quarter-2: "Create a sales report for Q3 2024."' in capsys.readouterr().err
    assert main(["golden", "bootstrap", str(DEMO), "-o", str(tmp_path)]) == 0
    assert {"quarterly-sales", "sales-report", "refund-damaged-order"} <= set(load_dialogs([tmp_path]).by_name)
    capsys.readouterr()
    assert main(["golden", "bootstrap", str(DEMO), "--conversation", "canary-sales-1"]) == 0
    assert "dialog: sales-report\n" in capsys.readouterr().out


def test_a_conversation_that_is_not_there_is_named_with_those_that_are(capsys: Capture) -> None:
    assert main(["golden", "bootstrap", str(REFUND), "--conversation", "none"]) == 2
    assert "no conversation none in these files; there is sess-batch-refund" in capsys.readouterr().err


def test_a_file_that_is_there_is_not_replaced_without_force(tmp_path: Path, capsys: Capture) -> None:
    path = draft(tmp_path, REFUND)
    assert main(["golden", "bootstrap", str(REFUND), "-o", str(path)]) == 2
    assert "is there already; --force replaces it" in capsys.readouterr().err
    assert main(["golden", "bootstrap", str(REFUND), "-o", str(path), "--force"]) == 0


def test_more_recordings_are_added_to_a_draft_in_its_place(tmp_path: Path) -> None:
    path = draft(tmp_path, DEMO, "--conversation", "canary-sales-1")
    assert "any_of" not in path.read_text()
    assert main(["golden", "bootstrap", str(DEMO), "--conversation", "canary-sales-2", "--into", str(path)]) == 0
    text = path.read_text()
    assert "any_of" in text
    assert text.count("report: ${2.result.report}") == 2
    (dialog,) = load_dialogs([path])
    assert dialog.version == 1
    assert main(["golden", "lint", str(path)]) == 0


def test_a_reviewed_dialog_stays_and_the_draft_is_written_beside_it(tmp_path: Path, capsys: Capture) -> None:
    path = draft(tmp_path, DEMO, "--conversation", "canary-sales-1")
    reviewed = path.read_text().replace("status: draft", "status: human")
    path.write_text(reviewed)
    assert main(["golden", "bootstrap", str(DEMO), "--conversation", "canary-sales-2", "--into", str(path)]) == 0
    assert path.read_text() == reviewed
    assert f"{path} is reviewed and stays as it is; --force replaces it" in capsys.readouterr().err
    (dialog,) = load_dialogs([tmp_path / "draft.draft.yaml"])
    assert (dialog.draft, dialog.version) == (True, 2)
    assert (
        main(["golden", "bootstrap", str(DEMO), "--conversation", "canary-sales-2", "--into", str(path), "--force"])
        == 0
    )
    assert load_dialogs([path]).by_name["sales-report"].draft


def test_what_an_author_wrote_stays_when_recordings_are_added(tmp_path: Path) -> None:
    path = tmp_path / "quarterly-sales.yaml"
    path.write_text((ROOT / "aem_monitor" / "examples" / "golden" / "quarterly-sales.yaml").read_text())
    before = read_yaml(path).value
    arguments = [str(DEMO), "--conversation", "canary-quarter-1", "--conversation", "canary-quarter-2"]
    assert main(["golden", "bootstrap", *arguments, "--into", str(path), "-o", str(tmp_path / "new.yaml")]) == 0
    after = read_yaml(tmp_path / "new.yaml").value
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert after["tools"] == before["tools"]
    assert [turn.get("gold_turn", {}).get("response") for turn in after["turns"]] == [
        turn.get("gold_turn", {}).get("response") for turn in before["turns"]
    ]
    assert "reference_date" not in after
    assert [turn.get("presence") for turn in after["turns"]] == [turn.get("presence") for turn in before["turns"]]


def test_recordings_of_another_script_are_not_added(tmp_path: Path, capsys: Capture) -> None:
    path = draft(tmp_path, DEMO, "--conversation", "canary-sales-1")
    assert main(["golden", "bootstrap", str(REFUND), "--into", str(path)]) == 2
    assert "in none of 1 conversations does the user say what dialog sales-report says" in capsys.readouterr().err


def test_without_message_contents_there_is_nothing_to_draft_from(capsys: Capture) -> None:
    assert main(["golden", "bootstrap", str(TRACES / "pydantic-ai" / "nocontent-refund.json")]) == 2
    assert "the user's message of exchange 1 was not captured" in capsys.readouterr().err


def test_a_json_dialog_stays_json(tmp_path: Path) -> None:
    path = tmp_path / "refund.json"
    assert main(["golden", "bootstrap", str(REFUND), "-o", str(path)]) == 0
    assert load_dialogs([path])


def test_recordings_change_only_their_own_lines_of_an_authors_file(tmp_path: Path) -> None:
    path = tmp_path / "sales.yaml"
    written = (ROOT / "aem_monitor" / "examples" / "golden" / "sales-report.yaml").read_text()
    path.write_text(written.replace("turns:\n", "# What is said, and what has to happen.\nturns:\n", 1))
    arguments = [str(DEMO), "--conversation", "canary-sales-1", "--conversation", "canary-sales-2"]
    assert main(["golden", "bootstrap", *arguments, "--into", str(path), "-o", str(tmp_path / "new.yaml")]) == 0
    before, after = path.read_text().splitlines(), (tmp_path / "new.yaml").read_text().splitlines()
    gone = [line for line in before if line not in after]
    assert [line.split(":")[0].strip() for line in gone] == ["version", "status", "note"]
    assert "# What is said, and what has to happen." in after
    assert [line for line in after if "turn_no" in line] == [line for line in before if "turn_no" in line]


def test_tools_of_other_agents_in_the_same_files_are_not_proposed(tmp_path: Path) -> None:
    path = draft(tmp_path, DEMO, "--conversation", "canary-sales-1")
    alone = draft(tmp_path, DEMO / "sales-report.jsonl.gz", "--conversation", "canary-sales-1", "--force")
    assert path.read_text() == alone.read_text()
    assert "search_flights" not in path.read_text()


def test_the_same_recordings_once_more_change_nothing(tmp_path: Path) -> None:
    path = draft(tmp_path, DEMO, "--conversation", "canary-sales-1")
    arguments = ["golden", "bootstrap", str(DEMO), "--conversation", "canary-sales-2", "--into", str(path)]
    assert main(arguments) == 0
    once = path.read_text()
    assert main(arguments) == 0
    assert path.read_text() == once
