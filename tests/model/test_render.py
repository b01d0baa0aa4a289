"""Result objects have the documented form, to the letter."""

import json
from typing import Any

from hypothesis import given

from aem_monitor.model.render import evidence_object, result_object, score_object
from aem_monitor.model.verdict import Basis, FailureReason, MismatchDetail, NotScored, RunResult, TurnKind
from tests.store.results import failing, results, run, turn

DOCUMENTED = """\
{"conversation_id": "c-7", "dialog": "sales-report", "release": "1.0.0", "success_rate": 0.25, "test_pass": false, \
"first_failure_turn": 2, "root_cause": "inconsistent_parameter_values", "root_cause_count": 1, "cascading_count": 2, \
"turns": [{"turn_no": 1, "kind": "response", "success": true}, \
{"turn_no": 2, "kind": "tool", "success": false, "failure_reason": "inconsistent_parameter_values", \
"root_cause": true, "fields": ["region"], "basis": "none", "blames": [], "span_id": "00f067aa0ba902b7"}, \
{"turn_no": 3, "kind": "tool", "success": false, "failure_reason": "prior_action_failed", "root_cause": false, \
"fields": ["report"], "basis": "declared", "blames": [2], "span_id": "00f067aa0ba902b8"}, \
{"turn_no": 4, "kind": "response", "success": false, "failure_reason": "prior_action_failed", "root_cause": false, \
"basis": "provenance", "blames": [2]}]}"""

BROKEN_REPORT = run(
    "r",
    turn(1, kind=TurnKind.RESPONSE, tool=None),
    failing(2, fields=("region",), span_id="00f067aa0ba902b7"),
    failing(
        3,
        "prior_action_failed",
        root_cause=False,
        fields=("report",),
        basis=Basis.DECLARED,
        blames=(2,),
        span_id="00f067aa0ba902b8",
    ),
    failing(
        4,
        "prior_action_failed",
        kind=TurnKind.RESPONSE,
        root_cause=False,
        basis=Basis.PROVENANCE,
        blames=(2,),
        tool=None,
    ),
    conversation_id="c-7",
    success_rate=0.25,
    test_pass=False,
    first_failure_turn=2,
    root_cause=FailureReason.INCONSISTENT_PARAMETER_VALUES,
    root_cause_count=1,
    cascading_count=2,
)


def test_the_documented_example_is_rendered_to_the_letter() -> None:
    assert json.dumps(result_object(BROKEN_REPORT)) == DOCUMENTED


def test_a_score_has_no_conversation_release_or_spans() -> None:
    expected = json.loads(DOCUMENTED)
    del expected["conversation_id"], expected["release"]
    for entry in expected["turns"]:
        entry.pop("span_id", None)
    assert json.dumps(score_object(BROKEN_REPORT)) == json.dumps(expected)


def entries(rendered: dict[str, Any]) -> list[dict[str, Any]]:
    return list(rendered["turns"])


def test_what_is_not_known_is_null() -> None:
    nothing = run("r", conversation_id=None, release=None, success_rate=None, test_pass=None)
    rendered = result_object(nothing)
    unknown = ("conversation_id", "release", "success_rate", "test_pass", "first_failure_turn", "root_cause")
    assert {key: rendered[key] for key in unknown} == dict.fromkeys(unknown)


def test_a_turn_without_a_verdict_says_why() -> None:
    (entry,) = entries(result_object(run("r", turn(2, success=None, not_scored=NotScored.TOOL_ERROR))))
    assert entry == {"turn_no": 2, "kind": "tool", "success": None, "not_scored": "tool_error"}


def test_an_extra_call_is_an_entry_without_a_number() -> None:
    extra = failing(None, "tool_mismatch", detail=MismatchDetail.UNEXPECTED_CALL, called="mail")
    rendered = result_object(run("r", turn(1), extra, first_failure_turn=1, first_failure_extra=True))
    assert rendered["first_failure_extra"] is True
    assert entries(rendered)[1] == {
        "turn_no": None,
        "kind": "tool",
        "success": False,
        "failure_reason": "tool_mismatch",
        "detail": "unexpected_call",
        "root_cause": True,
        "basis": "none",
        "blames": [],
    }


@given(results)
def test_evidence_adds_to_the_result_and_changes_nothing(result: RunResult) -> None:
    plain, full = result_object(result), evidence_object(result)
    assert {key: full[key] for key in plain if key != "turns"} == {key: plain[key] for key in plain if key != "turns"}
    for entry, detailed in zip(entries(plain), entries(full), strict=True):
        assert {key: detailed[key] for key in entry} == entry
    assert json.loads(json.dumps(full)) == full
