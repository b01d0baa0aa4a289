"""Dialogs of formats that hold what users, agents and tools said: drafted like recordings, with references."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from aem_monitor.bootstrap.definitions import ToolDefinition
from aem_monitor.bootstrap.draft import Drafter
from aem_monitor.bootstrap.recorded import RecordedExchange, Recording
from aem_monitor.bootstrap.sheet import Sheet
from aem_monitor.scoring.scorers import Scorer

_NO_DAY: Final = date(2000, 1, 1)
"""Such formats have no day; the field is taken out of the draft again."""


def drafted_sheet(
    name: str,
    note: str,
    exchanges: Sequence[RecordedExchange],
    scorer: Scorer,
    definitions: Mapping[str, ToolDefinition] | None = None,
    remarks: Sequence[str] = (),
) -> Sheet:
    """The draft of one dialog; tools keep their whole names. ``remarks`` stand at its head."""
    recording = Recording(name, _NO_DAY, None, None, tuple(exchanges))
    sheet, _ = Drafter([recording], definitions or {}, lambda tool: (tool, None), scorer, name, note).sheet()
    sheet.top.pop("reference_date", None)
    sheet.notes.pop(("reference_date",), None)
    sheet.notes.setdefault((), []).extend(remarks)
    return sheet
