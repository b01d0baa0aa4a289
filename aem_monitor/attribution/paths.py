"""Which of a dialog's paths a run took: the one that fits best is judged, and named.

Variants are tried as a whole, alternates turn by turn, and only where a turn did not pass as listed: a run that keeps
to the listing costs one evaluation, and no verdict depends on what was not tried.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from aem_monitor.golden.play import Run
from aem_monitor.model.verdict import TurnVerdict

Evaluate: TypeAlias = Callable[[Run], tuple[TurnVerdict, ...]]
"""Judges a run beside the path that ``run.dialog`` is."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The path that a run is judged by, and its verdicts."""

    run: Run
    turns: tuple[TurnVerdict, ...]


def best_path(run: Run, evaluate: Evaluate) -> Taken:
    """Of paths that fit equally well the first listed is taken."""
    best: Taken | None = None
    for path in run.dialog.paths:
        taken = _with_alternates(run.on(path), evaluate) if path is not run.dialog else _with_alternates(run, evaluate)
        if best is None or _fit(taken.turns) > _fit(best.turns):
            best = taken
        if _passes(best.turns):
            break
    assert best is not None
    return best


def _with_alternates(run: Run, evaluate: Evaluate) -> Taken:
    """Each turn in golden order gets the alternate that improves the run most, if one does."""
    listed, chosen = run.dialog, dict[int, int]()
    best = Taken(run, evaluate(run))
    for turn in listed.scored_turns:
        if not turn.alternates or _passed(best.turns, turn.turn_no):
            continue
        for place in range(len(turn.alternates)):
            other = {**chosen, turn.turn_no: place}
            path = run.on(listed.choosing(other))
            attempt = Taken(path, evaluate(path))
            if _fit(attempt.turns) > _fit(best.turns):
                best, chosen = attempt, other
            if _passed(best.turns, turn.turn_no):
                break
    named = tuple(
        replace(verdict, alternate=chosen[verdict.turn_no] + 1) if verdict.turn_no in chosen else verdict
        for verdict in best.turns
    )
    return Taken(best.run, named)


def _fit(turns: Sequence[TurnVerdict]) -> tuple[int, int, int, int]:
    """Greater is better. Root causes count most: one fault on the right path may drag many turns with it."""
    failed = [turn for turn in turns if turn.success is False]
    open_turns = sum(turn.success is None and turn.required for turn in turns)
    return (
        -sum(turn.root_cause for turn in failed),
        -len(failed),
        -open_turns,
        sum(turn.success is True for turn in turns),
    )


def _passes(turns: Sequence[TurnVerdict]) -> bool:
    return all(turn.success or (turn.success is None and not turn.required) for turn in turns)


def _passed(turns: Sequence[TurnVerdict], turn_no: int) -> bool:
    """Whether nothing can be won by an alternate: the turn passed, or it need not happen and did not."""
    return all(turn.success is True for turn in turns if turn.turn_no == turn_no)
