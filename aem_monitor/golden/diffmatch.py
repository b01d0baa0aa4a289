"""Whether one way to compare an argument accepts more than another. Pure."""

import json
from collections.abc import Mapping
from typing import Literal, TypeAlias

from aem_monitor.golden.matchers import (
    AnyOf,
    Day,
    Exact,
    FreeText,
    Ignore,
    InAnyOrder,
    InOrder,
    Matcher,
    Member,
    Number,
    Parallel,
    PointInTime,
    TimeOfDay,
)
from aem_monitor.model.jsonvalue import JSON

Effect: TypeAlias = Literal["stricter", "looser", "different", "recognition", "none"]
"""What a change does to verdicts: fewer runs pass, more do, either, only which runs are recognised, or nothing."""

Said: TypeAlias = tuple[Effect, str]
"""An effect, and what changed, as the end of a sentence about the argument."""


def canonical(value: JSON) -> str:
    """A text that is equal for equal JSON values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def spoken(value: JSON, widest: int = 60) -> str:
    """A value in a message: texts in quotes, cut where they are long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= widest else f"{text[: widest - 3]}..."


def compare_matching(old: JSON, before: Matcher | None, new: JSON, after: Matcher | None) -> list[Said]:
    """What becomes of an argument whose golden value was ``old`` and is ``new``; its matchers likewise."""
    if isinstance(before, AnyOf | None) and isinstance(after, AnyOf | None):
        return _accepted(old, before, new, after)
    found: list[Said] = []
    if canonical(old) != canonical(new) and not (isinstance(before, Ignore) and isinstance(after, Ignore)):
        found.append(("different", f"is expected to be {spoken(new)}, no longer {spoken(old)}"))
    if before != after:
        found.append((_compared(before, after), f"{_named(before)} became {_named(after)}"))
    return found


def _accepted(old: JSON, before: AnyOf | None, new: JSON, after: AnyOf | None) -> list[Said]:
    """Of values that are listed, only which of them there are counts, not which one is the golden one."""
    was = {canonical(value): value for value in (old, *(before.any_of if before else ()))}
    now = {canonical(value): value for value in (new, *(after.any_of if after else ()))}
    more = [value for key, value in now.items() if key not in was]
    fewer = [value for key, value in was.items() if key not in now]
    if more and fewer and len(was) == len(now) == 1:
        return [("different", f"is expected to be {spoken(new)}, no longer {spoken(old)}")]
    found: list[Said] = []
    if more:
        found.append(("looser", f"now also accepts {_list(more)}"))
    if fewer:
        found.append(("stricter", f"no longer accepts {_list(fewer)}"))
    if not found and canonical(old) != canonical(new):
        found.append(("none", f"has {spoken(new)} for its golden value in the place of {spoken(old)}"))
    return found


def _compared(before: Matcher | None, after: Matcher | None) -> Effect:
    if isinstance(after, Ignore):
        return "looser"
    if isinstance(before, Ignore):
        return "stricter"
    if isinstance(before, InOrder | None) and isinstance(after, InOrder | None):
        return "none"
    # Every other way accepts at least what is equal to the letter.
    if isinstance(after, Exact):
        return "stricter"
    if isinstance(before, Exact):
        return "looser"
    if type(before) is type(after):
        return _of_one_kind(before, after)
    return _wider(before, after) or _opposite(_wider(after, before)) or "different"


def _wider(before: Matcher | None, after: Matcher | None) -> Effect | None:
    """``looser`` where the second surely accepts all that the first does."""
    plain = before is None or isinstance(before, InOrder)
    if plain and isinstance(after, AnyOf | InAnyOrder | Number | Parallel):
        return "looser"
    typed = isinstance(before, Day | TimeOfDay | PointInTime) and _leeway(before) == (0.0, None)
    return "looser" if after is None and (typed or isinstance(before, Member)) else None


def _opposite(effect: Effect | None) -> Effect | None:
    return "stricter" if effect == "looser" else None


def _of_one_kind(before: Matcher | None, after: Matcher | None) -> Effect:
    if isinstance(before, Number) and isinstance(after, Number):
        return _limits(
            {"abs": before.number.abs or 0.0, "rel": before.number.rel or 0.0},
            {"abs": after.number.abs or 0.0, "rel": after.number.rel or 0.0},
        )
    if isinstance(before, FreeText) and isinstance(after, FreeText):
        was, now = (None if one.text is True else one.text.threshold for one in (before, after))
        return "different" if was is None or now is None else _limits({"": -was}, {"": -now})
    if isinstance(before, Member) and isinstance(after, Member):
        # A further member is one more that is wrong, however alike.
        was_members, now_members = ({canonical(value) for value in one.enum} for one in (before, after))
        if was_members == now_members:
            return "none"
        return "stricter" if was_members < now_members else "looser" if now_members < was_members else "different"
    if isinstance(before, Parallel) and isinstance(after, Parallel) and set(before.parallel) == set(after.parallel):
        return _limits({"": float(before.ignore_identity)}, {"": float(after.ignore_identity)})
    if isinstance(before, Day | TimeOfDay | PointInTime) and isinstance(after, Day | TimeOfDay | PointInTime):
        (was_apart, was_zone), (now_apart, now_zone) = _leeway(before), _leeway(after)
        if was_zone == now_zone:
            return _limits({"": was_apart}, {"": now_apart})
    return "different"


def _leeway(matcher: Day | TimeOfDay | PointInTime) -> tuple[float, str | None]:
    """How far apart in seconds, and the zone of values that name none."""
    if isinstance(matcher, Day):
        return (0.0 if matcher.date is True else matcher.date.tolerance), None
    leeway = matcher.time if isinstance(matcher, TimeOfDay) else matcher.moment
    return (0.0, None) if leeway is True else (leeway.tolerance, leeway.zone)


def _limits(was: Mapping[str, float], now: Mapping[str, float]) -> Effect:
    """More of every number accepts more."""
    if was == now:
        return "none"
    if all(now[name] >= was[name] for name in was):
        return "looser"
    return "stricter" if all(now[name] <= was[name] for name in was) else "different"


def _named(matcher: Matcher | None) -> str:
    if matcher is None:
        return "the comparison by type"
    return json.dumps(matcher.model_dump(mode="json", by_alias=True, exclude_none=True), ensure_ascii=False)


def _list(values: list[JSON]) -> str:
    return ", ".join(spoken(value) for value in values)
