import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.golden.reference import (
    JSONPath,
    fill,
    malformed_in,
    parse_reference,
    references_in,
    references_of,
    resolve,
    spoken,
)
from aem_monitor.model.jsonvalue import JSON


@pytest.mark.parametrize(
    ("text", "turn_no", "path"),
    [
        ("${2.result.total}", 2, ("total",)),
        ("${2.result}", 2, ()),
        ("${10.result.rows[0].total}", 10, ("rows", 0, "total")),
        ("${1.result[3]}", 1, (3,)),
        ("${1.result.first name}", 1, ("first name",)),
        ('${1.result["a.b"][0]}', 1, ("a.b", 0)),
        ("${1.result.0}", 1, ("0",)),
        ("${1.result.größe}", 1, ("größe",)),
    ],
)
def test_a_reference_names_a_turn_and_a_path_in_its_result(text: str, turn_no: int, path: JSONPath) -> None:
    reference = parse_reference(text)
    assert reference is not None
    assert (reference.turn_no, reference.path, reference.text) == (turn_no, path, text)


@pytest.mark.parametrize("text", ["", "total", "${HOME}", "${name} ${2}", "a ${2.result.total}", "${2.result.}", "$2"])
def test_other_text_is_no_reference(text: str) -> None:
    assert parse_reference(text) is None


def test_references_are_found_inside_a_text() -> None:
    found = references_in("Report ${2.result.report} says ${3.result.total}, ${HOME} says nothing")
    assert [(reference.turn_no, reference.path) for reference in found] == [(2, ("report",)), (3, ("total",))]


@pytest.mark.parametrize("text", ["${2}", "${2.results.a}", "${2.result..a}", "${2.result.a", "${2.result[x]}"])
def test_what_begins_like_a_reference_and_is_none_is_reported(text: str) -> None:
    assert malformed_in(f"see {text}")


def test_dollar_and_brace_before_a_word_are_ordinary_text() -> None:
    assert malformed_in("cd ${HOME}, ${user.name}") == ()


def test_references_of_a_tree_come_with_their_places() -> None:
    tree: JSON = {"a": ["x", "${1.result.b}"], "c": {"d": "id ${2.result.e}"}, "n": 3}
    assert [(place, reference.turn_no) for place, reference in references_of(tree)] == [(("a", 1), 1), (("c", "d"), 2)]


def test_a_whole_reference_keeps_the_type_of_its_value() -> None:
    assert fill({"amount": "${1.result.total}"}, lambda _: 59.9) == {"amount": 59.9}


def test_an_embedded_reference_is_written_into_the_text() -> None:
    values: JSON = {"id": "R-7", "n": 3, "ok": True}
    text = "refund ${1.result.id}: ${1.result.n} items, ${1.result.ok}"
    assert fill(text, lambda reference: resolve(reference.path, values)) == "refund R-7: 3 items, true"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        (("b",), "b does not exist; there is a, rows"),
        (("rows", 2), r"rows\[2\] does not exist; the list has 1 entries"),
        (("a", "b"), r"a\.b does not exist; a is a text"),
        (("rows", "x"), r"rows\.x does not exist; rows is a list"),
    ],
)
def test_a_path_that_leads_nowhere_says_where_it_ends(path: JSONPath, says: str) -> None:
    with pytest.raises(LookupError, match=says):
        resolve(path, {"a": "x", "rows": [1]})


def test_null_is_a_value() -> None:
    assert resolve(("a",), {"a": None}) is None


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
names = st.text(st.characters(blacklist_characters='.[]{}"', blacklist_categories=["Cs"]), min_size=1, max_size=6)
trees = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=8
)


@given(trees)
def test_every_place_of_a_tree_can_be_referred_to(tree: JSON) -> None:
    def places(value: JSON, at: str) -> list[tuple[str, JSON]]:
        found = [(at, value)]
        if isinstance(value, dict):
            for name, item in value.items():
                found += places(item, f"{at}.{name}")
        if isinstance(value, list):
            for index, item in enumerate(value):
                found += places(item, f"{at}[{index}]")
        return found

    for place, value in places(tree, "1.result"):
        reference = parse_reference(f"${{{place}}}")
        assert reference is not None
        assert resolve(reference.path, tree) == value


@given(trees)
def test_a_tree_without_references_stays_as_it_is(tree: JSON) -> None:
    assert fill(tree, lambda _: "never asked") == tree


def test_values_are_spoken_as_json_but_texts_as_they_are() -> None:
    assert [spoken(value) for value in ("a", 1.5, None, ["ü"])] == [
        "a",
        "1.5",
        "null",
        '["ü"]',
    ]
