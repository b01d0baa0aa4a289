"""Results as tables and sentences for people."""

import io

from aem_monitor.cli.report import print_report, story
from aem_monitor.model.verdict import FailureReason, MismatchDetail, NotScored, RunResult, TurnKind
from tests.store.results import check, failing, run, turn


def table(*results: RunResult) -> list[list[str]]:
    """The words of every line that has any."""
    stream = io.StringIO()
    print_report(results, stream)
    return [line.split() for line in stream.getvalue().splitlines() if line.strip()]


def wrong_metric(number: int | None = 2) -> RunResult:
    """A run whose second turn broke, and whose third and fourth inherited it."""
    reason = FailureReason.INCONSISTENT_PARAMETER_VALUES
    value = check(passed=False, field="metric", reason=reason, expected="revenue", actual="profit")
    inherited = {"success": False, "failure_reason": FailureReason.PRIOR_ACTION_FAILED, "blames": (2,)}
    return run(
        "bad",
        turn(1),
        failing(number, fields=("metric",), called="reports.FilterData", checks=(value,)),
        turn(3, **inherited),
        turn(4, **inherited),
        release="2.0.0",
        root_cause_count=1,
        cascading_count=2,
        first_failure_turn=2,
        test_pass=False,
    )


def test_a_release_has_its_turns_correctness_root_causes_and_cascades() -> None:
    lines = table(run("good", turn(1), turn(2)), wrong_metric())
    assert ["1.0.0", "small-1", "1", "2", "100.0%", "none", "0"] in lines
    assert ["2.0.0", "small-1", "1", "4", "25.0%", "1", "inconsistent_parameter_values", "2"] in lines


def test_turns_that_are_not_scored_count_in_no_share_and_are_shown_where_there_are_any() -> None:
    lines = table(run("one", turn(1), turn(2, success=None, not_scored=NotScored.TOOL_ERROR)))
    assert lines[1][-2:] == ["not", "scored"]
    assert lines[3] == ["1.0.0", "small-1", "1", "2", "100.0%", "none", "0", "1"]
    assert table(run("one", turn(1)))[1][-1] == "cascades"


def test_a_release_of_which_nothing_is_scored_has_no_share() -> None:
    (row,) = table(run("one", turn(1, success=None, not_scored=NotScored.CONTENT_MISSING)))[3:]
    assert row == ["1.0.0", "small-1", "1", "1", "-", "none", "0", "1"]


def test_a_failing_run_shows_its_first_root_cause_with_expected_and_got() -> None:
    lines = table(wrong_metric())
    assert ["sales-report", "2", "inconsistent_parameter_values", "revenue", "profit", "2"] in lines
    assert ["id", "of", "bad", "in", "reports.FilterData(metric)"] in lines


def test_no_run_is_said_in_words() -> None:
    assert table() == [["No", "run", "of", "a", "golden", "dialog", "was", "found."]]


def test_a_sentence_tells_where_a_run_broke_and_what_followed() -> None:
    assert story(wrong_metric()) == (
        "Release 2.0.0 broke first in turn 2 of sales-report: reports.FilterData(metric) expected revenue, got profit; "
        "2 later turns only inherited it."
    )
    assert story(run("good")) == ""


def test_a_call_that_was_not_made_is_no_empty_value() -> None:
    missed = check(subject="tool", passed=False, reason=FailureReason.TOOL_MISMATCH, expected="create_refund")
    root = failing(3, "tool_mismatch", detail=MismatchDetail.NOT_CALLED, tool="create_refund", checks=(missed,))
    assert story(run("one", root, root_cause_count=1)) == (
        "Release 1.0.0 broke first in turn 3 of sales-report: expected create_refund, got no call."
    )


def test_a_call_too_many_is_placed_after_the_turn_before_it() -> None:
    made = check(subject="tool", passed=False, reason=FailureReason.TOOL_MISMATCH, actual="create_voucher")
    extra = failing(None, "tool_mismatch", called="create_voucher", tool="create_voucher", checks=(made,))
    result = run("one", turn(2), extra, root_cause_count=2, first_failure_turn=2, first_failure_extra=True)
    assert story(result) == (
        "Release 1.0.0 broke first in a call after turn 2 of sales-report: expected nothing, got create_voucher; "
        "1 more broke by itself."
    )


def test_a_wrong_reply_is_quoted() -> None:
    claim = check(
        subject="claim",
        passed=False,
        reason=FailureReason.INCONSISTENT_RESPONSE,
        expected="It is pending.",
        actual="It is paid.",
    )
    root = failing(4, "inconsistent_response", kind=TurnKind.RESPONSE, tool=None, checks=(claim,))
    assert story(run("one", root, root_cause_count=1)) == (
        "Release 1.0.0 broke first in turn 4 of sales-report: the reply expected “It is pending.”, got “It is paid.”."
    )
