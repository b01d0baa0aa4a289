"""The change detector keeps what it promises, by exact enumeration."""

import math
from itertools import product

import numpy as np
import pytest

from aem_monitor.sequential.change import ChangeDetector, RecoveryDetector
from aem_monitor.sequential.shifts import SHIFTS, WEIGHTS, log_ratios


def _log_odds(rate: float) -> float:
    return math.log(rate / (1 - rate))


def test_weights_are_a_distribution_over_the_shifts() -> None:
    assert WEIGHTS.sum() == pytest.approx(1.0)
    assert len(WEIGHTS) == len(SHIFTS)


@pytest.mark.parametrize("rate", [0.003, 0.1, 0.5, 0.97])
def test_a_likelihood_ratio_is_one_on_average_when_nothing_changed(rate: float) -> None:
    average = rate * np.exp(log_ratios(True, _log_odds(rate))) + (1 - rate) * np.exp(log_ratios(False, _log_odds(rate)))
    assert average == pytest.approx(np.ones(len(SHIFTS)))


@pytest.mark.parametrize(("rate", "before"), [(0.1, 0.1), (0.3, 0.3), (0.05, 0.1), (0.1, 0.3)])
def test_the_expected_statistic_is_at_most_the_number_of_observations(rate: float, before: float) -> None:
    expected = 0.0
    for outcomes in product([False, True], repeat=8):
        detector = ChangeDetector()
        for failed in outcomes:
            detector.observe(failed, _log_odds(before))
        bad = sum(outcomes)
        expected += rate**bad * (1 - rate) ** (8 - bad) * math.exp(detector.log_statistic)
    assert expected <= 8 + 1e-9
    assert rate < before or expected == pytest.approx(8)


def test_it_rises_with_failures_and_names_a_shift_that_fits() -> None:
    detector = ChangeDetector()
    assert detector.log_statistic == -math.inf
    for number in range(60):
        detector.observe(number % 10 in (0, 3, 6), _log_odds(0.1))
    assert detector.log_statistic > 7
    assert detector.shift == 1.5
    mild = ChangeDetector()
    for number in range(60):
        mild.observe(number % 10 == 0, _log_odds(0.1))
    assert mild.log_statistic < 4


def test_it_goes_on_from_its_state() -> None:
    one = ChangeDetector()
    for number in range(20):
        one.observe(number % 3 == 0, -1.0)
    other = ChangeDetector(one.state())
    for detector in (one, other):
        detector.observe(True, -2.0)
    assert one.log_statistic == other.log_statistic
    assert ChangeDetector(ChangeDetector().state()).log_statistic == -math.inf


def test_evidence_without_end_stays_a_number() -> None:
    detector = ChangeDetector()
    for _ in range(2000):
        detector.observe(True, -6.0)
    assert math.isfinite(detector.log_statistic)
    assert all(math.isfinite(one) for one in detector.state())


def test_a_recovery_is_found_and_a_fault_that_goes_on_is_none() -> None:
    over, on = RecoveryDetector(1.35), RecoveryDetector(1.35)
    for number in range(100):
        over.observe(number % 10 == 0, _log_odds(0.1))
        on.observe(number % 10 in (0, 3, 6), _log_odds(0.1))
    assert over.log_statistic > math.log(2000)
    assert on.log_statistic < math.log(30)
