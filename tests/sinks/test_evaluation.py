"""Verdicts as OpenTelemetry events: what is evaluated, of which span, with which words."""

from typing import Any

from hypothesis import given

from aem_monitor.metrics.increments import run_outcome, submetric_results, turn_result
from aem_monitor.model.verdict import FailureReason, MismatchDetail, NotScored, RunResult, TurnKind
from aem_monitor.sinks.evaluation import EVENT, request_of
from aem_monitor.store.records import StoredRun
from tests.services.otlp_logs import Event, events_of
from tests.store.results import check, failing, results, run, turn

TRACE, SPAN = "5b8efff798038103d269b633813fc60c", "00f067aa0ba902b7"


def events(result: RunResult, stored_at: float = 100.5) -> list[Event]:
    return events_of(request_of(StoredRun(result, 100.0, stored_at, "final")))


def named(found: list[Event], name: str) -> list[dict[str, Any]]:
    return [one.attributes for one in found if one.attributes["gen_ai.evaluation.name"] == name]


def told(attributes: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Value, label, explanation."""
    value, label = (attributes.get(f"gen_ai.evaluation.score.{key}") for key in ("value", "label"))
    return value, label, attributes.get("gen_ai.evaluation.explanation")


def test_a_turn_is_told_beside_the_span_that_was_judged_and_the_run_in_its_trace() -> None:
    found = events(run("run-1", turn(1, trace_id=TRACE, span_id=SPAN, checks=(check(),)), trace_ids=(TRACE,)))
    assert [one.name for one in found] == [EVENT] * 3
    assert [(one.trace_id, one.span_id) for one in found] == [(TRACE, SPAN), (TRACE, SPAN), (TRACE, "")]
    assert [one.attributes["gen_ai.evaluation.name"] for one in found] == ["aem.turn", "aem.truthfulness", "aem.run"]
    assert {one.time_ns for one in found} == {100_500_000_000}


def test_a_run_of_several_traces_is_in_none_of_them() -> None:
    of_run = events(run(trace_ids=(TRACE, TRACE[::-1])))[-1]
    assert of_run.attributes["gen_ai.evaluation.name"] == "aem.run"
    assert of_run.attributes["gen_ai.conversation.id"] == "id of run-1"
    assert (of_run.trace_id, of_run.span_id) == ("", "")


def test_a_failure_says_why_and_what_it_follows_from() -> None:
    wrong = failing(1, "tool_mismatch", detail=MismatchDetail.WRONG_TOOL, called="charts")
    values = failing(2, fields=("start", "end"))
    cascade = failing(3, "prior_action_failed", root_cause=False, blames=(1, 2))
    failed = run("run-1", wrong, values, cascade, success_rate=0.25, test_pass=False, first_failure_turn=1)
    root = FailureReason.TOOL_MISMATCH
    found = events(RunResult(**{**_fields(failed), "root_cause": root, "root_cause_count": 2, "cascading_count": 1}))
    assert [told(one) for one in named(found, "aem.turn")] == [
        (0.0, "root", "tool_mismatch (wrong_tool)"),
        (0.0, "root", "inconsistent_parameter_values in start, end"),
        (0.0, "cascade", "prior_action_failed after turn 1, 2"),
    ]
    assert [told(one) for one in named(found, "aem.run")] == [
        (0.25, "fail", "tool_mismatch, first in turn 1; root causes: 2, cascading: 1")
    ]
    assert [one["gen_ai.tool.name"] for one in named(found, "aem.turn")] == ["charts", "reports", "reports"]


def _fields(result: RunResult) -> dict[str, Any]:
    return {name: getattr(result, name) for name in RunResult.__dataclass_fields__}


def test_what_was_not_scored_has_no_score() -> None:
    unknown = turn(1, success=None, not_scored=NotScored.CONTENT_MISSING)
    broken = turn(2, success=None, not_scored=NotScored.SCORER_ERROR)
    found = events(run("run-1", unknown, broken, success_rate=None, test_pass=None))
    assert [told(one) for one in named(found, "aem.turn")] == [
        (None, "not_scored", "content_missing"),
        (None, "not_scored", "scorer_error"),
    ]
    assert [one.get("error.type") for one in named(found, "aem.turn")] == [None, "scorer_error"]
    assert told(named(found, "aem.run")[0]) == (None, "undecided", None)


def test_a_sub_metric_has_the_lowest_score_of_its_checks() -> None:
    checks = (
        check(score=0.9),
        check(score=0.2, passed=False, field="start", reason=FailureReason.INCONSISTENT_PARAMETER_VALUES),
    )
    (found,) = named(events(run("run-1", failing(1, checks=checks))), "aem.truthfulness")
    assert told(found) == (0.2, "fail", "inconsistent_parameter_values in start")


def test_what_was_said_and_done_is_in_no_event() -> None:
    secret = "4111 1111"
    checks = (check(passed=False, reason=FailureReason.INCONSISTENT_RESPONSE, expected=secret, actual=[secret]),)
    spoken = failing(
        1, "inconsistent_response", kind=TurnKind.RESPONSE, checks=checks, expected=secret, actual={"text": secret}
    )
    request = request_of(StoredRun(run("run-1", spoken), 100.0, 100.0, "final"))
    assert secret.encode() not in request.SerializeToString()


def test_names_that_an_agent_made_up_are_cut() -> None:
    name = "x" * 100_000
    found = events(run("run-1", failing(1, fields=(name,), called=name, trace_id=TRACE, span_id=SPAN)))
    longest = {len(value) for one in found for value in one.attributes.values() if isinstance(value, str)}
    assert max(longest) == 1000


def test_a_repeat_is_the_same_and_a_revision_is_not() -> None:
    def uids(result: RunResult) -> list[str]:
        return [one.attributes["log.record.uid"] for one in events(result)]

    first, again, revision = uids(run()), uids(run()), uids(run(revision=1))
    assert first == again
    assert len({*first, *revision}) == len(first) + len(revision)


@given(results)
def test_any_verdict_can_be_told(result: RunResult) -> None:
    found = events(result)
    labels = [one.attributes["gen_ai.evaluation.score.label"] for one in found]
    expected = [label for turn in result.turns for label in (turn_result(turn), *submetric_results(turn).values())]
    assert labels == [*expected, run_outcome(result)]
    assert len({one.attributes["log.record.uid"] for one in found}) == len(found)
