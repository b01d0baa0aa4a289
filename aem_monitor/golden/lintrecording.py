"""What recorded runs of a dialog say against it: golden calls that fail, change nothing, or never come. Pure.

A benchmark's annotators list calls that end in an error or leave everything as it was; good runs leave them out and are
flagged for it. Only a recording shows that.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aem_monitor.document import KeyPath
from aem_monitor.golden.dialog import Dialog, ToolTurn
from aem_monitor.golden.linting import Remark, Severity, named
from aem_monitor.golden.play import Run
from aem_monitor.model.conversation import NOT_CAPTURED, ToolCall
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import NotScored, RunResult, TurnVerdict

RECORDING_RULES: Final = (
    "call-fails-in-recording",
    "no-effect-in-recording",
    "never-in-recording",
    "not-in-recording",
)
"""The codes of what is found here."""

_LEAST_LEAVES: Final = 2
"""``true`` or ``"ok"`` is returned by many calls and shows no state."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded run of a dialog and its result."""

    run: Run
    result: RunResult


def against_recordings(dialogs: Iterable[Dialog], recorded: Sequence[Recorded]) -> Iterator[tuple[str, Remark]]:
    """(code, remark) for each dialog; ``recorded`` are the runs of all of them."""
    for dialog in dialogs:
        own = [one for one in recorded if one.result.dialog == dialog.name]
        if not own:
            yield (
                "not-in-recording",
                Remark(dialog.name, ("dialog",), "hint", "no run of this dialog is in the recordings"),
            )
            continue
        for turn in dialog.scored_turns:
            if isinstance(turn, ToolTurn) and turn.presence != "forbidden":
                yield from _turn(dialog, turn, own)


def _turn(dialog: Dialog, turn: ToolTurn, recorded: Sequence[Recorded]) -> Iterator[tuple[str, Remark]]:
    at: KeyPath = ("turns", turn.index)
    name = f"turn {turn.turn_no}, {named(turn.tool_id, turn.action)},"
    judged = [(one, verdict) for one in recorded if (verdict := _verdict(one, turn)) is not None]
    made = [(one, call) for one, verdict in judged if (call := _call(one.run, verdict)) is not None]
    if not made:
        if judged and turn.presence == "required" and all(_was_open(one, verdict) for one, verdict in judged):
            message = f"{name} is made in none of {_runs(len(judged))}: is it needed?"
            yield "never-in-recording", Remark(dialog.name, at, "warning", message)
        return
    failed = [call for _, call in made if call.error is not None]
    if len(failed) == len(made):
        message = f"{name} ends in an error wherever it is made ({_of(failed[0].error)}): it changes nothing"
        if turn.presence == "required":
            message += ", and runs that leave it out are good ones; remove it"
        yield "call-fails-in-recording", Remark(dialog.name, at, _graver(turn, "error"), message)
        return
    if dialog.read_only(turn.tool_id, turn.action):
        return
    shown = [_changes(dialog, one.run, call) for one, call in made if call.error is None]
    if False in shown and True not in shown:
        message = (
            f"{name} changes nothing in {_runs(shown.count(False))}: what it returns, or a read after it, is what was "
            "read before; remove it, unless it is meant to"
        )
        yield "no-effect-in-recording", Remark(dialog.name, at, _graver(turn, "warning"), message)


def _graver(turn: ToolTurn, severity: Severity) -> Severity:
    """Of an optional turn no run has to answer for: it is only worth knowing."""
    return severity if turn.presence == "required" else "hint"


def _verdict(one: Recorded, turn: ToolTurn) -> TurnVerdict | None:
    if one.result.variant is not None:
        return None
    return next((verdict for verdict in one.result.turns if verdict.turn_no == turn.turn_no), None)


def _was_open(one: Recorded, verdict: TurnVerdict) -> bool:
    """Whether the call would have been seen, had it been made."""
    played = one.run.exchanges[verdict.exchange]
    return played.present and played.complete and verdict.not_scored not in (NotScored.OFF_SCRIPT, NotScored.PARTIAL)


def _call(run: Run, verdict: TurnVerdict) -> ToolCall | None:
    """The call that was judged, or tried in vain, for a turn; not one of another tool in its place."""
    if verdict.span_id is None:
        return None
    at = (verdict.trace_id, verdict.span_id)
    calls = (call for played in run.exchanges for call in played.calls if (call.trace_id, call.span_id) == at)
    call = next(calls, None)
    return call if call is not None and (call.tool, call.action) == (verdict.tool, verdict.action) else None


def _changes(dialog: Dialog, run: Run, write: ToolCall) -> bool | None:
    """Whether a write changed what reads of the same thing show; None where none tells.

    A read tells if it names something that the write names, too (an order, a user), and no other write comes between.
    """
    calls = sorted((call for played in run.exchanges for call in played.calls), key=lambda call: call.start_ns)
    place = next(index for index, call in enumerate(calls) if call is write)
    before = list(_reads_beside(dialog, reversed(calls[:place]), write))
    after = list(_reads_beside(dialog, calls[place + 1 :], write))
    for read in before:
        if _state(write.result) is not None and _state(write.result) == _state(read.result):
            return False
    for read in before:
        for again in after:
            if (read.tool, read.action, _text(read.arguments)) == (again.tool, again.action, _text(again.arguments)):
                if _state(read.result) is None or _state(again.result) is None:
                    continue
                return _state(read.result) != _state(again.result)
    return None


def _reads_beside(dialog: Dialog, calls: Iterable[ToolCall], write: ToolCall) -> Iterator[ToolCall]:
    about = _values(write.arguments)
    for call in calls:
        if call.error is None and not dialog.read_only(call.tool, call.action):
            return
        if call.error is None and about & _values(call.arguments):
            yield call


def _values(value: JSON) -> frozenset[str]:
    """The texts and larger numbers that name things; small numbers and flags are shared by chance."""
    if isinstance(value, Mapping):
        return frozenset().union(*(_values(item) for item in value.values()))
    if isinstance(value, str):
        return frozenset((value,)) if len(value) > 1 else frozenset()
    if isinstance(value, Sequence):
        return frozenset().union(*(_values(item) for item in value))
    named_so = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= 100
    return frozenset((str(value),)) if named_so else frozenset()


def _state(result: object) -> str | None:
    """A result as a text to compare, None where it is no state: not captured, or a mere confirmation."""
    if result is NOT_CAPTURED or not isinstance(result, Mapping | list) or _leaves(result) < _LEAST_LEAVES:
        return None
    return _text(result)


def _leaves(value: object) -> int:
    if isinstance(value, Mapping):
        return sum(_leaves(item) for item in value.values())
    return sum(_leaves(item) for item in value) if isinstance(value, list) else 1


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _of(error: str | None) -> str:
    text = " ".join((error or "no message").split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _runs(count: int) -> str:
    return f"{count} recorded run{'' if count == 1 else 's'}"
