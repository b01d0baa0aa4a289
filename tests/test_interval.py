"""Confidence intervals, beside published numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.interval import difference, wilson


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_interval_of_a_share_is_that_of_newcombe_1998_table_1(
    passed: int, total: int, low: float, high: float
) -> None:
    assert wilson(passed, total) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("new", "old", "low", "high"),
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090), ((10, 10), (0, 20), 0.6791, 1.0)],
)
def test_the_interval_of_a_difference_is_that_of_newcombe_1998_table_2(
    new: tuple[int, int], old: tuple[int, int], low: float, high: float
) -> None:
    assert difference(old, new) == pytest.approx((low, high), abs=5e-5)


def test_where_nothing_was_observed_everything_is_possible() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert difference((0, 0), (5, 5)) == difference((5, 5), (0, 0)) == (-1.0, 1.0)


@given(st.integers(1, 500).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_an_interval_holds_its_share(counts: tuple[int, int]) -> None:
    low, high = wilson(*counts)
    assert 0 <= low <= counts[0] / counts[1] + 1e-12
    assert counts[0] / counts[1] - 1e-12 <= high <= 1
