"""Stored runs judged again: by another version of their dialog, or by other rules.

A run stays the run that it is: its conversation, its place among the plays and its id are those of the day on which it
became final. Only what the dialog expects of it, and what the rules say, is new.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from aem_monitor.golden.load import Dialogs
from aem_monitor.metrics.increments import revision_increments
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.verdict import RunResult, TurnVerdict
from aem_monitor.pipeline import Pipeline
from aem_monitor.store.codec import encode_turn, same_result
from aem_monitor.store.records import KeptConversation, RunFilter, StoredRun
from aem_monitor.store.redaction import as_captured
from aem_monitor.store.store import Store

CAUSE: Final = "rescore"
"""Why a revision was made, in the store and as a metric's label."""

_ATTEMPTS: Final = 3


class Outcome(StrEnum):
    """What became of a run that was looked at."""

    CHANGED = "changed"
    SAME = "same"
    NO_DIALOG = "no_dialog"
    NOT_KEPT = "not_kept"
    TOO_LARGE = "too_large"
    REDACTED = "redacted"
    OVERTAKEN = "overtaken"


@dataclass(frozen=True, slots=True)
class TurnChange:
    """One entry whose verdict is another; None: it has no such entry. ``only_evidence``: it says the same for other
    reasons."""

    before: TurnVerdict | None
    after: TurnVerdict | None
    only_evidence: bool = False


@dataclass(frozen=True, slots=True)
class Rescored:
    """A run beside what it is now. ``after`` is None where it could not be judged again. ``unanswered`` counts the
    questions to an expert of which the store has no answer. ``revision`` is the new one's number, once it is stored.
    """

    before: StoredRun
    outcome: Outcome
    after: RunResult | None = None
    unanswered: int = 0
    revision: int | None = None

    @property
    def changes(self) -> tuple[TurnChange, ...]:
        """The turns that changed, in golden order."""
        return () if self.after is None else turn_changes(self.before.result, self.after)


class Rescorer:
    """Judges stored runs by the dialogs that are loaded now. ``expert`` names the scorer whose stored answers count."""

    def __init__(self, pipeline: Pipeline, dialogs: Dialogs, store: Store, expert: str | None = None) -> None:
        self._pipeline = pipeline
        self._dialogs = dialogs
        self._store = store
        self._expert = expert

    def look_at(self, wanted: RunFilter) -> Iterator[Rescored]:
        """What the wanted runs would be now, newest first, read page by page. Raises ``StoreError``."""
        while page := self._store.runs(wanted):
            kept = self._store.conversations(stored.result.run_id for stored in page)
            for stored in page:
                yield self._judged(stored, kept.get(stored.result.run_id))
            wanted = replace(wanted, after=page[-1].cursor)

    def store(self, rescored: Rescored, now: float) -> Rescored:
        """Make a changed verdict the latest revision, each in a transaction of its own. Raises ``StoreError``.

        Where the daemon was quicker with a late span, its revision is judged in turn.
        """
        for _ in range(_ATTEMPTS):
            if rescored.outcome is not Outcome.CHANGED or rescored.after is None:
                return rescored
            before = rescored.before.result
            revision = self._store.record_revision(
                rescored.after, CAUSE, now, revision_increments(CAUSE), based_on=before.revision
            )
            if revision is not None:
                return replace(rescored, revision=revision)
            stored = self._store.run(before.run_id)
            if stored is None:
                break
            rescored = self._judged(stored, self._store.conversations([before.run_id]).get(before.run_id))
        return replace(rescored, outcome=Outcome.OVERTAKEN, after=None)

    def _judged(self, stored: StoredRun, kept: KeptConversation | None) -> Rescored:
        before = stored.result
        dialog = self._dialogs.get(before.dialog)
        if dialog is None:
            return Rescored(stored, Outcome.NO_DIALOG)
        if kept is None:
            return Rescored(stored, Outcome.NOT_KEPT)
        if kept.conversation is None:
            return Rescored(stored, Outcome.TOO_LARGE)
        conversation = as_captured(kept.conversation)
        if conversation != kept.conversation and dialog.version == before.dialog_version:
            # The verdict knows what was taken out since; the same dialog could only know less.
            return Rescored(stored, Outcome.REDACTED)
        after, unanswered = self._result(stored.result, conversation)
        after = self._store.redacted(after)
        same = same_result(after, before)
        return Rescored(stored, Outcome.SAME if same else Outcome.CHANGED, after, unanswered)

    def _result(self, before: RunResult, conversation: Conversation) -> tuple[RunResult, int]:
        """The verdict with stored answers only. A question that nobody answered is ``scorer_error``, as it is in the
        daemon after its deadline: the cheap opinion is too uncertain to stand for an answer."""
        dialog = self._dialogs.by_name[before.dialog]
        run = self._pipeline.run_again(conversation, dialog, before.play)
        plan = self._pipeline.judge_run(run, before.partial)
        answers: dict[str, float | None] = {}
        while plan.questions and self._expert is not None:
            found = self._store.answers([question.key for question in plan.questions], self._expert)
            answers.update({question.key: found.get(question.key) for question in plan.questions})
            plan = self._pipeline.decide_run(run, answers, before.partial)
        unanswered = sum(score is None for score in answers.values())
        result = replace(
            plan.result,
            run_id=before.run_id,
            conversation_key=before.conversation_key,
            revision=before.revision,
        )
        return result, unanswered


def turn_changes(before: RunResult, after: RunResult) -> tuple[TurnChange, ...]:
    """The entries that differ. Turns are the same by number, extra calls by name and order."""
    old, new = _by_place(before.turns), _by_place(after.turns)
    changes: list[TurnChange] = []
    for place in dict.fromkeys((*new, *old)):
        one, other = old.get(place), new.get(place)
        if one is None or other is None or encode_turn(one) != encode_turn(other):
            changes.append(TurnChange(one, other, only_evidence=_said(one) == _said(other)))
    return tuple(changes)


def _by_place(turns: Sequence[TurnVerdict]) -> dict[tuple[object, ...], TurnVerdict]:
    found: dict[tuple[object, ...], TurnVerdict] = {}
    for turn in turns:
        name = turn.called or turn.tool
        number = sum(1 for key in found if key[:2] == (turn.turn_no, name)) if turn.turn_no is None else 0
        found[(turn.turn_no, name if turn.turn_no is None else None, number)] = turn
    return found


def _said(turn: TurnVerdict | None) -> tuple[object, ...] | None:
    if turn is None:
        return None
    return (turn.success, turn.failure_reason, turn.detail, turn.root_cause, turn.blames, turn.not_scored)
