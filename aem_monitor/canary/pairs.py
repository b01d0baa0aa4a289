"""Pairs of plays of one dialog, one on each release."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Literal, NamedTuple

import numpy as np

from aem_monitor.canary.meeting import Alone, Meetings, Play
from aem_monitor.sequential.shifts import Floats

Area = Literal["reason", "submetric", "tool", "chain_length", "turn_kind"]
"""What root causes are told apart by: the reason, and the sub-metric whose check it is; the golden tool; how many calls
its exchange asks for; tool call or reply."""


class Part(NamedTuple):
    """Some of the root causes."""

    area: Area
    name: str


@dataclass(frozen=True, slots=True)
class Undecided(Play):
    """A run that has no verdict, or one of its first part only."""


@dataclass(frozen=True, slots=True)
class Played(Play):
    """A decided run.

    ``correct`` is the share of the dialog's decided turns that are right; 1 where none was. Calls that the dialog does
    not allow fail the run and are none of its turns, so that both releases are measured by the same turns. ``parts``
    are those in which it has a root cause; ``reason`` is the first root's, None where there is none. ``latency`` in
    seconds, None where it is not known.
    """

    passed: bool
    correct: float
    reason: str | None = None
    parts: frozenset[Part] = frozenset()
    latency: float | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """The same dialog on both releases, decided on both."""

    baseline: Played
    candidate: Played


@dataclass(frozen=True, slots=True)
class Paired:
    """All pairs, in the order in which their second run came, and what found no partner: how many runs, by why and by
    dialog.

    ``met`` are all runs that met, decided or not, the baseline's first; ``undecided`` is of each two whether the
    candidate's is undecided less whether the baseline's is: -1, 0 or 1.
    """

    pairs: Sequence[Pair]
    clusters: Floats = field(repr=False)
    """The number of each pair's cluster: pairs that share a conversation, on either side, are in one."""
    met: Sequence[tuple[Play, Play]] = field(repr=False)
    undecided: Floats = field(repr=False)
    met_clusters: Floats = field(repr=False)
    baseline_alone: Mapping[Alone, Mapping[str, int]]
    candidate_alone: Mapping[Alone, Mapping[str, int]]
    dialogs: frozenset[str]
    """Of which a release has a run."""


def pair(baseline: Iterable[Play], candidate: Iterable[Play]) -> Paired:
    """Let the runs of both releases meet (``meeting.py``), undecided ones as well: a run that was dropped before would
    shift all that come after it, and whether a run is undecided may depend on how it went."""
    meetings = Meetings()
    plays = [(one.order, side, one) for side, plays in enumerate((baseline, candidate)) for one in plays]
    # Of runs that came at one moment, the baseline's first, and else as they were given.
    plays.sort(key=itemgetter(0))
    pairs: list[Pair] = []
    clusters: list[int] = []
    together: list[tuple[Play, Play]] = []
    undecided: list[int] = []
    every: list[int] = []
    for _, side, play in plays:
        met = meetings.meet(side, play)
        if met is None:
            continue
        before, now = (met.other, play) if side else (play, met.other)
        together.append((before, now))
        undecided.append(isinstance(now, Undecided) - isinstance(before, Undecided))
        every.append(met.cluster)
        if isinstance(before, Played) and isinstance(now, Played):
            pairs.append(Pair(before, now))
            clusters.append(met.cluster)
    return Paired(
        pairs,
        np.array(clusters, dtype=np.float64),
        together,
        np.array(undecided, dtype=np.float64),
        np.array(every, dtype=np.float64),
        meetings.alone(0),
        meetings.alone(1),
        frozenset(play.dialog for _, _, play in plays),
    )


def by_dialog(pairs: Sequence[Pair]) -> dict[str, list[int]]:
    """Of each dialog, by name, the places of its pairs."""
    found: dict[str, list[int]] = {}
    for place, one in enumerate(pairs):
        found.setdefault(one.candidate.dialog, []).append(place)
    return dict(sorted(found.items()))


def clustered(values: Floats, clusters: Floats) -> Floats:
    """The mean of each cluster's values, in the order of their first; plays of one conversation are not independent,
    and count as one."""
    if not len(values):
        return values
    _, first, places = np.unique(clusters, return_index=True, return_inverse=True)
    means = np.bincount(places, weights=values) / np.bincount(places)
    return np.asarray(means[np.argsort(first)], dtype=np.float64)
