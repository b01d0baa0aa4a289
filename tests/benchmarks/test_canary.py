"""The canary gate holds what is promised of it, on few rollouts; ``make bench-canary`` draws more."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from aem_monitor.canary.gate import Rules, State, decide
from aem_monitor.canary.pairs import Played, pair
from tests.benchmarks.canary import MOST, by_chance, first, rollouts, swap
from tests.benchmarks.canarycost import cost
from tests.benchmarks.powerplot import plot
from tests.benchmarks.releases import BROKEN, GOOD_AIRLINE, GOOD_RETAIL, Tasks, two

RETAIL, BROKEN_RETAIL = two(GOOD_RETAIL, (BROKEN["retail"],))
AIRLINE, BROKEN_AIRLINE = two(GOOD_AIRLINE, (BROKEN["airline"],))


@pytest.mark.parametrize("tasks", [RETAIL, AIRLINE])
def test_a_release_that_is_as_good_is_hardly_ever_a_regression(tasks: Tasks) -> None:
    """At most 2 % are expected; 8 of 150 or more would have a probability below 1 %."""
    assert np.isfinite(rollouts(tasks, tasks, 150)["worse"]).sum() < 8


@pytest.mark.parametrize("tasks", [RETAIL, AIRLINE])
def test_a_fall_of_twelve_points_is_found(tasks: Tasks) -> None:
    assert np.isfinite(rollouts(tasks, tasks.fallen(0.12), 100)["worse"]).mean() >= 0.95


@pytest.mark.parametrize(("good", "broken", "most"), [(RETAIL, BROKEN_RETAIL, 20), (AIRLINE, BROKEN_AIRLINE, 50)])
def test_a_release_that_can_call_no_tool_is_found_at_once(good: Tasks, broken: Tasks, most: int) -> None:
    assert np.quantile(rollouts(good, broken, 100)["worse"], 0.95) <= most


def test_runs_that_are_drawn_end_as_often_as_the_tasks_say() -> None:
    generator = np.random.default_rng(1)
    drawn = RETAIL.draw(generator, generator.integers(len(RETAIL.passes), size=20_000))
    assert (drawn == 0).mean() == pytest.approx(RETAIL.passes.mean(), abs=0.02)
    assert RETAIL.shares[drawn].mean() == pytest.approx(RETAIL.right, abs=0.01)
    assert RETAIL.flipping(0.4).flips == pytest.approx(0.4)
    assert RETAIL.flipping(0.4).passes.mean() == pytest.approx(RETAIL.passes.mean())
    assert RETAIL.passes.mean() - RETAIL.fallen(0.12).passes.mean() == pytest.approx(0.12)


def test_a_swap_at_an_equal_mean_passes_with_its_changes_named() -> None:
    result = swap(1000)
    assert result.state is State.PASS
    assert result.gained
    assert result.lost
    assert {one.worse for one in result.changes} == {True, False}


def test_the_gate_decides_when_a_rollout_is_said_to_be_decided() -> None:
    """The rollouts weigh drawn numbers; the gate comes to the same from runs, at the same conversation."""
    when = int(rollouts(RETAIL, BROKEN_RETAIL, 1, seed=3)["worse"][0])
    generator = np.random.default_rng(3)
    tasks = by_chance(generator, len(RETAIL.passes), MOST)
    sides = [
        [
            Played(f"task {task}", f"{number}", not one, side.shares[one])
            for number, (task, one) in enumerate(zip(tasks, side.draw(generator, tasks), strict=True))
        ]
        for side in (RETAIL, BROKEN_RETAIL)
    ]
    states = [decide(pair(sides[0][:count], sides[1][:count]), Rules()).state for count in (when - 1, when)]
    assert states == [State.NOT_ENOUGH_EVIDENCE, State.REGRESSION]


def test_the_page_has_the_numbers_of_the_last_run() -> None:
    """Each pair of half and 95 % of rollouts is one of the results, and the plot is there."""
    root = Path(__file__).parents[2]
    results = (Path(__file__).parent / "results" / "canary.txt").read_text(encoding="utf-8")
    page = (root / "deploy" / "docs" / "canary.md").read_text(encoding="utf-8")
    told = re.findall(r"(\d+) / (\d+|over 1,000)", page[page.index("## How many runs") :])
    assert len(told) > 15
    for half, most in told:
        assert re.search(rf" {half} +{'-' if 'over' in most else most}(?!\d)", results), (half, most)
    assert "(canary-power.svg)" in page
    ET.parse(root / "deploy" / "docs" / "canary-power.svg")


def test_the_cost_is_told_with_its_ratio() -> None:
    assert "times that of the bare rows" in cost(400)


def test_the_plot_has_a_curve_for_each_and_reaches_what_was_found() -> None:
    drawn = ET.fromstring(plot({"a": {"half": np.array([10.0, np.inf]), "all": np.array([10.0, 20.0])}}, MOST))
    paths = [one.get("d", "") for one in drawn.iter("{http://www.w3.org/2000/svg}path") if "L" in one.get("d", "")]
    assert len(paths) == 2
    heights = [float(path.rsplit(" ", 1)[1]) for path in paths]
    assert heights[1] == 34.0
    assert heights[0] > heights[1]
    assert first(np.array([1.0, 3.0, 2.0]), 3.0) == 2.0
