"""Go, stop or wait: what the pairs of two releases say."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np

from aem_monitor.canary.changes import Change, find_changes
from aem_monitor.canary.endpoints import (
    Difference,
    Endpoint,
    Finding,
    Losses,
    difference,
    evidence_of_either,
    find_at_any_look,
    find_at_one_look,
    latest,
    losses,
    losses_in_doubt,
)
from aem_monitor.canary.fixed import exact_p_of_either
from aem_monitor.canary.meeting import Alone
from aem_monitor.canary.pairs import Pair, Paired, Part, by_dialog, clustered
from aem_monitor.errors import UsageError
from aem_monitor.model.verdict import SubMetric
from aem_monitor.sequential.betting import log_evidence_above, times_to
from aem_monitor.sequential.shifts import Floats

_MOST_CRITICAL: Final = 10_000
"""Pairs; more than any margin that leaves room for a dialog to be worse needs."""


_LEAST_ALPHA: Final = 1e-9
"""Less than what a machine makes of numbers is no bound."""


class State(StrEnum):
    """What to do with the candidate."""

    PASS = "pass"  # noqa: S105 - no password
    REGRESSION = "regression"
    NOT_ENOUGH_EVIDENCE = "not_enough_evidence"


@dataclass(frozen=True, slots=True)
class Rules:
    """When the candidate is worse, and when it is good enough.

    ``margin``: the candidate is worse when it loses more than this. ``tolerance``: it passes when it loses less than
    this. Both in loss a run, by runs and by turns (``endpoints.py``): without ``costs``, the share of runs that fail
    and that of a run's turns that are wrong. ``costs`` are of the reason of a run's first root, from 0 to 1; a reason
    without one costs 1. ``alpha`` bounds the probability of a false regression, and
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
        if not _LEAST_ALPHA <= self.alpha < 0.5:
            raise UsageError(f"alpha is {self.alpha:g}: give {_LEAST_ALPHA:g} or more, below 0.5")
        for reason, cost in self.costs.items():
            if not 0.0 <= cost <= 1.0:
                raise UsageError(f"the cost of {reason} is {cost:g}: give 0 to 1")
        if not 0.0 <= self.latency < math.inf:
            raise UsageError(f"latency is {self.latency:g}: give 0 or more")


@dataclass(frozen=True, slots=True)
class Share:
    """Of the runs, how many have a root cause in a sub-metric, on either release, and the difference."""

    submetric: SubMetric
    baseline: float | None
    candidate: float | None
    difference: Difference


@dataclass(frozen=True, slots=True)
class Short:
    """A critical dialog with fewer independent pairs than ``needed``, of which its test could find a dialog that always
    passed and now always fails. ``ran``: a release has a run of it."""

    dialog: str
    independent: int
    needed: int
    ran: bool


class More(NamedTuple):
    """How many more independent pairs are predicted to be needed: in nine of ten draws more than ``least``, in half of
    them ``half``, in one of ten more than ``most``. None where a draw leads to no verdict within 100,000."""

    least: int | None
    half: int | None
    most: int | None


_LEAST_PREDICTED: Final = 20
"""Independent pairs. From ten, half of the predictions were off by a factor of three or more."""


@dataclass(frozen=True, slots=True)
class Result:
    """The state and what it rests on. Evidence is a natural logarithm.

    ``undecided`` is what runs say if all undecided ones were lost. ``log_pass`` is the least of what it and the
    endpoints have. ``short`` critical dialogs hold a pass back.
    ``found`` is what each endpoint says, ``decided_by`` which of them led to the state: none where critical dialogs
    did, or nothing. ``one_look`` says that evidence is that of tests for one look, ``-log(p)``. ``more`` is how
    many more pairs lead to a verdict, if those to come are as those seen; None where there is one, where too few were
    seen to predict it, and after one look. ``changes`` are those found at a false discovery rate of
    ``alpha``; ``gained`` and ``lost`` are all dialogs whose runs differ at all, by how much.
    """

    state: State
    pairs: int
    independent: int
    found: Mapping[Endpoint, Finding]
    undecided: Finding
    decided_by: Sequence[Endpoint]
    log_regression: float
    log_pass: float
    log_threshold: float
    one_look: bool
    more: More | None
    critical: Sequence[str]
    short: Sequence[Short]
    submetrics: Sequence[Share]
    changes: Sequence[Change]
    gained: Mapping[str, float]
    lost: Mapping[str, float]
    baseline_alone: Mapping[Alone, Mapping[str, int]]
    candidate_alone: Mapping[Alone, Mapping[str, int]]


def decide(paired: Paired, rules: Rules, fixed: bool = False) -> Result:
    """What the pairs say.

    A regression is evidence that the mean loss of the played dialogs rose by more than the margin, in runs or in turns;
    a pass is evidence that it rose by less than the tolerance in both, and in runs also if all undecided ones of both
    releases were lost: what stays undecided may be what fails. All are bets (``sequential/betting.py``), right at every
    look if dialogs come in any order and the candidate is worse on none, or if they come by chance and it is not worse
    on average. At any one look they are right for the average of what was played, whatever the order: stakes are the
    same all along, and the expected wealth of independent pairs with means m is at most that of as many pairs with the
    mean of m.

    Half of ``alpha`` goes to all dialogs together, half to the critical ones in equal shares (Bonferroni); all of it to
    the first where no dialog is critical. With ``fixed``, exact tests for one look take the place of bets where there
    are any: of no difference.
    """
    values = losses(paired.pairs, rules.costs)
    clusters = {name: clustered(own, paired.clusters) for name, own in values.items()}
    alpha = rules.alpha / 2 if rules.critical else rules.alpha
    threshold = -math.log(alpha)
    find = find_at_one_look if fixed else find_at_any_look
    found = find(clusters, rules.margin, rules.tolerance, rules.alpha)
    doubt = {Endpoint.RUNS: clustered(losses_in_doubt(paired.met, rules.costs), paired.met_clusters)}
    undecided = find(doubt, rules.margin, rules.tolerance, rules.alpha).of[Endpoint.RUNS]
    log_pass = min(found.log_pass, undecided.log_pass)
    critical, short = _critical(paired, values, rules, fixed)
    decided_by: list[Endpoint] = []
    if found.log_regression >= threshold or critical:
        state = State.REGRESSION
        if found.log_regression >= threshold:
            decided_by = _deciding(found.of, threshold)
    elif log_pass >= threshold and not short:
        state, decided_by = State.PASS, list(Endpoint)
    else:
        state = State.NOT_ENOUGH_EVIDENCE
    more: More | None = None
    if state is State.NOT_ENOUGH_EVIDENCE and not fixed:
        more = _needed(clusters, doubt, short, rules, threshold)
    gained, lost = _flips(paired.pairs, values[Endpoint.RUNS])
    return Result(
        state=state,
        pairs=len(paired.pairs),
        independent=len(clusters[Endpoint.RUNS]),
        found=found.of,
        undecided=undecided,
        decided_by=decided_by,
        log_regression=found.log_regression,
        log_pass=log_pass,
        log_threshold=threshold,
        one_look=fixed,
        more=more,
        critical=critical,
        short=short,
        submetrics=_submetrics(paired, rules.alpha),
        changes=find_changes(paired, values[Endpoint.RUNS], rules.alpha, rules.latency),
        gained=gained,
        lost=lost,
        baseline_alone=paired.baseline_alone,
        candidate_alone=paired.candidate_alone,
    )


def _deciding(found: Mapping[Endpoint, Finding], threshold: float) -> list[Endpoint]:
    """Those that are evidence enough alone; else the one that is most of it."""
    alone = [name for name, one in found.items() if one.log_regression >= threshold]
    return alone or [max(found, key=lambda name: found[name].log_regression)]


def _needed(values: Losses, doubt: Losses, short: Sequence[Short], rules: Rules, threshold: float) -> More | None:
    """The sooner of a regression by one endpoint, the other adding nothing, and of a pass by all."""
    if min(len(one) for one in (*values.values(), *doubt.values())) < _LEAST_PREDICTED:
        return None
    worse = [times_to(one, rules.margin, threshold + math.log(len(values))) for one in values.values()]
    good = [times_to(-one, -rules.tolerance, threshold) for one in (*values.values(), *doubt.values())]
    passes = np.maximum(np.max(good, axis=0), sum(one.needed - one.independent for one in short))
    found = np.minimum(np.min(worse, axis=0), passes)
    likely = np.quantile(found, (0.1, 0.5, 0.9), method="inverted_cdf")
    return More(*(_rounded(float(one)) for one in likely))


def _rounded(number: float) -> int | None:
    """To two digits, which is more than is known; None for infinity."""
    return int(float(f"{number:.1e}")) if math.isfinite(number) else None


def _critical(paired: Paired, values: Losses, rules: Rules, fixed: bool) -> tuple[list[str], list[Short]]:
    """Critical dialogs that are worse, and those whose test could have said nothing else so far: without runs, or with
    undecided ones alone, a dialog would else pass unseen, and so would a misspelt name."""
    threshold = -math.log(rules.alpha / 2 / max(1, len(rules.critical)))
    # A margin has no exact test; bets hold at one look as at all.
    exact = fixed and rules.margin == 0.0
    needed = _least(rules.margin, threshold, exact)
    places = by_dialog(paired.pairs)
    worse: list[str] = []
    short: list[Short] = []
    for dialog in sorted(rules.critical):
        of = places.get(dialog, [])
        own = {name: clustered(one[of], paired.clusters[of]) for name, one in values.items()}
        if exact:
            evidence = -math.log(exact_p_of_either(list(own.values())))
        else:
            evidence = latest(evidence_of_either(own, rules.margin))
        if evidence >= threshold:
            worse.append(dialog)
        independent = len(own[Endpoint.RUNS])
        if independent < needed:
            short.append(Short(dialog, independent, needed, dialog in paired.dialogs))
    return worse, short


def _least(margin: float, threshold: float, exact: bool) -> int:
    """How many pairs are evidence when all of them are lost."""
    if exact:
        # Half for each sign.
        return math.ceil(threshold / math.log(2.0) - 1e-9)
    evidence = log_evidence_above(np.ones(_MOST_CRITICAL), margin)
    return int(np.searchsorted(evidence, threshold)) + 1


def _submetrics(paired: Paired, alpha: float) -> list[Share]:
    found: list[Share] = []
    for name in SubMetric:
        before, now = (
            np.array([Part("submetric", name.value) in one.parts for one in side], dtype=np.float64)
            for side in ([one.baseline for one in paired.pairs], [one.candidate for one in paired.pairs])
        )
        seen = difference(clustered(now - before, paired.clusters), alpha)
        found.append(Share(name, _mean(before), _mean(now), seen))
    return found


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def _flips(pairs: Sequence[Pair], values: Floats) -> tuple[dict[str, float], dict[str, float]]:
    """By dialog, the mean loss less (gained) and more (lost) than before; those alike are in neither."""
    means = {dialog: float(values[own].mean()) for dialog, own in by_dialog(pairs).items()}
    gained = {dialog: -mean for dialog, mean in means.items() if mean < 0}
    return gained, {dialog: mean for dialog, mean in means.items() if mean > 0}
