"""Which matcher the kind of a value asks for."""

from typing import Any

import pytest

from aem_monitor.bootstrap.matching import suggestions


def suggested(args: dict[str, Any], schemas: dict[str, Any] | None = None, *said: str) -> dict[str, Any]:
    return {one.name: dict(one.matcher) for one in suggestions(args, schemas or {}, said)}


@pytest.mark.parametrize(
    ("name", "value", "matcher"),
    [
        ("day", "2026-11-02", {"date": True}),
        ("at", "19:30", {"time": True}),
        ("at", "7:30 pm", {"time": True}),
        ("order_id", "#W2378156", {"id": True}),
        ("orderId", "A-1042", {"id": True}),
        ("ticket_number", "4471", {"id": True}),
        ("amount", 59.9, {"number": {"abs": 0.005}}),
        ("note", "The box was damaged on arrival", {"text": True}),
    ],
)
def test_the_form_of_a_value_and_the_name_of_its_argument_tell(name: str, value: Any, matcher: Any) -> None:
    assert suggested({name: value}) == {name: matcher}


@pytest.mark.parametrize(
    ("name", "value"),
    [("tax_rate", 0.05), ("latitude", 59.91273), ("count", 12), ("region", "EU"), ("idea", "A-1042"), ("ok", True)],
)
def test_other_values_are_compared_by_their_type(name: str, value: Any) -> None:
    assert suggested({name: value}) == {}


def test_what_the_user_says_word_for_word_is_no_free_text() -> None:
    assert suggested({"reason": "the box was damaged badly"}, {}, "Refund it: the box was damaged badly.") == {}


def test_members_of_a_closed_set_are_those_of_the_schema() -> None:
    schema = {"enum": ["open", "closed"]}
    assert suggested({"state": "open"}, {"state": schema}) == {"state": {"enum": ["open", "closed"]}}
    assert suggested({"state": "ajar"}, {"state": schema}) == {}


def test_values_inside_objects_are_named_by_their_path() -> None:
    assert suggested({"to": {"id": "C-4411", "due": "2026-01-01"}}) == {"to.id": {"id": True}, "to.due": {"date": True}}


def test_lists_that_belong_together_are_pairs() -> None:
    assert suggested({"ids": ["1", "2"], "new_ids": ["3", "4"]}) == {"ids": {"parallel": ["new_ids"]}}
    assert suggested({"ids": ["1"], "new_ids": ["3"]}) == {}
