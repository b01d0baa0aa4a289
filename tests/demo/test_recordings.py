"""What is in the recordings, and what the monitor says of them."""

from typing import Any

import orjson
import pytest

from aem_monitor.demo.recordings import Recording, moved, recordings
from aem_monitor.model.verdict import RunResult
from tests.demo.verdicts import EXPECTED, plain, replayed


@pytest.fixture(scope="module")
def recorded() -> tuple[Recording, ...]:
    return recordings()


@pytest.fixture(scope="module")
def results() -> dict[str, RunResult]:
    return {str(result.conversation_id): result for result in replayed().results}


def spans(recording: Recording) -> list[tuple[str, Any]]:
    return [
        (scope["scope"]["name"], span)
        for request in recording.requests
        for resource in orjson.loads(request)["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def test_two_releases_of_one_agent_on_different_models_are_recorded(recorded: tuple[Recording, ...]) -> None:
    before, after = recorded
    assert before.agent == after.agent
    assert before.release < after.release
    assert before.models != after.models
    assert len(before.canaries) == len(after.canaries) == 12
    assert before.last_ns < after.last_ns


def test_some_canaries_name_their_dialog_and_some_do_not(recorded: tuple[Recording, ...]) -> None:
    for recording in recorded:
        assert recording.named < recording.canaries
        assert recording.named
        assert not recording.named & recording.customers


def test_every_span_was_written_by_strands(recorded: tuple[Recording, ...]) -> None:
    for recording in recorded:
        found = spans(recording)
        assert len(found) == recording.spans
        assert {scope for scope, _ in found} == {"strands.telemetry.tracer"}
        assert all(len(span["traceId"]) == 32 and len(span["spanId"]) == 16 for _, span in found)


def test_every_verdict_is_exactly_the_expected_one() -> None:
    assert plain(replayed().results) == orjson.loads(EXPECTED.read_bytes())


def test_customers_are_left_alone_even_where_they_say_a_golden_sentence() -> None:
    assert replayed().outcomes == {"recognised": 24, "not_allowed": 2, "none": 2}


def test_a_wrong_metric_is_the_only_root_cause_of_all_that_was_built_on_it(results: dict[str, RunResult]) -> None:
    result = results["canary-sales-3"]
    assert (result.success_rate, result.test_pass) == (0.2, False)
    assert (result.first_failure_turn, result.root_cause) == (2, "inconsistent_parameter_values")
    assert (result.root_cause_count, result.cascading_count) == (1, 3)
    assert [turn.blames for turn in result.turns] == [(), (), (2,), (2,), (2,)]
    assert {turn.basis for turn in result.turns[2:]} == {"provenance"}


def test_a_wrong_tool_is_one_turn_and_not_one_call_missing_and_another_too_many(results: dict[str, RunResult]) -> None:
    result = results["canary-refund-3"]
    (root,) = [turn for turn in result.turns if turn.root_cause]
    assert (root.turn_no, root.failure_reason, root.detail) == (3, "tool_mismatch", "wrong_tool")
    assert (root.tool, root.called) == ("create_refund", "create_voucher")
    assert result.cascading_count == 2


def test_a_dearer_flight_of_a_healthy_search_is_the_bookings_own_fault(results: dict[str, RunResult]) -> None:
    assert verdicts(results["canary-flight-3"]) == {3: ("inconsistent_parameter_values", ("flight",)), 4: (3,)}


def test_a_reply_that_tells_of_an_email_to_the_wrong_address_inherits_it(results: dict[str, RunResult]) -> None:
    assert verdicts(results["canary-quarter-3"]) == {6: ("inconsistent_parameter_values", ("to",)), 7: (6,)}


def test_a_faithful_summary_of_the_wrong_document_inherits_and_an_invented_figure_does_not(
    results: dict[str, RunResult],
) -> None:
    found = verdicts(results["canary-policy-3"])
    assert found == {1: ("inconsistent_parameter_values", ("document",)), 2: (1,), 3: ("inconsistent_response", ())}


def test_an_invented_figure_makes_a_reply_a_root_that_inherited_the_rest(results: dict[str, RunResult]) -> None:
    result = results["canary-policy-4"]
    assert verdicts(result) == {
        1: ("inconsistent_parameter_values", ("document",)),
        2: ("inconsistent_response", ()),
    }
    assert (result.turns[1].blames, result.turns[1].basis) == ((1,), "provenance")


def test_what_takes_from_two_results_blames_the_one_that_broke_or_both(results: dict[str, RunResult]) -> None:
    nights, date = ("inconsistent_parameter_values", ("nights",)), ("inconsistent_parameter_values", ("date",))
    assert verdicts(results["canary-request-3"]) == {2: nights, 3: (2,), 4: (2,)}
    assert verdicts(results["canary-request-4"]) == {1: date, 2: nights, 3: (1, 2), 4: (1, 2)}


def verdicts(result: RunResult) -> dict[int | None, object]:
    """Of each failing turn: reason and fields of a root cause, the roots that a cascade blames."""
    return {
        turn.turn_no: (turn.failure_reason, turn.fields) if turn.root_cause else turn.blames
        for turn in result.turns
        if turn.success is False
    }


BROKEN = {f"canary-{name}-3" for name in ("sales", "refund", "quarter", "flight", "policy", "request")} | {
    "canary-policy-4",
    "canary-request-4",
}


def test_everything_else_passes_in_whatever_words(results: dict[str, RunResult]) -> None:
    right = {name: result for name, result in results.items() if name not in BROKEN}
    assert len(right) == 16
    assert {(result.success_rate, result.test_pass) for result in right.values()} == {(1.0, True)}


def test_an_email_that_was_sent_again_after_an_error_is_a_recovery(results: dict[str, RunResult]) -> None:
    for name in ("canary-quarter-1", "canary-quarter-4"):
        assert [turn.turn_no for turn in results[name].turns if turn.recovered] == [6]


def test_verdicts_point_to_spans_of_the_recording(
    results: dict[str, RunResult], recorded: tuple[Recording, ...]
) -> None:
    known = {span["spanId"] for recording in recorded for _, span in spans(recording)}
    named = [turn.span_id for result in results.values() for turn in result.turns]
    assert set(named) <= known


def test_moving_a_request_changes_its_times_and_nothing_else(recorded: tuple[Recording, ...]) -> None:
    request = recorded[0].requests[0]
    later = moved(request, 1_000)
    assert later != request
    assert orjson.loads(moved(later, -1_000)) == orjson.loads(request)
    first, first_later = (
        orjson.loads(one)["resourceSpans"][0]["scopeSpans"][0]["spans"][0] for one in (request, later)
    )
    for key in ("startTimeUnixNano", "endTimeUnixNano"):
        assert int(first_later[key]) - int(first[key]) == 1_000
    assert int(first_later["events"][0]["timeUnixNano"]) - int(first["events"][0]["timeUnixNano"]) == 1_000
