"""Releases side by side, as words."""

import io

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aem_monitor.cli.sidebyside import print_side_by_side
from aem_monitor.model.verdict import FailureReason, MismatchDetail, RunResult, TurnKind, TurnVerdict
from tests.store.results import check, failing, results, run, turn


def table(*results: RunResult) -> list[str]:
    """The lines below the title, white space reduced to single blanks."""
    stream = io.StringIO()
    print_side_by_side(results, stream)
    title, head, _, *lines = [" ".join(line.split()) for line in stream.getvalue().splitlines() if line.strip()]
    assert title == "Releases side by side"
    return [head, *lines]


def bad(*turns: TurnVerdict, **more: object) -> RunResult:
    return run("bad", *turns, release="2.0.0", test_pass=False, root_cause_count=1, cascading_count=2, **more)


def test_a_dialog_is_a_row_and_a_release_a_column() -> None:
    wrong = check(passed=False, field="metric", expected="revenue", actual="profit")
    root = failing(2, tool="reports", action="FilterData", fields=("metric",), checks=(wrong,))
    assert table(run("good"), bad(turn(1), root), run("open", dialog="refund", test_pass=None)) == [
        "dialog 1.0.0 2.0.0",
        "sales-report 1 of 1 right 0 of 1 right",
        "id of bad: 1 root cause, 2 cascades",
        "turn 2, reports.FilterData: metric: expected revenue, got profit",
        "refund 0 of 1 right -",
    ]


def test_a_reply_is_told_by_its_own_fault_and_not_by_what_it_inherited() -> None:
    reason = FailureReason.INCONSISTENT_RESPONSE
    came = check(passed=False, subject="claim", reason=reason, actual="7 days.", explained_by=(1,))
    made_up = check(passed=False, subject="claim", reason=reason, actual="92 percent.")
    root = failing(3, "inconsistent_response", kind=TurnKind.RESPONSE, tool=None, checks=(came, made_up))
    assert table(bad(root))[-1] == "turn 3, reply: says “92 percent.”"


def test_a_call_too_many_has_no_number() -> None:
    made = check(passed=False, subject="tool", reason=FailureReason.TOOL_MISMATCH, actual="mail.send")
    detail = MismatchDetail.UNEXPECTED_CALL
    extra = failing(None, "tool_mismatch", detail=detail, tool="other", called="mail.send", checks=(made,))
    assert table(bad(extra))[-1] == "extra call, mail.send: is a call that the dialog does not allow"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(results, min_size=1, max_size=3))
def test_any_results_can_be_compared_and_every_dialog_has_a_row(found: list[RunResult]) -> None:
    stream = io.StringIO()
    print_side_by_side(found, stream)
    assert stream.getvalue().count(" right") >= len({(one.dialog, one.release) for one in found})
