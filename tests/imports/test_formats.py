"""Files of public benchmarks become drafts that load, with what their format says of arguments, order and licence."""

import json
import re
from pathlib import Path

import pytest

from aem_monitor.errors import UsageError
from aem_monitor.examples import example_dialogs
from aem_monitor.golden.dialog import AgentTurn
from aem_monitor.golden.matchers import Ignore, Parallel
from aem_monitor.imports.formats import FORMATS
from tests.imports.reading import DATA, args, imported, read, tools

ANNOTATED = example_dialogs().parent / "annotated" / "sales-report.json"
BFCL = [DATA / "BFCL_v4_multi_turn_base.json", DATA / "possible_answer.json"]
FUNCTIONS = DATA / "gorilla_file_system.json"


def test_a_tau_bench_task_is_an_open_dialog_of_calls_in_any_order() -> None:
    dialog, text = imported("tau-bench", DATA / "retail" / "tasks_test.txt")["tau-bench-retail-test-0"]
    assert dialog.open
    assert [turn.presence for turn in tools(dialog)] == ["optional"] * 4 + ["required"]
    assert {tag for turn in tools(dialog) for tag in turn.order_tags} == {"OrderInvariant_calls"}
    assert tools(dialog)[-1].match == {"item_ids": Parallel(parallel=("new_item_ids",), ignore_identity=True)}
    assert dialog.draft
    assert "MIT" in (dialog.review.note or "")
    assert "# What the user wants: You are Yusuf Rossi in 19122." in text


def test_outputs_of_a_tau_bench_task_must_be_mentioned() -> None:
    dialog, _ = imported("tau-bench", DATA / "retail" / "tasks_test.txt")["tau-bench-retail-test-1"]
    assert [turn.must_mention for turn in dialog.scored_turns if isinstance(turn, AgentTurn)] == [("12",)]


def test_arguments_in_the_agents_own_words_are_not_compared() -> None:
    dialog, _ = imported("tau-bench", DATA / "retail" / "tasks_test.txt")["tau-bench-retail-test-2"]
    transfer = tools(dialog)[-1]
    assert transfer.match == {"summary": Ignore(ignore=True)}
    assert dialog.read_only(transfer.tool_id, None)


def test_python_source_is_parsed_and_never_run(tmp_path: Path) -> None:
    evil = tmp_path / "tasks_evil.py"
    evil.write_text(f"TASKS = [Task(actions=[Action(name=open({str(tmp_path / 'ran')!r}, 'w').name, kwargs={{}})])]")
    (one,) = FORMATS["tau-bench"]([evil])
    assert one.sheet is None
    assert "not written out in literals" in (one.problem or "")
    assert not (tmp_path / "ran").exists()


def test_a_tau2_task_has_its_assertions_as_comments_and_its_facts_as_mentions() -> None:
    found = imported("tau2", DATA / "airline" / "tasks.json")
    dialog, text = found["tau2-airline-3"]
    assert args(tools(dialog)) == [{"reservation_id": "JMO1MG"}, {"user_id": "anya_garcia_5901"}]
    assert [turn.must_mention for turn in dialog.scored_turns if isinstance(turn, AgentTurn)] == [("4",)]
    assert "# Asserted in words, for a person to turn into turns: Agent detects" in text


def test_tau2_arguments_that_do_not_count_are_ignored(tmp_path: Path) -> None:
    action = {"name": "pay", "arguments": {"id": "A-1", "memo": "x"}, "compare_args": ["id"]}
    other = {"name": "toggle", "arguments": {}, "requestor": "user"}
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"id": "0", "evaluation_criteria": {"actions": [action, other]}}]))
    ((dialog, _),) = imported("tau2", path).values()
    assert [turn.tool_id for turn in tools(dialog)] == ["pay"]
    assert tools(dialog)[0].match == {"memo": Ignore(ignore=True)}


def test_bfcl_turns_are_exchanges_and_positional_arguments_get_their_names() -> None:
    dialog, _ = imported("bfcl", *BFCL, FUNCTIONS)["bfcl-multi_turn_base_0"]
    assert [len(exchange.tools) for exchange in dialog.exchanges] == [3, 2, 1, 4]
    assert dialog.exchanges[2].tools[0].args == {"file_name": "final_report.pdf"}
    assert dialog.first_user[0].startswith("Move 'final_report.pdf'")
    assert "Apache-2.0" in (dialog.review.note or "")


def test_bfcl_defaults_are_optional_arguments() -> None:
    dialog, _ = imported("bfcl", *BFCL, FUNCTIONS)["bfcl-multi_turn_base_1"]
    assert dialog.optional_args("tail", None) == {"lines": 10}


def test_bfcl_positional_arguments_without_function_documents_leave_the_dialog_out() -> None:
    found = list(FORMATS["bfcl"](BFCL))
    assert [one.sheet is None for one in found] == [True, False]
    assert "give the function documents" in (found[0].problem or "")


def test_api_bank_dialogues_are_drafted_like_recordings() -> None:
    (path,) = (DATA / "api-bank").glob("*level-2-3.jsonl")
    ((dialog, _),) = imported("api-bank", path).values()
    assert tools(dialog)[1].args["token"] == "${2.result.token}"
    assert tools(dialog)[0].result == {"token": "a9s8d7f6g5h4j3k2l1"}
    assert dialog.exchanges[0].replies[0].response is not None


def test_api_bank_calls_that_raised_are_left_out(tmp_path: Path) -> None:
    lines = [
        {"role": "User", "text": "Add it."},
        {"role": "API", "api_name": "Add", "param_dict": {"x": 1}, "result": {"output": None, "exception": "no"}},
        {"role": "API", "api_name": "Add", "param_dict": {"x": 2}, "result": {"output": "ok", "exception": None}},
        {"role": "AI", "text": "Added."},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    ((dialog, _),) = imported("api-bank", path).values()
    assert args(tools(dialog)) == [{"x": 2}]


def test_the_gold_side_of_an_annotated_dialog_keeps_numbers_tags_and_dependencies() -> None:
    dialog, _ = imported("annotated", ANNOTATED)["sales-report"]
    assert [turn.turn_no for turn in dialog.scored_turns] == [1, 2, 3, 4, 5]
    assert dialog.dependencies(5) == (2,)
    assert tools(dialog)[0].order_tags == {"OrderInvariant_filter"}
    assert "profit" not in str(dialog)


def test_what_tau2_asserts_of_the_environment_and_what_the_user_does_is_named(tmp_path: Path) -> None:
    task = {
        "id": "roaming",
        "ticket": "no service",
        "initial_state": {"initialization_actions": [{"func_name": "turn_roaming_off"}], "message_history": None},
        "evaluation_criteria": {
            "actions": [{"name": "toggle_roaming", "arguments": {}, "requestor": "user"}],
            "env_assertions": [{"func_name": "assert_internet_speed", "arguments": {"expected_speed": 200}}],
            "communicate_info": None,
            "nl_assertions": None,
            "reward_basis": ["ENV_ASSERTION"],
        },
    }
    (tmp_path / "tasks").mkdir()
    path = tmp_path / "tasks" / "task_074.json"
    path.write_text(json.dumps(task))
    (one,) = read("tau2", path)
    assert one.name == f"tau2-{tmp_path.name.lower()}-roaming"
    assert [line.split(",")[0].split(":")[0] for line in one.missing] == [
        "1 actions of the user",
        "1 assertions of the environment's state",
        "the environment's state at the beginning",
        "expected calls and replies",
    ]
    assert "assert_internet_speed" in imported("tau2", path)[one.name][1]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (["Zhang Yiming"], "only the multi-turn sets are read"),
        ([{"f": {"x": [1]}}], "only the multi-turn sets are read"),
        ([[{"f": {"x": [1]}}]], "not a call"),
        ([["f(x=g())"]], "an argument is not a literal"),
        ([["f(x=1)"], []], "1 turns, but answers for 2"),
        ("f()", "ground_truth is not a list of turns"),
    ],
)
def test_bfcl_sets_of_other_kinds_are_left_out_with_the_reason(tmp_path: Path, answer: object, problem: str) -> None:
    lines = [{"id": "a", "question": [[{"role": "user", "content": "hi"}]]}, {"id": "a", "ground_truth": answer}]
    path = tmp_path / "set.json"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    (one,) = read("bfcl", path)
    assert one.sheet is None
    assert problem in (one.problem or "")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tau-bench", "x = 1", "no Task(..) in it"),
        ("tau-bench", "x = (", "not Python source"),
        ("tau2", "{}", "not a list of tasks"),
        ("tau2", "nope", "not JSON"),
        ("bfcl", '{"id": "1", "question": []}', "no possible answers in these files"),
        ("bfcl", '{"x": 1}', "neither a question, a possible answer nor a function document"),
        ("api-bank", '{"role": "Robot"}', "role 'Robot'"),
        ("api-bank", "[]", "not a JSON object"),
        ("api-bank", '{"role": "API", "api_name": "Add", "param_dict": "x"}', ":1: a call without an api_name"),
        ("bfcl", '{"name": "f", "parameters": {"properties": 1}}', ":1: the parameters of f are not an object schema"),
        ("annotated", "[1]", ""),
        ("adk", '{"test_cases": []}', "no list eval_cases; an ADK eval set is expected"),
        ("adk", "[1]", "neither an ADK eval set nor a list of sessions"),
        ("adk", '{"eval_cases": [1]}', "eval_cases[0] is not an object"),
        ("strands-evals", '{"cases": [{"name": "x"}]}', "no list of cases with an input"),
        ("strands-evals", '{"cases": [], "evaluators": 1}', "evaluators is not a list of objects"),
    ],
)
def test_a_file_of_another_format_is_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(content)
    with pytest.raises(UsageError) as caught:
        list(FORMATS[name]([path]))
    assert message in str(caught.value)


def test_the_page_on_drafts_lists_every_format() -> None:
    page = (DATA.parents[2] / "deploy" / "docs" / "bootstrap.md").read_text(encoding="utf-8")
    section = page.split("## From public formats\n")[1]
    assert set(re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)) == set(FORMATS)
