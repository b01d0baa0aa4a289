"""What releases are compared by: the runs that pass, and the turns that are right."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from aem_monitor.canary.fixed import exact_p, exact_p_of_either
from aem_monitor.canary.meeting import Play
from aem_monitor.canary.pairs import Pair, Played
from aem_monitor.sequential.betting import interval, log_evidence_above
from aem_monitor.sequential.shifts import Floats


class Endpoint(StrEnum):
    """Runs say whether the goal was reached. Turns say how much of a run went wrong: where most runs failed before, a
    release that can do nothing any more shows in them first."""

    RUNS = "runs"
    TURNS = "turns"


Losses = Mapping[Endpoint, Floats]
"""Of each pair or cluster, what the candidate loses more than the baseline, from -1 to 1."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Candidate less baseline, so that more is worse, with what is not refuted at any look."""

    mean: float | None
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Finding:
    """What the pairs say by one endpoint. Evidence is a natural logarithm."""

    difference: Difference
    log_regression: float
    log_pass: float


@dataclass(frozen=True, slots=True)
class Findings:
    """What both say. ``log_regression``: either is worse. ``log_pass``: both are good enough."""

    of: Mapping[Endpoint, Finding]
    log_regression: float
    log_pass: float


def losses(pairs: Sequence[Pair], costs: Mapping[str, float]) -> dict[Endpoint, Floats]:
    """A run loses 1 unless it passes; a turn that is wrong (inherited or not) its share of the run's expected turns.
    Both are multiplied by the cost of the run's first root cause."""

    def lost(one: Played) -> tuple[float, float]:
        return _lost(one, costs), costs.get(one.reason or "", 1.0) * (1.0 - one.correct)

    now = np.array([lost(one.candidate) for one in pairs], dtype=np.float64).reshape(-1, 2)
    before = np.array([lost(one.baseline) for one in pairs], dtype=np.float64).reshape(-1, 2)
    return {Endpoint.RUNS: now[:, 0] - before[:, 0], Endpoint.TURNS: now[:, 1] - before[:, 1]}


def losses_in_doubt(met: Sequence[tuple[Play, Play]], costs: Mapping[str, float]) -> Floats:
    """Of all runs that met what the candidate's lose more, were all that are undecided lost."""
    found = [_lost(now, costs) - _lost(before, costs) for before, now in met]
    return np.array(found, dtype=np.float64)


def _lost(one: Play, costs: Mapping[str, float]) -> float:
    if not isinstance(one, Played):
        return 1.0
    return 0.0 if one.passed else costs.get(one.reason or "", 1.0)


def evidence_of_either(values: Losses, margin: float) -> Floats:
    """After each observation, the logarithm of the evidence that one endpoint or the other is above ``margin``.

    The mean of the evidence of each. As long as neither is above, each is a supermartingale that starts at 1, and so is
    their mean, however they depend on each other (Vovk and Wang 2021): the bound on wrong regressions is that of one.
    It costs a factor of 2 at most where one endpoint shows all, and nothing where both show the same.
    """
    each = np.array([log_evidence_above(one, margin) for one in values.values()])
    return np.asarray(np.logaddexp.reduce(each, axis=0) - math.log(len(each)), dtype=np.float64)


def evidence_of_both(values: Losses, tolerance: float) -> float:
    """The logarithm of the evidence that both are below ``tolerance``, each with all of alpha: a wrong pass is wrong
    for one of them (Berger 1982)."""
    return min(latest(log_evidence_above(-one, -tolerance)) for one in values.values())


def latest(evidence: Floats) -> float:
    """What counts at a look is the evidence at that look. The bound would hold for the largest so far as well; but that
    may rest on the order in which pairs came, and not agree any more with all that was seen."""
    return float(evidence[-1]) if len(evidence) else 0.0


def difference(values: Floats, alpha: float) -> Difference:
    """The mean and its interval at any look."""
    lower, upper = interval(values, alpha)
    return Difference(float(values.mean()) if len(values) else None, lower, upper)


def find_at_any_look(values: Losses, margin: float, tolerance: float, alpha: float) -> Findings:
    """By bets, which may be looked at after each observation."""
    found = {
        name: Finding(
            difference(own, alpha),
            latest(log_evidence_above(own, margin)),
            latest(log_evidence_above(-own, -tolerance)),
        )
        for name, own in values.items()
    }
    return Findings(found, latest(evidence_of_either(values, margin)), evidence_of_both(values, tolerance))


def find_at_one_look(values: Losses, margin: float, tolerance: float, alpha: float) -> Findings:
    """The same, a regression at margin 0 by exact tests for one look, ``-log(p)`` being the evidence.

    Bets hold at one look as at all. No other test of a margin holds for few pairs: a bootstrap of pairs that are all
    alike has no spread, and passes on one pair.
    """
    found = find_at_any_look(values, margin, tolerance, alpha)
    if margin != 0.0:
        return found
    exact = {name: replace(one, log_regression=-math.log(exact_p(values[name]))) for name, one in found.of.items()}
    return Findings(exact, -math.log(exact_p_of_either(list(values.values()))), found.log_pass)
