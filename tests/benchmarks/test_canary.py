"""The canary gate holds what is promised of it, on few rollouts; ``make bench-canary`` draws more."""

import numpy as np

from aem_monitor.canary.gate import State
from tests.benchmarks.canary import fallen, rates, rollouts, swap

RETAIL = np.array(list(rates("mk-4o-l0", "mk-4o-pre", "mk-4o-sub").values()))


def test_a_release_that_is_as_good_is_hardly_ever_a_regression() -> None:
    """At most 2 % are expected; 8 of 150 or more would have a probability below 1 %."""
    assert np.isfinite(rollouts(RETAIL, RETAIL, 150)["worse"]).sum() < 8


def test_a_fall_of_twelve_points_is_found() -> None:
    assert np.isfinite(rollouts(RETAIL, fallen(RETAIL, 0.12), 100)["worse"]).mean() >= 0.95


def test_a_swap_at_an_equal_mean_passes_with_its_changes_named() -> None:
    result = swap(1000)
    assert result.state is State.PASS
    assert result.gained
    assert result.lost
    assert {one.worse for one in result.changes} == {True, False}
