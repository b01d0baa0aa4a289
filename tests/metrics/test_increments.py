"""What a final run adds to the counters."""

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given

from aem_monitor.metrics.catalogue import CATALOGUE, Kind
from aem_monitor.metrics.increments import (
    draft_zeros,
    increments,
    revision_increments,
    submetric_results,
    zeros,
)
from aem_monitor.model.increment import Increment
from aem_monitor.model.verdict import FailureReason, MismatchDetail, NotScored, RunResult, TurnKind, TurnVerdict
from tests.store.results import check, failing, results, run, turn

TOOLS = {"reports", "mail"}


def added(result: RunResult, name: str) -> dict[tuple[str, ...], float]:
    """What the run adds to one metric, by label values without the agent's."""
    totals: Counter[tuple[str, ...]] = Counter()
    for one in increments(result, TOOLS):
        if one.metric == name:
            totals[tuple(value for label, value in one.labels if label != "agent")] += one.value  # type: ignore[assignment]
    return dict(totals)


def response(turn_no: int, **changes: object) -> TurnVerdict:
    return turn(turn_no, kind=TurnKind.RESPONSE, tool=None, **changes)


def not_scored(turn_no: int, cause: NotScored) -> TurnVerdict:
    return turn(turn_no, success=None, not_scored=cause)


def cascade(turn_no: int, **changes: object) -> TurnVerdict:
    return failing(turn_no, "prior_action_failed", **{"root_cause": False, "blames": (1,), **changes})


# Turns and runs


def test_turns_are_counted_by_verdict() -> None:
    result = run("r", turn(1), failing(2), cascade(3), not_scored(4, NotScored.TOOL_ERROR), response(5))
    subject = ("1.0.0", "small-1", "1")
    assert added(result, "aem_turns_total") == {
        (*subject, "tool", "pass"): 1,
        (*subject, "tool", "root"): 1,
        (*subject, "tool", "cascade"): 1,
        (*subject, "tool", "not_scored"): 1,
        (*subject, "response", "pass"): 1,
    }


@pytest.mark.parametrize(("length", "bucket"), [(0, "0"), (1, "1"), (2, "2"), (3, "3+"), (17, "3+")])
def test_chain_lengths_are_bucketed(length: int, bucket: str) -> None:
    assert list(added(run("r", turn(1, chain_length=length)), "aem_turns_total")) == [
        ("1.0.0", "small-1", bucket, "tool", "pass")
    ]


def test_a_turn_counts_for_its_own_release_and_model_and_the_run_for_its_own() -> None:
    result = run(
        "r",
        turn(1, release="1.0.0", model="small-1"),
        turn(2, release="2.0.0", model="large-1"),
        turn(3),
        release="mixed",
        model="mixed",
    )
    assert [labels[:2] for labels in added(result, "aem_turns_total")] == [
        ("1.0.0", "small-1"),
        ("2.0.0", "large-1"),
        ("mixed", "mixed"),
    ]
    assert added(result, "aem_runs_total") == {("mixed", "mixed", "sales-report", "pass"): 1}


def test_what_the_spans_do_not_carry_is_unknown() -> None:
    assert added(run(release=None, model=None), "aem_runs_total") == {("unknown", "unknown", "sales-report", "pass"): 1}


@pytest.mark.parametrize(("passed", "result"), [(True, "pass"), (False, "fail"), (None, "undecided")])
def test_runs_are_counted_by_result(passed: bool | None, result: str) -> None:
    assert added(run(test_pass=passed), "aem_runs_total") == {("1.0.0", "small-1", "sales-report", result): 1}


def test_a_draft_counts_nowhere_else() -> None:
    result = run("r", failing(1), not_scored(2, NotScored.TOOL_ERROR), draft=True, test_pass=False)
    assert increments(result, TOOLS) == [
        Increment("aem_draft_runs_total", (("dialog", "sales-report"), ("result", "fail")))
    ]


# Root causes


def test_only_roots_are_root_causes() -> None:
    result = run("r", turn(1), failing(2), cascade(3), not_scored(4, NotScored.OFF_SCRIPT))
    assert added(result, "aem_root_causes_total") == {
        ("1.0.0", "small-1", "inconsistent_parameter_values", "", "reports"): 1
    }


def test_a_second_independent_fault_is_a_second_root_cause() -> None:
    result = run("r", failing(1), failing(2, "missing_parameters", tool="mail"))
    assert {labels[2:] for labels in added(result, "aem_root_causes_total")} == {
        ("inconsistent_parameter_values", "", "reports"),
        ("missing_parameters", "", "mail"),
    }


def test_a_response_has_no_tool() -> None:
    result = run("r", response(1, success=False, root_cause=True, failure_reason=FailureReason.INCOMPLETE_RESPONSE))
    assert list(added(result, "aem_root_causes_total")) == [("1.0.0", "small-1", "incomplete_response", "", "")]


def test_a_wrong_tool_counts_for_the_golden_one() -> None:
    result = run("r", failing(1, "tool_mismatch", detail=MismatchDetail.WRONG_TOOL, called="mail"))
    assert list(added(result, "aem_root_causes_total")) == [
        ("1.0.0", "small-1", "tool_mismatch", "wrong_tool", "reports")
    ]


@pytest.mark.parametrize("detail", [MismatchDetail.UNEXPECTED_CALL, MismatchDetail.FORBIDDEN_CALL])
@pytest.mark.parametrize(("called", "tool"), [("mail", "mail"), ("invented_7f3a", "other")])
def test_an_extra_call_counts_for_its_tool_only_if_a_golden_dialog_names_it(
    detail: MismatchDetail, called: str, tool: str
) -> None:
    result = run("r", failing(None, "tool_mismatch", detail=detail, called=f"{called}.send", tool=called))
    assert list(added(result, "aem_root_causes_total")) == [("1.0.0", "small-1", "tool_mismatch", detail.value, tool)]


# What was not scored


def test_turns_without_a_verdict_are_counted_by_cause() -> None:
    result = run("r", not_scored(1, NotScored.OFF_SCRIPT), not_scored(2, NotScored.OFF_SCRIPT), turn(3))
    assert added(result, "aem_not_scored_total") == {("off_script",): 2}


def test_a_broken_tool_is_counted_as_one() -> None:
    result = run("r", not_scored(1, NotScored.TOOL_ERROR), not_scored(2, NotScored.UPSTREAM_ERROR))
    assert added(result, "aem_tool_errors_total") == {("reports",): 1}


# Sub-metrics


def test_each_sub_metric_that_was_asked_has_one_result() -> None:
    judged = failing(
        1,
        checks=(
            check(submetric="structural"),
            check(submetric="completeness", passed=None, cause=NotScored.NOT_REACHED),
            check(submetric="completeness"),
            check(submetric="truthfulness"),
            check(submetric="truthfulness", passed=False),
            check(submetric="safety"),
        ),
    )
    assert submetric_results(judged) == {
        "structural": "pass",
        "completeness": "not_scored",
        "truthfulness": "fail",
        "safety": "pass",
    }


def test_an_explained_failure_is_inherited_also_in_a_root() -> None:
    judged = failing(
        3,
        checks=(
            check(submetric="completeness", passed=False, explained_by=(1,)),
            check(submetric="truthfulness", passed=False, explained_by=(1,)),
            check(submetric="truthfulness", passed=False),
        ),
    )
    assert submetric_results(judged) == {"completeness": "inherited", "truthfulness": "fail"}


def test_all_failures_of_a_cascade_are_inherited() -> None:
    assert submetric_results(cascade(3, checks=(check(passed=False),))) == {"truthfulness": "inherited"}


def test_a_turn_that_was_not_scored_is_so_in_all_its_sub_metrics() -> None:
    assert submetric_results(not_scored(1, NotScored.OFF_SCRIPT)) == {
        "structural": "not_scored",
        "completeness": "not_scored",
        "truthfulness": "not_scored",
    }
    assert set(submetric_results(response(1, success=None, not_scored=NotScored.OFF_SCRIPT))) == {
        "completeness",
        "truthfulness",
    }


@pytest.mark.parametrize(
    ("reason", "submetric"),
    [
        ("tool_mismatch", "structural"),
        ("action_mismatch", "structural"),
        ("missing_parameters", "completeness"),
        ("extra_parameters", "completeness"),
        ("inconsistent_parameter_values", "truthfulness"),
        ("incomplete_response", "completeness"),
        ("inconsistent_response", "truthfulness"),
    ],
)
def test_a_failure_without_checks_counts_in_the_sub_metric_of_its_reason(reason: str, submetric: str) -> None:
    assert submetric_results(failing(1, reason)) == {submetric: "fail"}


# Latency


def test_latency_and_correctness_are_counted_as_moments() -> None:
    result = run(latency_seconds=4.0, success_rate=0.5)
    names = ("count", "latency_sum", "success_sum", "latency_square_sum", "success_square_sum", "product_sum")
    moments = {name: added(result, f"aem_latency_correctness_{name}_total") for name in names}
    assert moments == {
        name: {("1.0.0",): amount} for name, amount in zip(names, (1, 4.0, 0.5, 16.0, 0.25, 2.0), strict=True)
    }


def test_pearson_follows_from_the_moments() -> None:
    pairs = [(1.0, 1.0), (2.0, 0.75), (4.0, 0.5), (8.0, 0.0), (3.0, 1.0)]
    sums: Counter[str] = Counter()
    for number, (latency, rate) in enumerate(pairs):
        for one in increments(run(f"r{number}", latency_seconds=latency, success_rate=rate), TOOLS):
            sums[one.metric.removeprefix("aem_latency_correctness_").removesuffix("_total")] += one.value  # type: ignore[assignment]
    n, sx, sy = sums["count"], sums["latency_sum"], sums["success_sum"]
    sxx, syy, sxy = sums["latency_square_sum"], sums["success_square_sum"], sums["product_sum"]
    r = (n * sxy - sx * sy) / math.sqrt((n * sxx - sx**2) * (n * syy - sy**2))
    mean_x, mean_y = sx / n, sy / n
    direct = sum((x - mean_x) * (y - mean_y) for x, y in pairs) / math.sqrt(
        sum((x - mean_x) ** 2 for x, _ in pairs) * sum((y - mean_y) ** 2 for _, y in pairs)
    )
    assert r == pytest.approx(direct)
    assert direct < -0.9


@pytest.mark.parametrize(
    "changes",
    [{"latency_seconds": None}, {"latency_seconds": math.nan}, {"latency_seconds": -1.0}, {"success_rate": None}],
)
def test_a_pair_that_is_not_whole_is_no_pair(changes: dict[str, Any]) -> None:
    assert added(run(**changes), "aem_latency_correctness_count_total") == {}


def test_a_run_is_observed_in_its_bucket_with_the_trace_of_its_first_root() -> None:
    result = run("r", turn(1, trace_id="t1"), failing(2, trace_id="t2"), trace_ids=("t1", "t2"), latency_seconds=7.0)
    (observed,) = [one for one in increments(result, TOOLS) if one.metric == "aem_run_latency_seconds"]
    assert (observed.value, observed.bucket, observed.trace_id) == (7.0, 10.0, "t2")
    (root,) = [one for one in increments(result, TOOLS) if one.metric == "aem_root_causes_total"]
    assert root.trace_id == "t2"


def test_turns_and_exchanges_are_observed_with_their_own_trace() -> None:
    result = run(
        "r",
        turn(1, latency_seconds=0.3, trace_id="t1", release="2.0.0"),
        response(2, latency_seconds=4.0, trace_id="t2"),
        turn(3, latency_seconds=None),
    )
    found = [one for one in increments(result, TOOLS, [(5.0, "t3"), (math.inf, "t4")]) if one.bucket is not None]
    assert {(one.metric, *dict(one.labels).values(), one.value, one.bucket, one.trace_id) for one in found} == {
        ("aem_run_latency_seconds", "reporting", "1.0.0", "pass", 3.0, 5.0, "trace of r"),
        ("aem_turn_latency_seconds", "reporting", "2.0.0", "tool", 0.3, 0.5, "t1"),
        ("aem_turn_latency_seconds", "reporting", "1.0.0", "response", 4.0, 5.0, "t2"),
        ("aem_exchange_latency_seconds", "reporting", "1.0.0", 5.0, 5.0, "t3"),
    }


# Recoveries and runs that ended early


def test_a_turn_that_was_right_after_a_failed_attempt_is_a_recovery() -> None:
    result = run("r", turn(1, recovered=True, attempts=2), turn(2))
    assert added(result, "aem_recovered_turns_total") == {("1.0.0", "reports"): 1}


@pytest.mark.parametrize(
    ("changes", "causes"),
    [
        ({}, []),
        ({"complete": False}, ["unfinished"]),
        ({"complete": False, "partial": True}, ["partial"]),
        ({"partial": True}, ["partial"]),
    ],
)
def test_a_run_that_ended_early_is_counted_by_who_ended_it(changes: dict[str, Any], causes: list[str]) -> None:
    assert added(run(**changes), "aem_incomplete_runs_total") == {("1.0.0", cause): 1 for cause in causes}


# In general


@given(results)
def test_any_run_adds_only_what_the_catalogue_has(result: RunResult) -> None:
    found = increments(result, TOOLS)
    for one in found:
        metric = CATALOGUE[one.metric]
        assert metric.stored
        assert tuple(name for name, _ in one.labels) == metric.label_names
        assert one.value >= 0
        assert (one.bucket is not None) == (metric.kind is Kind.HISTOGRAM)
        for label, (_, value) in zip(metric.labels, one.labels, strict=True):
            assert not label.values or value in (*label.values, "other")
    if not result.draft:
        turns = sum(one.value for one in found if one.metric == "aem_turns_total")
        assert turns == len(result.turns)


@pytest.mark.parametrize("reason", [reason for reason in FailureReason if reason != "prior_action_failed"])
@pytest.mark.parametrize("called", ["reports", "invented"])
def test_every_series_of_a_first_run_was_zero_before(reason: FailureReason, called: str) -> None:
    created = {(one.metric, one.labels) for one in zeros("reporting", "1.0.0", "small-1", "sales-report", ["reports"])}
    details: list[MismatchDetail | None] = [None]
    if reason is FailureReason.TOOL_MISMATCH:
        details = list(MismatchDetail)
    if reason in (FailureReason.INCONSISTENT_RESPONSE, FailureReason.INCOMPLETE_RESPONSE):
        turns = [response(1, success=False, root_cause=True, failure_reason=reason)]
    else:
        turns = [failing(1, reason, detail=detail, called=called) for detail in details]
    others = (turn(8, recovered=True, latency_seconds=1.0), cascade(9), not_scored(10, NotScored.TOOL_ERROR))
    result = run("r", *turns, *others, test_pass=False, complete=False)
    missing = [one for one in increments(result, ["reports"], [(1.0, None)]) if (one.metric, one.labels) not in created]
    assert missing == []


def test_zeros_add_nothing() -> None:
    created = [*zeros("a", None, None, "d", ["t"]), *draft_zeros("d")]
    assert {one.value for one in created} == {0.0}
    assert {one.bucket for one in created} == {None}


def test_a_revision_is_counted_by_its_cause() -> None:
    assert revision_increments("late_span") == [Increment("aem_verdict_revisions_total", (("cause", "late_span"),))]
