"""How often the shipped alerts fire by chance, and how soon they find a fault: a simulation of two of their rules.

``python -m tests.benchmarks.alerts``. Turns and runs are drawn independently; deploy/docs/alerts.md has the figures.
"""

import sys
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Counts: TypeAlias = NDArray[np.int64]

_SEED: Final = 20261130
_STEPS_AN_HOUR: Final = 6
_DAY: Final = 24 * _STEPS_AN_HOUR
_WINDOWS: Final = (_STEPS_AN_HOUR, 6 * _STEPS_AN_HOUR, _DAY)
_TURNS: Final = 5
_ROUNDS: Final = 5

SHORTFALL_Z: Final = 3.9
"""Of AemReleaseRegression."""

SPIKE_Z: Final = 5.0
"""Of AemRootCauseSpike."""

NO_SPIKE_Z: Final = 1.64
"""Of its end."""

KEEP_FIRING: Final = 2 * _STEPS_AN_HOUR
"""Of AemRootCauseSpike."""


def wilson(successes: Counts, trials: Counts, z: float) -> NDArray[np.float64]:
    """Bound of Wilson's interval (1927), the lower one for a negative ``z``."""
    spread = np.sqrt(successes * (trials - successes) / np.maximum(trials, 1) + z * z / 4)
    return np.asarray((successes + z * z / 2 + z * spread) / (trials + z * z), dtype=np.float64)


def regression(
    random: np.random.Generator, before: float, now: float, past: int = 500, future: int = 3000, releases: int = 3000
) -> tuple[float, float]:
    """Share of releases that are ever called worse, and the mean number of dialogs until then (``future`` if never)."""
    baseline = random.binomial(past, before, releases)[:, None]
    passed = (random.random((releases, future)) < now).cumsum(1)
    runs = np.arange(1, future + 1)
    pooled = (baseline + passed) / (past + runs)
    shortfall = baseline / past - passed / runs
    error = np.sqrt(np.maximum(pooled * (1 - pooled), 1e-12) * (1 / runs + 1 / past))
    called = (shortfall / error > SHORTFALL_Z) & (runs >= 20) & (shortfall >= 0.05)
    ever = called.any(1)
    return float(ever.mean()), float(np.where(ever, called.argmax(1) + 1, future).mean())


def spike(
    random: np.random.Generator, an_hour: int, before: float, now: float, days: int, mended: int = 0
) -> tuple[int, float, float]:
    """What the alert makes of a change that lasts so many days and is mended for so many days after.

    Returns how many times it begins to fire while the change lasts, the dialogs until the first time (infinite if
    never), and the hours from the repair until it fires no more.
    """
    change, repair = 9 * _DAY, (9 + days) * _DAY
    steps = repair + mended * _DAY
    turns = random.poisson(an_hour / _STEPS_AN_HOUR, steps) * _TURNS
    step = np.arange(steps)
    roots = random.binomial(turns, np.where((step >= change) & (step < repair), now, before))
    all_turns, all_roots = np.r_[0, turns.cumsum()], np.r_[0, roots.cumsum()]
    at = np.arange(change + 1, steps)
    past_turns = all_turns[at - _DAY] - all_turns[at - 8 * _DAY]
    past_roots = all_roots[at - _DAY] - all_roots[at - 8 * _DAY]
    shown = np.zeros(len(at), dtype=bool)
    over = np.zeros(len(at), dtype=bool)
    for window in _WINDOWS:  # from the shortest, which says whether the longer ones are of the past
        some = all_turns[at] - all_turns[at - window]
        found = all_roots[at] - all_roots[at - window]
        surely = wilson(found, some, -SPIKE_Z) > wilson(past_roots, past_turns, 1.96)
        shown |= (found >= 5) & surely & (found * past_turns >= 1.5 * past_roots * some) & ~over
        over |= (some > 0) & (wilson(found, some, NO_SPIKE_Z) * past_turns < 1.5 * past_roots)
    firing = shown.copy()
    for later in range(1, KEEP_FIRING + 1):
        firing[later:] |= shown[:-later]
    lasting, after = firing[: repair - change - 1], firing[repair - change - 1 :]
    began = int((lasting[1:] & ~lasting[:-1]).sum() + lasting[0])
    resolved = float(after.nonzero()[0].max() + 1) / _STEPS_AN_HOUR if after.any() else 0.0
    if not began:
        return 0, float("inf"), resolved
    return began, float(all_turns[at[lasting.argmax()]] - all_turns[change]) / _TURNS, resolved


def main() -> int:
    """Print the figures."""
    random = np.random.default_rng(_SEED)
    print("AemReleaseRegression, 500 dialogs before")
    for rate in (0.7, 0.9, 0.97):
        called = np.mean([regression(random, rate, rate)[0] for _ in range(_ROUNDS)])
        print(f"  {rate} as before: {called:.1%} of releases are ever called worse")
    print(f"  0.9 to 0.7: found after {regression(random, 0.9, 0.7)[1]:.0f} dialogs on average")
    print("AemRootCauseSpike, one reason")
    for an_hour in (10, 100, 1000):
        for share in (0.01, 0.03):
            began = sum(spike(random, an_hour, share, share, 60)[0] for _ in range(20)) / 40
            print(f"  {an_hour} dialogs an hour, {share:.0%} as before: fires {began:.2f} times in 30 days")
        for before, now in ((0.02, 0.06), (0.04, 0.08), (0.04, 0.2)):
            after = np.median([spike(random, an_hour, before, now, 5)[1] for _ in range(20)])
            print(f"  {an_hour} dialogs an hour, {before:.0%} to {now:.0%}: found after {after:.0f} dialogs (median)")
            ended = [spike(random, an_hour, before, now, 1, 2) for _ in range(200)]
            pages = np.array([one[0] for one in ended if one[0]])
            hours = np.median([one[2] for one in ended if one[0]])
            print(f"    mended after a day: {pages.mean():.2f} pages, resolved after {hours:.1f} hours (median)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
