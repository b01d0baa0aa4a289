"""What the gate does not know: it never passes for that, and says so."""

from collections.abc import Sequence

import numpy as np
import pytest

from aem_monitor.canary.endpoints import Endpoint
from aem_monitor.canary.gate import More, Result, Rules, Short, State, decide
from aem_monitor.canary.meeting import Alone, Play
from aem_monitor.canary.pairs import Undecided, pair
from aem_monitor.canary.played import Release
from aem_monitor.canary.render import facts, sentence
from tests.canary.test_gate import runs


def plays(pattern: str, dialog: str = "refund") -> list[Play]:
    """A run a letter: as ``runs``, and ``?`` is undecided."""
    return [
        Undecided(one.dialog, one.conversation) if letter == "?" else one
        for letter, one in zip(pattern, runs(pattern.replace("?", "."), dialog), strict=True)
    ]


def verdict(
    baseline: Sequence[Play], candidate: Sequence[Play], rules: Rules | None = None, fixed: bool = False
) -> Result:
    return decide(pair(baseline, candidate), rules or Rules(), fixed)


def critical(*names: str) -> Rules:
    return Rules(critical=frozenset(names))


OTHERS = runs("." * 200, "other")


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("candidate", ["", "?" * 20])
def test_a_critical_dialog_that_was_never_decided_holds_a_pass_back(candidate: str, fixed: bool) -> None:
    result = verdict([*OTHERS, *plays("." * 20)], [*OTHERS, *plays(candidate)], critical("refund"), fixed)
    needed = 7 if fixed else 8
    assert (result.state, result.short) == (State.NOT_ENOUGH_EVIDENCE, [Short("refund", 0, needed, True)])
    assert f"refund (0 of {needed})" in sentence(result)
    assert result.more is None if fixed else result.more is not None and (result.more.least or 0) >= needed


@pytest.mark.parametrize("fixed", [False, True])
def test_a_critical_dialog_needs_as_many_runs_as_would_show_that_it_is_broken(fixed: bool) -> None:
    def states(count: int) -> list[State]:
        baseline = [*OTHERS, *runs("." * count)]
        return [verdict(baseline, [*OTHERS, *runs(letter * count)], critical("refund"), fixed).state for letter in ".x"]

    least = 7 if fixed else 8
    assert states(least - 1) == [State.NOT_ENOUGH_EVIDENCE] * 2
    assert states(least) == [State.PASS, State.REGRESSION]


def test_a_critical_dialog_of_which_there_is_no_run_is_named() -> None:
    result = verdict(OTHERS, OTHERS, critical("misspelt"))
    assert result.state is State.NOT_ENOUGH_EVIDENCE
    assert "critical dialogs of which neither release has a run: misspelt" in sentence(result)


def test_a_regression_is_one_also_where_a_critical_dialog_has_no_run() -> None:
    assert verdict(runs("." * 40), runs("x" * 40), critical("other")).state is State.REGRESSION


def test_more_undecided_runs_hold_a_pass_back_and_are_named() -> None:
    result = verdict(plays("." * 200), plays(".?" * 100))
    assert (result.state, result.more) == (State.NOT_ENOUGH_EVIDENCE, More(None, None, None))
    assert [(one.area, one.worse) for one in result.changes] == [("undecided", True)]
    assert result.undecided.difference.mean == 0.5
    assert min(one.log_pass for one in result.found.values()) >= result.log_threshold > result.log_pass
    assert "more runs are undecided than before" in sentence(result)


def test_undecided_runs_add_to_what_is_lost() -> None:
    """Seven points less of the decided runs, and seven points more undecided, are beyond a tolerance of ten."""
    mixed = np.random.default_rng(1)
    baseline, candidate = (list("x" * 100 + "." * 900), list("x" * 165 + "?" * 70 + "." * 765))
    mixed.shuffle(baseline)
    mixed.shuffle(candidate)
    result = verdict(plays("".join(baseline)), plays("".join(candidate)), Rules(margin=0.099, tolerance=0.1))
    assert result.state is State.NOT_ENOUGH_EVIDENCE
    assert result.undecided.difference.mean == pytest.approx(0.135)
    assert result.found[Endpoint.RUNS].difference.mean == pytest.approx(0.077, abs=0.01)


def test_runs_that_failed_before_and_are_undecided_now_are_no_loss_and_are_said_beside_a_pass() -> None:
    result = verdict(plays("...x" * 80), plays("...?" * 80))
    assert (result.state, result.undecided.difference.mean) == (State.PASS, 0.0)
    assert [(one.area, one.worse) for one in result.changes] == [("undecided", True)]
    assert sentence(result).endswith("; more runs are undecided than before")


def test_an_undecided_run_costs_all_whatever_a_reason_costs() -> None:
    rules = Rules(costs={"tool_mismatch": 0.0})
    assert verdict(plays("." * 100), plays("x" * 100), rules).state is State.PASS
    assert verdict(plays("." * 100), plays("x" * 50 + "?" * 50), rules).undecided.difference.mean == 0.5


def test_as_many_undecided_runs_as_before_are_no_hindrance() -> None:
    mixed = "".join(np.random.default_rng(1).permutation(list("?" * 60 + "." * 540)))
    result = verdict(plays(mixed), plays(mixed[::-1]))
    assert (result.state, result.changes) == (State.PASS, [])


def test_fewer_undecided_runs_are_said_beside_a_pass() -> None:
    result = verdict(plays(".?" * 100), plays("." * 200))
    assert result.state is State.PASS
    assert [(one.area, one.worse) for one in result.changes] == [("undecided", False)]


@pytest.mark.parametrize(("share", "fall", "state"), [(0.2, 0.0, State.REGRESSION), (0.1, 0.125, State.PASS)])
def test_undecided_runs_make_no_more_wrong_verdicts(share: float, fall: float, state: State) -> None:
    """Forty rollouts of a release that is as good, a fifth of its runs being undecided, and of one that loses the
    tolerance by them: wrong verdicts are as rare as alpha allows (1, by chance 3)."""
    wrong = 0
    for seed in range(40):
        drawn = np.random.default_rng(seed).random((4, 300))
        before, now = (
            plays("".join("?" if doubt < rate else "." if good < 0.8 else "x" for doubt, good in zip(*of, strict=True)))
            for rate, of in ((share, drawn[:2]), (share + fall, drawn[2:]))
        )
        result = verdict(before, now)
        log = result.undecided.log_pass if state is State.PASS else result.log_regression
        wrong += log >= result.log_threshold
    assert wrong <= 3


def test_dialogs_that_one_release_did_not_play_are_said_beside_a_pass() -> None:
    baseline = [one for name in ("a", "b", "c") for one in runs("." * 80, name)]
    result = verdict(baseline, runs("." * 80, "a"))
    assert result.state is State.PASS
    assert sentence(result) == "pass; 2 dialogs that only the baseline played: b; c"
    assert result.baseline_alone[Alone.DIALOG] == {"b": 80, "c": 80}


def test_runs_that_wait_for_the_other_release_are_counted_and_it_is_said_who_must_play() -> None:
    baseline, candidate = runs("." * 10), runs("." * 30)
    result = verdict(baseline, candidate)
    assert sentence(result).endswith("; 20 runs of the candidate wait for the baseline")
    told = dict(facts(("1", "2"), (Release([*baseline]), Release([*candidate])), result))
    assert told["baseline without a partner"] == "0"
    assert told["candidate without a partner"] == "20 of which the other release has fewer (refund)"
