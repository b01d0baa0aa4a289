"""A value that stands inside a longer one is not the same value."""

from typing import Final

import pytest

from aem_monitor.scoring.compare import compare_line
from aem_monitor.scoring.scorers import EmbeddedScorer
from tests.benchmarks.pairs import BUNDLED, Pair, read_negatives

SCORER: Final = EmbeddedScorer()
HINTS: Final = {"place": "location", "team": "entity", "venue": "entity", "person": "entity", "title": "entity"}


def accepted(pairs: list[Pair], kinds: dict[str, str]) -> list[tuple[str, str]]:
    found = []
    for pair in pairs:
        for a, b in ((pair.left, pair.right), (pair.right, pair.left)):
            kind = {"kind": kinds[pair.kind]} if pair.kind in kinds else {}
            if compare_line({"a": a, "b": b} | kind, SCORER)["equivalent"]:
                found.append((a, b))
    return found


@pytest.mark.parametrize("kinds", [{}, HINTS], ids=["without a hint", "with the hint"])
def test_at_most_two_per_cent_of_contained_values_are_accepted(kinds: dict[str, str]) -> None:
    pairs = read_negatives(BUNDLED)
    assert len(pairs) == 200
    assert len({(pair.left, pair.right) for pair in pairs}) == 200
    assert len(accepted(pairs, kinds)) <= 2 * 0.02 * len(pairs)


def test_ids_are_never_accepted() -> None:
    assert accepted([pair for pair in read_negatives(BUNDLED) if pair.kind == "id"], {}) == []


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("lambda x: 3x**2 + 1", "3*x^2 + 1"),
        ("f(x) = sin(x)", "sin(x)"),
        ("Europe/London", "London"),
        ("Tesla", "Tesla Inc."),
        ("McDonald's", "mc donalds"),
        ("orthopaedic", "Orthopedics"),
        ("Philly", "Philadelphia"),
        ("NYC", "New York City"),
    ],
)
def test_what_only_notation_adds_is_no_difference(a: str, b: str) -> None:
    assert compare_line({"a": a, "b": b}, SCORER)["equivalent"]


@pytest.mark.parametrize(("a", "b"), [("x**2", "x**3"), ("lambda x: x+1", "x-1"), ("Asia/Tokyo", "Kyoto")])
def test_another_formula_or_zone_differs(a: str, b: str) -> None:
    assert not compare_line({"a": a, "b": b}, SCORER)["equivalent"]


def test_a_house_is_known_without_its_sort_where_an_entity_is_due_and_stays_uncertain() -> None:
    line = {"a": "Lotus", "b": "Lotus Thai Bistro"}
    assert compare_line(line | {"kind": "entity"}, SCORER).get("uncertain")
    assert compare_line(line | {"kind": "entity"}, SCORER)["equivalent"]
    assert not compare_line(line, SCORER)["equivalent"]
    assert not compare_line({"a": "AMC Saratoga", "b": "AMC Saratoga 14", "kind": "entity"}, SCORER)["equivalent"]


def test_two_houses_of_one_name_are_told_apart_by_what_they_are() -> None:
    assert not compare_line({"a": "Lotus Bar", "b": "Lotus Hotel", "kind": "entity"}, SCORER)["equivalent"]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("daily", "every day"),
        ("twice a week", "two times per week"),
        ("mid June", "the middle of June"),
        ("Mondays", "every Monday"),
    ],
)
def test_what_is_a_date_only_where_one_is_due_is_read_where_both_sides_are_one(a: str, b: str) -> None:
    assert compare_line({"a": a, "b": b}, SCORER)["equivalent"]


@pytest.mark.parametrize(("a", "b"), [("daily", "weekly"), ("mid June", "mid July"), ("biweekly", "twice a week")])
def test_and_still_differs_where_the_days_do(a: str, b: str) -> None:
    assert not compare_line({"a": a, "b": b}, SCORER)["equivalent"]
