"""The gold side of annotated dialogs, as the Agent Evaluation Metric's article writes them.

Such files have no user messages: the dialogs are open, and are recognised by id.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from aem_monitor.attribution.annotated import DialogForm, TurnForm, read_annotated
from aem_monitor.bootstrap.sheet import DraftTurn
from aem_monitor.bootstrap.tools import Toolbox
from aem_monitor.imports.base import Imported, sheet_of, words

NOTE: Final = "imported from an annotated dialog"


def read(files: Sequence[Path]) -> Iterator[Imported]:
    """The dialogs of all files."""
    for path in files:
        dialogs = read_annotated(path)
        for index, form in enumerate(dialogs, start=1):
            name = form.dialog or (path.stem if len(dialogs) == 1 else f"{path.stem}-{index}")
            yield _dialog(form, words(name), path)


def _dialog(form: DialogForm, name: str, path: Path) -> Imported:
    turns = [_turn(turn) for turn in sorted(form.turns, key=lambda turn: turn.turn_no)]
    calls = {
        (turn.form["gold_turn"]["tool_id"], turn.form["gold_turn"].get("action"))
        for turn in turns
        if turn.form["turn"] == "Tool"
    }
    tools = Toolbox.of(calls, {}, lambda tool: (tool, None), {}, {})
    sheet = sheet_of(name, f"{NOTE}, {path.name}", (), turns, tools)
    if form.reference_date is not None:
        sheet.top["reference_date"] = form.reference_date.isoformat()
    return Imported(name, sheet)


def _turn(turn: TurnForm) -> DraftTurn:
    gold = turn.gold_turn.model_dump(mode="json", exclude_none=True)
    form: dict[str, Any] = {"turn_no": turn.turn_no, "turn": turn.turn, "gold_turn": gold}
    if not gold.get("args", True):
        del gold["args"]
    if turn.turn == "Tool" and "result" in turn.model_fields_set:
        form["result"] = turn.result
    if turn.match:
        form["match"] = {
            name: matcher.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
            for name, matcher in turn.match.items()
        }
    for key in ("depends_on", "tags"):
        if getattr(turn, key):
            form[key] = list(getattr(turn, key))
    return DraftTurn(form)
