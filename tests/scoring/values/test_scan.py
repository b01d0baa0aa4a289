"""Typed values are found in running text, each once, with their place."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aem_monitor.scoring.values.scan import MAX_CHARS, scan

FRIDAY = date(2019, 3, 1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A bus at 8 am with 0 transfers for $47.", [("time", "8 am"), ("number", "0"), ("money", "$47")]),
        (
            "Order A-1042 of March 3rd, 2019: 2 kg",
            [("identifier", "A-1042"), ("date", "March 3rd, 2019"), ("quantity", "2 kg")],
        ),
        ("two and a half hours from now", [("duration", "two and a half hours from now")]),
        ("call me tomorrow at noon", [("date", "tomorrow"), ("time", "noon")]),
        ("credit_card_1 and #W123", [("identifier", "credit_card_1"), ("identifier", "#W123")]),
        ("thirteen dollars and forty-five cents", [("money", "thirteen dollars and forty-five cents")]),
        ("dana@example.com paid 20 %", [("identifier", "dana@example.com"), ("quantity", "20 %")]),
        ("the 30-minute call, the top-10 list", [("duration", "30-minute"), ("number", "10")]),
        ("You may march on", []),
        ("nothing typed here", []),
        ("", []),
    ],
)
def test_facts_of_a_text(text: str, found: list[tuple[str, str]]) -> None:
    assert [(fact.kind, fact.text) for fact in scan(text, FRIDAY)] == found


@given(st.text(alphabet="a1 -:/.,$%£½#_tehpmqw'\n", max_size=60))
@settings(max_examples=300, deadline=None)
def test_facts_lie_in_the_text_in_order_and_apart(text: str) -> None:
    end = 0
    for fact in scan(text, FRIDAY):
        assert end <= fact.start < fact.end <= len(text)
        end = fact.end


def test_a_text_beyond_any_reply_is_read_up_to_a_bound() -> None:
    assert len(scan("x " * MAX_CHARS + "42", FRIDAY)) == 0
    assert len(scan("42 " + "x " * MAX_CHARS, FRIDAY)) == 1


def test_a_quarter_takes_the_only_year_that_is_named() -> None:
    lent = scan("third quarter revenue figures for 2024")[0]
    (said,) = scan("Q3 2024 revenue")
    assert lent.form == said.form
