"""Two values of one argument mean the same, or do not."""

import json
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aem_monitor.scoring.values import KINDS, Comparison, ValueContext, compare_values
from tests.scoring.fixtures_scorer import Similar, embedded

FRIDAY = ValueContext(reference_date=date(2019, 3, 1))


def compare(a, b, kind=None, context=FRIDAY) -> Comparison:  # type: ignore[no-untyped-def]
    return compare_values(a, b, context, embedded(), kind)


SAME = [
    ("NYC", "New York City"),
    ("third quarter revenue figures for 2024", "Q3 2024 revenue"),
    ("half past 7 in the evening", "19:30"),
    ("quarter to 4 in the afternoon", "15:45"),
    ("seven p.m.", "7pm"),
    ("next thursday", "2019-03-07"),
    ("the 8th", "2019-03-08"),
    ("today", "2019-03-01"),
    ("tomorrow", "March 2nd"),
    ("March 14th", "2019-03-14"),
    ("14th of March, 2019", "03/14/2019"),
    ("2019-03-14", "Mar 14, 2019"),
    (59.9, "59.90"),
    (3, 3.0),
    ("1,240,000", "1.24 million"),
    ("one hundred and five", 105),
    ("$29.00", "29 dollars"),
    ("USD 29", "$29"),
    ("60%", "60 percent"),
    ("5 km", "5000 m"),
    ("5 miles", "8.05 km"),
    ("90 minutes", "an hour and a half"),
    ("two hours", "2h"),
    ("PT1H30M", "1 hour 30 minutes"),
    (True, "yes"),
    ("no", False),
    ("#W1234567", "w1234567"),
    ("Phoenix, AZ", "Phoenix"),
    ("Holland", "The Netherlands"),
    ("DEU", "Germany"),
    ("theater", "theatre"),
    ("Barcelona FC", "FC Barcelona"),
    ("FY2024 Q3", "third quarter of fiscal year 2024"),
    ("2026-12-03T10:00:00Z", "2026-12-03 10:00"),
    ("1h 30m", "90 min"),
    ("50 cents", "$0.50"),
    ("thirteen dollars and forty-five cents", "$13.45"),
    ("95 out of 100", "95%"),
    ("13 lakh", "1.3e6"),
    ("second to last", "the last but one"),
    ("last 2 quarters", "past two quarters"),
    ("tbsp", "tablespoon"),
    ("Lax", "Los Angeles"),
    ("San Fran", "San Francisco"),
    ("LA Lakers", "Los Angeles Lakers"),
    ("Oakland International Airport", "Oakland Airport"),
    ("U.N. report", "UN report"),
    ("2 weeks before Christmas", "2019-12-11"),
    ("in 3 minutes", "3 minutes from now"),
    ({"b": 1, "a": ["x", "7 pm"]}, {"a": ["X", "19:00"], "b": "1"}),
]

DIFFERENT = [
    ("profit", "revenue"),
    ("credit_card_1", "credit_card_2"),
    ("A-1042", "A-1043"),
    ("PNR-X7Q2", "PNR-X7Q3"),
    ("New York", "New York Mets"),
    ("refund", "partial refund"),
    ("ascending", "descending"),
    ("7 pm", "7 am"),
    ("next thursday", "2019-03-08"),
    ("the 8th", "the 18th"),
    ("$29.00", "29 euros"),
    ("$1.2 million", "$1.3 million"),
    ("60%", "6%"),
    ("-5", "5"),
    ("5 km", "5 miles"),
    ("two hours", "two minutes"),
    ("London, England", "London, Ontario"),
    ("Guinea", "Guinea-Bissau"),
    ("before 2018", "after 2018"),
    ("flights from Paris to London", "flights from London to Paris"),
    ("the payment was accepted by the bank", "the payment was not accepted by the bank"),
    ("prices rose sharply in the north last year", "prices fell sharply in the north last year"),
    ("opt in", "opt out"),
    ("cheap flights to Rome", "cheap flights from Rome"),
    ("Mexico", "Mexico City"),
    ("Kansas", "Kansas City"),
    ("Paris", "Paris Hotel"),
    ("iPhone 14", "iPhone 14 Pro"),
    ("cheap flights to Rome", "cheap flights to Rome and Milan"),
    ("Police fire tear gas at protesters in Cairo", "Police fire tear gas at protesters in Tunis"),
    ("Q3 2024 revenue", "Q3 2024 net revenue"),
    ("the first week of 2021", "the last week of 2021"),
    ("[1, 2]", [2, 1]),
    ([1, 2], [2, 1]),
    ([1], [1, 1]),
    ({"a": 1}, {"a": 1, "b": 2}),
    (None, ""),
    (None, 0),
    ("yes", "no"),
    ("zeppelin 00:00:90 62-01-3202", "2023-10-26 09:00:00"),
    ("2023-10-26 09:00:00", "some day in the autumn of a good year"),
]


@pytest.mark.parametrize(("a", "b"), SAME, ids=str)
def test_other_words_for_one_value_are_equivalent(a, b) -> None:  # type: ignore[no-untyped-def]
    assert compare(a, b).equivalent


@pytest.mark.parametrize(("a", "b"), DIFFERENT, ids=str)
def test_values_that_look_alike_are_not_equivalent(a, b) -> None:  # type: ignore[no-untyped-def]
    assert not compare(a, b).equivalent


@pytest.mark.parametrize(("a", "b"), DIFFERENT, ids=str)
def test_no_similarity_overrules_a_typed_difference_or_a_guard(a, b) -> None:  # type: ignore[no-untyped-def]
    assert not compare_values(a, b, FRIDAY, Similar()).equivalent


@pytest.mark.parametrize(("a", "b"), [*SAME, *DIFFERENT], ids=str)
def test_order_of_the_two_values_does_not_matter(a, b) -> None:  # type: ignore[no-untyped-def]
    assert compare(a, b) == compare(b, a)


def test_day_and_month_in_unknown_order_stay_uncertain() -> None:
    assert compare("05/10/2022", "2022-05-10") == Comparison(True, 0.75, True, "date")
    assert compare("05/10/2022", "2022-10-05").uncertain
    assert not compare("05/25/2022", "2022-05-25").uncertain


def test_two_dates_in_one_numeric_style_are_the_same_only_if_written_the_same() -> None:
    answer = compare("1/2/2016", "2/1/2016")
    assert (answer.equivalent, answer.uncertain) == (False, True)


def test_a_place_with_and_without_its_town_is_probably_the_same() -> None:
    answer = compare("Louvre Museum, Paris", "Louvre Museum")
    assert (answer.equivalent, answer.uncertain) == (True, True)


def test_a_list_written_out_as_text_is_equal_but_uncertain() -> None:
    answer = compare("red, green and blue", ["red", "green", "blue"])
    assert (answer.equivalent, answer.uncertain) == (True, True)


def test_strings_that_hold_json_are_compared_as_what_they_hold() -> None:
    assert compare('{"a": "7 pm"}', {"a": "19:00"}).equivalent


def test_leading_zeros_count_in_codes_and_not_in_numbers() -> None:
    assert not compare("007", "7").equivalent
    assert compare("007", "7", "number").equivalent


def test_an_hour_without_its_half_of_the_day_is_uncertain() -> None:
    assert compare("7", "7 pm", "time").uncertain
    assert compare("07:00", "7 pm", "time") == Comparison(False, 0.0, False, "time")


def test_relative_dates_without_a_reference_date_are_not_silently_right() -> None:
    answer = compare("tomorrow", "2019-03-02", context=ValueContext())
    assert not answer.equivalent
    assert answer.uncertain


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
kinds = st.none() | st.sampled_from(sorted(KINDS)) | st.just("no such kind")
TYPED_WORDS = """
half past one twenty two hundred and a third of march may 2019 next friday week $ % 7:30 pm 31/02 0 -5 1.5 ½ in
the evening ago noon q3 first p1d 1e5 1,0 point minus from to not new york or 00 # _ 24:00 3/0
"""
phrases = st.lists(st.sampled_from(sorted(TYPED_WORDS.split())), max_size=7).map(" ".join)


@given(json_values, kinds)
@settings(max_examples=150, deadline=None)
def test_every_value_equals_itself(value, kind) -> None:  # type: ignore[no-untyped-def]
    assert compare_values(value, value, FRIDAY, Similar(), kind).equivalent


@given(json_values, json_values, kinds)
@settings(max_examples=200, deadline=None)
def test_any_two_values_compare_symmetrically_and_never_raise(a, b, kind) -> None:  # type: ignore[no-untyped-def]
    one, other = compare_values(a, b, FRIDAY, Similar(), kind), compare_values(b, a, FRIDAY, Similar(), kind)
    assert (one.equivalent, one.uncertain) == (other.equivalent, other.uncertain)
    assert 0 <= one.score <= 1
    assert (one.score >= 0.5) == one.equivalent


@given(phrases, phrases, kinds)
@settings(max_examples=400, deadline=None)
def test_any_two_phrases_of_typed_words_compare_symmetrically_and_never_raise(a, b, kind) -> None:  # type: ignore[no-untyped-def]
    assert compare_values(a, b, FRIDAY, Similar(), kind) == compare_values(b, a, FRIDAY, Similar(), kind)
    assert compare_values(a, b, ValueContext(), Similar(), kind) == compare_values(
        b, a, ValueContext(), Similar(), kind
    )


@given(st.integers(-(10**15), 10**15))
@settings(deadline=None)
def test_whole_numbers_equal_their_spellings(number) -> None:  # type: ignore[no-untyped-def]
    for spelling in (str(number), f"{number:,}", f"{number}.0", f"${number}" if number >= 0 else str(number)):
        assert compare(number, spelling).equivalent


@given(st.decimals(0, 10**6, places=2))
@settings(deadline=None)
def test_amounts_of_money_equal_their_spellings(amount) -> None:  # type: ignore[no-untyped-def]
    assert compare(f"${amount:,}", f"{amount} dollars").equivalent
    assert compare(float(amount), f"${amount}").equivalent


@given(st.dates(date(1950, 1, 1), date(2090, 12, 31)))
@settings(deadline=None)
def test_dates_equal_their_spellings(day) -> None:  # type: ignore[no-untyped-def]
    for spelling in (f"{day:%B} {day.day}, {day.year}", f"{day.day} {day:%b} {day.year}", f"{day:%Y/%m/%d}"):
        assert compare(day.isoformat(), spelling) == Comparison(True, 1.0, False, "date")


@given(st.times())
@settings(deadline=None)
def test_times_equal_their_spellings(time) -> None:  # type: ignore[no-untyped-def]
    assert compare(f"{time:%H:%M}", f"{time:%I:%M %p}").equivalent
    assert compare(f"{time:%H:%M}", f"{int(time.strftime('%I'))}:{time:%M}{time:%p}".lower()).equivalent


def test_deeply_nested_values_end_uncertain_and_not_in_an_error() -> None:
    nested: object = 1
    for _ in range(200):
        nested = [nested]
    assert compare(nested, json.loads(json.dumps(nested))).uncertain
