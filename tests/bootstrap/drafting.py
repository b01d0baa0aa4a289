"""Drafts of conversations in few lines, and what they make of conversations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aem_monitor.assembly import AssemblySettings
from aem_monitor.attribution.steps import Judge
from aem_monitor.bootstrap.check import Checked, judged
from aem_monitor.bootstrap.definitions import ToolDefinition
from aem_monitor.bootstrap.draft import Drafter
from aem_monitor.bootstrap.existing import Existing
from aem_monitor.bootstrap.recorded import Recording, recording_of
from aem_monitor.bootstrap.sheet import Sheet
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.lint import lint
from aem_monitor.golden.load import Dialogs, parse_dialog
from aem_monitor.golden.write import write_yaml
from aem_monitor.model.conversation import Exchange
from aem_monitor.model.verdict import RunResult
from tests.playing import SCORER, conversation


def recorded(*exchanges: Exchange, key: str = "c") -> Recording:
    return recording_of(replace(conversation(*exchanges), key=key, conversation_id=key))


def drafted(
    *recordings: Recording,
    definitions: Mapping[str, ToolDefinition] | None = None,
    existing: Existing | None = None,
) -> tuple[Sheet, Checked]:
    drafter = Drafter(
        recordings, definitions or {}, AssemblySettings().split_tool, SCORER, "d", "drafted from c", existing
    )
    return drafter.draft(Judge(SCORER))


def text_of(sheet: Sheet) -> str:
    return write_yaml(sheet.value(), sheet.comments())


def loaded(sheet: Sheet) -> Dialog:
    """The dialog as read back from its file; it must lint without an error."""
    found = parse_dialog(text_of(sheet).encode(), "draft.yaml")
    assert isinstance(found, tuple), found
    dialog, source = found
    errors = [
        str(one) for one in lint(Dialogs({dialog.name: dialog}, {dialog.name: source})) if one.severity == "error"
    ]
    assert errors == []
    return dialog


def result_of(dialog: Dialog, recording: Recording) -> RunResult:
    (result,) = judged(dialog, recording, Judge(SCORER))
    return result


def passes(dialog: Dialog, *recordings: Recording) -> list[bool | None]:
    return [result_of(dialog, recording).test_pass for recording in recordings]


def turn(sheet: Sheet, number: int) -> dict[str, Any]:
    return sheet.numbered()[number].form


def notes(sheet: Sheet, number: int) -> str:
    """All that is said about a turn and its parts."""
    found = sheet.numbered()[number]
    return " | ".join([*found.remarks, *(line for lines in found.notes.values() for line in lines)])


def values(turns: Sequence[Mapping[str, Any]], key: str) -> list[Any]:
    return [one.get(key) for one in turns]
