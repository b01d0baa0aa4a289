"""Strands Evals experiments become dialogs: calls with arguments as turns, bare names as end states."""

import json
from pathlib import Path
from typing import Any

import pytest

from aem_monitor.golden.dialog import AgentTurn, Dialog
from tests.imports.reading import DATA, args, imported, loaded, read, tools

EXPERIMENT = DATA / "strands-evals" / "experiment.json"


def one_case(folder: Path, evaluators: list[dict[str, Any]] | None = None, **case: object) -> Path:
    path = folder / "e.json"
    path.write_text(json.dumps({"cases": [{"name": "c", "input": "Go.", **case}], "evaluators": evaluators or []}))
    return path


def only(path: Path) -> Dialog:
    ((dialog, _),) = imported("strands-evals", path).values()
    return dialog


def test_a_call_of_the_trajectory_is_a_turn_with_its_result() -> None:
    dialog, _ = imported("strands-evals", EXPERIMENT)["strands-experiment-total-of-last-quarter"]
    assert args(tools(dialog)) == [{"region": "EU", "quarter": "Q3"}]
    assert tools(dialog)[0].result == {"report": "R-17", "total": 1240000}
    assert dialog.first_user == ("How much did we sell in the EU last quarter?",)
    assert dialog.exchanges[0].replies[0].must_mention == ("${1.result.total}",)


def test_bare_names_are_end_states_since_nothing_is_known_of_arguments() -> None:
    found = {one.name: one for one in read("strands-evals", EXPERIMENT)}
    one = found["strands-experiment-names-only"]
    dialog, text = loaded(one)
    assert tools(dialog) == []
    assert [state.tool_id for state in dialog.outcome] == ["get_report", "send_email", "audit_log"]
    assert dialog.extra_calls == "ignore"
    assert "how often a tool is called that is listed more than once by its name alone" in one.missing
    assert "The report is sent exactly once." in text


def test_a_simulated_user_makes_an_open_dialog() -> None:
    found = {one.name: one for one in read("strands-evals", EXPERIMENT)}
    one = found["strands-experiment-simulated-user"]
    dialog, text = loaded(one)
    assert dialog.open
    assert dialog.first_user == ("I want to change my order",)
    assert "# What the user wants: Change the address of order A-1042 to 5 Elm Street." in text


def test_interactions_and_environment_are_comments_and_named() -> None:
    found = {one.name: one for one in read("strands-evals", EXPERIMENT)}
    one = found["strands-experiment-4"]
    assert "the interactions between agents" in one.missing
    assert "the environment's state at the end" in one.missing
    assert "calculator_agent" in loaded(one)[1]


def test_calls_that_a_simulated_user_leads_to_come_in_any_order(tmp_path: Path) -> None:
    trajectory = [{"name": "book", "args": {"seat": "12A"}}, {"name": "mail", "arguments": {"to": "dana@example.com"}}]
    dialog = only(one_case(tmp_path, expected_trajectory=trajectory, metadata={"task_description": "Book 12A."}))
    assert args(tools(dialog)) == [{"seat": "12A"}, {"to": "dana@example.com"}]
    assert {tag for turn in tools(dialog) for tag in turn.order_tags} == {"OrderInvariant_calls"}


def test_what_contains_asks_for_must_be_mentioned_and_other_evaluators_are_named(tmp_path: Path) -> None:
    evaluators = [{"evaluator_type": "Contains", "value": "R-17"}, {"evaluator_type": "HelpfulnessEvaluator"}]
    path = one_case(tmp_path, evaluators)
    dialog = only(path)
    assert [turn.must_mention for turn in dialog.scored_turns if isinstance(turn, AgentTurn)] == [("R-17",)]
    (one,) = read("strands-evals", path)
    assert one.missing == ("the evaluators HelpfulnessEvaluator, which have no counterpart here",)


def test_failed_attempts_are_no_turns(tmp_path: Path) -> None:
    trajectory = [
        {"name": "book", "input": {"seat": 1}, "tool_result": "no", "is_error": True},
        {"name": "book", "input": {"seat": 2}, "tool_result": "ok", "is_error": False},
    ]
    dialog = only(one_case(tmp_path, expected_trajectory=trajectory))
    assert args(tools(dialog)) == [{"seat": 2}]


def test_a_bare_list_of_cases_is_read_and_an_empty_case_said_to_expect_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([{"input": "Hello"}]))
    (one,) = read("strands-evals", path)
    assert one.name == "strands-cases-1"
    assert "any run passes" in one.missing[0]


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ({"input": {"media": "x"}}, "its input is no text"),
        ({"input": " "}, "its input is no text"),
        ({"expected_trajectory": {"traces": []}}, "expected_trajectory is not a list"),
        ({"expected_trajectory": ["a", 3]}, "expected_trajectory[1] is neither the name of a tool nor a call"),
        ({"expected_trajectory": [{"name": "f", "input": "x"}]}, "the arguments of f in expected_trajectory[0]"),
    ],
)
def test_a_case_that_cannot_be_read_is_left_out_with_its_place(
    tmp_path: Path, case: dict[str, Any], problem: str
) -> None:
    path = one_case(tmp_path, **case)
    (one,) = read("strands-evals", path)
    assert one.sheet is None
    assert (one.problem or "").startswith(f"{path}: case c: ")
    assert problem in (one.problem or "")
