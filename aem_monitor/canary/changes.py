"""What is not as it was, found with a bounded share of false findings."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aem_monitor.canary.endpoints import Difference, difference, latest
from aem_monitor.canary.pairs import Pair, Paired, Part, by_dialog, clustered
from aem_monitor.sequential.betting import log_evidence_above
from aem_monitor.sequential.shifts import Floats


@dataclass(frozen=True, slots=True)
class Change:
    """A part of the root causes, ``latency``, ``undecided`` runs, or a ``dialog``."""

    area: str
    name: str
    worse: bool
    difference: Difference
    log_evidence: float


def find_changes(paired: Paired, values: Floats, alpha: float, latency: float) -> list[Change]:
    """What changed, either way: parts of the root causes and latency; and dialogs, which are a family of their own, so
    that having many does not hide a reason.

    Args:
        paired: the pairs.
        values: of each pair, what the candidate loses more.
        alpha: bounds the share of false ones, in each family.
        latency: how much slower than its partner a run counts as slower, as a share.
    """
    pairs = paired.pairs
    parts = _parts(paired)
    timed = [_slower(one, latency) for one in pairs]
    known = np.array([one is not None for one in timed], dtype=bool)
    if known.any():
        slower = clustered(np.array([one for one in timed if one is not None]), paired.clusters[known])
        parts += _both_ways("latency", "slower", slower)
    if paired.undecided.any():
        parts += _both_ways("undecided", "runs", clustered(paired.undecided, paired.met_clusters))
    dialogs: list[_Candidate] = []
    for dialog, own in by_dialog(pairs).items():
        dialogs += _both_ways("dialog", dialog, clustered(values[own], paired.clusters[own]))
    return [
        Change(one.area, one.name, one.worse, difference(one.values(), alpha), one.log_evidence)
        for family in (parts, dialogs)
        for one in _kept(family, alpha)
    ]


class _Candidate(NamedTuple):
    area: str
    name: str
    worse: bool
    values: Callable[[], Floats]
    log_evidence: float


def _both_ways(area: str, name: str, values: Floats) -> list[_Candidate]:
    return _candidates(area, name, values, lambda: values)


def _candidates(area: str, name: str, some: Floats, values: Callable[[], Floats]) -> list[_Candidate]:
    """``some`` are those of the values that are not 0 at least: of the others the evidence does not depend."""
    return [
        _Candidate(area, name, worse, values, latest(log_evidence_above(some if worse else -some, 0.0)))
        for worse in (True, False)
    ]


def _parts(paired: Paired) -> list[_Candidate]:
    """Agents call tools by names of their own making: of thousands of parts, each is in few pairs, and is not to cost
    as much as all."""
    differing: dict[Part, dict[int, float]] = {}
    for place, one in enumerate(paired.pairs):
        now, before = one.candidate.parts, one.baseline.parts
        for part in now & before:
            differing.setdefault(part, {})
        for part in now ^ before:
            differing.setdefault(part, {})[place] = 1.0 if part in now else -1.0
    _, first, places, sizes = np.unique(paired.clusters, return_index=True, return_inverse=True, return_counts=True)
    found: list[_Candidate] = []
    for part, own in sorted(differing.items()):
        touched, among = np.unique(places[list(own)], return_inverse=True)
        means = np.bincount(among, weights=list(own.values())) / sizes[touched] if own else np.zeros(0)
        some = np.asarray(means[np.argsort(first[touched])], dtype=np.float64)
        found += _candidates(part.area, part.name, some, _all_values(paired, own))
    return found


def _all_values(paired: Paired, some: dict[int, float]) -> Callable[[], Floats]:
    def made() -> Floats:
        values = np.zeros(len(paired.pairs))
        values[list(some)] = list(some.values())
        return clustered(values, paired.clusters)

    return made


def _kept(candidates: list[_Candidate], alpha: float) -> list[_Candidate]:
    """Those that the e-BH procedure keeps (Wang and Ramdas 2022): of those named, the expected share that is false is
    at most ``alpha``, whatever the dependence between them."""
    candidates.sort(key=lambda one: -one.log_evidence)
    kept = 0
    for rank, one in enumerate(candidates, 1):
        if one.log_evidence >= math.log(len(candidates) / (alpha * rank)):
            kept = rank
    return candidates[:kept]


def _slower(one: Pair, share: float) -> float | None:
    before, now = one.baseline.latency, one.candidate.latency
    if before is None or now is None:
        return None
    return float(now > before * (1 + share)) - float(before > now * (1 + share))
