"""A result held against what a case expects of it."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from aem_monitor.golden.cases import Expectation
from aem_monitor.golden.expectation import differences, expectation_of, updated
from aem_monitor.model.render import result_object
from aem_monitor.model.verdict import FailureReason, MismatchDetail, NotScored, RunResult
from tests.store.results import failing, run, turn

INHERITED: dict[str, Any] = {"success": False, "failure_reason": FailureReason.PRIOR_ACTION_FAILED, "blames": (2,)}


def broken() -> RunResult:
    """Turn 2 broke, 3 inherited it, 4 is not scored, and a call came on top."""
    return run(
        "bad",
        turn(1),
        failing(2, fields=("metric",)),
        turn(3, **INHERITED),
        turn(4, success=None, not_scored=NotScored.TOOL_ERROR),
        failing(None, "tool_mismatch", detail=MismatchDetail.UNEXPECTED_CALL, called="mail.Send"),
        test_pass=False,
        success_rate=0.25,
    )


def expecting(**stated: Any) -> Expectation:
    return Expectation.model_validate(stated)


def told(expectation: Expectation, result: RunResult | None = None) -> list[str]:
    return [str(difference) for difference in differences(expectation, result or broken())]


BAD_VALUE = "inconsistent_parameter_values"
ROOT = {"turn": 2, "reason": BAD_VALUE, "fields": ["metric"]}
EXTRA = {"call": "mail.Send", "reason": "tool_mismatch", "detail": "unexpected_call"}


def test_the_expectation_of_a_result_is_met_by_it_and_pins_roots_cascades_and_gaps() -> None:
    expectation = expectation_of(broken())
    assert expectation.model_dump(mode="json", exclude_unset=True) == {
        "test_pass": False,
        "roots": [ROOT, EXTRA],
        "cascades": [3],
        "not_scored": [{"turn": 4, "cause": "tool_error"}],
    }
    assert told(expectation) == []


def test_the_path_that_was_taken_is_pinned_where_it_is_not_the_listed_one() -> None:
    expectation = expectation_of(run("v", turn(1), variant="by-hand"))
    assert expectation.variant == "by-hand"
    assert told(expectation, run("v", turn(1))) == ["variant: expected by-hand, got null"]


def test_what_is_not_stated_is_not_compared() -> None:
    assert told(expecting(test_pass=False)) == []
    assert told(expecting(cascades=[3])) == []


@pytest.mark.parametrize(
    ("stated", "difference"),
    [
        ({"test_pass": True}, "test_pass: expected true, got false"),
        ({"test_pass": None}, "test_pass: expected null, got false"),
        (
            {"roots": [EXTRA]},
            "turn 2: expected no root cause, got root cause inconsistent_parameter_values in metric",
        ),
        (
            {"roots": [ROOT]},
            "extra call mail.Send: expected no root cause, got root cause tool_mismatch (unexpected_call)",
        ),
        (
            {"roots": [{**ROOT, "reason": "missing_parameters"}, EXTRA]},
            f"turn 2: expected root cause missing_parameters in metric, got root cause {BAD_VALUE} in metric",
        ),
        (
            {"roots": [{**ROOT, "turn": 9}, ROOT, EXTRA]},
            "turn 9: expected root cause inconsistent_parameter_values in metric, got no such entry",
        ),
        (
            {"roots": [ROOT, EXTRA, EXTRA]},
            "extra call mail.Send #2: expected root cause tool_mismatch (unexpected_call), got no such entry",
        ),
        ({"cascades": []}, "turn 3: expected no cascade, got cascade of turn 2"),
        ({"cascades": [1, 3]}, "turn 1: expected cascade, got pass"),
        ({"not_scored": []}, "turn 4: expected a verdict, got not scored (tool_error)"),
        (
            {"not_scored": [{"turn": 4, "cause": "partial"}]},
            "turn 4: expected not scored (partial), got not scored (tool_error)",
        ),
        ({"verdict": {"success_rate": 0.5}}, "verdict.success_rate: expected 0.5, got 0.25"),
        (
            {"verdict": {"turns": [{"turn_no": 3, "blames": [1]}]}},
            "verdict.turns[turn 3].blames: expected [1], got [2]",
        ),
        (
            {"verdict": {"turns": [{"turn_no": 8, "success": True}]}},
            'verdict.turns[turn 8]: expected {"turn_no": 8, "success": true}, got no such entry',
        ),
        ({"verdict": {"test_pas": False}}, "verdict.test_pas: expected false, got nothing"),
    ],
)
def test_each_difference_is_told_once_with_its_place(stated: dict[str, Any], difference: str) -> None:
    assert told(expecting(**stated)) == [difference]


def test_a_turn_that_changed_its_kind_is_told_once_by_what_was_expected_of_it() -> None:
    stated = expectation_of(broken()).model_dump(mode="json", exclude_unset=True)
    stated["roots"] = [{"turn": 3, "reason": "tool_mismatch"}, EXTRA]
    stated["cascades"] = [2]
    assert told(expecting(**stated)) == [
        "turn 2: expected cascade, got root cause inconsistent_parameter_values in metric",
        "turn 3: expected root cause tool_mismatch, got cascade of turn 2",
    ]


def test_detail_and_fields_of_a_root_cause_count_only_where_stated() -> None:
    assert told(expecting(roots=[{"turn": 2, "reason": "inconsistent_parameter_values"}, EXTRA])) == []


def test_a_result_object_may_be_expected_in_part() -> None:
    part = {"dialog": "sales-report", "success_rate": 0.25, "turns": [{"turn_no": None, "success": False}]}
    assert told(expecting(verdict=part)) == []


def test_an_update_keeps_what_the_author_left_open() -> None:
    before = expecting(
        roots=[{"turn": 2, "reason": "tool_mismatch"}],
        verdict={"success_rate": 1.0, "turns": [{"turn_no": 3, "success": True}, {"turn_no": 8, "success": True}]},
    )
    after = updated(before, broken())
    assert after.model_dump(mode="json", exclude_unset=True) == {
        "roots": [{"turn": 2, "reason": "inconsistent_parameter_values"}, EXTRA],
        "verdict": {"success_rate": 0.25, "turns": [{"turn_no": 3, "success": False}]},
    }
    assert told(after) == []


def leaves(value: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(item, dict | list):
            yield from leaves(item, (*at, key))
        else:
            yield (*at, key)


WHOLE: Any = result_object(broken())


def test_a_whole_result_object_may_be_expected() -> None:
    assert told(expecting(verdict=WHOLE)) == []


@pytest.mark.parametrize("path", list(leaves(WHOLE)), ids=lambda path: ".".join(map(str, path)))
def test_every_value_of_an_expected_result_object_counts(path: tuple[str | int, ...]) -> None:
    changed = copy.deepcopy(WHOLE)
    inside = changed
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = 77 if isinstance(inside[path[-1]], int | float) else "other"
    assert told(expecting(verdict=changed))
