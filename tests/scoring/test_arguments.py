"""What an author may say of one argument: each matcher accepts what it is for and refuses its nearest neighbour."""

from collections.abc import Mapping
from datetime import date

import pytest
from pydantic import TypeAdapter

from aem_monitor.golden.matchers import Matcher, MatcherForm
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.arguments import ArgumentComparer
from aem_monitor.scoring.oracle import Oracle
from aem_monitor.scoring.scorers.embedded import EmbeddedScorer
from aem_monitor.scoring.values.context import ValueContext

_ORACLE = Oracle(EmbeddedScorer(), ValueContext(reference_date=date(2026, 3, 5)))
_FORM: TypeAdapter[Matcher] = TypeAdapter(MatcherForm)


def holds(matcher: Mapping[str, JSON], golden: JSON, actual: JSON) -> bool:
    comparer = ArgumentComparer(_ORACLE.same, {"value": _FORM.validate_python(matcher)})
    return comparer.compare("value", {"value": golden}, {"value": actual}).holds


ENUM: JSON = ["economy", "premium_economy", "business"]
REASON = "The package arrived damaged and the customer wants a refund"


@pytest.mark.parametrize(
    ("matcher", "golden", "accepted", "refused"),
    [
        ({"id": True}, "ORD-4711", "ord 4711", "ORD-4712"),
        ({"id": True}, "a1b2c3", "A1B2C3", "a1b2c30"),
        ({"date": True}, "2026-03-05", "March 5, 2026", "March 6, 2026"),
        ({"date": True}, "tomorrow", "2026-03-06", "2026-03-05"),
        ({"date": True}, "2026-03-05", "5 Mar 2026", "the fifth of the batch"),
        ({"time": True}, "14:30", "2:30 pm", "2:30 am"),
        ({"datetime": True}, "2026-03-05T14:00:00Z", "5 Mar 2026, 2 pm UTC", "5 Mar 2026, 2 pm CET"),
        ({"datetime": True}, "2026-03-05T23:30:00Z", "2026-03-06T00:30:00+01:00", "2026-03-05T00:30:00+01:00"),
        ({"datetime": True}, "2026-03-05T14:00:00Z", 1772719200, 1772719260),
        ({"datetime": True}, "2026-03-05T14:00:00Z", "20260305T140000Z", "2026-03-05"),
        ({"datetime": {"tolerance": "15m"}}, "2026-03-05T14:00:00Z", "2026-03-05 14:15 UTC", "2026-03-05 14:16 UTC"),
        ({"datetime": {"zone": "Europe/Berlin"}}, "2026-07-05 14:00", "2026-07-05T12:00:00Z", "2026-07-05T14:00:00Z"),
        ({"datetime": {"zone": "Europe/Berlin"}}, "2026-01-05 14:00", "2026-01-05T13:00:00Z", "2026-01-05T12:00:00Z"),
        ({"time": {"tolerance": "10m"}}, "23:55", "00:05", "00:06"),
        ({"time": {"zone": "+02:00"}}, "14:00", "12:00 UTC", "14:00 UTC"),
        ({"date": {"tolerance": "2d"}}, "2026-03-05", "March 7", "March 8"),
        ({"date": {"tolerance": "1d"}}, "tomorrow", "2026-03-07", "2026-03-08"),
        ({"enum": ENUM}, "economy", "Economy", "premium economy"),
        ({"enum": ["A-1", "A1"]}, "A-1", "A-1", "A1"),
        ({"enum": [1, 2]}, 1, 1, 2),
        ({"list": True}, ["a1", "b2"], ["a1", "b2"], ["b2", "a1"]),
        ({"set": True}, ["a1", "b2"], ["b2", "a1"], ["b2", "b2"]),
        ({"text": True}, REASON, "Customer wants a refund because the package arrived damaged", "Delivery was early"),
        ({"pattern": "[A-Z]{3}[0-9]{4}"}, "ABC1234", "XYZ0001", "XYZ00012"),
        ({"pattern": "[0-9]+"}, "12", "7", 7),
        ({"exact": True}, "Rome", "Rome", "rome"),
        ({"number": {"abs": 0.5}}, 10, 10.5, 10.6),
        ({"any_of": ["cash"]}, "card", "cash", "cheque"),
    ],
)
def test_a_matcher_accepts_its_value_and_refuses_the_neighbour(
    matcher: Mapping[str, JSON], golden: JSON, accepted: JSON, refused: JSON
) -> None:
    assert holds(matcher, golden, accepted)
    assert not holds(matcher, golden, refused)


def test_the_threshold_of_a_text_decides_in_both_directions() -> None:
    loose: Mapping[str, JSON] = {"text": {"threshold": 0.05}}
    strict: Mapping[str, JSON] = {"text": {"threshold": 1.0}}
    near = "Package damaged, refund wanted by a customer who is upset about shipping"
    assert holds(loose, REASON, near)
    assert not holds(strict, REASON, near)


def test_no_threshold_lets_a_guard_pass() -> None:
    assert not holds({"text": {"threshold": 0.0}}, "Refund 20 dollars", "Refund 30 dollars")
    assert not holds({"text": {"threshold": 0.0}}, "The customer wants a refund", "The customer does not want a refund")


def test_a_turn_may_have_a_threshold_and_a_text_its_own() -> None:
    near = "Package damaged, refund wanted by a customer who is upset about shipping"
    golden, actual = {"note": REASON}, {"note": near}
    own: dict[str, Matcher] = {"note": _FORM.validate_python({"text": {"threshold": 0.05}})}
    strict = ArgumentComparer(_ORACLE.same, threshold=1.0)
    assert not strict.compare("note", golden, actual).holds
    assert ArgumentComparer(_ORACLE.same, threshold=0.05).compare("note", golden, actual).holds
    assert ArgumentComparer(_ORACLE.same, own, threshold=1.0).compare("note", golden, actual).holds


def test_a_near_miss_of_a_text_says_how_near_it_was_and_that_it_is_uncertain() -> None:
    near = "Package damaged, refund wanted by a customer who is upset about shipping"
    alike = ArgumentComparer(_ORACLE.same).compare("note", {"note": REASON}, {"note": near}).score
    own: dict[str, Matcher] = {"note": _FORM.validate_python({"text": {"threshold": min(1.0, alike + 0.01)}})}
    missed = ArgumentComparer(_ORACLE.same, own).compare("note", {"note": REASON}, {"note": near})
    assert not missed.holds
    assert missed.uncertain
    assert 0.0 < missed.score < 0.5
