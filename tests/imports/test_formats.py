"""Files of public benchmarks become drafts that load, with what their format says of arguments, order and licence."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from aem_monitor.errors import UsageError
from aem_monitor.golden.dialog import AgentTurn, Dialog, ToolTurn
from aem_monitor.golden.load import parse_dialog
from aem_monitor.golden.matchers import Ignore, Parallel
from aem_monitor.golden.write import write_yaml
from aem_monitor.imports.formats import FORMATS

DATA = Path(__file__).parent / "data"
ANNOTATED = DATA.parents[1] / "data" / "annotated" / "sales-report.json"
BFCL = [DATA / "BFCL_v4_multi_turn_base.json", DATA / "possible_answer.json"]
FUNCTIONS = DATA / "gorilla_file_system.json"


def imported(name: str, *files: Path) -> dict[str, tuple[Dialog, str]]:
    found = {}
    for one in FORMATS[name](files):
        assert one.sheet is not None, one.problem
        text = write_yaml(one.sheet.value(), one.sheet.comments())
        parsed = parse_dialog(text.encode(), "x.yaml")
        assert isinstance(parsed, tuple), parsed
        found[one.name] = parsed[0], text
    return found


def tools(dialog: Dialog) -> list[ToolTurn]:
    return [turn for turn in dialog.scored_turns if isinstance(turn, ToolTurn)]


def args(turns: Sequence[ToolTurn]) -> list[Any]:
    return [turn.args for turn in turns]


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
        ("annotated", "[1]", ""),
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
