"""Two versions of golden dialogs compared by what they mean for verdicts. Pure.

Formatting, order of keys, comments and defaults written out are no differences. ``diffpairs`` finds which turn is
which, ``diffturns`` and ``diffmatch`` compare them; here is what holds for a dialog as a whole, and whether its version
tells.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from aem_monitor.document import KeyPath
from aem_monitor.golden.dialog import AgentTurn, Dialog, EndState, GoldenExchange, ScoredTurn, ToolTurn, UserTurn
from aem_monitor.golden.diffmatch import Effect, canonical, spoken
from aem_monitor.golden.diffpairs import Pairs, Turn, paired
from aem_monitor.golden.diffturns import call_of, compare_turns
from aem_monitor.golden.messages import normalise
from aem_monitor.golden.toolrules import ToolRules
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON

VersionFault: TypeAlias = Literal["not_raised", "went_back", "raised_for_nothing"]

VERDICTS: Final = ("stricter", "looser", "different")
"""The effects that change what a verdict means, and so ask for a new version."""

_LEAVE: Final = {"fail": 0, "ignore_read_only": 1, "ignore": 2}
_NO_RULES: Final = ToolRules()


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. ``path`` is a place in the new file, or with ``removed`` in the old one."""

    effect: Effect
    message: str
    path: KeyPath
    removed: bool = False


@dataclass(frozen=True, slots=True)
class DialogDiff:
    """What changed in a dialog. ``old`` or ``new`` is None where it was added or removed as a whole."""

    name: str
    old: Dialog | None
    new: Dialog | None
    changes: tuple[Change, ...] = ()

    @property
    def same(self) -> bool:
        """Whether there is no difference at all."""
        return (
            self.old is not None and self.new is not None and not self.changes and self.old.version == self.new.version
        )

    @property
    def counts(self) -> Mapping[str, int]:
        """How many changes there are of each effect."""
        return Counter(change.effect for change in self.changes)

    @property
    def verdicts_change(self) -> bool:
        """Whether some run may be judged otherwise than before."""
        return any(change.effect in VERDICTS for change in self.changes)

    @property
    def version_fault(self) -> VersionFault | None:
        """Whether the version number tells what it should: it is part of a verdict's identity."""
        if self.old is None or self.new is None:
            return None
        if self.new.version < self.old.version:
            return "went_back"
        if self.verdicts_change and self.new.version == self.old.version:
            return "not_raised"
        if not self.verdicts_change and self.new.version > self.old.version:
            return "raised_for_nothing"
        return None


def compare_sets(old: Iterable[Dialog], new: Iterable[Dialog]) -> list[DialogDiff]:
    """The dialogs of two sets by name; those of the new one first, in its order. One against one may be renamed."""
    before, after = {dialog.name: dialog for dialog in old}, {dialog.name: dialog for dialog in new}
    if len(before) == len(after) == 1 and before.keys() != after.keys():
        (was,), (now,) = before.values(), after.values()
        return [compare_dialogs(was, now)]
    found = [
        compare_dialogs(before[name], dialog) if name in before else DialogDiff(name, None, dialog)
        for name, dialog in after.items()
    ]
    return found + [DialogDiff(name, dialog, None) for name, dialog in before.items() if name not in after]


def compare_dialogs(old: Dialog, new: Dialog) -> DialogDiff:
    """What changed between two versions of one dialog."""
    changes = [*_as_a_whole(old, new), *_path(old, new), *_variants(old, new)]
    return DialogDiff(new.name, old, new, tuple(changes))


def _as_a_whole(old: Dialog, new: Dialog) -> Iterator[Change]:
    if old.name != new.name:
        yield Change(
            "none", f"is called {new.name}, no longer {old.name}: its runs count under the new name", ("dialog",)
        )
    if old.draft != new.draft:
        counted = "its runs count no longer" if new.draft else "its runs count from now on"
        yield Change("none", f"is {'a draft now' if new.draft else 'reviewed now'}: {counted}", ("review",))
    elif old.review.note != new.review.note:
        yield Change("none", "has another review note", ("review",))
    yield from _recognition(old, new)
    if old.reference_date != new.reference_date:
        day = new.reference_date or "the day of each run"
        yield Change(
            "different",
            f"relative dates count from {day}, no longer from {old.reference_date or 'the day of each run'}",
            ("reference_date",),
        )
    if old.extra_calls != new.extra_calls:
        effect: Effect = "looser" if _LEAVE[new.extra_calls] > _LEAVE[old.extra_calls] else "stricter"
        yield Change(effect, f"extra_calls is {new.extra_calls}, no longer {old.extra_calls}", ("extra_calls",))
    yield from _forbidden(old, new)
    yield from _tools(old, new)
    yield from _outcome(old, new)


def _recognition(old: Dialog, new: Dialog) -> Iterator[Change]:
    if old.agent != new.agent:
        now, was = (dialog.agent or "any agent" for dialog in (new, old))
        yield Change("recognition", f"is played by {now}, no longer by {was}", ("agent",))
    before = {normalise(text): text for text in old.first_user}
    after = {normalise(text): text for text in new.first_user}
    at: KeyPath = ("recognise", "first_user")
    for key in (key for key in after if key not in before):
        yield Change("recognition", f"now also begins with {spoken(after[key])}", at)
    for key in (key for key in before if key not in after):
        yield Change("recognition", f"no longer begins with {spoken(before[key])}", at)
    if old.recognise.where != new.recognise.where:
        yield Change("recognition", "is recognised where other attributes stand", ("recognise", "where"))


def _forbidden(old: Dialog, new: Dialog) -> Iterator[Change]:
    for place, item in enumerate(new.forbidden):
        if item not in old.forbidden:
            name = item.tool_id if item.action is None else f"{item.tool_id}.{item.action}"
            yield Change("stricter", f"now forbids {name}", ("forbidden", place))
    for place, item in enumerate(old.forbidden):
        if item not in new.forbidden:
            name = item.tool_id if item.action is None else f"{item.tool_id}.{item.action}"
            yield Change("looser", f"no longer forbids {name}", ("forbidden", place), removed=True)


def _tools(old: Dialog, new: Dialog) -> Iterator[Change]:
    for tool in dict.fromkeys((*old.tools, *new.tools)):
        was, now = old.tools.get(tool, _NO_RULES), new.tools.get(tool, _NO_RULES)
        at: KeyPath = ("tools", tool)
        if was.reads_all != now.reads_all:
            text = "only reads now" if now.reads_all else "no longer only reads"
            yield Change("looser" if now.reads_all else "stricter", f"{tool} {text}", (*at, "read_only"))
        for action in sorted(now.reads ^ was.reads, key=str):
            name = tool if action is None else f"{tool}.{action}"
            text = "only reads now" if action in now.reads else "no longer only reads"
            yield Change("looser" if action in now.reads else "stricter", f"{name} {text}", (*at, "read_only"))
        for action in dict.fromkeys((*was.optional_args, *now.optional_args)):
            name = tool if action is None else f"{tool}.{action}"
            for effect, text in _optional(was.optional_args.get(action, {}), now.optional_args.get(action, {})):
                yield Change(effect, f"{text} of {name}", (*at, "optional_args"))


def _optional(was: Mapping[str, Captured], now: Mapping[str, Captured]) -> Iterator[tuple[Effect, str]]:
    for name in dict.fromkeys((*was, *now)):
        if name not in was:
            yield "looser", f"argument {name} may be left out"
        elif name not in now:
            yield "stricter", f"argument {name} may no longer be left out"
        elif was[name] != now[name]:
            before, after = was[name], now[name]
            effect: Effect = (
                "looser" if after is NOT_CAPTURED else "stricter" if before is NOT_CAPTURED else "different"
            )
            shown = ["none" if one is NOT_CAPTURED else spoken(one) for one in (after, before)]
            yield effect, f"the default is {shown[0]}, no longer {shown[1]}, for the optional argument {name}"


def _outcome(old: Dialog, new: Dialog) -> Iterator[Change]:
    was, now = ({canonical(_state(one)): one for one in dialog.outcome} for dialog in (old, new))
    for place, (key, state) in enumerate(now.items()):
        if key not in was:
            yield Change("stricter", f"must now end with {_end(state)}", ("outcome", place))
    for place, (key, state) in enumerate(was.items()):
        if key not in now:
            yield Change("looser", f"need no longer end with {_end(state)}", ("outcome", place), removed=True)


def _state(state: EndState) -> JSON:
    held: dict[str, JSON] = {"result": state.result} if state.has_result else {}
    return {"tool": state.tool_id, "action": state.action, "args": dict(state.args), **held}


def _end(state: EndState) -> str:
    name = state.tool_id if state.action is None else f"{state.tool_id}.{state.action}"
    returned = f" returning {spoken(state.result)}" if state.has_result else ""
    return f"a call of {name} {spoken(dict(state.args))}{returned}"


def _variants(old: Dialog, new: Dialog) -> Iterator[Change]:
    was = {str(variant.variant): (place, variant) for place, variant in enumerate(old.variants)}
    now = {str(variant.variant): (place, variant) for place, variant in enumerate(new.variants)}
    for name, (place, variant) in now.items():
        if name not in was:
            yield Change("looser", f"now also accepts the path {name}", ("variants", place))
            continue
        for change in _path(was[name][1], variant):
            at = was[name][0] if change.removed else place
            yield Change(
                change.effect, f"path {name}: {change.message}", ("variants", at, *change.path), change.removed
            )
    for name, (place, _) in was.items():
        if name not in now:
            yield Change("stricter", f"no longer accepts the path {name}", ("variants", place), removed=True)


def _path(old: Dialog, new: Dialog) -> Iterator[Change]:
    pairs = paired(old.turns, new.turns)
    yield from _removed(pairs)
    yield from _added(pairs)
    was, now = _exchange_of(old.exchanges), _exchange_of(new.exchanges)
    follows = {was[a.index]: now[b.index] for a, b in pairs.both if isinstance(a, UserTurn)}
    for place, (before, after) in enumerate(pairs.both):
        at: KeyPath = ("turns", after.index)
        if isinstance(before, UserTurn) or isinstance(after, UserTurn):
            yield from _user(before, after, at, moved=place in pairs.moved)
            continue
        named = f"turn {after.turn_no}"
        if before.turn_no != after.turn_no:
            yield Change("none", f"{named} was turn {before.turn_no}", (*at, "turn_no"))
        elsewhere = follows.get(was[before.index], now[after.index]) != now[after.index]
        if elsewhere:
            yield Change("different", f"{named} moved to another user message", at)
        elif place in pairs.moved:
            yield Change("none", f"{named} moved; only tags and dependencies order calls", at)
        for path, effect, text in compare_turns(before, after, pairs.numbers):
            yield Change(effect, f"{named}: {text}", (*at, *path))


def _user(before: Turn, after: Turn, at: KeyPath, *, moved: bool) -> Iterator[Change]:
    if not isinstance(before, UserTurn) or not isinstance(after, UserTurn):
        return
    if moved:
        yield Change("different", f"the user says {spoken(after.text)} at another point", at)
    if normalise(before.text) != normalise(after.text):
        text = f"the user says {spoken(after.text)}, no longer {spoken(before.text)}"
        yield Change("different", f"{text}: runs with the old words are off script", (*at, "text"))
    elif before.text != after.text:
        yield Change("none", f"the user's {spoken(after.text)} is spelled another way", (*at, "text"))


def _removed(pairs: Pairs) -> Iterator[Change]:
    for turn in pairs.removed:
        yield Change(
            _effect_of(turn, removed=True), f"{_described(turn)} was removed", ("turns", turn.index), removed=True
        )


def _added(pairs: Pairs) -> Iterator[Change]:
    for turn in pairs.added:
        yield Change(_effect_of(turn, removed=False), f"{_described(turn)} was added", ("turns", turn.index))


def _effect_of(turn: Turn, *, removed: bool) -> Effect:
    """Of a required turn that is gone, the call is an extra one where it comes all the same: either may happen."""
    if isinstance(turn, ToolTurn) and turn.presence != "required":
        optional = turn.presence == "optional"
        return "looser" if optional != removed else "stricter"
    if isinstance(turn, AgentTurn):
        return "looser" if removed else "stricter"
    return "different"


def _described(turn: Turn) -> str:
    if isinstance(turn, UserTurn):
        return f"the user's {spoken(turn.text)}"
    if isinstance(turn, ToolTurn):
        kind = "" if turn.presence == "required" else f"{turn.presence} "
        return f"turn {turn.turn_no}, the {kind}call {call_of(turn)} {spoken(dict(turn.args))},"
    said = turn.response if turn.response is not None else ", ".join(turn.must_mention)
    return f"turn {turn.turn_no}, the reply {spoken(said)},"


def _exchange_of(exchanges: Iterable[GoldenExchange]) -> dict[int, int]:
    """The exchange of each turn, by its place in the file."""
    out: dict[int, int] = {}
    for number, exchange in enumerate(exchanges):
        turns: tuple[UserTurn | ScoredTurn, ...] = exchange.turns
        if exchange.user is not None:
            turns = (exchange.user, *turns)
        out.update((turn.index, number) for turn in turns)
    return out
