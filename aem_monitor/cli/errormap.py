"""The error map of a run, drawn in text: its turns, and which root cause each cascade hangs from."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TextIO

from rich.text import Text

from aem_monitor.cli.report import counted, shown_value, turn_word
from aem_monitor.cli.tables import console, shown
from aem_monitor.model.verdict import Check, FailureReason, MismatchDetail, RunResult, TurnVerdict

_ROOT: Final = "●"
_THROUGH: Final = "│"
_HANGS: Final = "├"
_LAST: Final = "└"
_STYLES: Final[Mapping[bool | None, str]] = {False: "red", None: "dim"}
_MOST_FAULTS: Final = 3
"""Lines a turn: a reply may leave out and make up many things, and the first ones tell what kind of fault it is."""
_WIDEST: Final = 70

LEGEND: Final = f"{_ROOT} broke by itself   {_HANGS} {_LAST} inherited the break of the {_ROOT} above"
"""What the signs mean."""


def print_error_maps(results: Sequence[RunResult], stream: TextIO) -> None:
    """The error map of every run that has a failing turn, and what the signs mean."""
    failing = [result for result in results if any(turn.success is False for turn in result.turns)]
    for result in failing:
        print_error_map(result, stream)
    if failing:
        stream.write(f"{LEGEND}\n")
    else:
        stream.write(f"No turn failed in {counted(len(results), 'run')}.\n" if results else "No run was found.\n")


def print_error_map(result: RunResult, stream: TextIO) -> None:
    """One run: a row a turn, with a line from each root cause down to the turns that inherited its break."""
    right = sum(turn.success is True for turn in result.turns)
    scored = sum(turn.success is not None for turn in result.turns)
    title = (
        f"{result.dialog}, {result.conversation_id or result.conversation_key}, release {result.release or 'unknown'}: "
        f"{counted(result.root_cause_count, 'root cause')}, {counted(result.cascading_count, 'cascade')}, "
        f"{right} of {scored} turns right"
    )
    target = console(stream)
    target.print(Text(_line(title), style="bold"), soft_wrap=True)
    widest = max((len(what(turn)) for turn in result.turns), default=0)
    for turn, (signs, below) in zip(result.turns, _rails(result.turns), strict=True):
        number = turn.turn_no if turn.turn_no is not None else "+"
        lead = f"{signs} {number!s:>3}  "
        head = f"{lead}{what(turn):<{widest}}  {turn_word(turn)}"
        faults = [f"{below:<{len(lead)}}{fault}" for fault in _faults(turn)]
        for line in (head, *faults):
            target.print(Text(_line(line), style=_STYLES.get(turn.success, "")), soft_wrap=True)
    stream.write("\n")


def _line(text: str) -> str:
    """Names come from spans and may hold anything; whatever they hold, a turn is one line."""
    return shown(text.replace("\n", " ")).rstrip()


def _rails(turns: Sequence[TurnVerdict]) -> Iterator[tuple[str, str]]:
    """For each turn the signs beside its line, and beside the lines below it; a column is one root cause's."""
    roots = [index for index, turn in enumerate(turns) if turn.root_cause]
    ends = {root: _last_blaming(turns, root) for root in roots}
    for index, turn in enumerate(turns):
        signs, below = "", ""
        for root in roots:
            goes_on = root <= index < ends[root]
            below += _THROUGH if goes_on else " "
            if index == root:
                signs += _ROOT
            elif index > root and turns[root].turn_no in turn.blames:
                signs += _HANGS if goes_on else _LAST
            else:
                signs += below[-1]
        yield signs, below


def _last_blaming(turns: Sequence[TurnVerdict], root: int) -> int:
    """The place of the last turn that blames the root cause; its own where none does."""
    number = turns[root].turn_no
    return max((index for index, turn in enumerate(turns) if index > root and number in turn.blames), default=root)


def what(turn: TurnVerdict) -> str:
    """The expected call of a turn, the made one of an extra entry, or ``reply``."""
    if turn.tool is None:
        return "reply"
    name = turn.tool if turn.action is None else f"{turn.tool}.{turn.action}"
    return turn.called or name if turn.turn_no is None else name


def _faults(turn: TurnVerdict) -> list[str]:
    """What is wrong in a turn, one line a failing check, those of its own before those that it inherited."""
    failing = [check for check in turn.checks if check.passed is False]
    told = dict.fromkeys(_told(check, turn) for check in sorted(failing, key=lambda check: bool(check.explained_by)))
    lines = list(told)
    if len(lines) > _MOST_FAULTS:
        lines = [*lines[: _MOST_FAULTS - 1], f"and {len(lines) - _MOST_FAULTS + 1} more"]
    return lines


def _told(check: Check, turn: TurnVerdict) -> str:
    numbers = ", ".join(map(str, check.explained_by))
    came = f" (from turn {numbers})" if numbers else ""
    return f"{fault(check, turn)}{came}"


def fault(check: Check, turn: TurnVerdict) -> str:
    """What a failing check found, in a few words."""
    expected, actual = (shown_value(value, _WIDEST) or "nothing" for value in (check.expected, check.actual))
    special = _SPECIAL_CALLS.get(turn.detail) if turn.detail is not None and check.subject == "tool" else None
    if special is not None:
        return special
    match check.reason:
        case FailureReason.MISSING_PARAMETERS:
            return f"{check.field} is missing: expected {expected}"
        case FailureReason.EXTRA_PARAMETERS:
            return f"{check.field} is not expected: got {actual}"
        case FailureReason.INCONSISTENT_RESPONSE:
            return f"says “{actual}”"
        case FailureReason.INCOMPLETE_RESPONSE:
            return f"does not say “{expected}”"
        case _:
            where = f"{check.field}: " if check.field is not None else ""
            return f"{where}expected {expected}, got {actual}"


_SPECIAL_CALLS: Final[Mapping[MismatchDetail, str]] = {
    MismatchDetail.NOT_CALLED: "was not called",
    MismatchDetail.UNEXPECTED_CALL: "is a call that the dialog does not allow",
    MismatchDetail.FORBIDDEN_CALL: "is a call that the dialog forbids",
}
