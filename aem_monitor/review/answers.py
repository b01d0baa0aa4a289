"""What a person's word about a case means: labels for ``calibrate``, and the verdict as it should have been. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from aem_monitor.errors import UsageError
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.reference import references_of
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import Check, SubMetric, TurnVerdict
from aem_monitor.review.cases import Kind, ReviewCase
from aem_monitor.store.records import Review
from aem_monitor.store.redaction import is_redacted

Word: TypeAlias = Literal["accept", "reject"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's word, checked against its case.

    ``rightly`` says of each check that the word is about whether it should have passed. ``path_is_right`` is of another
    path only.
    """

    case: ReviewCase
    word: Word
    rightly: tuple[tuple[Check, bool], ...] = ()
    path_is_right: bool | None = None

    @property
    def success(self) -> bool | None:
        """Whether the turn passes with the checks as they should have been; None where that stays open."""
        turn = self.case.turn
        if turn is None:
            return self.path_is_right
        corrected = {id(check): passed for check, passed in self.rightly}
        outcomes = [corrected.get(id(check), check.passed) for check in turn.checks]
        if False in outcomes:
            return False
        return None if None in outcomes else True

    @property
    def agrees(self) -> bool:
        """Whether the stored verdict is what it should be."""
        turn = self.case.turn
        if turn is None:
            return self.path_is_right is False
        return turn.success is not None and turn.success == self.success


def answered(case: ReviewCase, word: Word, label: bool | None, numbers: Sequence[int]) -> Answer:
    """Understand a word about a case.

    Args:
        case: what it is about.
        word: ``accept`` the verdict, or ``reject`` it.
        label: what is right, where the verdict says nothing or something else; only with ``accept``.
        numbers: which of the case's checks it is about, from 1; all where none is named.

    Raises:
        UsageError: the word does not decide the case; the message says what is missing.
    """
    if case.kind is Kind.ANOTHER_PATH:
        if label is not None or numbers:
            raise UsageError(
                f"{case.name}: another path is right (accept) or not (reject); leave out --label and --check"
            )
        return Answer(case, word, path_is_right=word == "accept")
    if word == "reject" and label is not None:
        raise UsageError(f"{case.name}: reject says that the verdict is wrong; give the right one with accept --label")
    wrong = [number for number in numbers if not 1 <= number <= len(case.checks)]
    if wrong:
        raise UsageError(
            f"{case.name}: there is no check {wrong[0]}; `review show` numbers them from 1 to {len(case.checks)}"
        )
    chosen = [case.checks[number - 1] for number in dict.fromkeys(numbers)] or list(case.checks)
    if case.kind is Kind.UNDETERMINED:
        return _decided(case, word, label, chosen)
    if word == "accept" and label is None:
        return Answer(case, word, tuple((check, check.passed is True) for check in chosen))
    if len(case.checks) > 1 and not numbers and label is not True:
        raise UsageError(f"{case.name}: {len(case.checks)} checks are in doubt; say with --check which is wrong")
    rightly = tuple((check, check.passed is False if label is None else label) for check in chosen)
    return Answer(case, word, rightly)


def _decided(case: ReviewCase, word: Word, label: bool | None, chosen: Sequence[Check]) -> Answer:
    if word == "reject":
        return Answer(case, word)
    if label is None:
        raise UsageError(
            f"{case.name}: nothing was decided that could be accepted; say --label pass or --label fail, or reject it "
            "as one that cannot be decided"
        )
    if label is False and len(case.checks) > 1 and len(chosen) == len(case.checks):
        raise UsageError(f"{case.name}: {len(case.checks)} checks are open; say with --check which fails")
    return Answer(case, word, tuple((check, label) for check in chosen))


def review_of(answer: Answer, dialog: Dialog | None, who: str, note: str | None, now: float) -> Review:
    """The answer as it is stored, with the labels that follow from it."""
    case, result = answer.case, answer.case.result
    day = None if dialog is None else dialog.reference_date
    day = day or datetime.fromtimestamp(result.started_ns / 1e9, UTC).date()
    labels = (_label(case, check, passed, day.isoformat()) for check, passed in answer.rightly)
    return Review(
        run_id=result.run_id,
        subject=case.subject,
        revision=result.revision,
        dialog=result.dialog,
        dialog_version=result.dialog_version,
        turn_no=None if case.turn is None else case.turn.turn_no,
        kind=case.kind.value,
        answer=answer.word,
        verdict=case.verdict,
        labels=tuple(label for label in labels if label is not None),
        who=who,
        note=note,
        answered_at=now,
    )


def _label(case: ReviewCase, check: Check, passed: bool, day: str) -> Mapping[str, JSON] | None:
    """A row that ``calibrate`` reads: the two values or texts themselves, so that other scorers can be held against it;
    where something of them was redacted, or is a reference, the score of the day. None where there is neither."""
    turn = case.turn
    assert turn is not None
    about: dict[str, JSON] = {"group": case.result.run_id, "dialog": case.result.dialog, "turn_no": turn.turn_no}
    literal = not is_redacted([check.actual, check.expected]) and not any(references_of(check.expected))
    if check.subject == "value" and literal:
        return {"a": check.actual, "b": check.expected, "equivalent": passed, "reference_date": day, **about}
    if check.subject == "reply" and _is_text(turn):
        of = "consistent" if check.submetric == SubMetric.TRUTHFULNESS else "complete"
        return {"reference": turn.expected, "response": turn.actual, of: passed, **about}
    if check.score is None:
        return None
    submetric = "value" if check.subject == "value" else f"response_{check.submetric}"
    return {"submetric": submetric, "score": check.score, "label": passed, **about}


def _is_text(turn: TurnVerdict) -> bool:
    return (
        isinstance(turn.expected, str)
        and isinstance(turn.actual, str)
        and not is_redacted([turn.expected, turn.actual])
    )
