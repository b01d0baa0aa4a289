"""The golden dialog of a good dialog, drafted by the product from the good run itself."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from aem_monitor.assembly import AssemblySettings
from aem_monitor.attribution.steps import Judge
from aem_monitor.bootstrap.draft import Drafter
from aem_monitor.bootstrap.recorded import recording_of
from aem_monitor.golden.dialog import Dialog, ToolTurn, UserTurn
from aem_monitor.golden.load import dialog_from
from aem_monitor.golden.reference import spoken
from aem_monitor.scoring.scorers import EmbeddedScorer
from tests.benchmarks.faults.dialogs import GoodDialog
from tests.benchmarks.faults.spans import conversations, requests

FORBIDDEN: Final = "erase_everything"
"""A call that every golden dialog forbids."""

Place = tuple[int, int | None]
"""Exchange and call, both from 0; a reply has no call."""

_SCORER: Final = EmbeddedScorer()


@dataclass(frozen=True, slots=True)
class Golden:
    """``form`` is the content of its file, ``numbers`` the turn of each call and reply that it knows."""

    good: GoodDialog
    form: Mapping[str, Any]
    dialog: Dialog
    numbers: Mapping[Place, int]

    def required(self, place: Place) -> bool:
        """Whether the call at a place has to be made."""
        number = self.numbers.get(place)
        turn = None if number is None else self.dialog.by_number[number]
        return isinstance(turn, ToolTurn) and turn.presence == "required"


def draft(good: GoodDialog) -> Golden | None:
    """Draft as ``golden bootstrap`` does, reviewed as it is. None where the draft's calls are not the run's."""
    (conversation,) = conversations(requests(good.name, good.name, start_ns(good), good.exchanges))
    recording = recording_of(conversation)
    split = AssemblySettings().split_tool
    sheet, _ = Drafter([recording], {}, split, _SCORER, good.name, "fault injection").draft(Judge(_SCORER))
    form = {**sheet.value(), "review": {"status": "human"}, "forbidden": [{"tool_id": FORBIDDEN}]}
    dialog = dialog_from(form, good.name)
    numbers = _numbers(good, dialog)
    return None if numbers is None else Golden(good, form, dialog, numbers)


def start_ns(good: GoodDialog) -> int:
    """The begin of the day of a dialog."""
    return int(datetime.fromisoformat(good.day).replace(tzinfo=UTC).timestamp()) * 10**9


def _numbers(good: GoodDialog, dialog: Dialog) -> dict[Place, int] | None:
    numbers: dict[Place, int] = {}
    exchange, call = -1, 0
    for turn in dialog.turns:
        if isinstance(turn, UserTurn):
            exchange, call = exchange + 1, 0
        elif isinstance(turn, ToolTurn):
            calls = good.exchanges[exchange].calls
            if call >= len(calls) or calls[call].name not in (turn.tool_id, f"{turn.tool_id}.{turn.action}"):
                return None
            numbers[exchange, call] = turn.turn_no
            call += 1
        else:
            numbers[exchange, None] = turn.turn_no
    return numbers


def without_links(golden: Golden) -> Golden:
    """The same dialog with values for references and without ``depends_on``: only equal values connect its turns."""
    turns = []
    for form in golden.form["turns"]:
        turn = {key: value for key, value in form.items() if key != "depends_on"}
        if "gold_turn" in turn:
            turn["gold_turn"] = golden.dialog.golden_form(turn["gold_turn"])
        if "must_mention" in turn:
            turn["must_mention"] = [spoken(golden.dialog.golden_form(text)) for text in turn["must_mention"]]
        turns.append(turn)
    form = {**golden.form, "turns": turns}
    return replace(golden, form=form, dialog=dialog_from(form, golden.good.name))
