"""What changed between two versions of a turn, and what that does to verdicts. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from aem_monitor.document import KeyPath, key_path
from aem_monitor.golden.dialog import AgentTurn, ScoredTurn, ToolTurn
from aem_monitor.golden.diffmatch import Effect, canonical, compare_matching, spoken
from aem_monitor.golden.messages import normalise
from aem_monitor.model.jsonvalue import JSON

Step: TypeAlias = tuple[KeyPath, Effect, str]
"""Where in the new turn something changed, what it does to verdicts, and what it is, after the name of the turn."""

_REFERENCE = re.compile(r"\$\{(\d{1,9})(?=\.result)")
_STRICTNESS = {"optional": 0, "required": 1}


def call_of(turn: ToolTurn) -> str:
    """How a call is named: ``tool.action``."""
    return turn.tool_id if turn.action is None else f"{turn.tool_id}.{turn.action}"


def renumbered(value: JSON, numbers: Mapping[int, int]) -> JSON:
    """``value`` with its references to old turns pointing to where those turns are now."""
    if isinstance(value, str):
        return _REFERENCE.sub(lambda found: f"${{{numbers.get(int(found[1]), int(found[1]))}", value)
    if isinstance(value, Mapping):
        return {name: renumbered(item, numbers) for name, item in value.items()}
    if isinstance(value, Sequence):
        return [renumbered(item, numbers) for item in value]
    return value


def compare_turns(old: ScoredTurn, new: ScoredTurn, numbers: Mapping[int, int]) -> Iterator[Step]:
    """The changes of a turn that both versions have. ``numbers`` maps old turn numbers to new ones."""
    if isinstance(old, ToolTurn) and isinstance(new, ToolTurn):
        yield from _calls(old, new, numbers)
    elif isinstance(old, AgentTurn) and isinstance(new, AgentTurn):
        yield from _replies(old, new, numbers)
    yield from _dependencies(old, new, numbers)
    yield from _alternates(old, new, numbers)
    if old.skip != new.skip:
        yield ("skip",), "looser" if new.skip else "stricter", "is no longer scored" if new.skip else "is scored now"
    if old.weight != new.weight:
        yield ("weight",), "different", f"weighs {new.weight:g} in the score, no longer {old.weight:g}"
    if old.critical != new.critical:
        yield ("critical",), "different", "is critical now" if new.critical else "is no longer critical"


def _calls(old: ToolTurn, new: ToolTurn, numbers: Mapping[int, int]) -> Iterator[Step]:
    if call_of(old) != call_of(new):
        yield ("gold_turn",), "different", f"expects {call_of(new)}, no longer {call_of(old)}"
    yield from _arguments(old, new, numbers)
    yield from _result(old, new)
    if old.presence != new.presence:
        effect: Effect = "different"
        if "forbidden" not in (old.presence, new.presence):
            effect = "stricter" if _STRICTNESS[new.presence] > _STRICTNESS[old.presence] else "looser"
        yield ("presence",), effect, f"is {new.presence}, no longer {old.presence}"
    more, fewer = new.order_tags - old.order_tags, old.order_tags - new.order_tags
    if more or fewer:
        changed = [*(f"+{tag}" for tag in sorted(more)), *(f"-{tag}" for tag in sorted(fewer))]
        effect = "different" if more and fewer else "looser" if more else "stricter"
        yield ("tags",), effect, f"comes in another order: {', '.join(changed)}"
    if set(old.tags) - old.order_tags != set(new.tags) - new.order_tags:
        yield ("tags",), "none", "has other labels"
    if old.threshold != new.threshold:
        yield ("threshold",), *_least(old.threshold, new.threshold, "takes texts from a similarity of")


def _arguments(old: ToolTurn, new: ToolTurn, numbers: Mapping[int, int]) -> Iterator[Step]:
    at: KeyPath = ("gold_turn", "args")
    for name, value in old.args.items():
        if name not in new.args:
            yield at, "different", f"expects no {name} any more (was {spoken(value)})"
    for name, value in new.args.items():
        if name not in old.args:
            yield (*at, name), "different", f"now expects {name}: {spoken(value)}"
            continue
        before = renumbered(old.args[name], numbers)
        for effect, text in compare_matching(before, old.match.get(name), value, new.match.get(name)):
            same = canonical(before) == canonical(value)
            place: KeyPath = ("match", name) if same and name in new.match else (*at, name)
            yield place, effect, f"{name} {text}"
    # Matchers of paths into an argument, whose own value was compared above.
    for name in sorted({*old.match, *new.match} - {*old.args, *new.args}):
        for effect, text in compare_matching(None, old.match.get(name), None, new.match.get(name)):
            yield ("match", name), effect, f"{name} {text}"


def _result(old: ToolTurn, new: ToolTurn) -> Iterator[Step]:
    at: KeyPath = ("result",)
    if new.has_result and not old.has_result:
        yield at, "different", "has a golden result now: later values are traced to it"
    elif old.has_result and not new.has_result:
        yield at, "different", "has no golden result any more: later values are not traced to it"
    elif canonical(old.result) != canonical(new.result):
        for path, was, now in _leaves_that_differ(old.result, new.result, ()):
            shown = key_path(("result", *path))
            yield (*at, *path), "different", f"{shown} is {now} in the golden run, no longer {was}"


def _leaves_that_differ(old: JSON, new: JSON, at: KeyPath) -> Iterator[tuple[KeyPath, str, str]]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*old, *new)):
            if name not in new or name not in old:
                was, now = (spoken(tree[name]) if name in tree else "missing" for tree in (old, new))
                yield (*at, name), was, now
            else:
                yield from _leaves_that_differ(old[name], new[name], (*at, name))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (was, now) in enumerate(zip(old, new, strict=True)):
            yield from _leaves_that_differ(was, now, (*at, index))
    elif canonical(old) != canonical(new):
        yield at, spoken(old), spoken(new)


def _replies(old: AgentTurn, new: AgentTurn, numbers: Mapping[int, int]) -> Iterator[Step]:
    was = renumbered(old.response, numbers)
    if was != new.response:
        at: KeyPath = ("gold_turn", "response")
        if new.response is None:
            yield at, "looser", "has no reference text any more: only mentions count"
        elif not isinstance(was, str):
            yield at, "stricter", f"is held against a reference text: {spoken(new.response)}"
        elif normalise(was) == normalise(new.response):
            yield at, "none", "is worded alike: only letter case or punctuation differ"
        else:
            yield at, "different", f"should say {spoken(new.response)}, no longer {spoken(was)}"
    for key, words in (("must_mention", "mention"), ("must_not_mention", "not mention")):
        before = [str(renumbered(text, numbers)) for text in getattr(old, key)]
        after = getattr(new, key)
        for text in after:
            if text not in before:
                yield (key, after.index(text)), "stricter", f"must now {words} {spoken(text)}"
        for text in before:
            if text not in after:
                yield (key,), "looser", f"need no longer {words} {spoken(text)}"
    for name in ("completeness", "truthfulness"):
        least, former = new.thresholds.get(name), old.thresholds.get(name)
        if least != former:
            yield ("thresholds",), *_least(former, least, f"passes {name} from a share of")


def _least(old: float | None, new: float | None, does: str) -> tuple[Effect, str]:
    """A threshold that is another one; None is the configured one, of which nothing is known here."""
    effect: Effect = "different"
    if old is not None and new is not None:
        effect = "looser" if new < old else "stricter"
    shown = ["the configured one" if one is None else f"{one:g}" for one in (new, old)]
    return effect, f"{does} {shown[0]}, no longer {shown[1]}"


def _dependencies(old: ScoredTurn, new: ScoredTurn, numbers: Mapping[int, int]) -> Iterator[Step]:
    was = {numbers.get(number, number) for number in old.dependencies}
    now = set(new.dependencies)
    at: KeyPath = ("depends_on",)
    if now - was:
        named = ", ".join(map(str, sorted(now - was)))
        yield at, "different", f"now depends on turn {named}: its failures may be cascades of it, and it comes after it"
    if was - now:
        named = ", ".join(map(str, sorted(was - now)))
        yield at, "different", f"no longer depends on turn {named}: its failures are its own"


def _alternates(old: ScoredTurn, new: ScoredTurn, numbers: Mapping[int, int]) -> Iterator[Step]:
    was = {_what(one, numbers): one for one in old.alternates}
    now = {_what(one, {}): one for one in new.alternates}
    for place, (key, one) in enumerate(now.items()):
        if key not in was:
            yield ("alternates", place), "looser", f"now also accepts {_shown(one)}"
        elif canonical(renumbered(_how(was[key]), numbers)) != canonical(_how(one)):
            yield ("alternates", place), "different", f"judges {_shown(one)} otherwise"
    for key, one in was.items():
        if key not in now:
            yield ("alternates",), "stricter", f"no longer accepts {_shown(one)}"


def _what(turn: ScoredTurn, numbers: Mapping[int, int]) -> str:
    """What an alternate accepts."""
    named: JSON = {"call": call_of(turn), "args": dict(turn.args)} if isinstance(turn, ToolTurn) else turn.response
    return canonical(renumbered(named, numbers))


def _how(turn: ScoredTurn) -> JSON:
    """How an alternate is judged."""
    if isinstance(turn, AgentTurn):
        return list(turn.must_mention)
    match = {name: matcher.model_dump(mode="json", by_alias=True) for name, matcher in turn.match.items()}
    return {"match": match, "result": turn.result}


def _shown(turn: ScoredTurn) -> str:
    if isinstance(turn, AgentTurn):
        return f"the reply {spoken(turn.response)}"
    return f"the call {call_of(turn)} {spoken(dict(turn.args))}"
