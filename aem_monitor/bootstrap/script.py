"""Several recordings of one conversation side by side: which of their calls are the same step of the script."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aem_monitor.attribution.graph import leaves
from aem_monitor.bootstrap.recorded import RecordedCall, RecordedExchange, Recording
from aem_monitor.golden.reference import JSONPath
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.align import assign
from aem_monitor.scoring.scorers import Scorer
from aem_monitor.scoring.values import ValueContext, compare_values, occurrences, trivial

_SOME_FIT: Final = 0.01
_MOST_ORIGINS: Final = 40
"""Earlier results that one call's arguments are looked for in."""


@dataclass(slots=True)
class Step:
    """One call of the script, and what it was in each recording that made it, by the recording's index.

    Some recordings may have done the same by another tool. ``written`` is the turn as an existing dialog has it.
    """

    calls: dict[int, RecordedCall]
    written: Mapping[str, JSON] | None = None

    @property
    def first(self) -> RecordedCall:
        """The call of the first recording that made it."""
        return self.calls[min(self.calls)]

    @property
    def others(self) -> list[RecordedCall]:
        """Calls of another tool or action that stand for this one, each once."""
        found: list[RecordedCall] = []
        for call in self.calls.values():
            known = any((call.name, call.args) == (one.name, one.args) for one in found)
            if call.name != self.first.name and not known:
                found.append(call)
        return found


@dataclass(slots=True)
class Scene:
    """One user message with the steps that follow, and the replies by recording. ``together`` are groups of steps,
    by index, that recordings made in different orders."""

    user: str
    steps: list[Step] = field(default_factory=list)
    replies: dict[int, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    together: list[list[int]] = field(default_factory=list)
    written_reply: Mapping[str, JSON] | None = None


def scenes_of(
    recordings: Sequence[Recording], context: ValueContext, scorer: Scorer, reads: frozenset[tuple[str, str | None]]
) -> list[Scene]:
    """The script of recordings with the same user messages. ``reads`` are the calls that change nothing.

    A read of something else is a step of its own; a write that differs in every argument is still the same step, done
    otherwise.
    """
    scenes = [Scene(exchange.user) for exchange in recordings[0].exchanges]
    for run, recording in enumerate(recordings):
        origins = _Origins(recording, context)
        known = {r: _Origins(recordings[r], context) for r in range(run)}
        for index, (scene, exchange) in enumerate(zip(scenes, recording.exchanges, strict=False)):
            _add(scene, run, exchange, _Likeness(context, scorer, origins, known, index), reads)
            if exchange.reply is not None:
                scene.replies[run] = exchange.reply
            scene.remarks += [remark for remark in exchange.remarks if remark not in scene.remarks]
    for scene in scenes:
        _join_alternatives(scene.steps, len(recordings), reads)
        scene.together = _reordered(scene.steps)
    return scenes


def _add(
    scene: Scene,
    run: int,
    exchange: RecordedExchange,
    likeness: "_Likeness",
    reads: frozenset[tuple[str, str | None]],
) -> None:
    fits: dict[tuple[int, int], float] = {}
    for at, step in enumerate(scene.steps):
        known_run = min(step.calls)
        for number, call in enumerate(exchange.calls):
            if (step.first.tool, step.first.action) != (call.tool, call.action):
                continue
            share = likeness.share(known_run, step.first, call)
            if share > 0 or (call.tool, call.action) not in reads:
                fits[at, number] = max(share, _SOME_FIT)
    step_of = {number: scene.steps[at] for at, number in assign(fits).items()}
    place = 0
    for number, call in enumerate(exchange.calls):
        known = step_of.get(number)
        step = known or Step({})
        step.calls[run] = call
        if known is None:
            scene.steps.insert(place, step)
        place = scene.steps.index(step) + 1


@dataclass(slots=True)
class _Origins:
    """Where the arguments of one recording's calls come from, as tool, action and path: comparable between runs."""

    recording: Recording
    context: ValueContext
    _known: dict[str, frozenset[tuple[str, JSONPath]]] = field(default_factory=dict)

    def of(self, value: JSON, exchange: int) -> frozenset[tuple[str, JSONPath]]:
        if trivial(value):
            return frozenset()
        key = f"{exchange}\x1f{value!r}"
        if key not in self._known:
            results = [call for earlier in self.recording.exchanges[: exchange + 1] for call in earlier.calls][
                -_MOST_ORIGINS:
            ]
            self._known[key] = frozenset(
                (call.name, tuple(path))
                for call in results
                if call.result is not NOT_CAPTURED
                for path in occurrences(value, call.result, self.context)
            )
        return self._known[key]


@dataclass(frozen=True, slots=True)
class _Likeness:
    """How far two calls of the same tool, of two recordings, are the same step."""

    context: ValueContext
    scorer: Scorer
    own: _Origins
    known: Mapping[int, _Origins]
    exchange: int

    def share(self, run: int, one: RecordedCall, other: RecordedCall) -> float:
        """The share of arguments that agree: equal values, or values that come from the same place."""
        if one.args is None or other.args is None or not (one.args or other.args):
            return 1.0
        names = one.args.keys() | other.args.keys()
        same = sum(
            name in one.args and name in other.args and self._same(run, one.args[name], other.args[name])
            for name in names
        )
        return same / len(names)

    def _same(self, run: int, one: JSON, other: JSON) -> bool:
        if one == other or compare_values(other, one, self.context, self.scorer).equivalent:
            return True
        pairs = list(zip(leaves(one), leaves(other), strict=False))
        return bool(pairs) and all(
            a == b or bool(self.known[run].of(a, self.exchange) & self.own.of(b, self.exchange))
            for (_, a), (_, b) in pairs
        )


def _join_alternatives(steps: list[Step], runs: int, reads: frozenset[tuple[str, str | None]]) -> None:
    """Make one step of two writes of which every recording made exactly one, with at least half of the values alike."""
    for one in list(steps):
        for other in list(steps):
            apart = one is not other and not one.calls.keys() & other.calls.keys()
            if not apart or len(one.calls) + len(other.calls) != runs or min(one.calls) > min(other.calls):
                continue
            names = [(step.first.tool, step.first.action) for step in (one, other)]
            if names[0] != names[1] and not reads & set(names) and _share_values(one.first, other.first):
                one.calls.update(other.calls)
                steps.remove(other)
                break


def _share_values(one: RecordedCall, other: RecordedCall) -> bool:
    mine = [value for _, value in leaves(one.args or {}) if not trivial(value)]
    theirs = [value for _, value in leaves(other.args or {}) if not trivial(value)]
    shared = sum(value in theirs for value in mine)
    return bool(mine) and bool(theirs) and 2 * shared >= max(len(mine), len(theirs))


def _reordered(steps: Sequence[Step]) -> list[list[int]]:
    """Groups of steps, by index, whose order differs between recordings."""
    leader = list(range(len(steps)))

    def find(at: int) -> int:
        while leader[at] != at:
            at = leader[at]
        return at

    for one in range(len(steps)):
        for other in range(one + 1, len(steps)):
            shared = steps[one].calls.keys() & steps[other].calls.keys()
            signs = {_sign(steps[one].calls[run].rank, steps[other].calls[run].rank) for run in shared}
            if {-1, 1} <= signs:
                leader[find(other)] = find(one)
    groups: dict[int, list[int]] = {}
    for at in range(len(steps)):
        groups.setdefault(find(at), []).append(at)
    return [group for group in groups.values() if len(group) > 1]


def _sign(one: int, other: int) -> int:
    return (one > other) - (one < other)
