"""Whether one way to compare an argument accepts more than another."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from aem_monitor.golden.diffmatch import compare_matching
from aem_monitor.golden.matchers import Matcher, MatcherForm

FORM: TypeAdapter[Any] = TypeAdapter(MatcherForm)


def matcher(value: dict[str, Any] | None) -> Matcher | None:
    found: Matcher | None = None if value is None else FORM.validate_python(value)
    return found


def effects(before: dict[str, Any] | None, after: dict[str, Any] | None, value: Any = "x") -> list[str]:
    return [effect for effect, _ in compare_matching(value, matcher(before), value, matcher(after))]


LOOSER: list[tuple[dict[str, Any] | None, dict[str, Any] | None]] = [
    (None, {"ignore": True}),
    ({"exact": True}, None),
    ({"exact": True}, {"text": True}),
    (None, {"set": True}),
    (None, {"number": {"abs": 0.1}}),
    (None, {"parallel": ["b"]}),
    ({"list": True}, {"set": True}),
    ({"number": {"abs": 0.1}}, {"number": {"abs": 0.2}}),
    ({"number": {"abs": 0.1}}, {"number": {"abs": 0.1, "rel": 0.01}}),
    ({"text": {"threshold": 0.8}}, {"text": {"threshold": 0.7}}),
    ({"enum": ["x", "y", "z"]}, {"enum": ["x", "y"]}),
    ({"enum": ["x", "y"]}, None),
    ({"date": True}, None),
    ({"date": True}, {"date": {"tolerance": "1d"}}),
    ({"time": {"tolerance": "5m"}}, {"time": {"tolerance": "15m"}}),
    ({"parallel": ["b"]}, {"parallel": ["b"], "ignore_identity": True}),
    ({"any_of": ["y"]}, {"ignore": True}),
]


@pytest.mark.parametrize(("less", "more"), LOOSER)
def test_what_accepts_more_is_looser_and_the_way_back_is_stricter(
    less: dict[str, Any] | None, more: dict[str, Any] | None
) -> None:
    assert effects(less, more) == ["looser"]
    assert effects(more, less) == ["stricter"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, {"pattern": "x+"}),
        ({"pattern": "x+"}, {"pattern": "x*"}),
        ({"set": True}, {"parallel": ["b"]}),
        ({"number": {"abs": 0.1}}, {"number": {"rel": 0.1}}),
        ({"text": True}, {"text": {"threshold": 0.5}}),
        ({"time": {"zone": "UTC"}}, {"time": {"zone": "Europe/Berlin"}}),
        ({"parallel": ["b"]}, {"parallel": ["c"]}),
        ({"enum": ["x", "y"]}, {"enum": ["x", "z"]}),
    ],
)
def test_what_cannot_be_ranked_is_different(before: dict[str, Any] | None, after: dict[str, Any] | None) -> None:
    assert effects(before, after) == ["different"]


def test_saying_the_default_changes_nothing() -> None:
    assert effects(None, {"list": True}) == ["none"]


def test_members_and_values_in_another_order_are_the_same() -> None:
    assert effects({"any_of": ["a", "b"]}, {"any_of": ["b", "a"]}) == []
    assert effects({"enum": ["x", "y"]}, {"enum": ["y", "x"]}) == ["none"]


def test_values_that_come_and_go_are_told_apart() -> None:
    said = compare_matching("EU", matcher({"any_of": ["Europe"]}), "EU", matcher({"any_of": ["EMEA"]}))
    assert said == [("looser", 'now also accepts "EMEA"'), ("stricter", 'no longer accepts "Europe"')]


def test_an_ignored_value_may_change_and_nothing_changes() -> None:
    assert compare_matching("a", matcher({"ignore": True}), "b", matcher({"ignore": True})) == []
