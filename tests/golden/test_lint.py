from datetime import date
from pathlib import Path
from typing import Any

import pytest

from aem_monitor.examples import example_dialogs
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.lint import (
    RULES,
    Finding,
    Semantics,
    as_github,
    as_json,
    as_text,
    at_least,
    lint,
    lint_files,
    worst,
)
from aem_monitor.golden.lintrecording import RECORDING_RULES
from aem_monitor.golden.load import Dialogs
from tests.golden.builders import agent, dialog, tool, user

MEANING = Semantics(
    unsupported=lambda text, sources, _: [
        (word, word.isdigit())
        for word in text.strip(".").split()
        if any(char.isdigit() for char in word) and word not in str(sources)
    ],
    identifier=lambda text: any(char.isdigit() for char in text) and any(char.isalpha() for char in text),
    reads_as=lambda text, kind: any(char.isdigit() for char in text),
    similarity=lambda a, b: len(set(a.split()) & set(b.split())) / len(set(a.split())),
    today=date(2026, 11, 30),
)
"""Words and values read simply, so that a test shows what a rule asks."""


def findings(*dialogs: Dialog, semantics: Semantics = MEANING) -> list[Finding]:
    return lint(Dialogs({found.name: found for found in dialogs}), semantics)


def codes(*turns: dict[str, Any], **more: Any) -> set[str]:
    return {finding.code for finding in findings(dialog(*turns, **more))}


def told(code: str, *turns: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
    """Severity and message of the findings of one rule."""
    return [(one.severity, one.message) for one in findings(dialog(*turns, **more)) if one.code == code]


HELLO = user("Hello")
READS = {"tools": {"orders": {"read_only": ["Find"]}}}

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
    "contradictory-mentions": (
        [HELLO, agent(1, must_mention=["has been cancelled"], must_not_mention=["Cancelled"])],
        {},
    ),
    "literal-id": ([HELLO, tool(1, result={"id": "R-17"}), tool(2, args={"report": "R-18"})], {}),
    "text-matcher-on-id": ([user("Find A-7"), tool(1, args={"id": "A-7"}, match={"id": {"text": True}})], {}),
    "matcher-of-another-kind": ([HELLO, tool(1, args={"due": "soon"}, match={"due": {"date": True}})], {}),
    "idle-matcher": ([HELLO, tool(1, args={"region": "EU"}, match={"region": {"any_of": ["EU"]}})], {}),
    "unsupported-fact": ([HELLO, tool(1, result={"total": 5}), agent(2, "The report is R-9.")], {}),
    "failed-golden-call": ([HELLO, tool(1, result="Error: no such order")], {}),
    "stale-reference-date": ([user("What is due next week?"), tool(1)], {"reference_date": "2025-01-31"}),
    "reference-to-optional": (
        [HELLO, tool(1, presence="optional", result={"id": "R-17"}), tool(2, args={"report": "${1.result.id}"})],
        {},
    ),
    "required-read": ([HELLO, tool(1)], READS),
    "never-said": ([user(" "), tool(1)], {}),
    "never-chosen": ([HELLO, tool(1)], {"variants": [{"name": "again", "turns": [HELLO, tool(1)]}]}),
    "outcome-not-reached": ([HELLO, tool(1)], {"outcome": [{"tool_id": "refunds", "args": {}}]}),
}

ABOUT_SEVERAL = {"shared-first-message", "similar-first-message"}


@pytest.mark.parametrize("code", CASES)
def test_a_rule_finds_what_it_is_for(code: str) -> None:
    turns, more = CASES[code]
    assert code in codes(*turns, **more)


def test_every_rule_has_a_test() -> None:
    assert set(RULES) == {*CASES, *ABOUT_SEVERAL, *RECORDING_RULES, "invalid"}


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
        ("contradictory-mentions", [HELLO, agent(1, must_mention=["shipped"], must_not_mention=["ship"])], {}),
        ("literal-id", [user("Find R-18"), tool(1), tool(2, args={"report": "r-18"})], {}),
        ("literal-id", [HELLO, tool(1, result={"id": "R-17"}), tool(2, args={"report": "R-17"})], {}),
        ("literal-id", [HELLO, tool(1, args={"report": "R-17"}, match={"report": {"pattern": "R-[0-9]+"}})], {}),
        ("literal-id", [HELLO, tool(1, presence="forbidden", args={"report": "R-17"})], {}),
        # In an open dialog the user may say anything.
        ("literal-id", [tool(1), tool(2, args={"report": "R-17"})], {}),
        ("text-matcher-on-id", [HELLO, tool(1, args={"note": "late"}, match={"note": {"text": True}})], {}),
        ("matcher-of-another-kind", [HELLO, tool(1, args={"at": "7:30"}, match={"at": {"time": True}})], {}),
        ("matcher-of-another-kind", [HELLO, tool(1, args={"due": "soon"}, match={"due": {"exact": True}})], {}),
        ("idle-matcher", [HELLO, tool(1, args={"n": 5}, match={"n": {"number": {"abs": 1}}})], {}),
        ("unsupported-fact", [HELLO, tool(1, result={"id": "R-9"}), agent(2, "The report is R-9.")], {}),
        ("unsupported-fact", [user("Is it R-9?"), tool(1, result={}), agent(2, "It is R-9.")], {}),
        # What a call without golden result returned is not known.
        ("unsupported-fact", [HELLO, tool(1, result={}), tool(2), agent(3, "It is R-9.")], {}),
        ("unsupported-fact", [HELLO, agent(1, "Call us at 555-7 any day.")], {}),
        ("failed-golden-call", [HELLO, tool(1, presence="forbidden", result="Error: no")], {}),
        ("failed-golden-call", [HELLO, tool(1, result={"error": None})], {}),
        ("stale-reference-date", [user("What is due next week?")], {"reference_date": "2026-11-01"}),
        ("stale-reference-date", [user("What is due?"), tool(1)], {"reference_date": "2025-01-31"}),
        ("required-read", [HELLO, tool(1), tool(2, action="Cancel", depends_on=[1])], READS),
        ("never-chosen", [HELLO, tool(1)], {"variants": [{"name": "short", "turns": [HELLO]}]}),
        ("outcome-not-reached", [HELLO, tool(1)], {"outcome": [{"tool_id": "orders", "action": "Find", "args": {}}]}),
        (
            "outcome-not-reached",
            [HELLO, tool(1)],
            {
                "tools": {"refunds": {"read_only": ["Get"]}},
                "outcome": [{"tool_id": "refunds", "action": "Get", "args": {}}],
            },
        ),
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
    said = lint(Dialogs({"d": found}), Semantics(mentions=lambda text, wanted: wanted in text))
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
    assert [(item.dialog, item.severity) for item in findings(one, other)] == [("other", "hint")]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"agent": "a"}, {"agent": "b"}),
        ({"recognise": {"where": {"env": "canary", "n": 1}}}, {"recognise": {"where": {"env": ["a", "b"], "n": 1}}}),
    ],
)
def test_dialogs_that_no_conversation_can_be_taken_for_both_of_may_begin_alike(
    one: dict[str, Any], two: dict[str, Any]
) -> None:
    assert findings(dialog(HELLO, tool(1), name="one", **one), dialog(HELLO, tool(1), name="two", **two)) == []


def test_first_messages_that_are_nearly_the_same_leave_no_room_for_other_wordings() -> None:
    words = "please create a sales report for the last quarter in the whole"
    one, two = (dialog(user(f"{words} {end}"), tool(1), name=end) for end in ("region", "area"))
    (finding,) = findings(one, two)
    assert (finding.code, finding.dialog, finding.severity) == ("similar-first-message", "area", "hint")
    assert "which starts region (region)" in finding.message
    # Recognition does not take messages with other numbers for each other.
    assert findings(dialog(user(f"{words} 1"), tool(1), name="a"), dialog(user(f"{words} 2"), tool(1), name="b")) == []


def test_an_id_out_of_nowhere_is_graver_where_golden_results_are_given() -> None:
    first, then = tool(1), tool(2, args={"report": "R-18"})
    assert [severity for severity, _ in told("literal-id", HELLO, first, then)] == ["hint"]
    assert [severity for severity, _ in told("literal-id", HELLO, {**first, "result": {}}, then)] == ["warning"]
    assert [severity for severity, _ in told("literal-id", HELLO, then)] == ["hint"]


def test_an_amount_that_no_result_holds_may_be_worked_out_and_a_name_may_not() -> None:
    found = dict(told("unsupported-fact", HELLO, tool(1, result={"total": 5}), agent(2, "Report R-9 has 8 rows.")))
    assert found["hint"].startswith("turn 2 says 8, which no golden result before it holds")
    assert found["warning"].startswith("turn 2 says R-9, which no golden result before it holds")


def test_a_day_that_the_user_names_by_today_is_right_on_one_day_only() -> None:
    asked = user("Book it for next Friday")
    ((severity, message),) = told("relative-date", asked, tool(1, args={"day": "2026-12-04"}))
    assert severity == "warning"
    assert message.startswith('2026-12-04 is right on one day only, since the user says "next Friday"')
    assert told("relative-date", user("Book it for 4 December"), tool(1, args={"day": "2026-12-04"})) == []
    fixed = told("relative-date", asked, tool(1, args={"day": "2026-12-04"}), reference_date="2026-11-30")
    assert fixed == []


@pytest.mark.parametrize(
    ("result", "severity"),
    [("Error: x", "error"), ({"isError": True, "content": []}, "error"), ({"error": "not found"}, "warning")],
)
def test_a_golden_call_that_failed_is_an_error_where_assembly_takes_it_for_one(result: Any, severity: str) -> None:
    assert [found for found, _ in told("failed-golden-call", HELLO, tool(1, result=result))] == [severity]


def test_an_alternate_or_outcome_that_is_forbidden_is_found_like_a_turn() -> None:
    other = {"tool_id": "orders", "action": "Delete", "args": {}}
    forbidden = [{"tool_id": "orders", "action": "Delete"}]
    found = told("forbidden-but-expected", HELLO, tool(1, alternates=[other]), forbidden=forbidden, outcome=[other])
    assert sorted(found) == [
        ("error", "the outcome asks for orders.Delete, which the dialog forbids"),
        ("error", "turn 1 expects orders.Delete, which the dialog forbids"),
    ]


def test_an_alternate_that_repeats_its_turn_is_never_chosen() -> None:
    same = {"tool_id": "orders", "action": "Find", "args": {}}
    assert len(told("never-chosen", HELLO, tool(1, alternates=[same]))) == 1
    assert told("never-chosen", HELLO, tool(1, alternates=[{**same, "action": "Get"}])) == []


@pytest.mark.parametrize(
    ("turn", "state", "severity"),
    [
        (tool(1), {"action": "Close"}, ["error"]),
        (tool(1, args={"order": "A-1"}), {"args": {"order": "A-2"}}, ["warning"]),
        (tool(1, args={"order": "A-1"}), {"args": {"order": "a-1"}}, []),
        (tool(1, result={"status": "open"}), {"result": {"status": "closed"}}, ["warning"]),
        (tool(1, result={"status": "open", "more": 1}), {"result": {"status": "Open"}}, []),
        (tool(1), {"result": {"status": "closed"}}, []),
    ],
)
def test_an_end_state_that_no_golden_call_reaches_is_found(
    turn: dict[str, Any], state: dict[str, Any], severity: list[str]
) -> None:
    outcome = [{"tool_id": "orders", "action": "Find", "args": {}, **state}]
    assert [found for found, _ in told("outcome-not-reached", HELLO, turn, outcome=outcome)] == severity


def test_a_tool_that_no_turn_calls_is_listed_for_nothing_where_all_extra_calls_are_alike() -> None:
    listed = {"mail": {"read_only": True}}
    assert told("unused-tool-entry", HELLO, tool(1), tools=listed) == []
    assert [
        severity for severity, _ in told("unused-tool-entry", HELLO, tool(1), tools=listed, extra_calls="fail")
    ] == ["hint"]


def test_what_a_variant_has_is_placed_in_the_variant(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "dialog: a\nreview: {status: human}\nturns:\n  - {turn: User, text: Hi}\n"
        "  - {turn: Agent, turn_no: 1, gold_turn: {response: Hello}}\n"
        "variants:\n  - name: b\n    turns:\n      - {turn: User, text: Hi}\n"
        '      - {turn: Tool, turn_no: 1, gold_turn: {tool_id: t}, result: "Error: x"}\n'
    )
    assert [(one.line, one.code) for one in lint_files([tmp_path])] == [(10, "failed-golden-call")]


def test_annotations_for_github_escape_what_would_end_them() -> None:
    finding = Finding("a-code", "hint", "a,b:c.yaml", 0, "d", "50%\nmore: all, of it")
    assert as_github([finding]) == "::notice file=a%2Cb%3Ac.yaml,line=1,title=a-code::50%25%0Amore: all, of it\n"


def test_a_threshold_counts_what_is_as_grave_or_graver() -> None:
    finding = Finding("a-code", "warning", "a.yaml", 1, "d", "x")
    assert [at_least([finding], severity) for severity in ("hint", "warning", "error")] == [True, True, False]


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
    assert as_text(found).splitlines()[-1] == "1 error, 2 hints"


def test_nothing_found_says_so() -> None:
    assert as_text([]) == "nothing found"
    assert worst([]) is None


def test_the_examples_are_free_of_errors_and_warnings() -> None:
    assert [str(item) for item in lint_files([example_dialogs()]) if item.severity != "hint"] == []
