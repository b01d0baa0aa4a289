"""How often the canary gate stops a release that is as good, and how soon one that is worse: resampled real releases.

``python -m tests.benchmarks.canary [--rollouts N] [--picture FILE] [--stored N]``. The tasks of real releases of
tau-bench are drawn at random, and a task ends as it did there by the verdicts of aem-monitor: one to four runs of each,
a fifth of a run added to both sides, so that no task is certain (a thousandth for the broken releases, which do the
same each time). The gate is looked at after every conversation a release. tests/benchmarks/results/canary.txt has the
last run, deploy/docs/canary-power.svg its plot.

The oracle is the sequential test of Wald (1945) that knows how often each task ends how, on either release: no test
that errs as rarely needs fewer conversations on average. It looks at the same conversations.
"""

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aem_monitor.canary.endpoints import Endpoint, evidence_of_either
from aem_monitor.canary.gate import Result, Rules, decide
from aem_monitor.canary.pairs import Part, Played, pair
from aem_monitor.canary.render import change, sentence
from aem_monitor.model.verdict import SUBMETRIC_OF_REASON
from aem_monitor.sequential.betting import log_evidence_above
from tests.benchmarks.canarycost import cost
from tests.benchmarks.powerplot import plot
from tests.benchmarks.releases import BROKEN, GOOD_AIRLINE, GOOD_RETAIL, Counts, Floats, Tasks, correct, rows, two

_SEED: Final = 20261201
MOST: Final = 1000
_RULES: Final = Rules()
_FLIPS: Final = 0.4
"""The most that was measured between two runs of one model."""

_FALLS: Final = (0.03, 0.06, 0.09, 0.12, 0.2)

Order = Callable[[np.random.Generator, int, int], Counts]
"""Which tasks are played, one after the other: of how many, and how often."""


def by_chance(generator: np.random.Generator, tasks: int, count: int) -> Counts:
    """Each time one of all."""
    return generator.integers(tasks, size=count)


def in_order(generator: np.random.Generator, tasks: int, count: int) -> Counts:
    """Round after round in the order of the file."""
    return np.arange(count) % tasks


def one_by_one(generator: np.random.Generator, tasks: int, count: int) -> Counts:
    """All runs of a task, then all of the next."""
    return np.arange(count) * tasks // count


def in_rounds(generator: np.random.Generator, tasks: int, count: int) -> Counts:
    """Round after round, each in another order."""
    rounds = [generator.permutation(tasks) for _ in range(-(-count // tasks))]
    return np.concatenate(rounds)[:count]


def first(evidence: Floats, threshold: float) -> float:
    """After how many it was reached; infinity: never."""
    reached = np.flatnonzero(evidence >= threshold)
    return float(reached[0] + 1) if len(reached) else math.inf


def rollouts(before: Tasks, after: Tasks, count: int, order: Order = by_chance, seed: int = _SEED) -> dict[str, Floats]:
    """When each rollout was found worse, by both endpoints and by runs alone, found as good, and found worse by the
    oracle."""
    generator = np.random.default_rng(seed)
    threshold = -math.log(_RULES.alpha)
    with np.errstate(divide="ignore", invalid="ignore"):  # what one release never does
        ratios = np.log(after.chances / before.chances)
    found: dict[str, list[float]] = {"worse": [], "at the end": [], "runs alone": [], "as good": [], "oracle": []}
    for _ in range(count):
        tasks = order(generator, len(before.passes), MOST)
        old, new = before.draw(generator, tasks), after.draw(generator, tasks)
        losses = {
            Endpoint.RUNS: (old == 0).astype(np.float64) - (new == 0),
            Endpoint.TURNS: before.shares[old] - after.shares[new],
        }
        either = evidence_of_either(losses, _RULES.margin)
        found["worse"].append(first(either, threshold))
        found["at the end"].append(first(either[-1:], threshold))
        found["runs alone"].append(first(log_evidence_above(losses[Endpoint.RUNS], _RULES.margin), threshold))
        good = [first(log_evidence_above(-one, -_RULES.tolerance), threshold) for one in losses.values()]
        found["as good"].append(max(good))
        found["oracle"].append(first(np.cumsum(ratios[tasks, new]), threshold))
    return {name: np.array(several) for name, several in found.items()}


HEAD: Final = (
    f"{'':<36}{'runs pass':>12}{'turns right':>12}{'regression':>16}{'after':>6}{'':>6}"
    f"{'by runs alone':>15}{'':>6}{'oracle':>8}{'':>5}{'pass':>9}{'after':>6}\n"
    f"{'release':<36}{'before':>7}{'now':>5}{'before':>7}{'now':>5}{'first':>8}{'ever':>8}{'50 %':>6}{'95 %':>6}"
    f"{'ever':>9}{'50 %':>6}{'95 %':>6}{'50 %':>8}{'95 %':>5}{'ever':>9}{'50 %':>6}{'95 %':>6}\n"
)


def line(name: str, before: Tasks, after: Tasks, found: dict[str, Floats]) -> str:
    """One row of the table."""
    worse, runs, good, oracle = found["worse"], found["runs alone"], found["as good"], found["oracle"]
    return (
        f"{name:<36}{before.passes.mean():>7.2f}{after.passes.mean():>5.2f}{before.right:>7.2f}{after.right:>5.2f}"
        f"{_share(worse < good):>8}{_share(np.isfinite(worse)):>8}{_quantile(worse, 0.5):>6}{_quantile(worse, 0.95):>6}"
        f"{_share(np.isfinite(runs)):>9}{_quantile(runs, 0.5):>6}{_quantile(runs, 0.95):>6}"
        f"{_quantile(oracle, 0.5):>8}{_quantile(oracle, 0.95):>5}"
        f"{_share(np.isfinite(good)):>9}{_quantile(good, 0.5):>6}{_quantile(good, 0.95):>6}\n"
    )


def ordered(before: Tasks, count: int) -> str:
    """How often a release that is not worse is called so, by the order in which dialogs are played."""
    several = 20
    tasks = len(before.passes)
    orders = {
        "by chance": by_chance,
        "rounds, each in another order": in_rounds,
        "rounds, all in one order": in_order,
        "rounds, worse dialogs first": in_order,
        "dialog by dialog": one_by_one,
    }
    text = f"{'':<32}{'the same release':>40}{'each task does as another one did':>40}\n"
    text += f"{'order':<32}" + f"{'looks after each':>22}{'one at the end':>18}" * 2 + "\n"
    for name, order in orders.items():
        text += f"{name:<32}"
        for same in (True, False):
            stopped = np.zeros(2)
            for seed in range(several):
                other = np.arange(tasks) if same else np.random.default_rng(seed).permutation(tasks)
                sides = (before, before.shuffled(other))
                if "worse" in name:
                    worst = np.argsort(sides[1].passes - before.passes, kind="stable")
                    sides = (before.shuffled(worst), sides[1].shuffled(worst))
                found = rollouts(*sides, count // several, order, seed)
                stopped += [np.isfinite(found[look]).sum() for look in ("worse", "at the end")]
            looks, end = (f"{100 * one / (count // several * several):.1f} %" for one in stopped)
            text += f"{looks:>22}{end:>18}"
        text += "\n"
    return text


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
    parts: set[Part] = set()
    for root in filter(None, row["roots"].split("+")):
        reason, _, tool = root.partition(":")
        parts |= {Part("reason", reason), Part("submetric", SUBMETRIC_OF_REASON[reason].value)}
        if tool:
            parts.add(Part("tool", tool))
    return Played(
        row["task_id"], conversation, row["passed"] == "1", correct(row), row["first"] or None, frozenset(parts)
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
    parser.add_argument("--picture", type=Path, help="where the plot of power is written")
    parser.add_argument("--stored", type=int, default=100_000, help="conversations in the store, of both releases")
    arguments = parser.parse_args()
    count, write = arguments.rollouts, sys.stdout.write
    write(
        f"{count} rollouts each; looked at after every conversation a release up to {MOST}; margin "
        f"{_RULES.margin:g}, tolerance {_RULES.tolerance:g}, alpha {_RULES.alpha:g}.\n"
        f"Conversations a release; 50 % and 95 % of rollouts need at most so many.\n\n{HEAD}"
    )
    panels: dict[str, dict[str, Floats]] = {}
    for domain, releases in (("retail", GOOD_RETAIL), ("airline", GOOD_AIRLINE)):
        before, after = two(releases, (BROKEN[domain],))
        found = rollouts(before, after, count)
        curves = {"no tool calls: regression": found["worse"]}
        write(line(f"gpt-4o, {domain}: no tool calls", before, after, found))
        for fall in reversed(_FALLS):
            after = before.fallen(fall)
            found = rollouts(before, after, count)
            curves[f"{100 * fall:.0f} points less: regression"] = found["worse"]
            write(line(f"gpt-4o, {domain}: {100 * fall:.0f} points less", before, after, found))
        del curves["3 points less: regression"]
        found = rollouts(before, before, count)
        curves["the same: pass"] = found["as good"]
        write(line(f"gpt-4o, {domain}: the same", before, before, found))
        panels[f"gpt-4o, tau-bench {domain} ({100 * before.passes.mean():.0f} % of runs pass): rollouts decided"] = (
            curves
        )
        flipping = before.flipping(_FLIPS)
        write(f"gpt-4o, {domain}: two runs of a task flip in {100 * before.flips:.0f} %; with more flips:\n")
        for fall in (0.12, 0.06, 0.0):
            after = flipping.fallen(fall) if fall else flipping
            name = f"{domain}, {100 * _FLIPS:.0f} % flips: {f'{100 * fall:.0f} points less' if fall else 'the same'}"
            write(line(name, flipping, after, rollouts(flipping, after, count)))
    for name, good, other in (
        ("gpt-4o to gpt-4.1, retail", "mk-4o-l0", "mk-41-l0"),
        ("gpt-4o to its library form, retail", "mk-4o-l0", "mk-4o-l1"),
    ):
        before, after = two((good,), (other,))
        write(line(name, before, after, rollouts(before, after, count)))
    write(f"\nFalse regressions by the order of dialogs, gpt-4o retail, up to {MOST} conversations\n")
    write(ordered(two(GOOD_RETAIL, GOOD_RETAIL)[0], count))
    result = swap(MOST)
    write(
        f"\ngpt-4o to gpt-4.1, retail, {MOST} conversations a release drawn from the runs as they ended:\n"
        f"{sentence(result)}\n"
    )
    for one in result.changes:
        write(f"  {change(one)}\n")
    if arguments.stored:
        write(f"\n{cost(arguments.stored)}")
    if arguments.picture:
        arguments.picture.write_text(plot(panels, MOST), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
