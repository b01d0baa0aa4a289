"""Bets on the mean of bounded observations."""

import math

import numpy as np

from aem_monitor.sequential.betting import interval, log_evidence_above, times_to


def test_expected_evidence_is_one_at_the_mean_that_is_bet_against() -> None:
    """Over all sequences of five: the bets are fair, whatever the order."""
    total = 0.0
    for number in range(2**5):
        values = np.array([1.0 if number >> bit & 1 else -1.0 for bit in range(5)])
        total += math.exp(log_evidence_above(values, 0.2)[-1]) * 0.6 ** (values > 0).sum() * 0.4 ** (values < 0).sum()
    assert math.isclose(total, 1.0)


def test_false_evidence_at_any_look_is_as_rare_as_promised() -> None:
    generator = np.random.default_rng(7)
    found = sum(
        log_evidence_above(generator.choice([-1.0, 0.0, 1.0], 500), 0.0).max() >= math.log(20) for _ in range(400)
    )
    assert found <= 32  # 20 at most are expected; more than 32 has a probability below 0.5 %


def test_the_interval_holds_the_mean_and_becomes_narrow() -> None:
    values = np.tile([1.0, 0.0, 0.0, 0.0, -1.0], 400)
    lower, upper = interval(values, 0.05)
    assert lower < 0.0 < upper
    assert upper - lower < 0.2
    assert interval(values[:0], 0.05) == (-1.0, 1.0)


def test_how_many_more_are_needed_is_exact_where_all_are_alike() -> None:
    (more,) = set(times_to(np.ones(3), 0.0, 5.0))
    evidence = log_evidence_above(np.ones(3 + int(more)), 0.0)
    assert evidence[-2] < 5.0 <= evidence[-1]


def test_more_do_not_help_where_the_mean_is_below() -> None:
    assert np.isinf(times_to(np.tile([-1.0, 0.0, 0.0, -1.0], 50), 0.0, 5.0)).all()


def test_predictions_hold_what_came() -> None:
    """Of forty samples of which the first sixty are known, the last is mostly within the middle eight of ten."""
    generator = np.random.default_rng(3)
    within = 0
    for _ in range(40):
        values = generator.choice([-1.0, 0.0, 1.0], 6000, p=[0.1, 0.6, 0.3])
        reached = int(np.argmax(log_evidence_above(values, 0.0) >= 12.0))
        least, most = np.quantile(times_to(values[:60], 0.0, 12.0), (0.1, 0.9), method="inverted_cdf")
        within += least <= reached + 1 - 60 <= most
    assert within >= 22  # 32 are expected; fewer than 22 have a probability below 0.1 %
