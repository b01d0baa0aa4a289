"""``aem-monitor golden import``."""

from pathlib import Path

import pytest

from aem_monitor.cli.main import main
from aem_monitor.examples import example_dialogs
from aem_monitor.golden.load import load_dialogs

Capture = pytest.CaptureFixture[str]

DATA = Path(__file__).parents[1] / "imports" / "data"
TASKS = str(DATA / "retail" / "tasks_test.txt")


def test_dialogs_go_to_a_folder_and_lint(tmp_path: Path, capsys: Capture) -> None:
    assert main(["golden", "import", "tau-bench", TASKS, "-o", str(tmp_path / "golden")]) == 0
    assert "3 dialogs imported, 0 left out" in capsys.readouterr().err
    assert len(load_dialogs([tmp_path / "golden"])) == 3
    assert main(["golden", "lint", str(tmp_path / "golden")]) == 0


def test_one_dialog_goes_to_standard_output_and_several_do_not(capsys: Capture) -> None:
    assert main(["golden", "import", "tau-bench", TASKS]) == 2
    assert "3 dialogs; give a folder with -o" in capsys.readouterr().err
    annotated = example_dialogs().parent / "annotated" / "sales-report.json"
    assert main(["golden", "import", "annotated", str(annotated)]) == 0
    assert "dialog: sales-report\n" in capsys.readouterr().out


def test_files_that_are_there_are_not_replaced_without_force(tmp_path: Path, capsys: Capture) -> None:
    command = ["golden", "import", "tau-bench", TASKS, "-o", str(tmp_path)]
    assert main(command) == 0
    assert main(command) == 2
    assert "is there already; --force replaces it" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0


def test_what_is_left_out_is_named_with_its_reason(tmp_path: Path, capsys: Capture) -> None:
    files = [str(DATA / "BFCL_v4_multi_turn_base.json"), str(DATA / "possible_answer.json")]
    assert main(["golden", "import", "bfcl", *files, "-o", str(tmp_path)]) == 0
    err = capsys.readouterr().err
    assert "left out: multi_turn_base_0: sort('final_report.pdf'): a positional argument" in err
    assert "1 dialogs imported, 1 left out" in err


def test_what_of_a_case_has_no_place_in_a_dialog_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(DATA / "adk" / "dice_and_tickets.evalset.json")
    assert main(["golden", "import", "adk", file, "-o", str(tmp_path)]) == 0
    err = capsys.readouterr().err
    assert "adk-dice_and_tickets-roll_and_book: not imported: the session's state at the end" in err
    assert "3 dialogs imported, 0 left out; 3 of them in part, as said above" in err


def test_cases_of_one_name_become_dialogs_of_two(tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    file.write_text('[{"name": "Ä", "input": "One"}, {"name": "Ä", "input": "Two"}, {"name": "Ö", "input": "Three"}]')
    assert main(["golden", "import", "strands-evals", str(file), "-o", str(tmp_path / "golden")]) == 0
    dialogs = load_dialogs([tmp_path / "golden"])
    assert sorted(dialog.first_user[0] for dialog in dialogs) == ["One", "Three", "Two"]
