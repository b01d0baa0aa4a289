"""Which run of a dialog on one release meets which on the other."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias


@dataclass(frozen=True, slots=True)
class Play:
    """A run of a reviewed dialog. ``version`` is that of the dialog, None where it is not known; ``order`` is when it
    came, by a measure that both releases share."""

    dialog: str
    conversation: str
    version: int | None = field(default=None, kw_only=True)
    order: float = field(default=0.0, kw_only=True)


class Alone(StrEnum):
    """Why a run met none of the other release."""

    DIALOG = "dialog"
    """The other release has no run of its dialog."""
    VERSION = "version"
    """It has some, but of other versions of the dialog: another dialog is another test."""
    RUN = "run"
    """It has fewer, so far."""
    CONVERSATION = "conversation"
    """It has one, but their conversations have met others."""


class Met(NamedTuple):
    """The partner, and the number of the cluster: groups of conversations that have met, counted from 0."""

    other: Play
    cluster: int


_Key: TypeAlias = tuple[str, int | None]
"""Dialog and version."""


class _Waiting:
    __slots__ = ("group", "met", "play")

    def __init__(self, play: Play, group: "_Group") -> None:
        self.play = play
        self.group = group
        self.met = False


class _Group:
    """Conversations that have met, at least one side being of one only; or a single one that has met none."""

    __slots__ = ("conversation", "number", "sizes", "unmet", "waiting")

    def __init__(self, side: int, conversation: str) -> None:
        self.conversation = conversation
        self.number = -1
        self.sizes = [1 - side, side]
        # All of a single conversation's that wait; by side and key, those of conversations that have met.
        self.unmet: list[_Waiting] = []
        self.waiting: dict[tuple[int, _Key], deque[_Waiting]] | None = None

    def free(self) -> bool:
        """It has met none."""
        return 0 in self.sizes

    def may_grow(self, side: int) -> bool:
        """A conversation of the side may join."""
        return self.sizes[1 - side] == 1


class Meetings:
    """Lets runs meet as they come.

    A run meets the oldest that waits for one of its dialog and version on the other release: the n-th the n-th, where
    each has a conversation of its own. How runs ended plays no part, so that the expected difference of a pair is that
    of the dialog's rates; and what has met stays together, so that a later look sees the pairs of an earlier one first.

    Conversations that hold several runs stay together as well: a conversation meets one of the other release, or
    several that meet no other. So clusters of pairs that share a conversation share none with another cluster, and
    stay small. Were the n-th run of each dialog to meet the n-th, one that is missing would shift all that come after
    it to the neighbouring conversation, and join all conversations into one cluster.
    """

    def __init__(self) -> None:
        self._groups: dict[tuple[int, str], _Group] = {}
        # Of conversations that have met none, and of those that may meet more.
        self._free: defaultdict[tuple[int, _Key], deque[_Waiting]] = defaultdict(deque)
        self._open: defaultdict[tuple[int, _Key], deque[_Waiting]] = defaultdict(deque)
        self._clusters = 0
        self._came: tuple[Counter[_Key], Counter[_Key]] = (Counter(), Counter())
        self._met: Counter[_Key] = Counter()

    def meet(self, side: int, play: Play) -> Met | None:
        """The partner of a run of the baseline (0) or the candidate (1); None: it waits for one."""
        key = (play.dialog, play.version)
        self._came[side][key] += 1
        group = self._groups.get((side, play.conversation))
        if group is None:
            group = self._groups[side, play.conversation] = _Group(side, play.conversation)
        found = self._partner(side, key, group)
        if found is None:
            self._wait(side, key, _Waiting(play, group))
            return None
        found.met = True
        self._met[key] += 1
        together = self._joined(group, found.group)
        if together.number < 0:
            together.number = self._clusters
            self._clusters += 1
        return Met(found.play, together.number)

    def alone(self, side: int) -> Mapping[Alone, Mapping[str, int]]:
        """How many runs of a side wait, by why and by dialog."""
        here, there = self._came[side], self._came[1 - side]
        dialogs = {dialog for dialog, _ in there}
        found: dict[Alone, Counter[str]] = {why: Counter() for why in Alone}
        for key, came in here.items():
            waits, dialog = came - self._met[key], key[0]
            if dialog not in dialogs:
                found[Alone.DIALOG][dialog] += waits
            elif key not in there:
                found[Alone.VERSION][dialog] += waits
            else:
                both = min(waits, there[key] - self._met[key])
                found[Alone.CONVERSATION][dialog] += both
                found[Alone.RUN][dialog] += waits - both
        return {why: {dialog: runs for dialog, runs in sorted(of.items()) if runs} for why, of in found.items()}

    def _partner(self, side: int, key: _Key, group: _Group) -> _Waiting | None:
        other = 1 - side
        found = None
        if group.waiting and (inside := group.waiting.get((other, key))):
            found = _first(inside, lambda _: True)
        if found is None and group.may_grow(other) and (free := self._free.get((other, key))):
            found = _first(free, lambda one: one.group.free())
        if found is None and group.free() and (growing := self._open.get((other, key))):
            found = _first(growing, lambda one: one.group.may_grow(side))
        return found

    def _wait(self, side: int, key: _Key, one: _Waiting) -> None:
        group = one.group
        if group.free():
            group.unmet.append(one)
            self._free[side, key].append(one)
            return
        if group.waiting is None:
            group.waiting = {}
        group.waiting.setdefault((side, key), deque()).append(one)
        if group.may_grow(1 - side):
            self._open[side, key].append(one)

    def _joined(self, group: _Group, other: _Group) -> _Group:
        """Both groups as one. One of them at least is of a single conversation."""
        if group is other:
            return group
        into, single = (group, other) if other.free() else (other, group)
        side = single.sizes.index(1)
        self._groups[side, single.conversation] = into
        left = [(side, one) for one in single.unmet if not one.met]
        if into.free():
            left += [(1 - side, one) for one in into.unmet if not one.met]
        into.sizes[side] += 1
        for own, one in left:
            one.group = into
            self._wait(own, (one.play.dialog, one.play.version), one)
        into.unmet = []
        return into


def _first(waiting: deque[_Waiting], fits: Callable[[_Waiting], bool]) -> _Waiting | None:
    """The oldest that fits. Those that do not fit any more never will again, and are dropped."""
    while waiting:
        one = waiting.popleft()
        if not one.met and fits(one):
            return one
    return None
