"""From verdicts of turns to the numbers of a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from aem_monitor.model.verdict import FailureReason, TurnVerdict

Composition: TypeAlias = Callable[[Sequence[TurnVerdict], Mapping[int, float]], float | None]
"""``rule(turns, weights)``: the score of a run in [0, 1], None when nothing was scored. Weights are by turn number."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The composed result; the fields mean what they mean in ``RunResult``."""

    success_rate: float | None
    test_pass: bool | None
    first_failure_turn: int | None
    first_failure_extra: bool
    root_cause: FailureReason | None
    root_cause_count: int
    cascading_count: int


def summarise(turns: Sequence[TurnVerdict], complete: bool, captured: bool) -> Summary:
    """Compose the entries of a run, in golden order with extra calls after their exchange.

    ``captured`` says that calls would have been seen had there been any. A run in which nothing was to be done and
    nothing was done passes only if it is complete and calls were captured.
    """
    scored = [turn for turn in turns if turn.success is not None]
    failed = [turn for turn in scored if not turn.success]
    undecided = any(turn.success is None and turn.required for turn in turns)
    if scored:
        rate: float | None = (len(scored) - len(failed)) / len(scored)
        passes: bool | None = False if failed else None if undecided else True
    elif not turns and complete and captured:
        rate, passes = 1.0, True
    else:
        rate, passes = None, None
    first_turn, extra, reason = _first_root(turns)
    return Summary(
        success_rate=rate,
        test_pass=passes,
        first_failure_turn=first_turn,
        first_failure_extra=extra,
        root_cause=reason,
        root_cause_count=sum(turn.root_cause for turn in failed),
        cascading_count=sum(not turn.root_cause for turn in failed),
    )


def _first_root(turns: Sequence[TurnVerdict]) -> tuple[int | None, bool, FailureReason | None]:
    last: int | None = None
    for turn in turns:
        if turn.turn_no is not None:
            last = turn.turn_no
        if turn.success is False and turn.root_cause:
            return last, turn.turn_no is None, turn.failure_reason
    return None, False, None


def mean(turns: Sequence[TurnVerdict], weights: Mapping[int, float]) -> float | None:  # noqa: ARG001 - one signature
    """The share of passing turns: the article's default."""
    scored = [turn.success for turn in turns if turn.success is not None]
    return sum(scored) / len(scored) if scored else None


def weighted_mean(turns: Sequence[TurnVerdict], weights: Mapping[int, float]) -> float | None:
    """The share of passing weight; an extra call weighs 1."""
    scored = [
        (weights.get(turn.turn_no, 1.0) if turn.turn_no is not None else 1.0, turn.success)
        for turn in turns
        if turn.success is not None
    ]
    total = sum(weight for weight, _ in scored)
    return sum(weight for weight, success in scored if success) / total if total else None


COMPOSITIONS: Final[Mapping[str, Composition]] = {"mean": mean, "weighted_mean": weighted_mean}
"""The built-in rules by the name that the configuration uses."""
