"""From verdicts of turns to the numbers of a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Final, TypeAlias

from aem_monitor.errors import ConfigError
from aem_monitor.model.verdict import FailureReason, TurnVerdict

ENTRY_POINT_GROUP: Final = "aem_monitor.compositions"


@dataclass(frozen=True, slots=True)
class Terms:
    """What a golden dialog says about composing: weights by turn number, and the turns that cap the score."""

    weights: Mapping[int, float] = field(default_factory=dict)
    critical: frozenset[int] = frozenset()

    def weight(self, turn: TurnVerdict) -> float:
        """The weight of an entry; an extra call weighs 1."""
        return 1.0 if turn.turn_no is None else self.weights.get(turn.turn_no, 1.0)


Composition: TypeAlias = Callable[[Sequence[TurnVerdict], Terms], float | None]
"""``rule(turns, terms)``: the score of a run in [0, 1], None when nothing was scored."""


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


def mean(turns: Sequence[TurnVerdict], terms: Terms) -> float | None:  # noqa: ARG001 - one signature
    """The share of passing turns: the article's default."""
    scored = [turn.success for turn in turns if turn.success is not None]
    return sum(scored) / len(scored) if scored else None


def weighted_mean(turns: Sequence[TurnVerdict], terms: Terms) -> float | None:
    """The share of passing weight."""
    scored = [turn for turn in turns if turn.success is not None]
    total = sum(terms.weight(turn) for turn in scored)
    return sum(terms.weight(turn) for turn in scored if turn.success) / total if total else None


def gated(turns: Sequence[TurnVerdict], terms: Terms) -> float | None:
    """The weighted mean, and 0 if any critical turn failed; None while a critical turn is undecided and none failed."""
    critical = [turn.success for turn in turns if turn.turn_no in terms.critical and turn.required]
    if False in critical:
        return 0.0
    return None if None in critical else weighted_mean(turns, terms)


def minimum(turns: Sequence[TurnVerdict], terms: Terms) -> float | None:  # noqa: ARG001 - one signature
    """The lowest share of passing turns over the sub-metrics: one weak dimension is not averaged away."""
    passed: dict[str, list[bool]] = {}
    for turn in turns:
        for submetric in {check.submetric for check in turn.checks}:
            found = [check.passed for check in turn.checks if check.submetric == submetric]
            if None not in found or False in found:
                passed.setdefault(submetric, []).append(False not in found)
    return min((sum(found) / len(found) for found in passed.values()), default=None)


COMPOSITIONS: Final[Mapping[str, Composition]] = {
    "mean": mean,
    "weighted_mean": weighted_mean,
    "gated": gated,
    "minimum": minimum,
}
"""The built-in rules by the name that the configuration uses."""


def composition(name: str) -> Composition:
    """The rule of that name: a built-in one, or an entry point of the group ``aem_monitor.compositions``.

    Raises ``ConfigError`` when there is none, or it cannot be loaded.
    """
    if name in COMPOSITIONS:
        return COMPOSITIONS[name]
    points = entry_points(group=ENTRY_POINT_GROUP, name=name)
    if not points:
        known = ", ".join((*COMPOSITIONS, *sorted(point.name for point in entry_points(group=ENTRY_POINT_GROUP))))
        raise ConfigError(f"scoring.composition: no rule {name!r}; there is {known}")
    (point, *_) = points
    try:
        rule: Composition = point.load()
    except Exception as error:
        raise ConfigError(f"scoring.composition: {name!r} ({point.value}) cannot be loaded: {error}") from error
    return rule
