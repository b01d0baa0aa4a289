"""Evidence that a release is worse than a past that is known from some runs."""

import math

import pytest

from aem_monitor.sequential.baseline import Baseline
from aem_monitor.sequential.worse import log_evidence


def _baseline(failed: int = 50, passed: int = 450) -> Baseline:
    return Baseline.estimate({"d": (failed, passed)})


def test_nothing_seen_is_no_evidence() -> None:
    assert log_evidence(_baseline(), {}) == pytest.approx(0.0)


def test_the_same_share_is_evidence_against() -> None:
    assert log_evidence(_baseline(), {"d": (10, 90)}) < -1


def test_it_grows_with_failures() -> None:
    found = [log_evidence(_baseline(), {"d": (failed, 50 - failed)}) for failed in range(0, 51, 5)]
    assert found == sorted(found)
    assert found[3] > math.log(200)


def test_a_past_of_few_runs_proves_less() -> None:
    assert log_evidence(_baseline(5, 45), {"d": (15, 35)}) < log_evidence(_baseline(500, 4500), {"d": (15, 35)}) - 1


def test_a_dialog_that_runs_more_often_than_it_did_is_no_fall() -> None:
    baseline = Baseline.estimate({"hard": (80, 20), "easy": (8, 392)})
    assert log_evidence(baseline, {"hard": (80, 20)}) < 0
    assert log_evidence(baseline, {"easy": (80, 20)}) > math.log(1e6)


def test_a_release_that_can_do_nothing_is_evident_at_once() -> None:
    assert log_evidence(_baseline(), {"d": (6, 0)}) > math.log(200)
    assert log_evidence(_baseline(), {"d": (5000, 0)}) > 500


def test_dialogs_that_are_alike_share_what_is_known_and_others_do_not() -> None:
    alike = Baseline.estimate({f"d{number}": (1, 9) for number in range(20)})
    assert alike.of("d1") == pytest.approx(alike.pooled, abs=0.1)
    unlike = Baseline.estimate({f"d{number}": (10, 0) if number % 2 else (0, 10) for number in range(20)})
    assert unlike.of("d1") > 1 > -1 > unlike.of("d2")
    assert unlike.of("new") == unlike.pooled
    assert Baseline.estimate({}).error == math.inf
    assert alike.at_most("d1") == alike.of("d1") + alike.error
