"""A value is found where a tree says it, and nowhere else."""

from datetime import date

import pytest

from aem_monitor.scoring.values import ValueContext, occurrences, trivial

CONTEXT = ValueContext(reference_date=date(2019, 3, 1))


@pytest.mark.parametrize(
    ("value", "tree", "paths"),
    [
        ("A-1042", {"orders": [{"id": "a-1042"}, {"id": "A-1043"}]}, [("orders", 0, "id")]),
        ("A-1042", {"note": "Order A-1042 has shipped."}, [("note",)]),
        ("A-1042", {"note": "Order A-10421 has shipped."}, []),
        ("A-1042", {"note": "See A-1042-B and XA-1042."}, []),
        ("credit_card_1", {"a": "credit_card_12", "b": "credit card 1", "c": "paid by credit_card_1."}, [("c",)]),
        ("W123", '{"order": "#W123"}', [("order",)]),
        (59.9, {"total": "59.90", "text": "You pay $59.90 today."}, [("total",), ("text",)]),
        (59.9, {"total": 59, "text": "You pay $159.90 today."}, []),
        ("19:30", {"at": "7:30 pm"}, [("at",)]),
        ("2019-03-07", {"day": "next thursday"}, [("day",)]),
        ("NY", {"state": "New York"}, [("state",)]),
        ("New York", {"team": "New York Mets"}, [("team",)]),
        ("York", {"city": "Yorkshire"}, []),
        (["A-1", "B-2"], {"ids": ["B-2", "A-1"]}, [("ids", 1), ("ids", 0)]),
        (["A-1", "B-9"], {"ids": ["B-2", "A-1"]}, []),
        ("5", {"x": "1.5"}, []),
        (True, {"x": 1, "y": True}, [("y",)]),
        ("x", None, []),
    ],
)
def test_occurrences(value, tree, paths) -> None:  # type: ignore[no-untyped-def]
    assert occurrences(value, tree, CONTEXT) == paths


@pytest.mark.parametrize(
    "value",
    [None, True, "", "  ", "yes", 0, 3, "7", 12.0, "8.0", "two", "3rd", "ok", "of", "the", [], {"a": 1}, float("nan")],
)
def test_values_that_prove_nothing_are_trivial(value) -> None:  # type: ignore[no-untyped-def]
    assert trivial(value)


@pytest.mark.parametrize(
    "value",
    [
        *("A-1042", 1042, 59.9, "Paris", "2019-03-07", ["A-1"], {"id": "W123"}, "007123"),
        *("8.5 %", "8.5", "5%", "$5", "5 km", "3 pm", "5k", "Q3"),
    ],
)
def test_values_that_can_be_traced_are_not_trivial(value) -> None:  # type: ignore[no-untyped-def]
    assert not trivial(value)
