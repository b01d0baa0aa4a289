"""Which call of an exchange answers which expected one.

Attempts of an expected turn are calls of its tool and action. A failed or read-only attempt that is not the judged one
is excused; a further successful write is an extra call. What is left over on both sides may be one turn that went to
the wrong tool or action.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from aem_monitor.golden.dialog import Dialog, EndState, ToolTurn
from aem_monitor.golden.play import PlayedExchange
from aem_monitor.model.conversation import ToolCall
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import MismatchDetail
from aem_monitor.scoring.align import assign
from aem_monitor.scoring.values.occurrence import leaves

_NAME_FIT = 0.5
"""A call of the right tool and action fits by half even when no argument agrees: it is the attempt to judge."""
_ERROR_PENALTY = 0.3
"""A failed attempt is judged only where no successful one comes near: a retry counts by its last attempt."""


@dataclass(frozen=True, slots=True)
class Fitness:
    """How far a call's arguments agree with those expected: ``share`` in [0, 1]; ``clean`` if nothing contradicts."""

    share: float
    clean: bool


Fit = Callable[[ToolTurn, ToolCall], Fitness]

Expected = Callable[[ToolTurn, Mapping[int, ToolCall]], Mapping[str, Sequence[JSON]]]
"""``expected(turn, judged)``: the acceptable values of each argument, with those that this run's own calls returned."""


@dataclass(frozen=True, slots=True)
class Extra:
    """A call that no expected turn accounts for and that is not allowed."""

    call: ToolCall
    detail: MismatchDetail


@dataclass(frozen=True, slots=True)
class Assignment:
    """The calls of one exchange beside what was expected of it.

    ``judged`` has the call by turn number; ``attempts`` counts the calls of its tool and action that were spent on the
    turn, ``recovered`` the turns of which an excused attempt failed. ``wrong`` has, by turn number, the left-over call
    that was made instead, ``refused`` the one that was tried instead of a turn that nothing answers, and ended in an
    error. ``allowed`` are extra calls that the dialog permits, excused attempts included.
    """

    judged: Mapping[int, ToolCall]
    attempts: Mapping[int, int]
    recovered: frozenset[int]
    wrong: Mapping[int, ToolCall]
    refused: Mapping[int, ToolCall]
    extras: tuple[Extra, ...]
    allowed: tuple[ToolCall, ...]
    forbidden: Mapping[int, ToolCall]


def same_call(turn: ToolTurn | EndState, call: ToolCall) -> bool:
    """Whether ``call`` is of the expected tool and action, by the split name or by the whole one."""
    if (call.tool, call.action) == (turn.tool_id, turn.action):
        return True
    return call.name == (turn.tool_id if turn.action is None else f"{turn.tool_id}.{turn.action}")


def assign_calls(
    dialog: Dialog,
    played: PlayedExchange,
    fit: Fit,
    before: Collection[tuple[int, int]],
    shared: Callable[[JSON, JSON], bool],
    expected: Expected,
) -> Assignment:
    """Assign the calls of one exchange.

    ``before`` holds (a, b) turn numbers where b consumes a. ``shared(a, b)`` says whether two argument values are the
    same and prove something (identifiers rather than booleans); ``expected`` gives the values that a turn may share:
    both for the wrong-tool rule.
    """
    turns = [turn for turn in played.golden.tools if turn.presence != "forbidden"]
    banned = [turn for turn in played.golden.tools if turn.presence == "forbidden"]
    calls = list(played.calls)
    fits: dict[tuple[int, int], float] = {}
    for i, turn in enumerate(turns):
        for j, call in enumerate(calls):
            if same_call(turn, call):
                agreed = fit(turn, call)
                if turn.presence == "optional" and not agreed.clean:
                    continue  # a call that does not fit an optional turn is another call, not its failure
                weight = (
                    _NAME_FIT + (1.0 - _NAME_FIT) * agreed.share - (_ERROR_PENALTY if call.error is not None else 0.0)
                )
                fits[i, j] = max(weight, 0.01)
    at = {turn.turn_no: i for i, turn in enumerate(turns)}
    order = [(at[a], at[b]) for a, b in before if a in at and b in at]
    solution = assign(fits, order, played.ranks)
    judged = {turns[i].turn_no: calls[j] for i, j in solution.items()}
    left = [j for j in range(len(calls)) if j not in set(solution.values())]
    forbidden: dict[int, ToolCall] = {}
    for turn in banned:
        hit = next(
            (j for j in left if same_call(turn, calls[j]) and (not turn.args or fit(turn, calls[j]).clean)), None
        )
        if hit is not None:
            forbidden[turn.turn_no] = calls[hit]
            left.remove(hit)
    return _with_leftovers(dialog, turns, judged, [calls[j] for j in left], forbidden, shared, expected)


def _with_leftovers(
    dialog: Dialog,
    turns: Sequence[ToolTurn],
    judged: Mapping[int, ToolCall],
    left: Sequence[ToolCall],
    forbidden: Mapping[int, ToolCall],
    shared: Callable[[JSON, JSON], bool],
    expected: Expected,
) -> Assignment:
    attempts = dict.fromkeys(judged, 1)
    recovered: set[int] = set()
    extras: list[Extra] = []
    allowed: list[ToolCall] = []
    unexpected: list[ToolCall] = []
    failed_writes: list[ToolCall] = []
    for call in left:
        if dialog.forbids(call.tool, call.action) or dialog.forbids(call.name, None):
            extras.append(Extra(call, MismatchDetail.FORBIDDEN_CALL))
            continue
        turn = next((turn for turn in turns if turn.turn_no in judged and same_call(turn, call)), None)
        reads = dialog.read_only(call.tool, call.action) or dialog.read_only(call.name, None)
        if call.error is not None or (reads and (turn is not None or dialog.extra_calls == "ignore_read_only")):
            allowed.append(call)
            if turn is None and not reads:
                failed_writes.append(call)
            if turn is not None:
                attempts[turn.turn_no] += 1
                if call.error is not None and call.end_ns <= judged[turn.turn_no].end_ns:
                    recovered.add(turn.turn_no)
        elif dialog.extra_calls == "ignore":
            allowed.append(call)
        else:
            unexpected.append(call)
    missing = [turn for turn in turns if turn.presence == "required" and turn.turn_no not in judged]
    values = {turn.turn_no: expected(turn, judged) for turn in missing}
    wrong = _wrong_calls(missing, unexpected, shared, values)
    # A tool that refused to do it tells where the turn went wrong, though it changed nothing.
    # Of several alike the first: the later ones came of it.
    left_out = [turn for turn in missing if turn.turn_no not in wrong]
    refused = _wrong_calls(left_out, failed_writes[::-1], shared, values)
    taken = {id(call) for call in wrong.values()}
    extras += [Extra(call, MismatchDetail.UNEXPECTED_CALL) for call in unexpected if id(call) not in taken]
    extras.sort(key=lambda extra: (extra.call.start_ns, extra.call.span_id or ""))
    return Assignment(judged, attempts, frozenset(recovered), wrong, refused, tuple(extras), tuple(allowed), forbidden)


def _wrong_calls(
    missing: Sequence[ToolTurn],
    unexpected: Sequence[ToolCall],
    shared: Callable[[JSON, JSON], bool],
    values: Mapping[int, Mapping[str, Sequence[JSON]]],
) -> dict[int, ToolCall]:
    fits = {
        (i, j): weight
        for i, turn in enumerate(missing)
        for j, call in enumerate(unexpected)
        # The expected call itself, left over because it came before what it consumes, is no wrong tool.
        if not same_call(turn, call) and (weight := _kinship(turn, call, shared, values[turn.turn_no])) > 0
    }
    return {missing[i].turn_no: unexpected[j] for i, j in assign(fits).items()}


def _kinship(
    turn: ToolTurn,
    call: ToolCall,
    shared: Callable[[JSON, JSON], bool],
    values: Mapping[str, Sequence[JSON]],
) -> float:
    """In (0, 1] where the call shares a target or at least half of the argument values with the turn, else 0.

    A value is shared whatever its argument is called, since other tools name the same target otherwise; a target is a
    shared value of an argument of the same name whose name says that it identifies something.
    """
    if not turn.args or not call.arguments:
        return 0.0
    sent = {name: [leaf for _, leaf in leaves(value)] for name, value in call.arguments.items()}
    everything = [leaf for found in sent.values() for leaf in found]

    def is_met(name: str, others: Sequence[JSON]) -> bool:
        return any(shared(other, value) for other in others for value in values.get(name, ()))

    met = [name for name in turn.args if is_met(name, everything)]
    target = any(_identifies(name) and is_met(name, sent.get(name, ())) for name in met)
    share = len(met) / len(turn.args)
    if not target and share < 0.5:
        return 0.0
    same_tool = 0.2 if call.tool == turn.tool_id and turn.action is not None else 0.0
    return min(1.0, 0.3 + 0.5 * share + same_tool)


def _identifies(name: str) -> bool:
    words = name.lower().replace("-", "_").split("_")
    return words[-1] in {"id", "ids", "number", "no", "key", "code", "uuid", "reference", "ref"} or name.endswith("Id")
