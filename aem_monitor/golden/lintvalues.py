"""Rules of ``golden lint`` about values: where they come from, and whether they can be the same in another run."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final

from aem_monitor.document import KeyPath
from aem_monitor.golden.dialog import AgentTurn, Dialog, ToolTurn, UserTurn
from aem_monitor.golden.linting import Remark, Rules, Semantics, Severity, named, shown
from aem_monitor.golden.matchers import AnyOf, Day, FreeText, Ignore, Matcher, Number, Pattern, PointInTime, TimeOfDay
from aem_monitor.golden.messages import normalise
from aem_monitor.golden.reference import JSONPath, fill, references_in, texts_of
from aem_monitor.model.jsonvalue import JSON

_RELATIVE_DATE: Final = re.compile(
    r"\b(today|tomorrow|tonight|yesterday|(next|last|this|coming)\s+(week|weekend|month|quarter|year|"
    r"(mon|tues|wednes|thurs|fri|satur|sun)day))\b",
    re.IGNORECASE,
)
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ].*)?")
_STALE: Final = timedelta(days=90)
_KINDS: Final[Mapping[type, str]] = {Day: "date", TimeOfDay: "time", PointInTime: "datetime"}
_SPOKEN_KINDS: Final = {"date": "date", "time": "time of day", "datetime": "day and time"}
_ERROR: Final = "Error:"
"""How the text of a failed call begins, as assembly reads it by default."""


def _literal_id(dialog: Dialog, semantics: Semantics) -> Iterator[Remark]:
    if semantics.identifier is None or dialog.open:
        # What the user says in an open dialog is not known.
        return
    said = ""
    known: set[str] = set()
    results = calls = 0
    for turn in dialog.turns:
        if isinstance(turn, UserTurn):
            said += f" {normalise(turn.text)} "
        if not isinstance(turn, ToolTurn) or turn.presence == "forbidden":
            continue
        for path, text in texts_of(turn.args, ()):
            free = isinstance(_matcher_of(turn, path), Ignore | Pattern | FreeText)
            if free or references_in(text) or not semantics.identifier(text.strip()):
                continue
            key = normalise(text)
            if key not in known and f" {key} " not in said:
                at: KeyPath = ("turns", turn.index, "gold_turn", "args", *path)
                # Without any call before it, the agent knows it from its own instructions.
                severity: Severity = "warning" if results else "hint"
                where = "no golden result before it holds" if calls else "nothing before it gives"
                message = (
                    f"{shown(text)} is compared as it stands, though the user does not say it and {where} it: where "
                    "ids are made anew no run passes; give the result that it is from, or match it by ignore or pattern"
                )
                yield Remark(dialog.name, at, severity, message)
        calls += 1
        results += turn.has_result
        known.update(normalise(text) for source in (turn.args, turn.result) for _, text in texts_of(source))


def _text_matcher_on_id(dialog: Dialog, semantics: Semantics) -> Iterator[Remark]:
    for turn in _calls(dialog):
        for path, text in texts_of(turn.args, ()):
            name = _matcher_name(turn, path)
            if name is None or not isinstance(turn.match[name], FreeText) or semantics.identifier is None:
                continue
            if semantics.identifier(text.strip()):
                message = (
                    f"{shown(text)} is an identifier, and identifiers are equal or not, never similar; write id: true"
                )
                yield Remark(dialog.name, ("turns", turn.index, "match", name), "warning", message)


def _another_kind(dialog: Dialog, semantics: Semantics) -> Iterator[Remark]:
    for turn in _calls(dialog):
        for path, text in texts_of(turn.args, ()):
            name = _matcher_name(turn, path)
            kind = _KINDS.get(type(turn.match[name])) if name is not None else None
            if name is None or kind is None or semantics.reads_as is None or references_in(text):
                continue
            if not semantics.reads_as(text.strip(), kind):
                message = (
                    f"{shown(text)} cannot be read as a {_SPOKEN_KINDS[kind]}: nothing but the same words is equal"
                )
                yield Remark(dialog.name, ("turns", turn.index, "match", name), "warning", message)


def _idle_matcher(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    for turn in _calls(dialog):
        for name, matcher in turn.match.items():
            at: KeyPath = ("turns", turn.index, "match", name)
            if (
                isinstance(matcher, AnyOf)
                and name in turn.args
                and all(turn.args[name] == one for one in matcher.any_of)
            ):
                yield Remark(
                    dialog.name, at, "hint", f"any_of lists only the golden value of {name}, which will do anyway"
                )
            if isinstance(matcher, Number) and not matcher.number.abs and not matcher.number.rel:
                yield Remark(dialog.name, at, "hint", f"a tolerance of 0 for {name} is what numbers have anyway")


def _unsupported_fact(dialog: Dialog, semantics: Semantics) -> Iterator[Remark]:
    if semantics.unsupported is None:
        return
    sources: list[JSON] = []
    whole = False
    for turn in dialog.turns:
        if isinstance(turn, UserTurn):
            sources.append(turn.text)
        elif isinstance(turn, ToolTurn):
            sources.append(dict(turn.args))
            if turn.has_result:
                sources.append(turn.result)
                whole = True
            elif turn.presence != "forbidden":
                # What this call returned is not known: nothing after it can be called made up.
                return
        elif whole:
            yield from _unsupported_in(dialog, turn, sources, semantics)


def _unsupported_in(dialog: Dialog, turn: AgentTurn, sources: list[JSON], semantics: Semantics) -> Iterator[Remark]:
    texts: list[tuple[KeyPath, str]] = [(("gold_turn", "response"), turn.response or "")]
    texts += [(("must_mention", place), text) for place, text in enumerate(turn.must_mention)]
    told: set[str] = set()
    for path, text in texts:
        try:
            spoken = str(fill(text, dialog.golden_value))
        except LookupError:
            continue
        for fact, amount in (
            semantics.unsupported(spoken, sources, dialog.reference_date) if semantics.unsupported else ()
        ):
            if fact not in told:
                told.add(fact)
                message = (
                    f"turn {turn.turn_no} says {shown(fact)}, which no golden result before it holds and no user said"
                )
                # What two results make together stands in none of them.
                severity: Severity = "hint" if amount else "warning"
                message += "; is it worked out?" if amount else "; correct it, or give the result that it is from"
                yield Remark(dialog.name, ("turns", turn.index, *path), severity, message)


def _failed_golden_call(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    for turn in _calls(dialog):
        if turn.presence == "forbidden" or not turn.has_result:
            continue
        call = named(turn.tool_id, turn.action)
        at: KeyPath = ("turns", turn.index, "result")
        if _failed(turn.result):
            message = (
                f"turn {turn.turn_no} expects a call of {call} that ended in an error: it changed nothing, and no run "
                "passes with it; remove the turn, or give the result of a call that went well"
            )
            yield Remark(dialog.name, at, "error", message)
        elif isinstance(turn.result, Mapping) and turn.result.get("error"):
            yield Remark(dialog.name, at, "warning", f"turn {turn.turn_no}: {call} returned an error in the golden run")


def _failed(result: JSON) -> bool:
    if isinstance(result, str):
        return result.lstrip().startswith(_ERROR)
    return isinstance(result, Mapping) and result.get("isError") is True


def _relative_date(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    if dialog.reference_date is not None:
        return
    asked: str | None = None
    for turn in dialog.turns:
        if isinstance(turn, UserTurn):
            found = _RELATIVE_DATE.search(turn.text)
            asked = found[0] if found else asked
        if not isinstance(turn, ToolTurn):
            continue
        for place, text in texts_of(turn.args):
            at: KeyPath = ("turns", turn.index, "gold_turn", "args", *place)
            found = _RELATIVE_DATE.search(text)
            if found and len(text) <= 60:
                message = f'"{found[0]}" counts from the day of each run; set reference_date if a fixed day is meant'
                yield Remark(dialog.name, at, "warning", message)
            elif asked is not None and _DAY.fullmatch(text) and not isinstance(_matcher_of(turn, place), Ignore):
                message = (
                    f'{text} is right on one day only, since the user says "{asked}"; write the words here, too, or '
                    "set reference_date if the agent is told that day"
                )
                yield Remark(dialog.name, at, "warning", message)


def _stale_reference_date(dialog: Dialog, semantics: Semantics) -> Iterator[Remark]:
    if dialog.reference_date is None or semantics.today is None:
        return
    relative = any(_RELATIVE_DATE.search(text) for text in _texts(dialog))
    apart = abs(semantics.today - dialog.reference_date)
    if relative and apart > _STALE:
        when = "ago" if dialog.reference_date < semantics.today else "ahead"
        message = (
            f"the day from which relative dates count is {apart.days} days {when}: an agent that goes by its own clock "
            "answers otherwise; leave the key out, or see that the agent is told that day"
        )
        yield Remark(dialog.name, ("reference_date",), "hint", message)


def _texts(dialog: Dialog) -> Iterator[str]:
    for turn in dialog.turns:
        if isinstance(turn, UserTurn):
            yield turn.text
        elif isinstance(turn, ToolTurn):
            yield from (text for _, text in texts_of(turn.args))
        else:
            yield from (turn.response or "", *turn.must_mention)


def _calls(dialog: Dialog) -> Iterator[ToolTurn]:
    return (turn for turn in dialog.scored_turns if isinstance(turn, ToolTurn))


def _matcher_of(turn: ToolTurn, path: JSONPath) -> Matcher | None:
    name = _matcher_name(turn, path)
    return turn.match[name] if name is not None else None


def _matcher_name(turn: ToolTurn, path: JSONPath) -> str | None:
    """The matcher's key that holds for a value inside the arguments: of the value itself, or of what holds it."""
    steps = [step for step in path if isinstance(step, str)]
    names = (".".join(steps[:end]) for end in range(len(steps), 0, -1))
    return next((name for name in names if name in turn.match), None)


VALUE_RULES: Final[Rules] = {
    "literal-id": _literal_id,
    "text-matcher-on-id": _text_matcher_on_id,
    "matcher-of-another-kind": _another_kind,
    "idle-matcher": _idle_matcher,
    "unsupported-fact": _unsupported_fact,
    "failed-golden-call": _failed_golden_call,
    "relative-date": _relative_date,
    "stale-reference-date": _stale_reference_date,
}
"""Rules about the values of one dialog, by code."""
