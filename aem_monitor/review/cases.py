"""Verdicts for a person to decide: what scoring was not sure of, could not tell, or did not foresee. Pure."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from aem_monitor.model.verdict import Check, NotScored, RunResult, TurnVerdict
from aem_monitor.store.codec import dump_json
from aem_monitor.store.records import Review, StoredRun

_PATH: Final = "path"
SHORT_ID: Final = 12
"""Digits of a run's id that are shown; as many as are unique are taken."""


class Kind(StrEnum):
    """Why a verdict is a case."""

    UNCERTAIN = "uncertain"
    UNDETERMINED = "undetermined"
    ANOTHER_PATH = "another_path"


@dataclass(frozen=True, slots=True)
class ReviewCase:
    """One turn's verdict with the checks in doubt, or a run that reached its end on a path that is not listed.

    ``checks`` are those of the turn that are uncertain or undetermined, in their order; empty for a path.
    """

    stored: StoredRun
    kind: Kind
    turn: TurnVerdict | None = None
    checks: tuple[Check, ...] = ()

    @property
    def result(self) -> RunResult:
        """The run."""
        return self.stored.result

    @property
    def subject(self) -> str:
        """What it is about within the run: a turn's number, or ``path``."""
        return _PATH if self.turn is None else str(self.turn.turn_no)

    @property
    def name(self) -> str:
        """What a person calls it by: the beginning of the run's id, and the subject."""
        return f"{self.result.run_id[:SHORT_ID]}:{self.subject}"

    @property
    def verdict(self) -> str:
        """A digest of what was decided and of what. Scores are left out: the same decision by a nearer miss is the
        same."""
        turns = self.result.turns if self.turn is None else (self.turn,)
        content = [
            [
                [turn.turn_no, turn.success, turn.failure_reason, turn.not_scored, turn.called],
                [[check.submetric, check.subject, check.field, check.passed, check.actual] for check in turn.checks],
            ]
            for turn in turns
        ]
        return hashlib.sha256(dump_json([self.kind, content]).encode()).hexdigest()[:16]


def cases_of(stored: StoredRun) -> tuple[ReviewCase, ...]:
    """The cases of a run: its turns in their order, then its path."""
    cases: list[ReviewCase] = []
    for turn in stored.result.turns:
        if turn.turn_no is None:
            continue
        undetermined = tuple(check for check in turn.checks if check.cause is NotScored.UNDETERMINED)
        uncertain = tuple(check for check in turn.checks if check.uncertain and check.passed is not None)
        if undetermined or turn.not_scored is NotScored.UNDETERMINED:
            cases.append(ReviewCase(stored, Kind.UNDETERMINED, turn, undetermined))
        elif uncertain:
            cases.append(ReviewCase(stored, Kind.UNCERTAIN, turn, uncertain))
    if stored.result.another_path:
        cases.append(ReviewCase(stored, Kind.ANOTHER_PATH))
    return tuple(cases)


def answer_to(case: ReviewCase, reviews: Iterable[Review]) -> Review | None:
    """The last answer that still holds: its verdict is the present one, whatever version it was made by."""
    same = [
        review
        for review in reviews
        if (review.run_id, review.subject, review.verdict) == (case.result.run_id, case.subject, case.verdict)
    ]
    return same[-1] if same else None


def open_cases(cases: Iterable[ReviewCase], reviews: Sequence[Review]) -> list[ReviewCase]:
    """The cases that nobody has decided yet."""
    return [case for case in cases if answer_to(case, reviews) is None]
