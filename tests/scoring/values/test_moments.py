"""A day and a time together are one point in time, in whatever zone and form."""

from datetime import date

import pytest

from aem_monitor.scoring.scorers.embedded import EmbeddedScorer
from aem_monitor.scoring.values import ValueContext, compare_values

_SCORER = EmbeddedScorer()
_CONTEXT = ValueContext(reference_date=date(2026, 11, 1))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2026-11-02T14:00:00Z", "2 Nov 2026 2 pm UTC", True),
        ("2026-11-02T14:00:00Z", "Monday, November 2, 2026 at 2:00 PM", True),
        ("2026-11-02T14:00:00Z", "tomorrow at 2 pm", True),
        ("2026-11-02T14:00:00Z", "2026-11-02T14:00:00-05:00", False),
        ("2026-11-02T14:00-05:00", "2026-11-02T19:00Z", True),
        ("2026-11-02T23:30:00Z", "2026-11-03T00:30:00+01:00", True),
        ("2026-11-02T23:30:00Z", "2026-11-02T00:30:00+01:00", False),
        ("20261102T140000Z", "2026-11-02T14:00:00Z", True),
        ("2026-11-02 14:00 America/New_York", "2026-11-02T19:00:00Z", True),
        ("2026-07-02T14:00+02:00[Europe/Berlin]", "2026-07-02T12:00:00Z", True),
        ("2026-11-02 14:00 Europe/Atlantis", "2026-11-02T14:00:00Z", False),
        ("2026-11-02T14:00", "2026-11-02T14:01", False),
    ],
)
def test_two_moments_are_equal_as_points_in_time(one: str, other: str, same: bool) -> None:
    for a, b in ((one, other), (other, one)):
        assert compare_values(a, b, _CONTEXT, _SCORER).equivalent is same


@pytest.mark.parametrize(
    ("one", "other"), [("05/10/2022 14:00", "2022-10-05T14:00"), ("2026-11-02 2:00", "2026-11-02T14:00")]
)
def test_a_moment_that_may_be_read_otherwise_is_uncertain(one: str, other: str) -> None:
    found = compare_values(one, other, _CONTEXT, _SCORER)
    assert (found.equivalent, found.uncertain) == (True, True)


def test_numbers_count_from_1970_only_where_a_moment_is_asked_for() -> None:
    moment = "2026-11-02T14:00:00Z"
    for epoch in (1793628000, "1793628000", 1793628000000):
        assert compare_values(epoch, moment, _CONTEXT, _SCORER, "datetime").equivalent
        assert not compare_values(epoch, moment, _CONTEXT, _SCORER).equivalent


def test_a_day_is_a_moment_only_at_midnight() -> None:
    assert compare_values("2026-11-02", "2026-11-02T00:00:00Z", _CONTEXT, _SCORER, "datetime").equivalent
    assert not compare_values("2026-11-02", "2026-11-02T14:00:00Z", _CONTEXT, _SCORER, "datetime").equivalent
