"""From entries to the numbers of a run, by each rule."""

from collections.abc import Sequence

import pytest

from aem_monitor.errors import ConfigError
from aem_monitor.model.verdict import Check, FailureReason, TurnKind, TurnVerdict
from aem_monitor.scoring.compose import COMPOSITIONS, Terms, composition, gated, mean, minimum, summarise, weighted_mean


def entry(
    number: int | None, success: bool | None, *, required: bool = True, checks: Sequence[Check] = ()
) -> TurnVerdict:
    return TurnVerdict(
        turn_no=number,
        kind=TurnKind.TOOL,
        exchange=0,
        chain_length=1,
        success=success,
        required=required,
        root_cause=success is False,
        failure_reason=FailureReason.TOOL_MISMATCH if success is False else None,
        checks=tuple(checks),
    )


def test_unknown_is_neither_passed_nor_failed() -> None:
    turns = [entry(1, True), entry(2, None), entry(3, False)]
    found = summarise(turns, complete=True, captured=True)
    assert (found.success_rate, found.test_pass, found.first_failure_turn) == (0.5, False, 3)
    assert mean(turns, Terms()) == 0.5


def test_a_required_turn_without_a_verdict_leaves_the_test_open_and_an_optional_one_does_not() -> None:
    assert summarise([entry(1, True), entry(2, None)], True, True).test_pass is None
    assert summarise([entry(1, True), entry(2, None, required=False)], True, True).test_pass is True


def test_an_extra_call_is_placed_after_the_last_expected_turn_before_it() -> None:
    found = summarise([entry(4, True), entry(None, False), entry(7, True)], True, True)
    assert (found.first_failure_turn, found.first_failure_extra) == (4, True)
    assert summarise([entry(None, False)], True, True).first_failure_turn is None


@pytest.mark.parametrize(("complete", "captured"), [(False, True), (True, False)])
def test_nothing_scored_passes_only_on_a_complete_run_with_calls_captured(complete: bool, captured: bool) -> None:
    assert summarise([], True, True).test_pass is True
    found = summarise([], complete, captured)
    assert (found.success_rate, found.test_pass) == (None, None)


def test_weights_count_and_an_extra_call_weighs_one() -> None:
    turns = [entry(1, True), entry(2, False), entry(None, False)]
    assert weighted_mean(turns, Terms({1: 6.0, 2: 1.0})) == 0.75
    assert weighted_mean([entry(1, None)], Terms()) is None


def test_a_critical_failure_caps_the_score_and_an_undecided_critical_turn_leaves_it_open() -> None:
    terms = Terms(critical=frozenset({2}))
    assert gated([entry(1, True), entry(2, False)], terms) == 0.0
    assert gated([entry(1, False), entry(2, True)], terms) == 0.5
    assert gated([entry(1, True), entry(2, None)], terms) is None


def test_the_weakest_sub_metric_is_not_averaged_away() -> None:
    good, bad = Check("completeness", "arguments", passed=True), Check("truthfulness", "value", passed=False)
    unknown = Check("truthfulness", "value", passed=None)
    turns = [entry(1, True, checks=[good]), entry(2, False, checks=[good, bad]), entry(3, None, checks=[good, unknown])]
    assert minimum(turns, Terms()) == 0.0
    assert minimum([entry(1, None, checks=[unknown])], Terms()) is None


def test_rules_are_found_by_name() -> None:
    assert composition("gated") is COMPOSITIONS["gated"]
    with pytest.raises(ConfigError, match=r"no rule 'best'; there is mean, weighted_mean, gated, minimum"):
        composition("best")
