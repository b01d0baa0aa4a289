"""Which turn of one version of a dialog is which turn of another. Pure."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeAlias

from aem_monitor.golden.dialog import AgentTurn, ToolTurn, UserTurn
from aem_monitor.golden.diffmatch import canonical
from aem_monitor.golden.messages import normalise

Turn: TypeAlias = UserTurn | ToolTurn | AgentTurn

_LEAST = 0.4
"""Turns that have less in common are two turns, one removed and one added."""

_LONGEST = 2000
"""Characters of a text that are looked at: comparing takes the square of the length."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """``both`` in the order of the new version; ``moved`` are those that changed places with others of ``both``."""

    both: tuple[tuple[Turn, Turn], ...]
    removed: tuple[Turn, ...]
    added: tuple[Turn, ...]
    moved: frozenset[int]
    """Places in ``both``."""

    @property
    def numbers(self) -> Mapping[int, int]:
        """The new number of each old turn that is still there."""
        return {
            old.turn_no: new.turn_no
            for old, new in self.both
            if not isinstance(old, UserTurn) and not isinstance(new, UserTurn)
        }


def paired(old: Sequence[Turn], new: Sequence[Turn]) -> Pairs:
    """Pair turns by what they are, the likest first; of equally like ones those at like places."""
    scores = [
        (score, -abs(i / (len(old) or 1) - j / (len(new) or 1)), -i, -j)
        for i, before in enumerate(old)
        for j, after in enumerate(new)
        if (score := _likeness(before, after)) >= _LEAST
    ]
    taken: dict[int, int] = {}
    for _, _, i, j in sorted(scores, reverse=True):
        if -i not in taken and -j not in taken.values():
            taken[-i] = -j
    # What is said anew altogether stands where something else was said.
    for kind in (UserTurn, AgentTurn):
        taken |= _in_the_gaps(old, new, kind, taken)
    order = sorted((j, i) for i, j in taken.items())
    kept = _longest_rising([i for _, i in order])
    return Pairs(
        both=tuple((old[i], new[j]) for j, i in order),
        removed=tuple(turn for i, turn in enumerate(old) if i not in taken),
        added=tuple(turn for j, turn in enumerate(new) if j not in taken.values()),
        moved=frozenset(place for place in range(len(order)) if place not in kept),
    )


def _in_the_gaps(
    old: Sequence[Turn], new: Sequence[Turn], kind: type[UserTurn | AgentTurn], taken: Mapping[int, int]
) -> dict[int, int]:
    """Turns of one kind that no pair has, one by one, between the same two pairs of that kind."""
    before = [i for i, turn in enumerate(old) if isinstance(turn, kind)]
    after = [j for j, turn in enumerate(new) if isinstance(turn, kind)]
    found: dict[int, int] = {}
    start_old = start_new = 0
    for i in [*(i for i in before if i in taken), None]:
        end_old = before.index(i) if i is not None else len(before)
        end_new = after.index(taken[i]) if i is not None else len(after)
        gap_old = [other for other in before[start_old:end_old] if other not in taken]
        known = {*taken.values(), *found.values()}
        gap_new = [other for other in after[start_new:end_new] if other not in known]
        found |= dict(zip(gap_old, gap_new, strict=False))
        start_old, start_new = end_old + 1, end_new + 1
    return found


def _likeness(old: Turn, new: Turn) -> float:
    """How much two turns have in common, in [0, 1]; 0 for turns of different kinds."""
    if isinstance(old, UserTurn) and isinstance(new, UserTurn):
        return _alike(old.text, new.text)
    if isinstance(old, ToolTurn) and isinstance(new, ToolTurn):
        return _alike_calls(old, new) + _same_number(old, new)
    if isinstance(old, AgentTurn) and isinstance(new, AgentTurn):
        return _alike(_said(old), _said(new)) * 0.95 + _same_number(old, new)
    return 0.0


def _alike_calls(old: ToolTurn, new: ToolTurn) -> float:
    names = {*old.args, *new.args}
    same = sum(
        name in old.args and name in new.args and canonical(old.args[name]) == canonical(new.args[name])
        for name in names
    )
    share = same / len(names) if names else 1.0
    if old.tool_id != new.tool_id:
        # The same call under another name of the tool.
        return 0.45 * share if names else 0.0
    return (0.6 if old.action == new.action else 0.25) + 0.35 * share


def _same_number(old: ToolTurn | AgentTurn, new: ToolTurn | AgentTurn) -> float:
    return 0.05 if old.turn_no == new.turn_no else 0.0


def _said(turn: AgentTurn) -> str:
    return " ".join((turn.response or "", *turn.must_mention))


def _alike(old: str, new: str) -> float:
    one, other = normalise(old)[:_LONGEST], normalise(new)[:_LONGEST]
    if one == other:
        return 1.0
    matcher = SequenceMatcher(None, one.split(), other.split(), autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _LEAST else 0.0


def _longest_rising(values: Sequence[int]) -> frozenset[int]:
    """The places of a longest rising subsequence: what kept its order."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int | None] = []
    for place, value in enumerate(values):
        at = bisect_left(tails, value)
        before.append(ends[at - 1] if at else None)
        if at == len(tails):
            tails.append(value)
            ends.append(place)
        else:
            tails[at], ends[at] = value, place
    kept: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        kept.add(last)
        last = before[last]
    return frozenset(kept)
