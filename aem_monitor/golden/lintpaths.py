"""Rules of ``golden lint`` about turns and paths: what no run can reach, and what is demanded for nothing."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from aem_monitor.document import KeyPath
from aem_monitor.golden.dialog import AgentTurn, Dialog, EndState, ScoredTurn, ToolTurn, UserTurn
from aem_monitor.golden.linting import Remark, Rules, Semantics, named
from aem_monitor.golden.messages import normalise
from aem_monitor.golden.reference import fill
from aem_monitor.model.jsonvalue import JSON


def _reference_to_optional(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    for turn in dialog.scored_turns:
        if isinstance(turn, ToolTurn) and turn.presence != "required":
            continue
        references = turn.references if isinstance(turn, AgentTurn) else tuple(item for _, item in turn.references)
        for number in sorted({reference.turn_no for reference in references}):
            upstream = dialog.by_number[number]
            if isinstance(upstream, ToolTurn) and upstream.presence == "optional":
                message = (
                    f"turn {turn.turn_no} refers to the result of turn {number}, which is optional: in a run without "
                    "that call nothing is known to compare with; make it required, or write the value"
                )
                yield Remark(dialog.name, ("turns", turn.index), "warning", message)


def _required_read(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    needed = {number for turn in dialog.scored_turns for number in turn.dependencies}
    for turn in dialog.scored_turns:
        if not isinstance(turn, ToolTurn) or turn.presence != "required" or turn.turn_no in needed:
            continue
        if dialog.read_only(turn.tool_id, turn.action):
            message = (
                f"turn {turn.turn_no} demands {named(turn.tool_id, turn.action)}, which only reads, and no turn rests "
                "on it: an agent that knows the answer already fails; say presence: optional, or what depends on it"
            )
            yield Remark(dialog.name, ("turns", turn.index), "hint", message)


def _never_said(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    for turn in dialog.turns:
        if isinstance(turn, UserTurn) and not turn.text.strip():
            message = "the user says nothing here: no message agrees with it, and the turns after it are off script"
            yield Remark(dialog.name, ("turns", turn.index, "text"), "error", message)


def _never_chosen(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    """Paths and alternates that repeat what comes before them: the first of equally good ones is scored."""
    seen = {_path(dialog): "turns"}
    for place, variant in enumerate(dialog.variants):
        other = seen.setdefault(_path(variant), f"variant {variant.variant}")
        if other != f"variant {variant.variant}":
            message = f"variant {variant.variant} is the same path as {other} and never chosen; remove it"
            yield Remark(dialog.name, ("variants", place), "warning", message)
    for turn in dialog.scored_turns:
        known: list[ScoredTurn] = [_plain(turn)]
        alternates: tuple[ScoredTurn, ...] = turn.alternates
        for place, alternate in enumerate(alternates):
            if _plain(alternate) in known:
                at: KeyPath = ("turns", turn.index, "alternates", place)
                message = f"this alternate of turn {turn.turn_no} says what stands before it already; remove it"
                yield Remark(dialog.name, at, "warning", message)
            known.append(_plain(alternate))


def _path(dialog: Dialog) -> tuple[object, ...]:
    return tuple(turn.text if isinstance(turn, UserTurn) else repr(_plain(turn)) for turn in dialog.turns)


def _plain(turn: ScoredTurn) -> ScoredTurn:
    """The turn without its place in the file."""
    if isinstance(turn, ToolTurn):
        return replace(turn, index=0, alternates=())
    return replace(turn, index=0, alternates=())


def _outcome_not_reached(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    for place, state in enumerate(dialog.outcome):
        for path in dialog.paths:
            named_so = list(_calls_of(path, state))
            calls = [turn for turn in named_so if _sends(path, turn, state)]
            name = named(state.tool_id, state.action)
            where = "the listed path" if path.variant is None else f"variant {path.variant}"
            at: KeyPath = ("outcome", place)
            if not calls:
                # An agent may read on its own account where extra reads are free.
                reads = dialog.read_only(state.tool_id, state.action) and dialog.extra_calls == "ignore_read_only"
                if not reads and dialog.extra_calls != "ignore":
                    message = f"{where} has no such call of {name}: no run passes by it"
                    # Arguments may mean the same in other words, which these rules do not know.
                    yield Remark(dialog.name, at, "warning" if named_so else "error", message)
            elif state.has_result and calls[-1].has_result and not _holds(calls[-1].result, state.result):
                message = f"{where} ends with another result of {name} (turn {calls[-1].turn_no}): no run passes by it"
                yield Remark(dialog.name, at, "warning", message)


def _calls_of(path: Dialog, state: EndState) -> Iterator[ToolTurn]:
    for turn in path.scored_turns:
        if isinstance(turn, ToolTurn) and turn.presence != "forbidden":
            calls = (turn, *turn.alternates)
            yield from (one for one in calls if one.tool_id == state.tool_id and state.action in (None, one.action))


def _sends(path: Dialog, turn: ToolTurn, state: EndState) -> bool:
    """Whether a golden call has the arguments of an end state, as far as words tell: scoring knows more forms."""
    for name, wanted in state.args.items():
        if name not in turn.args:
            return False
        try:
            sent = fill(turn.args[name], path.golden_value)
        except LookupError:
            continue
        if isinstance(sent, str) and isinstance(wanted, str) and normalise(sent) != normalise(wanted):
            return False
    return True


def _holds(result: JSON, wanted: JSON) -> bool:
    """Whether a result has what an end state asks for; where it is a matter of form it counts as had."""
    if isinstance(wanted, Mapping):
        if not isinstance(result, Mapping):
            return False
        return all(name in result and _holds(result[name], item) for name, item in wanted.items())
    if isinstance(result, str) and isinstance(wanted, str):
        return normalise(result) == normalise(wanted)
    if isinstance(result, bool) and isinstance(wanted, bool):
        return result is wanted
    return True


PATH_RULES: Final[Rules] = {
    "reference-to-optional": _reference_to_optional,
    "required-read": _required_read,
    "never-said": _never_said,
    "never-chosen": _never_chosen,
    "outcome-not-reached": _outcome_not_reached,
}
"""Rules about the turns and paths of one dialog, by code."""
