from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.golden.check import NoSuchArgumentError, argument_at
from aem_monitor.golden.dialog import AgentTurn, ToolTurn
from aem_monitor.golden.form import DialogForm, ToolTurnForm
from aem_monitor.golden.load import DialogFaultsError, dialog_from
from aem_monitor.golden.matchers import (
    AnyOf,
    Exact,
    Identifier,
    Ignore,
    InAnyOrder,
    InOrder,
    Matcher,
    Number,
    Parallel,
)
from aem_monitor.golden.reference import Reference
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import JSON
from tests.golden.builders import agent, dialog, tool, user


def turn_of(number: int, *turns: dict[str, Any], **more: Any) -> ToolTurn | AgentTurn:
    return dialog(*turns, **more).by_number[number]


def test_user_turns_start_exchanges() -> None:
    found = dialog(user("a"), tool(1), agent(2, "x"), user("b"), user("c"), tool(5))
    assert not found.open
    assert [exchange.user.text if exchange.user else None for exchange in found.exchanges] == ["a", "b", "c"]
    assert [[turn.turn_no for turn in exchange.turns] for exchange in found.exchanges] == [[1, 2], [], [5]]
    assert [turn.turn_no for turn in found.scored_turns] == [1, 2, 5]
    assert [turn.index for turn in found.turns] == [0, 1, 2, 3, 4, 5]


def test_a_dialog_without_user_turns_is_open_and_one_exchange_with_any_replies() -> None:
    found = dialog(tool(1), agent(2, "x"), tool(3), agent(4, "y"))
    assert found.open
    (exchange,) = found.exchanges
    assert exchange.user is None
    assert [turn.turn_no for turn in exchange.tools] == [1, 3]
    assert [turn.turn_no for turn in exchange.replies] == [2, 4]


def test_a_dialog_that_expects_nothing_loads() -> None:
    found = dialog()
    assert found.open
    assert found.exchanges[0].turns == ()


def test_a_dialog_without_a_review_is_a_draft() -> None:
    assert dialog_from({"dialog": "d", "turns": []}).draft
    assert dialog_from({"dialog": "d", "turns": [], "review": {"status": "draft"}}).draft
    assert not dialog_from({"dialog": "d", "turns": [], "review": {"status": "human"}}).draft


def test_a_golden_null_is_a_result_and_an_absent_one_is_none() -> None:
    given_null, absent = turn_of(1, tool(1, result=None)), turn_of(1, tool(1))
    assert isinstance(given_null, ToolTurn)
    assert isinstance(absent, ToolTurn)
    assert given_null.has_result
    assert not absent.has_result


def test_references_are_dependencies_beside_the_declared_ones() -> None:
    found = dialog(
        tool(1, result={"a": 1}),
        tool(2),
        tool(4, args={"x": {"y": ["${1.result.a}"]}}, depends_on=[2]),
        agent(6, "value ${4.result.z}", must_mention=["${1.result.a}"], depends_on=[2]),
    )
    assert found.dependencies(4) == (1, 2)
    assert found.dependencies(6) == (1, 2, 4)
    third = found.by_number[4]
    assert isinstance(third, ToolTurn)
    assert third.references == ((("x", "y", 0), Reference(1, ("a",), "${1.result.a}")),)
    assert third.depends_on == (2,)


def test_ancestors_are_dependencies_over_any_number_of_steps() -> None:
    found = dialog(tool(1), tool(2, depends_on=[1]), tool(3), tool(4, depends_on=[2, 3]), tool(5))
    assert found.ancestors(4) == (1, 2, 3)
    assert found.ancestors(5) == ()


@given(st.lists(st.sets(st.integers(0, 11), max_size=4), min_size=1, max_size=12))
def test_ancestors_agree_with_the_transitive_closure(edges: list[set[int]]) -> None:
    turns = [tool(n, depends_on=sorted(m for m in upstream if m < n)) for n, upstream in enumerate(edges)]
    found = dialog(*turns)
    closure: dict[int, set[int]] = {}
    for n in range(len(edges)):
        direct = set(found.dependencies(n))
        closure[n] = direct.union(*(closure[m] for m in direct))
        assert found.ancestors(n) == tuple(sorted(closure[n]))


def test_the_golden_value_of_a_reference_has_its_type_and_is_missing_without_a_result() -> None:
    found = dialog(
        tool(1, result={"total": 59.9}), tool(2), agent(3, must_mention=["${1.result.total}", "${2.result.x}"])
    )
    mentions = found.by_number[3]
    assert isinstance(mentions, AgentTurn)
    assert found.golden_value(mentions.references[0]) == 59.9
    assert found.golden_form(["${1.result.total} USD"]) == ["59.9 USD"]
    with pytest.raises(LookupError, match="turn 2 has no golden result"):
        found.golden_value(mentions.references[1])


def test_first_messages_are_the_listed_spellings_and_the_first_user_turn() -> None:
    assert dialog(user("Hi"), recognise={"first_user": ["Hello", "Hey"]}).first_user == ("Hello", "Hey", "Hi")
    assert dialog(user("Hi"), recognise={"first_user": ["Hi"]}).first_user == ("Hi",)
    assert dialog(tool(1)).first_user == ()


def test_order_tags_are_told_from_labels() -> None:
    found = turn_of(1, tool(1, tags=["OrderInvariant_filter", "smoke"]))
    assert isinstance(found, ToolTurn)
    assert found.order_tags == {"OrderInvariant_filter"}
    assert found.tags == ("OrderInvariant_filter", "smoke")


@pytest.mark.parametrize(
    ("tools", "turn", "reads"),
    [
        ({"orders": {"read_only": ["Find"]}}, tool(1), {("orders", "Find")}),
        ({"orders": {"read_only": True}}, tool(1), {("orders", "Find"), ("orders", "Drop"), ("orders", None)}),
        ({}, tool(1, effect="read"), {("orders", "Find")}),
        ({}, tool(1, action=None, effect="read"), {("orders", None)}),
        ({"orders": {"read_only": ["Drop"]}}, tool(1, effect="read"), {("orders", "Find"), ("orders", "Drop")}),
        ({}, tool(1), set()),
    ],
)
def test_what_only_reads_is_listed_or_said_on_the_turn_and_the_rest_are_writes(
    tools: dict[str, Any], turn: dict[str, Any], reads: set[tuple[str, str | None]]
) -> None:
    found = dialog(turn, tools=tools)
    calls = [("orders", "Find"), ("orders", "Drop"), ("orders", None), ("mail", "Find")]
    assert {call for call in calls if found.read_only(*call)} == reads


@pytest.mark.parametrize(
    ("action", "optional", "expected"),
    [
        ("Find", {"Find": ["limit", "page"]}, {"limit": NOT_CAPTURED, "page": NOT_CAPTURED}),
        ("Find", {"Find": {"limit": {"default": 100}, "page": {}}}, {"limit": 100, "page": NOT_CAPTURED}),
        ("Find", {"Find": {"default": {"default": None}}}, {"default": None}),
        (None, ["limit"], {"limit": NOT_CAPTURED}),
        (None, {"limit": {"default": 100}, "Find": {"default": 1}}, {"limit": 100, "Find": 1}),
    ],
)
def test_optional_arguments_are_read_in_all_written_forms(
    action: str | None, optional: Any, expected: dict[str, Any]
) -> None:
    found = dialog(tool(1, action=action), tools={"orders": {"optional_args": optional}})
    assert found.optional_args("orders", action) == expected
    assert found.optional_args("orders", "Other") == {}
    assert found.optional_args("mail", action) == {}


def test_optional_arguments_of_actions_that_no_turn_names_are_told_apart_by_shape() -> None:
    listed = dialog(tools={"orders": {"optional_args": {"Find": {"limit": {"default": 1}}}}})
    assert listed.optional_args("orders", "Find") == {"limit": 1}
    plain = dialog(tools={"orders": {"optional_args": {"limit": {"default": 1}}}})
    assert plain.optional_args("orders", None) == {"limit": 1}


def test_the_forbidden_list_names_actions_or_whole_tools() -> None:
    found = dialog(forbidden=[{"tool_id": "orders", "action": "Drop"}, {"tool_id": "mail"}])
    calls: list[tuple[str, str | None]] = [("orders", "Drop"), ("orders", "Find"), ("mail", "Send"), ("mail", None)]
    assert [found.forbids(*call) for call in calls] == [True, False, True, True]


def test_restrictions_are_lists_of_values() -> None:
    found = dialog(recognise={"where": {"env": "canary", "zone": ["a", "b"], "n": 1}})
    assert found.recognise.where == {"env": ("canary",), "zone": ("a", "b"), "n": (1,)}
    assert dialog(recognise={"where": "any"}).recognise.where == "any"
    assert dialog().recognise.where is None


@pytest.mark.parametrize(
    ("written", "matcher"),
    [
        ({"any_of": ["EU", None, 3]}, AnyOf(any_of=("EU", None, 3))),
        ({"set": True}, InAnyOrder(unordered=True)),
        ({"ignore": True}, Ignore(ignore=True)),
        ({"exact": True}, Exact(exact=True)),
        ({"list": True}, InOrder(ordered=True)),
        ({"id": True}, Identifier(id=True)),
        ({"parallel": ["other"]}, Parallel(parallel=("other",))),
        ({"parallel": ["other"], "ignore_identity": True}, Parallel(parallel=("other",), ignore_identity=True)),
    ],
)
def test_matchers_are_read(written: dict[str, Any], matcher: Matcher) -> None:
    found = turn_of(1, tool(1, args={"x": [1, 2], "other": [3, 4]}, match={"x": written}))
    assert isinstance(found, ToolTurn)
    assert found.match == {"x": matcher}


def test_number_tolerances_are_absolute_relative_or_both() -> None:
    found = turn_of(1, tool(1, args={"x": 5}, match={"x": {"number": {"abs": 1, "rel": 0.1}}}))
    assert isinstance(found, ToolTurn)
    matcher = found.match["x"]
    assert isinstance(matcher, Number)
    assert (matcher.number.abs, matcher.number.rel) == (1.0, 0.1)


def test_a_matcher_names_an_argument_or_a_path_into_one() -> None:
    args: JSON = {"address": {"city": "Ulm"}, "rows": [{}, {"sku": "x"}], "a.b": 1, "order": "${1.result.order}"}
    assert argument_at(args, "address.city") == "Ulm"
    assert argument_at(args, "a.b") == 1
    assert argument_at(args, "rows.sku") == "x"
    assert argument_at(args, "order.id") == "${1.result.order}"
    with pytest.raises(NoSuchArgumentError):
        argument_at(args, "address.zip")
    with pytest.raises(NoSuchArgumentError):
        argument_at(args, "rows.price")


def test_matchers_on_references_are_left_to_the_run() -> None:
    found = dialog(
        tool(1), tool(2, args={"x": "${1.result.rows}"}, match={"x": {"set": True}, "x.y": {"number": {"abs": 1}}})
    )
    assert isinstance(found.by_number[2], ToolTurn)


@pytest.mark.parametrize("key", ["weight", "skip"])
def test_per_turn_settings_have_defaults(key: str) -> None:
    found = turn_of(1, tool(1))
    assert getattr(found, key) == {"weight": 1.0, "skip": False}[key]


def test_dialogs_cannot_be_changed() -> None:
    form = DialogForm.model_validate({"dialog": "d", "turns": [tool(1)]})
    assert isinstance(form.turns[0], ToolTurnForm)
    with pytest.raises(AttributeError):
        dialog(tool(1)).by_number[1].turn_no = 2  # type: ignore[misc]


@given(st.lists(st.integers(0, 6), max_size=8))
def test_turn_numbers_must_rise(numbers: list[int]) -> None:
    rising = all(a < b for a, b in pairwise(numbers))
    try:
        dialog(*(tool(n) for n in numbers))
    except DialogFaultsError:
        assert not rising
    else:
        assert rising
