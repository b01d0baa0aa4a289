"""The error map: the signs beside the turns, and what is said of each."""

import io
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aem_monitor.cli.errormap import LEGEND, print_error_map, print_error_maps
from aem_monitor.model.verdict import Basis, FailureReason, MismatchDetail, NotScored, RunResult, TurnKind, TurnVerdict
from tests.store.results import check, failing, results, run, turn

REPLY: dict[str, Any] = {"kind": TurnKind.RESPONSE, "tool": None, "action": None}


def inherited(number: int, *blames: int, **more: Any) -> TurnVerdict:
    return turn(
        number,
        success=False,
        failure_reason=FailureReason.PRIOR_ACTION_FAILED,
        blames=blames,
        basis=Basis.PROVENANCE,
        **more,
    )


def drawn(result: RunResult) -> list[str]:
    stream = io.StringIO()
    print_error_map(result, stream)
    title, *lines, last = stream.getvalue().splitlines()
    assert title.startswith(f"sales-report, {result.conversation_id}, release 1.0.0: ")
    assert last == ""
    return lines


def signs(result: RunResult) -> list[str]:
    """What stands left of the numbers of the turns."""
    columns = sum(turn.root_cause for turn in result.turns)
    return [line[:columns].rstrip() for line in drawn(result)]


def test_cascades_hang_from_their_root_and_healthy_turns_are_passed_by() -> None:
    result = run("one", turn(1), failing(2), inherited(3, 2), turn(4), inherited(5, 2), turn(6))
    assert signs(result) == ["", "●", "├", "│", "└", ""]


def test_a_turn_that_takes_from_two_broken_ones_hangs_from_both() -> None:
    result = run("one", failing(1), failing(2), inherited(3, 1, 2), inherited(4, 2))
    assert signs(result) == ["●", "│●", "└├", " └"]


def test_a_root_that_nothing_was_built_on_has_no_line() -> None:
    assert signs(run("one", failing(1), turn(2), failing(3), failing(None, called="mail.send"))) == [
        "●",
        "",
        " ●",
        "  ●",
    ]


def test_a_root_may_hang_from_another_one() -> None:
    second = failing(2, blames=(1,), basis=Basis.PROVENANCE)
    result = run("one", failing(1), second, inherited(3, 2))
    assert signs(result) == ["●", "└●", " └"]
    assert "ROOT CAUSE inconsistent_parameter_values, inherits from turn 1" in drawn(result)[1]


def test_each_fault_is_a_line_with_its_origin_beside_the_lines_that_go_on() -> None:
    wrong = check(passed=False, field="metric", expected="revenue", actual="profit")
    later = check(passed=False, field="report", expected="R-1", actual="R-2", explained_by=(1,))
    result = run("one", failing(1, checks=(wrong,)), inherited(2, 1, checks=(later,)), inherited(3, 1))
    assert drawn(result) == [
        "●   1  reports  ROOT CAUSE inconsistent_parameter_values",
        "│      metric: expected revenue, got profit",
        "├   2  reports  cascade of turn 1 (provenance)",
        "│      report: expected R-1, got R-2 (from turn 1)",
        "└   3  reports  cascade of turn 1 (provenance)",
    ]


def test_own_faults_of_a_turn_come_before_what_it_inherited_and_many_are_counted() -> None:
    came = check(
        passed=False, subject="claim", reason=FailureReason.INCONSISTENT_RESPONSE, actual="7.", explained_by=(1,)
    )
    made_up = check(passed=False, subject="claim", reason=FailureReason.INCONSISTENT_RESPONSE, actual="92 %.")
    left_out = [
        check(passed=False, subject="mention", reason=FailureReason.INCOMPLETE_RESPONSE, expected=str(n))
        for n in (3, 4)
    ]
    result = run("one", failing(2, "inconsistent_response", checks=(came, made_up, *left_out), **REPLY))
    assert [line.strip() for line in drawn(result)[1:]] == ["says “92 %.”", "does not say “3”", "and 2 more"]


def test_calls_and_arguments_that_are_missing_or_too_many_are_told_in_words() -> None:
    missing = check(passed=False, field="region", reason=FailureReason.MISSING_PARAMETERS, expected="EU")
    extra = check(passed=False, field="limit", reason=FailureReason.EXTRA_PARAMETERS, actual=5)
    tool = check(passed=False, subject="tool", reason=FailureReason.TOOL_MISMATCH, expected="refund", actual="voucher")
    result = run(
        "one",
        failing(1, "missing_parameters", checks=(missing, extra)),
        failing(2, "tool_mismatch", detail=MismatchDetail.NOT_CALLED, checks=(tool,)),
        failing(3, "tool_mismatch", detail=MismatchDetail.WRONG_TOOL, checks=(tool,)),
        failing(None, "tool_mismatch", detail=MismatchDetail.FORBIDDEN_CALL, called="mail.send", checks=(tool,)),
    )
    told = [line.strip() for line in drawn(result)]
    assert told[1:3] == ["region is missing: expected EU", "limit is not expected: got 5"]
    assert told[4] == "was not called"
    assert told[6] == "expected refund, got voucher"
    assert told[7].startswith("●   +  mail.send ")
    assert told[8] == "is a call that the dialog forbids"


def test_a_turn_without_a_verdict_says_why() -> None:
    line = drawn(run("one", turn(1, success=None, not_scored=NotScored.TOOL_ERROR)))[0]
    assert line.endswith("not scored (tool_error)")


def test_control_characters_of_an_agent_do_not_reach_the_terminal() -> None:
    wrong = check(passed=False, field="metric", expected="revenue", actual="\x1b[2Jprofit")
    assert drawn(run("one", failing(1, checks=(wrong,))))[1].endswith(r"got \x1b[2Jprofit")


def test_a_name_with_line_breaks_stays_on_its_line() -> None:
    assert drawn(run("one", failing(1, tool="mail\nsend")))[0].startswith("●   1  mail send  ROOT CAUSE")


def test_only_failing_runs_are_drawn_and_none_is_said_in_words() -> None:
    stream = io.StringIO()
    print_error_maps([run("good", turn(1)), run("bad", failing(1))], stream)
    assert "id of bad" in stream.getvalue()
    assert "id of good" not in stream.getvalue()
    assert stream.getvalue().endswith(f"{LEGEND}\n")
    for healthy, said in (([run("good", turn(1))], "No turn failed in 1 run.\n"), ([], "No run was found.\n")):
        stream = io.StringIO()
        print_error_maps(healthy, stream)
        assert stream.getvalue() == said


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(results, max_size=3))
def test_any_result_can_be_drawn_and_every_failing_turn_has_a_line(found: list[RunResult]) -> None:
    stream = io.StringIO()
    print_error_maps(found, stream)
    shown = [one for one in found if any(turn.success is False for turn in one.turns)]
    text = stream.getvalue()
    assert len(text.splitlines()) >= sum(len(one.turns) + 2 for one in shown)
    assert text.count("●") >= sum(turn.root_cause for one in shown for turn in one.turns)
