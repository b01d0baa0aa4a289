"""Real releases to draw from: how often each task of tau-bench passes, and how much of it goes wrong where it fails."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

GOOD_RETAIL: Final = ("mk-4o-l0", "mk-4o-pre", "mk-4o-sub")
GOOD_AIRLINE: Final = ("sierra-4o-air",)
BROKEN: Final = {"retail": "mk-q7-ret", "airline": "mk-q7-air"}
"""Of the model whose tool calls never reached the tools."""

_SCORED: Final = Path(__file__).parents[1] / "data" / "releases" / "scored.csv"
_ADDED: Final = 0.2
_SURE: Final = 0.001
"""Of a run, added to passes and to failures, so that no task is certain; less for releases that do always the same."""


def rows(*releases: str) -> list[dict[str, str]]:
    """The decided runs of releases."""
    with _SCORED.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["run"] in releases and row["passed"]]


def correct(row: dict[str, str]) -> float:
    """The share of the dialog's own turns that are right."""
    return int(row["right"]) / int(row["turns"]) if int(row["turns"]) else 1.0


@dataclass(frozen=True, slots=True)
class Drawn:
    """Runs as they were drawn: of which task, which outcome."""

    tasks: Counts
    outcomes: Counts


@dataclass(frozen=True, slots=True)
class Tasks:
    """The tasks of a release.

    ``chances``: how often each ends how, shape (tasks, outcomes). Outcome 0 is a run that passes; each other one a run
    that fails with a certain share of right turns, ``shares``, that of outcome 0 being 1.
    """

    chances: Floats
    shares: Floats

    @property
    def passes(self) -> Floats:
        """How often each task passes."""
        return self.chances[:, 0]

    @property
    def right(self) -> float:
        """The share of right turns, the mean of the tasks."""
        return float((self.chances @ self.shares).mean())

    def draw(self, generator: np.random.Generator, tasks: Counts) -> Counts:
        """An outcome for each."""
        limits = np.cumsum(self.chances, axis=1)[tasks]
        found = (generator.random(len(tasks))[:, None] > limits).sum(axis=1)
        return np.asarray(np.minimum(found, len(self.shares) - 1), dtype=np.int64)

    def fallen(self, fall: float) -> "Tasks":
        """The same after a fall of the share of runs that pass: the log odds of all tasks moved alike; a run that
        fails goes as wrong as one that failed before."""
        low, high = 0.0, 20.0
        before = self.passes
        odds = np.log(before / (1 - before))
        for _ in range(60):
            middle = (low + high) / 2
            mean = (1 / (1 + np.exp(middle - odds))).mean()
            low, high = (middle, high) if mean > before.mean() - fall else (low, middle)
        now = 1 / (1 + np.exp(low - odds))
        chances = self.chances * ((1 - now) / (1 - before))[:, None]
        chances[:, 0] = now
        return Tasks(chances, self.shares)

    @property
    def flips(self) -> float:
        """How often two runs of a task end otherwise, one passing and one not."""
        return float((2 * self.passes * (1 - self.passes)).mean())

    def flipping(self, flips: float) -> "Tasks":
        """The same mean, with tasks more alike, so that two runs of one flip more often."""
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self._drawn_together(middle).flips < flips else (low, middle)
        return self._drawn_together(low)

    def _drawn_together(self, share: float) -> "Tasks":
        now = self.passes + share * (self.passes.mean() - self.passes)
        chances = self.chances * ((1 - now) / (1 - self.passes))[:, None]
        chances[:, 0] = now
        return Tasks(chances, self.shares)

    def shuffled(self, order: Counts) -> "Tasks":
        """Each task does as another one did: as many are better as are worse, and the means are as they were."""
        return Tasks(self.chances[order], self.shares)


def two(before: tuple[str, ...], now: tuple[str, ...]) -> tuple[Tasks, Tasks]:
    """Two releases, by the tasks that both have."""
    sides = [rows(*before), rows(*now)]
    tasks = sorted(set.intersection(*({row["task_id"] for row in side} for side in sides)), key=int)
    kept = [[row for row in side if row["task_id"] in tasks] for side in sides]
    shares = np.unique([correct(row) for side in kept for row in side if row["passed"] == "0"])
    return _tasks(kept[0], tasks, shares), _tasks(kept[1], tasks, shares)


def _tasks(runs: list[dict[str, str]], tasks: list[str], shares: Floats) -> Tasks:
    counts = np.zeros((len(tasks), 1 + len(shares)))
    for row in runs:
        outcome = 0 if row["passed"] == "1" else 1 + int(np.searchsorted(shares, correct(row)))
        counts[tasks.index(row["task_id"]), outcome] += 1
    # What is added to failures goes as wrong as those of the release did.
    failed = counts[:, 1:].sum(axis=0)
    added = _SURE if runs[0]["run"] in BROKEN.values() else _ADDED
    counts += added * np.concatenate([[1.0], failed / failed.sum()])
    return Tasks(counts / counts.sum(axis=1, keepdims=True), np.concatenate([[1.0], shares]))
