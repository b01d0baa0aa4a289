"""Rank correlation is given where it can be known, with its sample size."""

import pytest

from aem_monitor.metrics.catalogue import MIN_CORRELATED
from aem_monitor.metrics.correlation import correlate
from aem_monitor.store.records import LatencyOfRun

HERE = (("agent", "reporting"), ("release", "1.0.0"))


def runs(amount: int, release: str | None = "1.0.0") -> list[LatencyOfRun]:
    """The slower, the worse, without being a line."""
    return [LatencyOfRun("reporting", release, 1.5**number, -float(number)) for number in range(amount)]


def test_ranks_are_correlated_whatever_the_scale() -> None:
    coefficients, samples = correlate(runs(MIN_CORRELATED))
    ((labels, coefficient),) = coefficients
    assert labels == HERE
    assert coefficient == pytest.approx(-1.0)
    assert samples == [(HERE, float(MIN_CORRELATED))]


def test_under_the_minimum_there_is_a_sample_size_only() -> None:
    assert correlate(runs(MIN_CORRELATED - 1)) == ([], [(HERE, float(MIN_CORRELATED - 1))])


def test_what_does_not_vary_correlates_with_nothing() -> None:
    same = [LatencyOfRun("reporting", "1.0.0", float(number), 1.0) for number in range(MIN_CORRELATED)]
    assert correlate(same) == ([], [(HERE, float(MIN_CORRELATED))])


def test_releases_are_kept_apart_and_no_release_is_unknown() -> None:
    coefficients, samples = correlate([*runs(MIN_CORRELATED, "2.0.0"), *runs(3, None)])
    assert [dict(labels)["release"] for labels, _ in coefficients] == ["2.0.0"]
    assert {dict(labels)["release"]: n for labels, n in samples} == {"2.0.0": MIN_CORRELATED, "unknown": 3}


def test_no_runs_are_no_series() -> None:
    assert correlate([]) == ([], [])
