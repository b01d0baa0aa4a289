"""The gate: what pairs of runs say."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

from aem_monitor.canary.endpoints import Difference, Endpoint
from aem_monitor.canary.fixed import exact_p_of_either
from aem_monitor.canary.gate import More, Result, Rules, State, decide
from aem_monitor.canary.pairs import Part, Played, pair
from aem_monitor.canary.played import Release
from aem_monitor.canary.render import facts, sentence
from aem_monitor.errors import UsageError
from aem_monitor.model.verdict import SubMetric

TOOL = Part("reason", "tool_mismatch")
REPLY = Part("reason", "incomplete_response")


def runs(
    pattern: str, dialog: str = "refund", part: Part = TOOL, latency: float = 1.0, correct: float = 0.0
) -> list[Played]:
    """A run a letter: ``.`` passes, ``x`` fails, with a share of ``correct`` turns."""
    return [
        Played(dialog, f"{dialog}-{number}", True, 1.0, latency=latency)
        if letter == "."
        else Played(dialog, f"{dialog}-{number}", False, correct, part.name, frozenset({part}), latency)
        for number, letter in enumerate(pattern)
    ]


def verdict(baseline: Sequence[Played], candidate: Sequence[Played], rules: Rules | None = None) -> Result:
    return decide(pair(baseline, candidate), rules or Rules())


def test_a_release_that_can_do_nothing_is_a_regression_within_twenty_conversations() -> None:
    assert verdict(runs("." * 13 + "x" * 7), runs("x" * 20)).state is State.REGRESSION


def test_a_release_that_is_as_good_passes() -> None:
    result = verdict(runs("." * 100), runs("." * 100))
    assert (result.state, result.decided_by, result.more) == (State.PASS, [Endpoint.RUNS, Endpoint.TURNS], None)
    assert [one.difference.mean for one in result.found.values()] == [0.0, 0.0]


def test_few_runs_are_not_enough_and_it_is_said_how_many_are() -> None:
    result = verdict(runs("." * 20), runs("." * 20))
    assert (result.state, result.more) == (State.NOT_ENOUGH_EVIDENCE, More(26, 26, 26))
    assert sentence(result).startswith("not enough evidence: about 26 more independent pairs")
    assert verdict(runs("." * 46), runs("." * 46)).state is State.PASS


def test_how_many_more_is_a_range_where_runs_differ_and_is_not_said_of_very_few() -> None:
    more = verdict(runs("." * 30 + "xx"), runs("." * 28 + "x" + "...")).more
    assert more is not None
    assert more.least is not None
    assert more.most is None or more.most > more.least > 0
    result = verdict(runs("." * 19), runs("." * 19))
    assert (result.more, sentence(result)) == (
        None,
        "not enough evidence: too few pairs to say how many more are needed",
    )


def test_without_pairs_nothing_is_known() -> None:
    result = verdict(runs("..."), runs("...", dialog="other"))
    assert (result.state, result.pairs, result.more) == (State.NOT_ENOUGH_EVIDENCE, 0, None)
    assert {one.difference for one in result.found.values()} == {Difference(None, -1.0, 1.0)}
    assert {(one.baseline, one.candidate) for one in result.submetrics} == {(None, None)}


def test_dialogs_gained_and_lost_at_an_equal_mean_are_named_with_their_reasons() -> None:
    baseline = runs("." * 150, "a") + runs("x" * 150, "b", TOOL)
    candidate = runs("x" * 150, "a", REPLY) + runs("." * 150, "b")
    mixed = np.random.default_rng(1).permutation(300)
    result = verdict([baseline[one] for one in mixed], [candidate[one] for one in mixed], Rules(tolerance=0.3))
    assert result.state is State.PASS
    assert (result.gained, result.lost) == ({"b": 1.0}, {"a": 1.0})
    assert {(one.name, one.worse) for one in result.changes} == {
        ("tool_mismatch", False),
        ("incomplete_response", True),
        ("a", True),
        ("b", False),
    }


def test_one_failure_of_a_critical_dialog_is_no_regression_and_repeated_ones_are() -> None:
    others = runs("." * 200)
    rules = Rules(critical=frozenset({"pay"}))
    once = verdict(others + runs("." * 15, "pay"), others + runs("." * 14 + "x", "pay"), rules)
    often = verdict(others + runs("." * 15, "pay"), others + runs("x" * 15, "pay"), rules)
    assert (once.state, once.critical) == (State.PASS, [])
    assert (often.state, often.critical) == (State.REGRESSION, ["pay"])


def test_plays_of_one_conversation_count_once() -> None:
    candidate = [Played(one.dialog, "same", one.passed, one.correct, one.reason, one.parts) for one in runs("x" * 40)]
    result = verdict(runs("." * 40), candidate)
    assert (result.pairs, result.independent, result.state) == (40, 1, State.NOT_ENOUGH_EVIDENCE)


def test_a_reason_that_costs_nothing_is_no_regression() -> None:
    assert verdict(runs("." * 100), runs("x" * 100), Rules(costs={"tool_mismatch": 0.0})).state is State.PASS


def test_a_loss_within_the_margin_is_no_regression() -> None:
    baseline, candidate = runs("." * 400), runs("....x" * 80)
    assert verdict(baseline, candidate).state is State.REGRESSION
    assert verdict(baseline, candidate, Rules(margin=0.3, tolerance=0.4)).state is State.PASS


def test_a_slower_release_is_said_to_be() -> None:
    result = verdict(runs("." * 50), runs("." * 50, latency=2.0))
    assert [(one.area, one.worse) for one in result.changes] == [("latency", True)]
    assert sentence(result) == "pass, but it is slower"


def test_dialogs_lost_at_an_equal_mean_are_said_beside_a_pass_also_where_they_may_be_chance() -> None:
    """One run of each dialog proves nothing of any; that some were lost and as many gained is told."""
    before = [one for number in range(300) for one in runs("x" if number < 4 else ".", f"d{number}")]
    now = [one for number in range(300) for one in runs("x" if 4 <= number < 8 else ".", f"d{number}")]
    result = verdict(before, now)
    assert (result.state, result.changes) == (State.PASS, [])
    assert sentence(result) == "pass; 4 dialogs lost, 4 gained, by chance or not"


def test_turns_show_a_release_that_does_nothing_where_runs_failed_before() -> None:
    baseline = runs("x" * 24 + ".", correct=0.75)
    result = verdict(baseline, runs("x" * 25))
    assert (result.state, result.decided_by) == (State.REGRESSION, [Endpoint.TURNS])
    assert result.found[Endpoint.TURNS].difference.mean == pytest.approx((24 * 0.75 + 1) / 25)
    assert verdict(baseline, baseline).state is State.NOT_ENOUGH_EVIDENCE


def test_a_pass_needs_both_runs_and_turns() -> None:
    """Runs fail as before; turns fall by 15 points, which is beyond the tolerance, and within a larger one."""
    baseline, candidate = runs("." * 200 + "x" * 200, correct=0.6), runs("." * 200 + "x" * 200, correct=0.3)
    mixed = np.random.default_rng(1).permutation(400)
    paired = pair([baseline[one] for one in mixed], [candidate[one] for one in mixed])
    result = decide(paired, Rules(margin=0.12, tolerance=0.13))
    assert result.found[Endpoint.RUNS].log_pass >= result.log_threshold > result.log_pass
    assert result.state is not State.PASS
    assert decide(paired, Rules(margin=0.2, tolerance=0.25)).state is State.PASS


def test_evidence_of_either_endpoint_is_the_mean_of_both() -> None:
    result = verdict(runs("." * 9 + "x" * 3, correct=0.5), runs("x" * 9 + "." * 3, correct=0.5))
    each = [math.exp(one.log_regression) for one in result.found.values()]
    assert math.exp(result.log_regression) == pytest.approx(sum(each) / 2)
    assert each[1] > each[0] > 1.0


def test_a_state_agrees_with_the_interval_of_all_that_was_seen() -> None:
    """Forty dialogs lost and then forty others gained, or the other way round: nothing is lost on average, and what was
    evident after the first half does not stay so."""
    baseline = runs("." * 40, "a") + runs("x" * 40, "b")
    candidate = runs("x" * 40, "a") + runs("." * 40, "b")
    for before, now in ((baseline, candidate), (candidate, baseline)):
        result = verdict(before, now)
        assert result.state is State.NOT_ENOUGH_EVIDENCE
        assert result.found[Endpoint.RUNS].difference.lower < 0 < result.found[Endpoint.RUNS].difference.upper


@pytest.mark.parametrize("lost", range(8))
def test_evidence_of_a_pass_is_that_the_interval_ends_below_the_tolerance(lost: int) -> None:
    found = verdict(runs("." * 100), runs("x" * lost + "." * (100 - lost))).found[Endpoint.RUNS]
    passes = found.log_pass >= -math.log(0.02)
    assert passes is (found.difference.upper <= 0.105)  # bounds are in steps of half a point, outwards
    assert passes is (lost <= 1)


@pytest.mark.parametrize("fixed", [False, True])
def test_no_look_passes_on_few_pairs(fixed: bool) -> None:
    """Where the candidate loses the tolerance, 36 pairs without a difference have a probability above alpha."""
    assert decide(pair(runs("." * 36), runs("." * 36)), Rules(), fixed).state is State.NOT_ENOUGH_EVIDENCE
    assert decide(pair(runs("." * 50), runs("." * 50)), Rules(), fixed).state is State.PASS


def test_turns_cost_what_the_reason_of_their_run_costs() -> None:
    found = verdict(runs("." * 100), runs("x" * 100, correct=0.5), Rules(costs={"tool_mismatch": 0.4})).found
    assert found[Endpoint.RUNS].difference.mean == pytest.approx(0.4)
    assert found[Endpoint.TURNS].difference.mean == pytest.approx(0.2)


def test_sub_metrics_are_compared_whatever_the_state() -> None:
    part = Part("submetric", "truthfulness")
    shares = {one.submetric: one for one in verdict(runs("." * 20), runs("x" * 5 + "." * 15, part=part)).submetrics}
    one = shares[SubMetric.TRUTHFULNESS]
    assert (one.baseline, one.candidate, one.difference.mean) == (0.0, 0.25, 0.25)
    assert one.difference.lower < 0.25 < one.difference.upper
    assert shares[SubMetric.COMPLETENESS].candidate == 0.0


def one_look(baseline: Sequence[Played], candidate: Sequence[Played], rules: Rules | None = None) -> Result:
    return decide(pair(baseline, candidate), rules or Rules(), fixed=True)


def test_one_look_gives_mcnemars_exact_p() -> None:
    result = one_look(runs("." * 10), runs("x" * 6 + "." * 4))
    assert math.exp(-result.log_regression) == pytest.approx(2**-6)
    assert result.state is State.REGRESSION


@pytest.mark.parametrize("other", [[0.75, 0.5, 0.5, 0.25, -0.25], [1.0, 0.0, 1.0, 0.0, -1.0]])
def test_one_look_at_shares_is_exact_as_well(other: list[float]) -> None:
    """Counted by trying every sign; where two endpoints are looked at, by the larger of both in each trial."""
    both = [np.array([0.75, 0.5, 0.5, 0.25, -0.25]), np.array(other)]
    signs = np.array(list(itertools.product((-1, 1), repeat=5)))
    sums = np.max([signs @ np.abs(one) / np.linalg.norm(one) for one in both], axis=0)
    seen = max(one.sum() / np.linalg.norm(one) for one in both)
    assert exact_p_of_either(both) == pytest.approx((sums >= seen - 1e-9).mean(), abs=0.015)


def test_one_look_weighs_what_runs_cost() -> None:
    """Twenty cheap losses are less than five dear gains."""
    baseline = runs("." * 20, "cheap") + runs("xxxxx", "dear", REPLY)
    candidate = runs("x" * 20, "cheap") + runs(".....", "dear")
    result = one_look(baseline, candidate, Rules(costs={"tool_mismatch": 0.1}))
    assert result.found[Endpoint.RUNS].difference.mean == pytest.approx(-0.12)
    assert math.exp(-result.log_regression) > 0.5


def test_after_one_look_no_more_runs_are_asked_for() -> None:
    result = one_look(runs("." * 9), runs("xx" + "." * 7))
    assert (result.state, result.more) == (State.NOT_ENOUGH_EVIDENCE, None)
    assert sentence(result) == "not enough evidence: it was the one look that there is"


def test_one_look_tells_ps_up_to_one_however_much_there_is_against_a_pass() -> None:
    baseline, candidate = runs("." * 3000), runs("x" * 3000)
    result = one_look(baseline, candidate)
    told = dict(facts(("1", "2"), (Release(list(baseline)), Release(list(candidate))), result))
    assert told["p, pass"].startswith("1 (needs 0.02)")


def test_one_look_never_says_that_something_cannot_be() -> None:
    result = one_look(runs("." * 3000), runs("x" * 3000))
    assert math.isfinite(result.log_regression)
    assert result.state is State.REGRESSION


def test_one_look_is_exact_for_critical_dialogs_too() -> None:
    """Six of six lost have a p of 1/64, above half of alpha; seven one below it."""
    others = runs("." * 200)
    six, seven = (
        one_look(others + runs("." * lost, "pay"), others + runs("x" * lost, "pay"), Rules(critical=frozenset({"pay"})))
        for lost in (6, 7)
    )
    assert (six.critical, seven.critical) == ([], ["pay"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"margin": 1.0}, "margin is 1"),
        ({"margin": 0.2}, "tolerance is 0.1: give more than the margin"),
        ({"alpha": 0.0}, "alpha is 0"),
        ({"costs": {"tool_mismatch": 2.0}}, "the cost of tool_mismatch is 2"),
        ({"latency": -1.0}, "latency is -1"),
    ],
)
def test_rules_out_of_range_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Rules(**wrong)  # type: ignore[arg-type]
