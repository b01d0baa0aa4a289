"""The split is fixed, and the figures are what they say."""

import hashlib
import math

from tests.benchmarks.pairs import BUNDLED, DEVELOPMENT, HALVES, OTHER, Pair, half, read_replies, read_values
from tests.benchmarks.values import figures, wilson


def test_a_group_lies_in_the_half_that_its_hash_says() -> None:
    for group in ("Movies_1.show_date", "rt.number.", ""):
        assert (half(group) == DEVELOPMENT) is (hashlib.sha256(group.encode()).digest()[0] % 2 == 0)


def test_the_sample_has_both_halves_and_both_labels() -> None:
    for question, pairs in (("equivalent", read_values(BUNDLED)), ("consistent", read_replies(BUNDLED))):
        assert {pair.half for pair in pairs} == set(HALVES)
        assert {pair.truth[question] for pair in pairs} == {True, False}


def test_wilson_holds_the_share_and_stays_within_bounds() -> None:
    low, high = wilson(8, 10)
    assert math.isclose(low, 0.4902, abs_tol=1e-4)
    assert math.isclose(high, 0.9433, abs_tol=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)


def test_balanced_accuracy_is_the_mean_of_both_shares() -> None:
    pairs = [Pair("date", OTHER, "", "", "", {"equivalent": truth}, {}) for truth in (True, True, True, False)]
    row = figures("equivalent", pairs, {"own": [True, True, False, False]}, [False] * 4)[0]
    assert (row.accepted, row.equal, row.rejected, row.different) == (2, 3, 1, 1)
    assert row.balanced is not None
    assert math.isclose(row.balanced, (2 / 3 + 1) / 2)
