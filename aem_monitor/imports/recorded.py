"""Dialogs of formats that hold what users, agents and tools said: drafted like recordings, with references."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from aem_monitor.bootstrap.definitions import ToolDefinition
from aem_monitor.bootstrap.draft import Drafter
from aem_monitor.bootstrap.recorded import RecordedExchange, Recording
from aem_monitor.bootstrap.sheet import Sheet
from aem_monitor.golden.load import DialogFaultsError
from aem_monitor.imports.base import FormError
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.scorers import Scorer
from aem_monitor.yamlfile import MAX_DEPTH

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
    """The draft of one dialog; tools keep their whole names. ``remarks`` stand at its head.

    Raises ``FormError`` for what no dialog can hold: values nested too deep, texts that look like references.
    """
    for call in (call for exchange in exchanges for call in exchange.calls):
        if _deeper(MAX_DEPTH, call.args) or (call.result is not NOT_CAPTURED and _deeper(MAX_DEPTH, call.result)):
            raise FormError(f"a value of {call.name} is nested deeper than {MAX_DEPTH} levels")
    recording = Recording(name, _NO_DAY, None, None, tuple(exchanges))
    drafter = Drafter([recording], definitions or {}, lambda tool: (tool, None), scorer, name, note)
    try:
        sheet, _ = drafter.sheet()
    except DialogFaultsError as error:
        raise FormError(f"no dialog can hold it: {error.faults[0].message}") from error
    sheet.top.pop("reference_date", None)
    sheet.notes.pop(("reference_date",), None)
    sheet.notes.setdefault((), []).extend(remarks)
    return sheet


def _deeper(levels: int, value: JSON) -> bool:
    """Whether lists and objects are nested deeper, told without going down by recursion."""
    row: list[JSON] = [value]
    for _ in range(levels):
        row = [
            inner
            for one in row
            if isinstance(one, Mapping | list)
            for inner in (one.values() if isinstance(one, Mapping) else one)
        ]
        if not row:
            return False
    return True
