"""Pairs of plays of one dialog, one on each release."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from aem_monitor.sequential.shifts import Floats

Area = Literal["reason", "submetric", "tool", "chain_length", "turn_kind"]
"""What root causes are told apart by: the reason, and the sub-metric whose check it is; the golden tool; how many calls
its exchange asks for; tool call or reply."""


class Part(NamedTuple):
    """Some of the root causes."""

    area: Area
    name: str


@dataclass(frozen=True, slots=True)
class Played:
    """One decided run of a reviewed dialog.

    ``correct`` is the share of the dialog's decided turns that are right; 1 where none was. Calls that the dialog does
    not allow fail the run and are none of its turns, so that both releases are measured by the same turns. ``parts``
    are those in which it has a root cause; ``reason`` is the first root's, None where there is none. ``latency`` in
    seconds, None where it is not known.
    """

    dialog: str
    conversation: str
    passed: bool
    correct: float
    reason: str | None = None
    parts: frozenset[Part] = frozenset()
    latency: float | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """The same dialog on both releases."""

    baseline: Played
    candidate: Played


@dataclass(frozen=True, slots=True)
class Paired:
    """All pairs, in the order of the candidate's runs, and what found no partner."""

    pairs: Sequence[Pair]
    baseline_alone: int
    candidate_alone: int
    clusters: Floats = field(repr=False)
    """The number of each pair's cluster, counted from 0 in order: pairs that share a conversation, on either side."""


def pair(baseline: Iterable[Played], candidate: Iterable[Played]) -> Paired:
    """Pair the n-th run of each dialog on one release with the n-th on the other, in the order in which they came.

    Which runs meet does not depend on how they ended, so that the expected difference of a pair is the difference of
    the dialog's rates.
    """
    waiting: dict[str, list[Played]] = defaultdict(list)
    total = 0
    for one in baseline:
        waiting[one.dialog].append(one)
        total += 1
    used: dict[str, int] = defaultdict(int)
    pairs: list[Pair] = []
    alone = 0
    for other in candidate:
        there = waiting.get(other.dialog, ())
        if used[other.dialog] < len(there):
            pairs.append(Pair(there[used[other.dialog]], other))
            used[other.dialog] += 1
        else:
            alone += 1
    return Paired(pairs, total - len(pairs), alone, _clusters(pairs))


def clustered(values: Floats, clusters: Floats) -> Floats:
    """The mean of each cluster's values; plays of one conversation are not independent, and count as one."""
    if not len(values):
        return values
    _, places = np.unique(clusters, return_inverse=True)
    return np.asarray(np.bincount(places, weights=values) / np.bincount(places), dtype=np.float64)


def _clusters(pairs: Sequence[Pair]) -> Floats:
    """Conversations are joined by the pairs that they share (union and find)."""
    parent: dict[tuple[bool, str], tuple[bool, str]] = {}

    def root(node: tuple[bool, str]) -> tuple[bool, str]:
        while (above := parent.setdefault(node, node)) != node:
            parent[node] = parent[above]
            node = above
        return node

    for one in pairs:
        parent[root((False, one.baseline.conversation))] = root((True, one.candidate.conversation))
    numbers: dict[tuple[bool, str], int] = {}
    found = [numbers.setdefault(root((True, one.candidate.conversation)), len(numbers)) for one in pairs]
    return np.array(found, dtype=np.float64)
