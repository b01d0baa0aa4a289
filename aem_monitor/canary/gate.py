"""Go, stop or wait: what the pairs of two releases say."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from aem_monitor.canary.fixed import one_look
from aem_monitor.canary.pairs import Pair, Paired, clustered
from aem_monitor.errors import UsageError
from aem_monitor.sequential.betting import interval, log_evidence_above, more_needed
from aem_monitor.sequential.shifts import Floats


class State(StrEnum):
    """What to do with the candidate."""

    PASS = "pass"  # noqa: S105 - no password
    REGRESSION = "regression"
    NOT_ENOUGH_EVIDENCE = "not_enough_evidence"


@dataclass(frozen=True, slots=True)
class Rules:
    """When the candidate is worse, and when it is good enough.

    ``margin``: the candidate is worse when it loses more than this. ``tolerance``: it passes when it loses less than
    this. Both in loss a run: without ``costs``, the share of runs that fail. ``costs`` are of the reason of a run's
    first root, from 0 to 1; a reason without one costs 1. ``alpha`` bounds the probability of a false regression, and
    that of a false pass, however often one looks. ``critical`` dialogs gate each for itself. ``latency`` is how much
    slower a run may be than its partner before it counts as slower, as a share.

    Raises:
        UsageError: a number is out of its range.
    """

    margin: float = 0.0
    tolerance: float = 0.1
    alpha: float = 0.02
    costs: Mapping[str, float] = field(default_factory=dict)
    critical: frozenset[str] = frozenset()
    latency: float = 0.1

    def __post_init__(self) -> None:
        if not 0.0 <= self.margin < 1.0:
            raise UsageError(f"margin is {self.margin:g}: give 0 or more, below 1")
        if not self.margin < self.tolerance < 1.0:
            raise UsageError(f"tolerance is {self.tolerance:g}: give more than the margin ({self.margin:g}), below 1")
        if not 0.0 < self.alpha < 0.5:
            raise UsageError(f"alpha is {self.alpha:g}: give more than 0, below 0.5")
        for reason, cost in self.costs.items():
            if not 0.0 <= cost <= 1.0:
                raise UsageError(f"the cost of {reason} is {cost:g}: give 0 to 1")
        if not 0.0 <= self.latency < math.inf:
            raise UsageError(f"latency is {self.latency:g}: give 0 or more")


@dataclass(frozen=True, slots=True)
class Difference:
    """Candidate less baseline, so that more is worse, with what is not refuted at any look."""

    mean: float | None
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Change:
    """What is not as it was: a part of the root causes, ``latency``, or a ``dialog``."""

    area: str
    name: str
    worse: bool
    difference: Difference
    log_evidence: float


@dataclass(frozen=True, slots=True)
class Result:
    """The state and what it rests on. Evidence is a natural logarithm, and the largest at any look so far.

    ``more`` is how many more pairs are predicted to be needed, if those to come are as those seen; None where what was
    seen leads to no verdict, 0 where there is one. ``changes`` are those found at a false discovery rate of ``alpha``;
    ``gained`` and ``lost`` are all dialogs that differ at all, by how much.
    """

    state: State
    pairs: int
    independent: int
    difference: Difference
    log_regression: float
    log_pass: float
    log_threshold: float
    more: int | None
    critical: Sequence[str]
    changes: Sequence[Change]
    gained: Mapping[str, float]
    lost: Mapping[str, float]


def decide(paired: Paired, rules: Rules, fixed: bool = False) -> Result:
    """What the pairs say.

    A regression is evidence that the mean loss of the played dialogs rose by more than the margin; a pass is evidence
    that it rose by less than the tolerance. Both are bets (``sequential/betting.py``): right at every look if dialogs
    come in any order and the candidate is worse on none, or if they come by chance and it is not worse on average.

    Half of ``alpha`` goes to all dialogs together, half to the critical ones in equal shares (Bonferroni); all of it to
    the first where no dialog is critical. With ``fixed``, exact tests for one look take the place of the bets.
    """
    values, clusters = _losses(paired.pairs, rules), paired.clusters
    losses = clustered(values, clusters)
    alpha = rules.alpha / 2 if rules.critical else rules.alpha
    worse = _largest(losses, rules.margin)
    better = _largest(-losses, -rules.tolerance)
    seen = _difference(losses, rules.alpha)
    if fixed:
        found = one_look(losses, rules.margin, rules.tolerance, rules.alpha)
        worse, better = -math.log(found.regression), -math.log(found.noninferiority)
        seen = Difference(seen.mean, found.lower, found.upper)
    critical = _critical(paired, values, rules)
    threshold = -math.log(alpha)
    if worse >= threshold or critical:
        state = State.REGRESSION
    else:
        state = State.PASS if better >= threshold else State.NOT_ENOUGH_EVIDENCE
    gained, lost = _flips(paired.pairs, values)
    return Result(
        state=state,
        pairs=len(paired.pairs),
        independent=len(losses),
        difference=seen,
        log_regression=worse,
        log_pass=better,
        log_threshold=threshold,
        more=0 if state is not State.NOT_ENOUGH_EVIDENCE else _needed(losses, rules, threshold),
        critical=critical,
        changes=_changes(paired, values, rules),
        gained=gained,
        lost=lost,
    )


def _losses(pairs: Sequence[Pair], rules: Rules) -> Floats:
    def loss(passed: bool, reason: str | None) -> float:
        return 0.0 if passed else rules.costs.get(reason or "", 1.0)

    return np.array(
        [
            loss(one.candidate.passed, one.candidate.reason) - loss(one.baseline.passed, one.baseline.reason)
            for one in pairs
        ],
        dtype=np.float64,
    )


def _largest(values: Floats, mean: float) -> float:
    """Evidence counts once it was there: the bound holds for its largest value."""
    return float(log_evidence_above(values, mean).max(initial=0.0))


def _difference(values: Floats, alpha: float) -> Difference:
    lower, upper = interval(values, alpha)
    return Difference(float(values.mean()) if len(values) else None, lower, upper)


def _needed(losses: Floats, rules: Rules, threshold: float) -> int | None:
    found = [
        more
        for values, mean in ((losses, rules.margin), (-losses, -rules.tolerance))
        if (more := more_needed(values, mean, threshold)) is not None
    ]
    return max(1, min(found)) if found else None


def _critical(paired: Paired, values: Floats, rules: Rules) -> list[str]:
    threshold = -math.log(rules.alpha / 2 / max(1, len(rules.critical)))
    names = np.array([one.candidate.dialog for one in paired.pairs])
    return [
        dialog
        for dialog in sorted(rules.critical)
        if _largest(clustered(values[names == dialog], paired.clusters[names == dialog]), rules.margin) >= threshold
    ]


def _changes(paired: Paired, values: Floats, rules: Rules) -> list[Change]:
    """What changed, either way: parts of the root causes and latency; and dialogs, which are a family of their own, so
    that having many does not hide a reason."""
    pairs, alpha = paired.pairs, rules.alpha
    parts: list[Change] = []
    for part in sorted({part for one in pairs for side in (one.baseline, one.candidate) for part in side.parts}):
        found = np.array([(part in one.candidate.parts) - (part in one.baseline.parts) for one in pairs], float)
        parts += _both_ways(part.area, part.name, clustered(found, paired.clusters), alpha)
    timed = [_slower(one, rules.latency) for one in pairs]
    known = np.array([one is not None for one in timed], dtype=bool)
    if known.any():
        slower = clustered(np.array([one for one in timed if one is not None]), paired.clusters[known])
        parts += _both_ways("latency", "slower", slower, alpha)
    dialogs: list[Change] = []
    names = np.array([one.candidate.dialog for one in pairs])
    for dialog in sorted(set(names.tolist())):
        own = names == dialog
        dialogs += _both_ways("dialog", dialog, clustered(values[own], paired.clusters[own]), alpha)
    return _kept(parts, alpha) + _kept(dialogs, alpha)


def _kept(candidates: list[Change], alpha: float) -> list[Change]:
    """Those that the e-BH procedure keeps (Wang and Ramdas 2022): of those named, the expected share that is false is
    at most ``alpha``, whatever the dependence between them."""
    candidates.sort(key=lambda one: -one.log_evidence)
    kept = 0
    for rank, one in enumerate(candidates, 1):
        if one.log_evidence >= math.log(len(candidates) / (alpha * rank)):
            kept = rank
    return candidates[:kept]


def _both_ways(area: str, name: str, values: Floats, alpha: float) -> list[Change]:
    seen = _difference(values, alpha)
    return [Change(area, name, worse, seen, _largest(values if worse else -values, 0.0)) for worse in (True, False)]


def _slower(one: Pair, share: float) -> float | None:
    before, now = one.baseline.latency, one.candidate.latency
    if before is None or now is None:
        return None
    return float(now > before * (1 + share)) - float(before > now * (1 + share))


def _flips(pairs: Sequence[Pair], values: Floats) -> tuple[dict[str, float], dict[str, float]]:
    """By dialog, the mean loss less (gained) and more (lost) than before; those alike are in neither."""
    seen: dict[str, list[float]] = defaultdict(list)
    for one, value in zip(pairs, values, strict=True):
        seen[one.candidate.dialog].append(float(value))
    means = {dialog: sum(several) / len(several) for dialog, several in sorted(seen.items())}
    gained = {dialog: -mean for dialog, mean in means.items() if mean < 0}
    return gained, {dialog: mean for dialog, mean in means.items() if mean > 0}
