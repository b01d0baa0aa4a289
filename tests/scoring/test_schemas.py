"""What the schema of a tool's arguments says, and how its word changes a comparison."""

import json
from collections.abc import Mapping
from datetime import date
from itertools import permutations
from typing import Any, Final

import pytest
from pydantic import TypeAdapter

from aem_monitor.golden.matchers import Matcher, MatcherForm
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.arguments import ArgumentComparer
from aem_monitor.scoring.oracle import Oracle
from aem_monitor.scoring.schemas import UNKNOWN, ValueSchema, schema_of
from aem_monitor.scoring.scorers.embedded import EmbeddedScorer
from aem_monitor.scoring.values import ValueContext

_ORACLE = Oracle(EmbeddedScorer(), ValueContext(reference_date=date(2026, 3, 5)))
_FORM: TypeAdapter[Matcher] = TypeAdapter(MatcherForm)


def schema(properties: Mapping[str, JSON], *required: str, **more: JSON) -> ValueSchema:
    return schema_of([json.dumps({"type": "object", "properties": properties, "required": list(required), **more})])


def holds(of_value: JSON, golden: JSON, actual: JSON, match: Mapping[str, JSON] | None = None, **more: Any) -> bool:
    matchers = {} if match is None else {"value": _FORM.validate_python(match)}
    comparer = ArgumentComparer(_ORACLE.same, matchers, schema=schema({"value": of_value}, **more))
    return comparer.compare("value", {"value": golden}, {"value": actual}).holds


TAGS: Final[dict[str, Any]] = {"type": "array", "items": {"type": "string"}}
SORTS: Final[dict[str, Any]] = {"type": "string", "enum": ["price_low_to_high", "price_high_to_low"]}


@pytest.mark.parametrize(
    ("of_value", "golden", "accepted", "refused"),
    [
        (SORTS, "price_low_to_high", "price_low_to_high", "price_high_to_low"),
        (SORTS, "price_low_to_high", "PRICE-LOW-TO-HIGH", "price low to high first"),
        ({"enum": ["A-1", "A1"]}, "A-1", "A-1", "A1"),
        ({"enum": ["NY", "New York"]}, "NY", "NY", "New York"),
        ({"enum": [1, 2]}, 1, 1.0, 2),
        ({"const": "euro"}, "euro", "EURO", "EUR"),
        ({"anyOf": [SORTS, {"type": "null"}]}, "price_low_to_high", "price_low_to_high", "low to high price"),
        ({"type": "string", "format": "date"}, "2026-03-05", "5 March 2026", "a day in March"),
        ({"type": "string", "format": "date"}, "tomorrow", "2026-03-06", "2026-03-07"),
        ({"type": "string", "format": "time"}, "14:30", "2:30 pm", "2:30 am"),
        ({"type": "string", "format": "date-time"}, "2026-03-05T14:00:00Z", 1772719200, 1772719260),
        ({"type": "string", "format": "duration"}, "PT1H30M", "90 minutes", "PT90H"),
        ({"type": "string", "format": "email"}, "Dana@example.com", "dana@example.com", "dana@example.org"),
        ({"type": "integer"}, 12, "twelve", "thirteen"),
        ({**TAGS, "uniqueItems": True}, ["red", "blue"], ["blue", "red"], ["blue", "blue"]),
        (TAGS, ["red", "blue"], ["red", "blue"], ["blue", "red"]),
        ({"type": "array", "items": SORTS}, ["price_low_to_high"], ["price_low_to_high"], ["price low to high first"]),
    ],
)
def test_type_format_and_members_tell_how_a_value_is_compared(
    of_value: JSON, golden: JSON, accepted: JSON, refused: JSON
) -> None:
    assert holds(of_value, golden, accepted)
    assert not holds(of_value, golden, refused)


def test_a_closed_set_leaves_no_room_for_other_names_of_a_member() -> None:
    assert holds({"type": "string"}, "NYC", "New York City")
    assert not holds({"enum": ["NYC", "LAX"]}, "NYC", "New York City")


def test_the_golden_matcher_goes_before_the_schema() -> None:
    assert holds(SORTS, "price_low_to_high", "price_high_to_low", {"any_of": ["price_high_to_low"]})
    assert holds(SORTS, "price_low_to_high", "anything", {"ignore": True})
    unique = {**TAGS, "uniqueItems": True}
    assert not holds(unique, ["red", "blue"], ["blue", "red"], {"list": True})
    assert not holds({"type": "string", "format": "date"}, "2026-03-05", "5 March 2026", {"exact": True})


def test_an_expected_value_that_is_not_of_its_schema_is_compared_by_what_it_says() -> None:
    assert holds({"enum": ["EU", "US"]}, "New York City", "NYC")
    assert holds({"type": "string", "format": "date"}, "as soon as it is in stock", "as soon as it's in stock")


def test_nested_objects_and_references_are_gone_into() -> None:
    inside: JSON = {"type": "object", "properties": {"cabin": SORTS, "next": {"$ref": "#/$defs/Leg"}}}
    definitions: dict[str, Any] = {"$defs": {"Leg": inside}}
    leg: JSON = {"$ref": "#/$defs/Leg"}
    for deep in (lambda value: {"cabin": value}, lambda value: {"next": {"next": {"cabin": value}}}):
        golden = deep("price_low_to_high")
        assert holds(leg, golden, golden, None, **definitions)
        assert not holds(leg, golden, deep("price low to high first"), None, **definitions)


def test_a_property_that_is_left_out_is_its_default() -> None:
    page: dict[str, Any] = {
        "type": "object",
        "properties": {"size": {"type": "integer", "default": 20}, "after": {"type": ["string", "null"]}},
    }
    assert holds(page, {"size": 20, "after": None}, {})
    assert not holds(page, {"size": 50}, {})
    assert not holds({**page, "required": ["size"]}, {"size": 20}, {})


def test_what_is_absent_and_what_says_nothing() -> None:
    known = schema(
        {
            "limit": {"type": "integer", "default": 100},
            "cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "strict": {"type": "STRING", "nullable": True},
            "region": {"type": "string"},
        },
        "strict",
    )
    assert known.absent("limit") == 100
    assert known.absent("cursor") is None
    assert all(known.absent(name) is NOT_CAPTURED for name in ("strict", "region", "other"))
    said = [("limit", 100), ("limit", 100.0), ("cursor", None), ("strict", None)]
    assert all(known.says_nothing(name, value) for name, value in said)
    unsaid: list[tuple[str, JSON]] = [("limit", 99), ("limit", True), ("region", None), ("other", None), ("cursor", "")]
    assert not any(known.says_nothing(name, value) for name, value in unsaid)


def test_several_schemas_of_a_tool_agree_whatever_their_order() -> None:
    texts = [
        json.dumps({"properties": {"n": one}, "required": required})
        for one, required in (
            ({"type": "integer", "enum": [1, 2]}, []),
            ({"type": "integer", "default": 1}, ["n"]),
            ({"title": "N"}, []),
            ({"format": "date"}, []),
        )
    ]
    (found,) = {repr(schema_of(order)) for order in permutations(texts)}
    n = schema_of(texts).properties["n"]
    assert n.types == {"integer"}
    assert (n.members, n.default, n.format) == ((1, 2), 1, "date")
    assert schema_of(texts).absent("n") is NOT_CAPTURED
    assert found


def test_schemas_that_contradict_each_other_say_nothing() -> None:
    texts = [
        json.dumps({"properties": {"n": one}})
        for one in (
            {"type": "string", "format": "date", "default": 1},
            {"type": "integer", "format": "time", "default": 2},
        )
    ]
    n = schema_of(texts).properties["n"]
    assert (n.kind, n.default, n.format) == (None, NOT_CAPTURED, None)


def test_of_alternatives_only_what_all_say_is_known() -> None:
    either = schema({"value": {"anyOf": [SORTS, {"type": "string"}]}}).properties["value"]
    assert either.members is None
    assert either.types == {"string"}
    numbers = schema({"value": {"oneOf": [{"type": "integer"}, {"type": "number"}, {"type": "null"}]}})
    assert numbers.properties["value"].kind == "number"


@pytest.mark.parametrize(
    "text",
    [
        "true",
        "[]",
        "null",
        '{"properties": 7, "required": "x", "type": 7, "enum": {}, "anyOf": {}, "$ref": 7}',
        '{"$ref": "#"}',
        '{"$ref": "#/nowhere"}',
        '{"$ref": "https://example.com/schema"}',
        '{"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}, "c": {"$ref": "#"}}}',
        '{"anyOf": [{"type": "null"}]}',
        '{"items": [{"type": "string"}]}',
    ],
)
def test_a_schema_of_any_form_is_read_without_harm(text: str) -> None:
    found = schema_of([text])
    assert found.at(("a", 0, "b")).kind is None


def test_no_schema_knows_nothing() -> None:
    assert schema_of([]) is UNKNOWN
