"""What a person found right that the dialog does not list, as a draft of its next version. Pure.

A call or reply that will do as well becomes an alternate of its turn, another path a variant of the whole.
"""

from collections.abc import Mapping
from typing import Any, cast

from aem_monitor.assembly import AssemblySettings
from aem_monitor.attribution.steps import Judge
from aem_monitor.bootstrap.draft import Drafter
from aem_monitor.bootstrap.recorded import recording_of
from aem_monitor.errors import UsageError
from aem_monitor.golden.form import MAX_ALTERNATES, MAX_VARIANTS
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import TurnKind, TurnVerdict
from aem_monitor.review.answers import Answer
from aem_monitor.review.cases import SHORT_ID
from aem_monitor.scoring.scorers import Scorer
from aem_monitor.store.redaction import is_redacted


def next_version(
    value: Mapping[str, Any], answer: Answer, conversation: Conversation, scorer: Scorer, note: str | None
) -> dict[str, Any]:
    """The dialog's file with what was found right, as a draft of the next version.

    Args:
        value: the file as it is.
        answer: the person's decision; it must call right what the dialog calls wrong, or does not know.
        conversation: of the run, without what was redacted.
        scorer: for the comparisons of a drafted path.
        note: why.

    Raises:
        UsageError: there is nothing to add, or it cannot be added; the message says why.
    """
    case = answer.case
    if answer.success is not True:
        raise UsageError(f"{case.name}: an alternate is what is right; accept the path, or the turn with --label pass")
    if case.turn is None:
        new = _with_variant(value, answer, conversation, scorer)
    elif case.turn.success is True:
        raise UsageError(f"{case.name}: the dialog takes this already")
    else:
        new = _with_alternate(value, answer, case.turn)
    review = value.get("review", {})
    drafted = f"from run {case.result.run_id}, turn {case.subject}" if case.turn else f"from run {case.result.run_id}"
    notes = [text for text in (review.get("note"), f"{_what(answer)} {drafted}", note) if text]
    new["review"] = {"status": "draft", "note": "; ".join(notes)}
    if review.get("status") == "human":
        new["version"] = value.get("version", 1) + 1
    return new


def _what(answer: Answer) -> str:
    return "variant" if answer.case.turn is None else "alternate"


def _with_alternate(value: Mapping[str, Any], answer: Answer, verdict: TurnVerdict) -> dict[str, Any]:
    case = answer.case
    places = [at for at, turn in enumerate(value["turns"]) if turn.get("turn_no") == verdict.turn_no]
    if not places or case.result.variant is not None:
        where = f"of variant {case.result.variant}" if case.result.variant else "not in the dialog"
        raise UsageError(f"{case.name}: the turn is {where}; write the alternate by hand")
    turn = dict(value["turns"][places[0]])
    other = _other_reply(answer, verdict) if verdict.kind is TurnKind.RESPONSE else _other_call(turn, answer, verdict)
    known = list(turn.get("alternates", ()))
    if other in known:
        raise UsageError(f"{case.name}: the dialog has this alternate already")
    if len(known) >= MAX_ALTERNATES:
        raise UsageError(f"{case.name}: the turn has {MAX_ALTERNATES} alternates, which is the most")
    turn["alternates"] = [*known, other]
    turns = [turn if at == places[0] else one for at, one in enumerate(value["turns"])]
    return {**value, "turns": turns}


def _other_reply(answer: Answer, verdict: TurnVerdict) -> dict[str, JSON]:
    if not isinstance(verdict.actual, str) or is_redacted(verdict.actual):
        raise UsageError(f"{answer.case.name}: the store does not have the whole reply; write the alternate by hand")
    return {"response": verdict.actual}


def _other_call(turn: Mapping[str, Any], answer: Answer, verdict: TurnVerdict) -> dict[str, Any]:
    """The listed call with the values that were found right, compared as they are written."""
    gold = turn["gold_turn"]
    actual = verdict.actual.get("args") if isinstance(verdict.actual, Mapping) else None
    fields = [check.field for check, right in answer.rightly if right and check.field is not None]
    if not isinstance(actual, Mapping) or not fields or any(name not in actual for name in fields):
        raise UsageError(f"{answer.case.name}: the store does not have the arguments; write the alternate by hand")
    if any(is_redacted(actual[name]) for name in fields):
        raise UsageError(f"{answer.case.name}: the arguments were redacted; write the alternate by hand")
    args = {**gold.get("args", {}), **{name: actual[name] for name in fields}}
    other: dict[str, Any] = {**gold, "args": args}
    match = {path: one for path, one in turn.get("match", {}).items() if path.split(".")[0] not in fields}
    return {**other, "match": match} if match else other


def _with_variant(
    value: Mapping[str, Any], answer: Answer, conversation: Conversation, scorer: Scorer
) -> dict[str, Any]:
    """The path as ``golden bootstrap`` drafts it, with the user's words as the dialog has them."""
    case = answer.case
    users = [turn["text"] for turn in value["turns"] if turn["turn"] == "User"]
    if users and len(users) != len(conversation.exchanges):
        raise UsageError(
            f"{case.name}: the user said {len(conversation.exchanges)} things, the dialog has {len(users)}; only paths "
            "with the same user messages are variants"
        )
    drafter = Drafter([recording_of(conversation)], {}, AssemblySettings().split_tool, scorer, "variant", "")
    sheet, _ = drafter.draft(Judge(scorer))
    said = iter(users)
    turns: list[Any] = []
    for form in cast("list[dict[str, Any]]", sheet.value()["turns"]):
        if form["turn"] != "User":
            turns.append(form)
        elif users:
            turns.append({**form, "text": next(said)})
    known = list(value.get("variants", ()))
    if len(known) >= MAX_VARIANTS:
        raise UsageError(f"{case.name}: the dialog has {MAX_VARIANTS} variants, which is the most")
    name = f"run {case.result.run_id[:SHORT_ID]}"
    return {**value, "variants": [*(one for one in known if one["name"] != name), {"name": name, "turns": turns}]}
