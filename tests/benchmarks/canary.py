"""How often the canary gate stops a release that is as good, and how soon one that is worse: resampled real releases.

``python -m tests.benchmarks.canary [--rollouts N]``. The tasks of real releases of tau-bench are drawn at random, and a
task passes as often as it did there: one to four runs of each, a fifth of a run added to both sides, so that no task is
certain (a thousandth for the broken releases, which do the same each time). The gate is looked at after every
conversation a release. tests/benchmarks/results/canary.txt has the last run.

The oracle is the sequential test of Wald (1945) that knows both rates of every task: no test that errs as rarely needs
fewer conversations on average. It looks at the same conversations.
"""

import argparse
import csv
import math
import sys
from collections import defaultdict
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aem_monitor.canary.gate import Result, Rules, decide
from aem_monitor.canary.pairs import Part, Played, pair
from aem_monitor.sequential.betting import log_evidence_above

Floats = NDArray[np.float64]

_SEED: Final = 20261201
_RUNS: Final = Path(__file__).parents[1] / "data" / "releases" / "runs.csv"
_MOST: Final = 1000
_RULES: Final = Rules()


def rows(*releases: str) -> list[dict[str, str]]:
    """The runs of releases."""
    with _RUNS.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["run"] in releases]


def rates(*releases: str, added: float = 0.2) -> dict[str, float]:
    """How often each task passes."""
    outcomes: dict[str, list[float]] = defaultdict(list)
    for row in rows(*releases):
        outcomes[row["task_id"]].append(float(row["reward"]))
    return {task: (sum(one) + added) / (len(one) + 2 * added) for task, one in outcomes.items()}


def fallen(before: Floats, fall: float) -> Floats:
    """The rates after a fall of their mean: the log odds of all moved alike."""
    low, high = 0.0, 20.0
    odds = np.log(before / (1 - before))
    for _ in range(60):
        middle = (low + high) / 2
        mean = (1 / (1 + np.exp(middle - odds))).mean()
        low, high = (middle, high) if mean > before.mean() - fall else (low, middle)
    return np.asarray(1 / (1 + np.exp(low - odds)), dtype=np.float64)


def first(evidence: Floats, threshold: float) -> float:
    """After how many it was reached; infinity: never."""
    reached = np.flatnonzero(evidence >= threshold)
    return float(reached[0] + 1) if len(reached) else math.inf


def rollouts(before: Floats, after: Floats, count: int) -> dict[str, Floats]:
    """When each rollout was found worse, found as good, and found worse by the oracle."""
    generator = np.random.default_rng(_SEED)
    threshold = -math.log(_RULES.alpha)
    found: dict[str, list[float]] = {"worse": [], "as good": [], "oracle": []}
    for _ in range(count):
        tasks = generator.integers(len(before), size=_MOST)
        old = generator.random(_MOST) < before[tasks]
        new = generator.random(_MOST) < after[tasks]
        losses = old.astype(float) - new
        found["worse"].append(first(log_evidence_above(losses, _RULES.margin), threshold))
        found["as good"].append(first(log_evidence_above(-losses, -_RULES.tolerance), threshold))
        ratio = np.where(new, np.log(after / before)[tasks], np.log((1 - after) / (1 - before))[tasks])
        found["oracle"].append(first(np.cumsum(ratio), threshold))
    return {name: np.array(several) for name, several in found.items()}


def line(name: str, before: Floats, after: Floats, count: int) -> str:
    """One row of the table."""
    found = rollouts(before, after, count)
    worse, good, oracle = found["worse"], found["as good"], found["oracle"]
    return (
        f"{name:<34}{before.mean():>7.2f}{after.mean():>7.2f}{_share(worse < good):>9}"
        f"{_share(np.isfinite(worse)):>9}{_quantile(worse, 0.5):>7}{_quantile(worse, 0.95):>7}"
        f"{_quantile(oracle, 0.5):>7}{_quantile(oracle, 0.95):>7}{_share(np.isfinite(good)):>9}"
        f"{_quantile(good, 0.5):>7}{_quantile(good, 0.95):>7}\n"
    )


def swap(count: int) -> Result:
    """gpt-4o against gpt-4.1 on the same retail tasks, ``count`` conversations a release, as they ended."""
    generator = np.random.default_rng(_SEED)
    old, new = ({row["task_id"]: row for row in rows(release)} for release in ("mk-4o-l0", "mk-41-l0"))
    tasks = generator.choice(sorted(old.keys() & new.keys()), count)
    return decide(
        pair(
            [_played(old[task], f"old-{number}") for number, task in enumerate(tasks)],
            [_played(new[task], f"new-{number}") for number, task in enumerate(tasks)],
        ),
        _RULES,
    )


def _played(row: dict[str, str], conversation: str) -> Played:
    kinds = [kind for kind in row["divergence_kinds"].split("+") if kind]
    return Played(
        row["task_id"],
        conversation,
        float(row["reward"]) == 1,
        float(row["reward"]),
        kinds[0] if kinds else None,
        frozenset(Part("reason", kind) for kind in kinds),
    )


def _share(found: "NDArray[np.bool_]") -> str:
    return f"{100 * found.mean():.1f} %"


def _quantile(values: Floats, share: float) -> str:
    found = float(np.quantile(values, share, method="inverted_cdf"))
    return f"{found:.0f}" if math.isfinite(found) else "-"


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rollouts", type=int, default=2000)
    count = parser.parse_args().rollouts
    write = sys.stdout.write
    write(
        f"{count} rollouts each; looked at after every conversation a release up to {_MOST}; margin "
        f"{_RULES.margin:g}, tolerance {_RULES.tolerance:g}, alpha {_RULES.alpha:g}.\n"
        "Conversations a release; 50 % and 95 % of rollouts need at most so many.\n\n"
        f"{'':<34}{'passes':>14}{'regression':>18}{'after':>7}{'':>7}{'oracle':>7}{'':>7}{'pass':>9}{'after':>7}\n"
        f"{'release':<34}{'before':>7}{'now':>7}{'first':>9}{'ever':>9}{'50 %':>7}{'95 %':>7}{'50 %':>7}{'95 %':>7}"
        f"{'ever':>9}{'50 %':>7}{'95 %':>7}\n"
    )
    for name, releases in (
        ("gpt-4o, retail", ("mk-4o-l0", "mk-4o-pre", "mk-4o-sub")),
        ("gpt-4o, airline", ("sierra-4o-air",)),
    ):
        before = np.array(list(rates(*releases).values()))
        write(line(f"{name}: the same", before, before, count))
        for fall in (0.03, 0.06, 0.09, 0.12, 0.15, 0.2, 0.3):
            write(line(f"{name}: {100 * fall:.0f} points less", before, fallen(before, fall), count))
    for name, good, other in (
        ("gpt-4o retail: no tool calls", ("mk-4o-l0", "mk-4o-pre", "mk-4o-sub"), ("mk-q7-ret",)),
        ("gpt-4o airline: no tool calls", ("sierra-4o-air",), ("mk-q7-air",)),
        ("gpt-4o to gpt-4.1, retail", ("mk-4o-l0",), ("mk-41-l0",)),
        ("gpt-4o to its library form, retail", ("mk-4o-l0",), ("mk-4o-l1",)),
    ):
        old, new = rates(*good), rates(*other, added=0.001 if "no tool" in name else 0.2)
        both = sorted(old.keys() & new.keys())
        write(line(name, np.array([old[task] for task in both]), np.array([new[task] for task in both]), count))
    result = swap(_MOST)
    write(
        f"\ngpt-4o to gpt-4.1, retail, {_MOST} conversations a release drawn from the runs as they ended: "
        f"{result.state.value}, {len(result.gained)} dialogs gained, {len(result.lost)} lost\n"
    )
    for one in result.changes:
        write(
            f"  {one.area} {one.name}: {'worse' if one.worse else 'better'} than before, by "
            f"{100 * (one.difference.mean or 0):+.1f} points "
            f"({100 * one.difference.lower:+.1f} to {100 * one.difference.upper:+.1f})\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
