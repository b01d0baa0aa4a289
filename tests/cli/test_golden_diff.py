"""``aem-monitor golden diff``."""

import json
from pathlib import Path

import pytest

from aem_monitor.cli.main import main

Capture = pytest.CaptureFixture[str]

DIALOG = """\
dialog: sales
version: 3
turns:
  - {turn: User, text: How much did we sell in the EU?}
  - turn_no: 3
    turn: Tool
    gold_turn: {tool_id: reports, action: FilterData, args: {region: EU}}
    match: {region: {any_of: [Europe]}}
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return write(tmp_path / "old" / "sales.yaml", DIALOG)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_the_same_meaning_in_other_words_is_no_difference(old: Path, capsys: Capture) -> None:
    value = {
        "version": 3,
        "dialog": "sales",
        "review": {"status": "draft"},
        "turns": [
            {"text": "How much did we sell in the EU?", "turn": "User"},
            {
                "turn": "Tool",
                "turn_no": 3,
                "presence": "required",
                "match": {"region": {"any_of": ["Europe"]}},
                "gold_turn": {"action": "FilterData", "tool_id": "reports", "args": {"region": "EU"}},
            },
        ],
    }
    new = write(old.parent / "sales.json", json.dumps(value))
    assert main(["golden", "diff", str(old), str(new)]) == 0
    assert capsys.readouterr().out == ""


def test_a_change_is_told_with_its_place_and_what_it_does_to_verdicts(old: Path, capsys: Capture) -> None:
    new = write(
        old.parent.parent / "new.yaml", DIALOG.replace("[Europe]", "[Europe, EMEA]").replace(": 3\nt", ": 4\nt")
    )
    assert main(["golden", "diff", str(old), str(new)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f'{new}:8: looser: turn 3: region now also accepts "EMEA"',
        "sales, version 3 to 4: 1 looser",
    ]


def test_a_version_that_was_not_raised_is_an_error(old: Path, capsys: Capture) -> None:
    new = write(old.parent.parent / "new.yaml", DIALOG.replace("match:", "presence: optional\n    match:"))
    assert main(["golden", "diff", str(old), str(new)]) == 1
    out = capsys.readouterr().out
    assert f"{new}:2: error: verdicts change, but the version is still 3; raise it to 4\n" in out


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (4, "note: the version was raised from 3 to 4, though no verdict changes"),
        (2, "error: the version went back from 3 to 2; raise it to 4"),
    ],
)
def test_a_version_alone_is_a_difference(old: Path, capsys: Capture, version: int, message: str) -> None:
    new = write(old.parent.parent / "new.yaml", DIALOG.replace("version: 3", f"version: {version}"))
    assert main(["golden", "diff", str(old), str(new)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{new}:2: {message}",
        f"sales, version 3 to {version}: nothing else",
    ]


def test_folders_are_paired_by_name(old: Path, capsys: Capture) -> None:
    new = old.parent.parent / "new"
    write(new / "renamed.yaml", DIALOG)
    write(new / "more.yaml", "dialog: more\nturns: []\n")
    write(old.parent / "gone.yaml", "dialog: gone\nturns: []\n")
    assert main(["golden", "diff", str(old.parent), str(new)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{new}/more.yaml:1: added: dialog more",
        f"{old.parent}/gone.yaml:1: removed: dialog gone",
    ]


def test_json_has_each_change_with_its_effect(old: Path, capsys: Capture) -> None:
    new = write(old.parent.parent / "new.yaml", DIALOG.replace("    match: {region: {any_of: [Europe]}}\n", ""))
    assert main(["golden", "diff", "--format", "json", str(old), str(new)]) == 1
    assert json.loads(capsys.readouterr().out) == [
        {
            "dialog": "sales",
            "status": "changed",
            "old_version": 3,
            "new_version": 3,
            "verdicts_change": True,
            "version_fault": "not_raised",
            "version_message": "verdicts change, but the version is still 3; raise it to 4",
            "changes": [
                {
                    "effect": "stricter",
                    "message": 'turn 3: region no longer accepts "Europe"',
                    "file": str(new),
                    "line": 7,
                }
            ],
        }
    ]


def test_what_was_removed_is_placed_in_the_old_file(old: Path, capsys: Capture) -> None:
    new = write(old.parent.parent / "new.yaml", DIALOG.split("  - turn_no", maxsplit=1)[0])
    assert main(["golden", "diff", str(old), str(new)]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(f"{old}:5: different: turn 3, the call reports.FilterData")


@pytest.mark.parametrize("text", ["dialog: sales\nturnz: []\n", "", "dialog: ["])
def test_a_file_that_cannot_be_used_is_an_error(old: Path, capsys: Capture, text: str) -> None:
    new = write(old.parent.parent / "new.yaml", text)
    assert main(["golden", "diff", str(old), str(new)]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert f"{new}:" in streams.err


def test_a_path_that_is_not_there_is_an_error(old: Path, capsys: Capture) -> None:
    assert main(["golden", "diff", str(old), str(old.parent / "none.yaml")]) == 2
    assert "none.yaml: no such file or folder" in capsys.readouterr().err
