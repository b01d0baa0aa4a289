from pathlib import Path
from typing import Any

import pytest

from aem_monitor.examples import example_dialogs
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.lint import RULES, Finding, as_json, as_text, lint, lint_files, worst
from aem_monitor.golden.load import Dialogs
from tests.golden.builders import agent, dialog, tool, user


def findings(*dialogs: Dialog) -> list[Finding]:
    return lint(Dialogs({found.name: found for found in dialogs}))


def codes(*turns: dict[str, Any], **more: Any) -> set[str]:
    return {finding.code for finding in findings(dialog(*turns, **more))}


HELLO = user("Hello")

CASES: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "draft": ([HELLO, tool(1)], {"review": {"status": "draft"}}),
    "unreachable": ([tool(1)], {}),
    "nothing-expected": ([HELLO, tool(1, presence="optional")], {}),
    "forbidden-but-expected": ([HELLO, tool(1)], {"forbidden": [{"tool_id": "orders"}]}),
    "unused-tool-entry": ([HELLO, tool(1)], {"tools": {"mail": {"optional_args": ["cc"]}}}),
    "optional-but-given": (
        [HELLO, tool(1, args={"limit": 5})],
        {"tools": {"orders": {"optional_args": {"Find": {"limit": {"default": 100}}}}}},
    ),
    "mention-not-in-reference": ([HELLO, agent(1, "It has shipped.", must_mention=["delivered"])], {}),
    "undeclared-dependency": ([HELLO, tool(1, result={"id": "R-17"}), tool(2, args={"report": "R-17"})], {}),
    "reference-without-result": ([HELLO, tool(1), agent(2, must_mention=["${1.result.id}"])], {}),
    "looks-like-reference": ([HELLO, agent(1, "Total ${result.total}")], {}),
    "order-tag": ([HELLO, agent(1, "Hi", tags=["OrderInvariant_a"])], {}),
    "relative-date": ([HELLO, tool(1, args={"day": "next Thursday"})], {}),
    "uneven-lists": (
        [HELLO, tool(1, args={"old": [1, 2], "new": [3]}, match={"old": {"parallel": ["new"]}})],
        {},
    ),
    "skipped": ([HELLO, tool(1, skip=True)], {}),
}


@pytest.mark.parametrize("code", CASES)
def test_a_rule_finds_what_it_is_for(code: str) -> None:
    turns, more = CASES[code]
    assert code in codes(*turns, **more)


def test_every_rule_has_a_test() -> None:
    assert set(RULES) == {*CASES, "invalid", "shared-first-message"}


@pytest.mark.parametrize(
    ("code", "turns", "more"),
    [
        ("optional-but-given", [HELLO, tool(1, args={"limit": 100})], CASES["optional-but-given"][1]),
        ("unused-tool-entry", [HELLO, tool(1)], {"tools": {"mail": {"read_only": True}}}),
        ("forbidden-but-expected", [HELLO, tool(1, presence="forbidden")], {"forbidden": [{"tool_id": "orders"}]}),
        ("relative-date", CASES["relative-date"][0], {"reference_date": "2026-11-30"}),
        ("mention-not-in-reference", [HELLO, agent(1, "It is 1.24 million.", must_mention=["1240000"])], {}),
        ("mention-not-in-reference", [HELLO, agent(1, "It has SHIPPED.", must_mention=["shipped"])], {}),
        ("nothing-expected", [HELLO, agent(1, must_mention=["x"])], {}),
        ("order-tag", [HELLO, *(tool(n, tags=["OrderInvariant_a"]) for n in (1, 2))], {}),
        ("looks-like-reference", [HELLO, tool(1), agent(2, "Total ${1.result.total}")], {}),
    ],
)
def test_a_rule_keeps_quiet_where_nothing_is_wrong(
    code: str, turns: list[dict[str, Any]], more: dict[str, Any]
) -> None:
    assert code not in codes(*turns, **more)


def test_an_undeclared_dependency_suggests_the_reference() -> None:
    found = findings(
        dialog(HELLO, tool(1, result={"rows": [{"id": "R-17"}]}), tool(2, args={"filter": {"report": "R-17"}}))
    )
    (finding,) = [item for item in found if item.code == "undeclared-dependency"]
    assert "write ${1.result.rows[0].id}, or add 1 to depends_on" in finding.message


@pytest.mark.parametrize(
    "second",
    [
        tool(2, args={"report": "R-17"}, depends_on=[1]),
        tool(2, args={"report": "${1.result.id}"}),
        tool(2, args={"report": "R-18"}),
        tool(2, args={"small": 7, "flag": True}),
    ],
)
def test_declared_and_chance_values_are_no_undeclared_dependency(second: dict[str, Any]) -> None:
    first = tool(1, result={"id": "R-17", "small": 7, "flag": True})
    assert "undeclared-dependency" not in codes(HELLO, first, second)


def test_a_value_that_the_user_or_an_earlier_call_gave_is_no_dependency() -> None:
    echoing = tool(1, args={"region": "EMEA"}, result={"region": "EMEA", "order": "A-1042"})
    turns = [user("Where is order A-1042?"), echoing, tool(2, args={"region": "EMEA", "order": "A-1042"})]
    assert "undeclared-dependency" not in codes(*turns)


def test_facts_of_a_reference_text_are_looked_for_in_earlier_results() -> None:
    turns = [HELLO, tool(1, result={"id": "R-17", "total": 1240000}), agent(2, "Report R-17: 1240000 EUR.")]
    found = [item.message for item in findings(dialog(*turns)) if item.code == "undeclared-dependency"]
    assert [message.split()[0] for message in found] == ["R-17", "1240000"]


def test_a_typed_comparison_of_mentions_can_be_passed_in() -> None:
    found = dialog(HELLO, agent(1, "It is 1.24 million.", must_mention=["7"]))
    said = lint(Dialogs({"d": found}), lambda text, wanted: wanted in text)
    assert "mention-not-in-reference" in {item.code for item in said}


def test_what_must_not_be_said_and_is_said_is_an_error() -> None:
    found = findings(dialog(HELLO, agent(1, "It has shipped.", must_not_mention=["Shipped"])))
    assert [(item.code, item.severity) for item in found] == [("mention-not-in-reference", "error")]


def test_a_reply_of_which_nothing_is_judged_is_found() -> None:
    found = findings(
        dialog(HELLO, agent(1), user("b"), agent(2, " ", must_mention=["", "x"]), user("c"), agent(3, "ok"))
    )
    assert [(item.code, item.message.split(":")[0]) for item in found] == [
        ("nothing-expected", "turn 1 has no reference text and no mentions"),
        ("nothing-expected", "an empty mention is always said; remove it"),
    ]


def test_a_shared_first_message_is_graver_when_nothing_later_tells_the_dialogs_apart() -> None:
    one, two = dialog(HELLO, tool(1), name="one"), dialog(user("hello!"), tool(1), name="two")
    other = dialog(HELLO, tool(1), user("Refund it"), tool(2), name="other")
    assert [(item.dialog, item.severity) for item in findings(one, two)] == [("two", "warning")]
    assert [(item.dialog, item.severity) for item in findings(one, other)] == [("other", "info")]
    apart = dialog(HELLO, tool(1), name="apart", agent="a"), dialog(HELLO, tool(1), name="too", agent="b")
    assert findings(*apart) == []


def test_files_are_linted_with_their_lines_and_what_does_not_load_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("dialog: a\nturns:\n  - {turn: User, text: Hi}\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text("dialog: b\nturns: x\n", encoding="utf-8")
    found = lint_files([tmp_path])
    assert [(Path(item.file).name, item.line, item.code) for item in found] == [
        ("a.yaml", 1, "draft"),
        ("a.yaml", 2, "nothing-expected"),
        ("b.yaml", 2, "invalid"),
    ]
    assert worst(found) == "error"
    assert as_json(found)[2] == {
        "code": "invalid",
        "severity": "error",
        "file": str(tmp_path / "b.yaml"),
        "line": 2,
        "dialog": None,
        "message": 'turns: "x" is not a list',
    }
    assert as_text(found).splitlines()[-1] == "1 error, 2 info"


def test_nothing_found_says_so() -> None:
    assert as_text([]) == "nothing found"
    assert worst([]) is None


def test_the_examples_are_free_of_errors_and_warnings() -> None:
    assert [str(item) for item in lint_files([example_dialogs()]) if item.severity != "info"] == []
