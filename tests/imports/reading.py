"""Imported dialogs, read back from the files that they would be."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aem_monitor.golden.dialog import Dialog, ToolTurn
from aem_monitor.golden.load import parse_dialog
from aem_monitor.golden.write import write_yaml
from aem_monitor.imports.base import Imported
from aem_monitor.imports.formats import FORMATS

DATA = Path(__file__).parent / "data"


def read(name: str, *files: Path) -> list[Imported]:
    """All that a format finds in files."""
    return list(FORMATS[name](files))


def loaded(one: Imported) -> tuple[Dialog, str]:
    """The dialog and its file's text; it has to load."""
    assert one.sheet is not None, one.problem
    text = write_yaml(one.sheet.value(), one.sheet.comments())
    parsed = parse_dialog(text.encode(), "x.yaml")
    assert isinstance(parsed, tuple), parsed
    return parsed[0], text


def imported(name: str, *files: Path) -> dict[str, tuple[Dialog, str]]:
    """The dialogs and texts by name."""
    return {one.name: loaded(one) for one in read(name, *files)}


def tools(dialog: Dialog) -> list[ToolTurn]:
    """The Tool turns."""
    return [turn for turn in dialog.scored_turns if isinstance(turn, ToolTurn)]


def args(turns: Sequence[ToolTurn]) -> list[Any]:
    """The arguments of turns."""
    return [turn.args for turn in turns]
