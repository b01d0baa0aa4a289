"""How often built-in alerting pages without a cause, and how soon it finds a fault: the detectors on drawn runs.

``python -m tests.benchmarks.detector [--scale S]``; less than 1 (the default, an hour) draws less. Runs are drawn from
twenty dialogs that pass nine times in ten, all alike; or as the tasks of a real model did (gpt-4o on tau-bench's retail
tasks, three runs of each), which differ by far more. deploy/docs/alerting-statistics.md has the figures, and
tests/benchmarks/results/detector.txt the last run.
"""

import argparse
import csv
import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np

from aem_monitor.alerting.detect import Detectors, Settings
from aem_monitor.alerting.observed import Cause, Kind, Observed, Opened

_SEED: Final = 20261201
_MONTH_HOURS: Final = 720
_RUNS: Final = Path(__file__).parents[1] / "data" / "releases" / "runs.csv"
_REASONS: Final = ("tool_mismatch", "inconsistent_parameter_values", "incomplete_response", "missing_parameters")
_SHARES: Final = (0.5, 0.3, 0.15, 0.05)
_TOOLS: Final = ("orders", "users", "products", "payments")


@dataclass(frozen=True, slots=True)
class Suite:
    """Golden dialogs, and how often each fails."""

    name: str
    failing: Sequence[float]

    def worse(self, rate: float) -> "Suite":
        """The same dialogs after a change: the log odds of all moved until they fail so often on average."""
        low, high = 0.0, 10.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if np.mean(self._moved(middle)) < rate else (low, middle)
        return Suite(self.name, self._moved(low))

    def _moved(self, shift: float) -> list[float]:
        return [1 / (1 + (1 - one) / one * math.exp(-shift)) for one in self.failing]

    @property
    def rate(self) -> float:
        """How often a run fails."""
        return float(np.mean(self.failing))


EQUAL: Final = Suite("alike", [0.1] * 20)


def real_suite() -> Suite:
    """The tasks of a real model: three forms of the same agent, smoothed."""
    outcomes = defaultdict(list)
    with _RUNS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["run"] in ("mk-4o-l0", "mk-4o-pre", "mk-4o-sub"):
                outcomes[row["task_id"]].append(float(row["reward"]) < 1)
    return Suite("as gpt-4o on retail tasks", [(sum(one) + 0.2) / (len(one) + 0.4) for one in outcomes.values()])


def runs(random: np.random.Generator, suite: Suite, release: str, an_hour: float, began: float) -> Iterator[Observed]:
    """Runs without end, from a time on (seconds), one after the other at random times."""
    at = began
    while True:
        dialogs = random.integers(len(suite.failing), size=1000)
        fails = random.random(1000) < np.asarray(suite.failing)[dialogs]
        reasons = random.choice(len(_REASONS), 1000, p=_SHARES)
        waits = random.exponential(3600 / an_hour, 1000)
        for dialog, failed, reason, wait in zip(dialogs, fails, reasons, waits, strict=True):
            at += float(wait)
            tool = "" if _REASONS[reason] == "incomplete_response" else _TOOLS[dialog % len(_TOOLS)]
            causes = frozenset({Cause(_REASONS[reason], tool)}) if failed else frozenset()
            yield Observed("shop", release, "m", f"d{dialog}", at, not failed, causes)


def learnt(random: np.random.Generator, suite: Suite, an_hour: float, least: int = 2000) -> tuple[bytes, float]:
    """The state after a week, or as many runs if that is more; and when that is."""
    detectors = Detectors(Settings())
    for number, run in enumerate(runs(random, suite, "1", an_hour, 0.0)):
        detectors.observe(run)
        if (number >= least and run.at >= 7 * 86400) or number >= 10_000:
            return detectors.state(), run.at
    raise AssertionError("runs never end")


def quiet(random: np.random.Generator, suite: Suite, an_hour: float, months: int) -> list[Kind]:
    """What pages in so many months of thirty days in which nothing changes."""
    pages = []
    for _ in range(months):
        state, began = learnt(random, suite, an_hour)
        detectors = Detectors(Settings(), state)
        for run in runs(random, suite, "1", an_hour, began):
            if run.at > began + _MONTH_HOURS * 3600:
                break
            pages += [event.signature.kind for event in detectors.observe(run) if isinstance(event, Opened)]
    return pages


def delays(random: np.random.Generator, suite: Suite, rate: float, an_hour: float, times: int) -> list[int]:
    """Dialogs from a fall of the share that passes until a page."""
    found = []
    for number in range(times):
        if number % 4 == 0:
            state, began = learnt(random, suite, an_hour)
        detectors = Detectors(Settings(), state)
        for dialogs, run in zip(count(1), runs(random, suite.worse(rate), "1", an_hour, began), strict=False):
            if any(isinstance(event, Opened) for event in detectors.observe(run)):
                found.append(dialogs)
                break
    return found


def releases(
    random: np.random.Generator, suite: Suite, rate: float, times: int, most: int, before: int = 500
) -> list[int | None]:
    """Dialogs of a new release until it is called worse, None where that does not come within ``most``."""
    found: list[int | None] = []
    for _ in range(times):
        detectors = Detectors(Settings())
        at = 0.0
        for _, run in zip(range(before), runs(random, suite, "1", 100, 0.0), strict=False):
            detectors.observe(run)
            at = run.at
        called = None
        for dialogs, run in zip(range(1, most + 1), runs(random, suite.worse(rate), "2", 100, at), strict=False):
            opened = [event for event in detectors.observe(run) if isinstance(event, Opened)]
            if opened:
                called = dialogs
                break
        found.append(called)
    return found


def known_rates(arl: float, before: float = 0.1, after: float = 0.3) -> tuple[float, float]:
    """Threshold and mean delay of a CUSUM that knows both rates (Page 1954), with one false alarm in so many runs.

    By the equations of Brook and Evans (1972) on a grid of which the smaller step is a sixteenth.
    """
    up, down = math.log(after / before), -math.log((1 - after) / (1 - before))
    width = down / 16
    rise, fall = round(up / width), 16

    def mean_length(threshold: float, rate: float) -> float:
        states = np.arange(max(1, int(threshold / width)))
        matrix = np.eye(len(states))
        matrix[states, np.maximum(0, states - fall)] -= 1 - rate
        inside = states[states + rise < len(states)]
        matrix[inside, inside + rise] -= rate
        return float(np.linalg.solve(matrix, np.ones(len(states)))[0])

    low, high = 1.0, 20.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_length(middle, before) < arl else (low, middle)
    return high, mean_length(high, after)


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=float, default=1.0)
    scale = parser.parse_args().scale
    random = np.random.default_rng(_SEED)
    for suite in (EQUAL, real_suite()):
        print(f"\nDialogs {suite.name}: {len(suite.failing)}, of which {1 - suite.rate:.1%} of the runs pass")
        for an_hour, months in ((10, 60), (100, 8), (1000, 1)):
            many = max(1, round(months * scale))
            pages = quiet(random, suite, an_hour, many)
            drift = sum(one != Kind.ROOT_CAUSE_SPIKE for one in pages)
            print(f"  {an_hour} an hour, nothing changes for {many} times 30 days: ", end="")
            print(f"{len(pages) / many:.2f} pages in 30 days ({drift} of {len(pages)} for failing runs)")
            fall = min(0.95, suite.rate + 0.2)
            found = delays(random, suite, fall, an_hour, max(4, round(120 * scale)))
            beside = ""
            if suite is EQUAL:
                _, bound = known_rates(an_hour * _MONTH_HOURS)
                beside = f"; a CUSUM that knows both rates {bound:.1f}, ratio {np.mean(found) / bound:.2f}"
            print(f"  {an_hour} an hour, {1 - suite.rate:.2f} to {1 - fall:.2f}: ", end="")
            print(f"page after {np.mean(found):.1f} dialogs, 95 % within {np.quantile(found, 0.95):.0f}{beside}")
            sys.stdout.flush()
        called = releases(random, suite, suite.rate, max(10, round(600 * scale)), 1000)
        false = sum(one is not None for one in called)
        print(f"  new release, 500 dialogs before, as good: {false} of {len(called)} page within 1,000 dialogs")
        worse = releases(random, suite, min(0.95, suite.rate + 0.2), max(10, round(300 * scale)), 3000)
        took = [3000 if one is None else one for one in worse]
        print(f"  new release, 20 points worse: page after {np.mean(took):.1f} dialogs on average")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
