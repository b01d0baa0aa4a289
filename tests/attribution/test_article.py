"""Annotated dialogs in the article's JSON, gold and prediction side by side."""

import json
from pathlib import Path
from typing import Any

import pytest

from aem_monitor.attribution.annotated import DialogForm, read_annotated
from aem_monitor.attribution.article import score_dialog
from aem_monitor.errors import UsageError
from aem_monitor.examples import example_dialogs
from aem_monitor.model.render import score_object
from aem_monitor.model.verdict import RunResult
from aem_monitor.scoring.values import ValueContext
from tests.playing import SCORER, words

ARTICLE = example_dialogs().parent / "annotated" / "sales-report.json"


def scored(turns: list[dict[str, Any]], assume_chain: bool = False) -> RunResult:
    return score_dialog(DialogForm.model_validate({"turns": turns}), SCORER, ValueContext(), assume_chain)


def call(number: int, gold: dict[str, Any], predicted: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """A turn with tool ``t``; ``predicted`` None: it did not happen."""
    answer = None if predicted is None else {"tool_id": "t", "args": predicted}
    return {
        "turn_no": number,
        "turn": "Tool",
        "gold_turn": {"tool_id": "t", "args": gold},
        "predict_turn": answer,
        **more,
    }


def test_the_five_turn_report_of_the_article() -> None:
    (form,) = read_annotated(ARTICLE)
    result = score_object(score_dialog(form, SCORER, ValueContext()))
    assert {key: value for key, value in result.items() if key != "turns"} == {
        "dialog": "sales-report",
        "success_rate": 0.2,
        "test_pass": False,
        "first_failure_turn": 2,
        "root_cause": "inconsistent_parameter_values",
        "root_cause_count": 1,
        "cascading_count": 3,
    }


@pytest.mark.parametrize(
    ("gold", "predicted", "passes"),
    [
        ("New York City", "NYC", True),
        ("Q3 2024 revenue", "third quarter revenue figures for 2024", True),
        ("revenue", "profit", False),
    ],
)
def test_the_values_of_the_article(gold: str, predicted: str, passes: bool) -> None:
    assert scored([call(1, {"v": gold}, {"v": predicted})]).test_pass is passes


def test_a_value_is_inherited_only_if_the_failed_turn_really_returned_it() -> None:
    first = call(1, {"q": "alpha"}, {"q": "omega"}, predict_result={"id": "I-7"})
    assert words(scored([first, call(2, {"id": "I-1"}, {"id": "I-7"}, depends_on=[1])]))[2] == "cascade of 1"
    own = call(2, {"id": "I-1"}, {"id": "I-8"}, depends_on=[1])
    assert words(scored([first, own]))[2] == "root inconsistent_parameter_values"


def test_the_swapped_word_of_an_earlier_failed_turn_is_inherited_without_a_declaration() -> None:
    turns = [call(1, {"metric": "revenue"}, {"metric": "profit"}), call(2, {"by": "revenue"}, {"by": "profit"})]
    assert words(scored(turns)) == {1: "root inconsistent_parameter_values", 2: "cascade of 1"}


def test_nothing_is_inherited_from_a_turn_that_passed() -> None:
    turns = [call(1, {"q": "alpha"}, {"q": "alpha"}), call(2, {"id": "I-1"}, {"id": "I-8"}, depends_on=[1])]
    assert words(scored(turns))[2] == "root inconsistent_parameter_values"


def test_a_value_of_the_runs_own_passes_where_the_turn_that_returned_it_passed() -> None:
    first = call(1, {"q": "alpha"}, {"q": "alpha"}, result={"id": "I-1"}, predict_result={"id": "I-7"})
    for fine in ("I-7", "I-1"):
        assert scored([first, call(2, {"id": "I-1"}, {"id": fine}, depends_on=[1])]).test_pass is True
    other = [first, call(2, {"id": "I-1"}, {"id": "I-8"}, depends_on=[1])]
    assert words(scored(other))[2] == "root inconsistent_parameter_values"


@pytest.mark.parametrize("results", [{"result": {"id": "I-1"}}, {"predict_result": {"id": "I-7"}}])
def test_without_both_results_the_gold_value_is_expected(results: dict[str, Any]) -> None:
    first = call(1, {"q": "alpha"}, {"q": "alpha"}, **results)
    assert scored([first, call(2, {"id": "I-1"}, {"id": "I-1"}, depends_on=[1])]).test_pass is True
    other = [first, call(2, {"id": "I-1"}, {"id": "I-7"}, depends_on=[1])]
    assert words(scored(other))[2] == "root inconsistent_parameter_values"


def reply(number: int, gold: str, predicted: str, *depends_on: int) -> dict[str, Any]:
    return {
        "turn_no": number,
        "turn": "Agent",
        "gold_turn": {"response": gold},
        "predict_turn": {"response": predicted},
        "depends_on": list(depends_on),
    }


def test_a_reply_may_say_the_runs_own_value() -> None:
    first = call(1, {"q": "alpha"}, {"q": "alpha"}, result={"total": 612}, predict_result={"total": 655})
    for said, passes in (("655 EUR", True), ("612 EUR", True), ("650 EUR", False)):
        assert scored([first, reply(2, "It costs 612 EUR.", f"It costs {said}.", 1)]).test_pass is passes


def test_a_claim_with_facts_of_a_healthy_and_of_a_failed_turn_is_inherited_from_the_failed_one() -> None:
    flight = call(1, {"q": "alpha"}, {"q": "alpha"}, result={"flight": "LH714"}, predict_result={"flight": "LH714"})
    hotel = call(2, {"nights": 3}, {"nights": 2}, result={"price": 384}, predict_result={"price": 210})
    gold = "I filed the request with flight LH714 and a hotel for 384 EUR."
    said = "I filed the request with flight LH714 and a hotel for {} EUR."
    assert words(scored([flight, hotel, reply(3, gold, said.format(210), 1, 2)]))[3] == "cascade of 2"
    assert words(scored([flight, hotel, reply(3, gold, said.format(215), 1, 2)]))[3] == "root inconsistent_response"


def test_assumed_chains_only_in_files_without_any_declaration() -> None:
    turns = [call(1, {"q": "alpha"}, {"q": "omega"}), call(2, {"id": "I-1"}, {"id": "I-8"})]
    assert words(scored(turns))[2] == "root inconsistent_parameter_values"
    result = scored(turns, assume_chain=True)
    assert words(result)[2] == "cascade of 1"
    assert result.turns[1].basis == "assumed"
    declared = [*turns, call(3, {"id": "I-1"}, {"id": "I-1"}, depends_on=[1])]
    assert words(scored(declared, assume_chain=True))[2] == "root inconsistent_parameter_values"


def test_turns_of_one_group_answer_each_others_expectations() -> None:
    tags = ["OrderInvariant_g"]
    turns = [call(1, {"q": "alpha"}, {"q": "omega"}, tags=tags), call(2, {"q": "omega"}, {"q": "alpha"}, tags=tags)]
    assert scored(turns).test_pass is True


def test_a_call_that_did_not_happen_and_one_of_another_tool() -> None:
    assert words(scored([call(1, {"q": "alpha"}, None)]))[1] == "root tool_mismatch not_called"
    other = call(1, {"q": "alpha"}, None) | {"predict_turn": {"tool_id": "u", "args": {"q": "alpha"}}}
    assert words(scored([other]))[1] == "root tool_mismatch wrong_tool"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[", "1: "),
        ('[{"turn_no": 1}]', "turn"),
        (json.dumps([{"turn_no": 1, "turn": "Tool", "gold_turn": {"response": "x"}}]), "gold_turn"),
        (json.dumps([call(1, {}, {}), call(1, {}, {})]), "turn_no 1 stands twice"),
        (json.dumps([call(1, {}, {}, extra=1)]), "extra"),
    ],
)
def test_a_file_that_cannot_be_scored_says_where_and_what(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_annotated(path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)
