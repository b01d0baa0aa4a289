"""A draft held against its own recordings: what none of them may fail is loosened until all of them pass.

A recording of a good run is right by definition, so that a check which it fails is too strict, or is one that scoring
cannot make. What was loosened is said in the draft, for the author to tighten.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aem_monitor.attribution.steps import Judge
from aem_monitor.bootstrap.recorded import Recording
from aem_monitor.bootstrap.sheet import DraftTurn, Sheet
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.load import dialog_from
from aem_monitor.golden.messages import same_user_message
from aem_monitor.golden.play import runs_of
from aem_monitor.golden.reference import fill, references_of
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import Check, MismatchDetail, RunResult, TurnVerdict

_ROUNDS: Final = 8
_NEVER: Final = 10**18


@dataclass(frozen=True, slots=True)
class Checked:
    """``loosened`` says in sentences what was given up, ``failing`` what still fails; neither should go unread."""

    loosened: tuple[str, ...]
    failing: tuple[str, ...]


AnotherReply = Callable[[DraftTurn, Recording], bool]
"""Takes a recording's own reply for one that will do as well; False where it is none, or was taken already."""


def hold_against(sheet: Sheet, recordings: Sequence[Recording], judge: Judge, another: AnotherReply) -> Checked:
    """Judge every recording by the draft, and loosen what they fail."""
    loosened: list[str] = []
    for _ in range(_ROUNDS):
        dialog = dialog_from(sheet.value(), "the draft")
        failing = [
            (recording, verdict)
            for recording in recordings
            for result in judged(dialog, recording, judge)
            for verdict in result.turns
            if verdict.success is not True
        ]
        turns = sheet.numbered()
        changed = [
            f"turn {verdict.turn_no}: {said}"
            for recording, verdict in failing
            if verdict.turn_no is not None
            for said in _loosen(turns[verdict.turn_no], dialog, recording, verdict, another)
        ]
        if not changed:
            break
        loosened += changed
    open_still = [
        f"{recording.source}: turn {verdict.turn_no or verdict.called}: {verdict.failure_reason or verdict.not_scored}"
        for recording, verdict in failing
    ]
    return Checked(tuple(dict.fromkeys(loosened)), tuple(open_still))


def judged(dialog: Dialog, recording: Recording, judge: Judge) -> list[RunResult]:
    """The results of one recording, whatever dialog its spans name."""
    if recording.conversation is None:
        return []
    return [judge.plan(run).result for run in runs_of(recording.conversation, dialog, same_user_message, _NEVER)]


def _loosen(
    turn: DraftTurn, dialog: Dialog, recording: Recording, verdict: TurnVerdict, another: AnotherReply
) -> list[str]:
    """Give up what one turn fails by; empty where nothing helps or something was given up already in this round."""
    failing = [check for check in verdict.checks if check.passed is not True]
    if turn.form["turn"] == "Agent":
        return _loosen_reply(turn, recording, verdict, failing, another)
    if verdict.detail is MismatchDetail.NOT_CALLED:
        if turn.form.get("presence") == "optional":
            return []
        turn.form["presence"] = "optional"
        return [_told(turn, "made optional: a recording has no call for it")]
    told = []
    actual = verdict.actual.get("args") if isinstance(verdict.actual, Mapping) else None
    for name in dict.fromkeys(check.field for check in failing if check.field is not None):
        said = _loosen_argument(turn, dialog, name, actual)
        if said:
            told.append(_told(turn, said))
    return told


def _loosen_argument(turn: DraftTurn, dialog: Dialog, name: str, actual: JSON) -> str | None:
    args = turn.form["gold_turn"].get("args", {})
    if name not in args or not isinstance(actual, Mapping) or name not in actual:
        return None
    written = [reference.text for _, reference in references_of(args[name])]
    if written:
        args[name] = fill(args[name], dialog.golden_value)
        return f"{', '.join(dict.fromkeys(written))} in {name} withdrawn: by it a recording failed"
    match = turn.form.setdefault("match", {})
    known = match.get(name, {})
    values = known.get("any_of", [])
    if "ignore" in known:
        return None
    if actual[name] in values or actual[name] == args[name]:
        match[name] = {"ignore": True}
        return f"{name} is not compared: a recording failed by its own value"
    match[name] = {"any_of": [*values, actual[name]]}
    return f"another value of {name} was seen in a recording"


def _loosen_reply(
    turn: DraftTurn, recording: Recording, verdict: TurnVerdict, failing: Sequence[Check], another: AnotherReply
) -> list[str]:
    """What an author demands of a reply is never given up, but another reference text may stand beside his."""
    told = []
    mentions = list(turn.form.get("must_mention", ()))
    asked = [check for check in verdict.checks if check.subject == "mention" and check.rule != "must not be mentioned"]
    if len(asked) == len(mentions) and not turn.written:
        dropped = [text for text, check in zip(mentions, asked, strict=True) if check.passed is not True]
        if dropped:
            kept = [text for text in mentions if text not in dropped]
            if kept:
                turn.form["must_mention"] = kept
            else:
                turn.form.pop("must_mention", None)
            told.append(_told(turn, f"not demanded: {'; '.join(dropped)}, which a good reply does not say"))
    if all(check.subject == "mention" for check in failing) or "gold_turn" not in turn.form:
        return told
    if another(turn, recording):
        turn.note(("alternates",), "what other recordings replied: keep those that you want to accept")
        told.append(f"the reply of {recording.source} will do as well")
    elif not turn.written and not told:
        text = turn.form.pop("gold_turn")["response"]
        turn.form.pop("alternates", None)
        if "must_mention" not in turn.form:
            turn.form["skip"] = True
        said = (
            "only the mentions count" if "must_mention" in turn.form else "the turn is skipped: write what it must say"
        )
        told.append(_told(turn, f"no reference text holds for all recordings, so {said}. The first was: {text[:300]}"))
    return told


def _told(turn: DraftTurn, text: str) -> str:
    turn.remark(f"{text[0].upper()}{text[1:]}.")
    return text
