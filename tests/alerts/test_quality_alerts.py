"""Each alert about the agents: it fires, does not fire without reason, for few runs, or because of a restart."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from tests.alerts.promtool import Phase, check_firing, series, values
from tests.alerts.traffic import PER_HOUR, Traffic, first_seen, play

AGENT: Final = {"job": "aem-monitor", "agent": "reporting"}
RELEASE: Final = {**AGENT, "release": "1.0.0"}
NEW: Final = {**AGENT, "release": "2.0.0"}
MISMATCH: Final = {**RELEASE, "reason": "tool_mismatch"}

NORMAL: Final = Traffic(48, roots={"tool_mismatch": 0.02, "inconsistent_response": 0.02})
"""Two days as ever."""

SPIKE: Final = Traffic(3, roots={"tool_mismatch": 0.12, "inconsistent_response": 0.02})


def few(traffic: Traffic) -> Traffic:
    """The same with one run in four hours."""
    return replace(traffic, runs=0.25)


class Checks:
    @pytest.fixture(autouse=True)
    def _promtool(self, promtool: Path, tmp_path: Path) -> None:
        self.promtool, self.folder = promtool, tmp_path

    def check(self, alert: str, exposed: Mapping[str, str], at: Mapping[str, list[dict[str, str]]]) -> None:
        check_firing(self.promtool, self.folder, alert, exposed, at)


class TestRootCauseSpike(Checks):
    def test_a_reason_that_becomes_frequent_fires_alone_and_resolves_when_it_is_rare_again(self) -> None:
        after = replace(NORMAL, hours=40)
        at = {"47h": [], "49h": [MISMATCH], "51h": [MISMATCH], "87h": []}
        self.check("AemRootCauseSpike", play(NORMAL, SPIKE, after), at)

    def test_a_model_that_is_rolled_back_resolves_it_although_the_day_remembers(self) -> None:
        at = {"51h": [MISMATCH], "60h": [], "66h": [], "74h": []}
        self.check("AemRootCauseSpike", play(NORMAL, SPIKE, replace(NORMAL, hours=24)), at)

    def test_a_release_that_is_rolled_back_resolves_it_although_its_last_turns_were_bad(self) -> None:
        old = play(NORMAL, Traffic(3, runs=0.0), replace(NORMAL, hours=24))
        new = play(Traffic(48, absent=True), SPIKE, Traffic(24, runs=0.0), release="2.0.0")
        at = {"50h": [{**NEW, "reason": "tool_mismatch"}], "55h": [], "62h": [], "74h": []}
        self.check("AemRootCauseSpike", {**old, **new}, at)

    def test_a_release_that_was_rolled_back_does_not_page_again_when_its_agent_stops(self) -> None:
        old = play(NORMAL, Traffic(3, runs=0.0), replace(NORMAL, hours=6), Traffic(12, runs=0.0))
        new = play(Traffic(48, absent=True), SPIKE, Traffic(18, runs=0.0), release="2.0.0")
        at = {"50h": [{**NEW, "reason": "tool_mismatch"}], "56h": [], "59h": [], "62h": [], "68h": []}
        self.check("AemRootCauseSpike", {**old, **new}, at)

    def test_a_spike_that_goes_on_is_one_page_until_it_ends(self) -> None:
        at = {f"{hour}h": [MISMATCH] for hour in range(49, 61)}
        self.check("AemRootCauseSpike", play(NORMAL, replace(SPIKE, hours=12)), at)

    def test_an_agent_that_does_not_run_has_not_been_rolled_back(self) -> None:
        quiet = Traffic(6, runs=0.0)  # longer than keep_firing_for; the six hours still have the fault
        self.check("AemRootCauseSpike", play(NORMAL, SPIKE, quiet), {"53h": [MISMATCH], "56h": [MISMATCH]})

    def test_what_is_as_ever_does_not_fire(self) -> None:
        self.check("AemRootCauseSpike", play(NORMAL, replace(NORMAL, hours=6)), {"50h": [], "54h": []})

    def test_more_runs_are_no_spike(self) -> None:
        self.check("AemRootCauseSpike", play(NORMAL, replace(NORMAL, hours=6, runs=600.0)), {"50h": [], "54h": []})

    def test_few_runs_prove_nothing(self) -> None:
        self.check("AemRootCauseSpike", play(NORMAL, few(SPIKE)), {"49h": [], "51h": []})

    def test_a_quiet_agent_is_found_in_the_long_windows(self) -> None:
        normal, worse = replace(NORMAL, runs=10.0, hours=72), replace(SPIKE, runs=10.0, hours=20)
        self.check("AemRootCauseSpike", play(normal, worse), {"71h": [], "82h": [MISMATCH]})

    def test_without_a_baseline_there_is_no_spike(self) -> None:
        self.check("AemRootCauseSpike", play(SPIKE, replace(SPIKE, hours=20)), {"2h": [], "22h": []})

    def test_a_new_release_is_held_against_the_past_of_the_agent(self) -> None:
        new = play(Traffic(48, absent=True), SPIKE, release="2.0.0")
        self.check("AemRootCauseSpike", {**play(NORMAL), **new}, {"50h": [{**NEW, "reason": "tool_mismatch"}]})

    def test_a_restart_of_a_monitor_that_keeps_its_totals_changes_nothing(self) -> None:
        gap = Traffic(1, absent=True)
        rest = replace(NORMAL, hours=3)
        self.check("AemRootCauseSpike", play(NORMAL, gap, rest), {"49h": [], "50h": [], "51h": []})
        self.check("AemRootCauseSpike", play(NORMAL, SPIKE, gap, SPIKE), {"51h": [MISMATCH], "53h": [MISMATCH]})

    def test_counters_that_begin_at_zero_again_change_nothing(self) -> None:
        restarted = replace(NORMAL, hours=3, restart=True)
        self.check("AemRootCauseSpike", play(NORMAL, restarted), {"49h": [], "50h": []})
        self.check("AemRootCauseSpike", play(NORMAL, SPIKE, replace(SPIKE, restart=True)), {"52h": [MISMATCH]})

    def test_series_that_vanish_do_not_resolve_it_at_once(self) -> None:
        gone = Traffic(2, absent=True)
        self.check("AemRootCauseSpike", play(NORMAL, SPIKE, gone), {"51h": [MISMATCH], "51h30m": [MISMATCH]})

    def test_replicas_are_summed(self) -> None:
        exposed = {**play(NORMAL, SPIKE), **play(NORMAL, SPIKE, instance="monitor-1")}
        self.check("AemRootCauseSpike", exposed, {"47h": [], "50h": [MISMATCH]})


class TestRootCauseSpikePast(Checks):
    def test_it_lasts_as_long_as_warnings_that_look_over_a_day(self) -> None:
        bad = replace(SPIKE, roots={"tool_mismatch": 0.3}, failed=0.6)
        old = play(NORMAL, Traffic(3, runs=0.0), replace(NORMAL, hours=30))
        new = play(Traffic(48, absent=True), bad, Traffic(30, runs=0.0), release="2.0.0")
        exposed = {**old, **new}
        past = [{**NEW, "reason": "tool_mismatch"}]
        low = [{**NEW, "window": "1d"}]
        self.check("AemRootCauseSpikePast", exposed, {"47h": [], "50h": past, "66h": past, "76h": past, "80h": []})
        self.check("AemTurnCorrectnessLow", exposed, {"47h": [], "50h": low, "66h": low, "77h": []})

    def test_what_is_as_ever_does_not_fire(self) -> None:
        self.check("AemRootCauseSpikePast", play(NORMAL, replace(NORMAL, hours=6)), {"50h": [], "54h": []})


class TestReleaseRegression(Checks):
    OLD: Final = play(Traffic(60, failed=0.1))

    def new(self, *phases: Traffic) -> dict[str, str]:
        exposed = {**self.OLD, **play(Traffic(48, absent=True), *phases, release="2.0.0")}
        return {**exposed, **first_seen("1.0.0", 0), **first_seen("2.0.0", 48)}

    def test_a_worse_release_fires_and_resolves_when_it_does_not_run_any_more(self) -> None:
        exposed = self.new(Traffic(3, failed=0.4), Traffic(9, runs=0.0, failed=0.0))
        self.check("AemReleaseRegression", exposed, {"47h": [], "50h": [NEW], "54h": []})

    def test_a_release_that_is_as_good_does_not_fire(self) -> None:
        self.check("AemReleaseRegression", self.new(Traffic(12, failed=0.1)), {"50h": [], "59h": []})

    def test_the_old_release_is_not_blamed_for_a_better_one(self) -> None:
        exposed = {
            **play(Traffic(90, failed=0.4)),
            **play(Traffic(48, absent=True), Traffic(42, failed=0.0), release="2.0.0"),
        }
        self.check(
            "AemReleaseRegression", {**exposed, **first_seen("1.0.0", 0), **first_seen("2.0.0", 48)}, {"85h": []}
        )

    def test_few_runs_prove_nothing(self) -> None:
        self.check("AemReleaseRegression", self.new(few(Traffic(12, failed=0.6))), {"51h": [], "59h": []})

    def test_without_a_past_there_is_no_regression(self) -> None:
        exposed = {**play(Traffic(20, failed=0.6)), **first_seen("1.0.0", 0)}
        self.check("AemReleaseRegression", exposed, {"19h": []})

    def test_a_restart_changes_nothing(self) -> None:
        good = self.new(Traffic(3), Traffic(1, absent=True), Traffic(4, restart=True))
        self.check("AemReleaseRegression", good, {"53h": [], "55h": []})
        bad = self.new(Traffic(3, failed=0.4), Traffic(4, failed=0.4, restart=True))
        self.check("AemReleaseRegression", bad, {"50h": [NEW], "53h": [NEW]})

    def test_series_that_vanish_do_not_resolve_it_at_once(self) -> None:
        exposed = self.new(Traffic(3, failed=0.4), Traffic(2, absent=True))
        self.check("AemReleaseRegression", exposed, {"50h": [NEW], "51h15m": [NEW]})


class TestReasonMixShift(Checks):
    OTHER: Final = Traffic(12, roots={"inconsistent_response": 0.04})
    LARGE: Final = {**AGENT, "model": "large-1"}

    def new(self, *phases: Traffic) -> dict[str, str]:
        return {**play(NORMAL), **play(Traffic(48, absent=True), *phases, release="2.0.0", model="large-1")}

    def test_a_model_that_fails_for_other_reasons_fires_whatever_its_rate(self) -> None:
        self.check("AemReasonMixShift", self.new(self.OTHER), {"47h": [], "55h": [self.LARGE]})

    def test_the_same_mix_does_not_fire(self) -> None:
        self.check("AemReasonMixShift", self.new(replace(NORMAL, hours=12)), {"55h": []})

    def test_a_known_model_does_not_fire(self) -> None:
        self.check("AemReasonMixShift", play(NORMAL, self.OTHER, replace(self.OTHER, hours=24)), {"80h": []})

    def test_few_root_causes_have_no_mix(self) -> None:
        self.check("AemReasonMixShift", self.new(few(self.OTHER)), {"55h": []})

    def test_a_restart_changes_nothing(self) -> None:
        restarted = self.new(replace(NORMAL, hours=4), replace(NORMAL, hours=4, restart=True))
        self.check("AemReasonMixShift", restarted, {"53h": [], "55h": []})

    def test_series_that_vanish_do_not_resolve_it_at_once(self) -> None:
        self.check("AemReasonMixShift", self.new(self.OTHER, Traffic(2, absent=True)), {"60h30m": [self.LARGE]})


class TestChainLengthDegradation(Checks):
    LONG: Final = {**AGENT, "chain_length": "3+", "window": "1d"}
    WORSE: Final = Traffic(12, roots={"tool_mismatch": 0.2})

    def chains(self, *phases: Traffic) -> dict[str, str]:
        single = play(NORMAL, *(replace(NORMAL, hours=phase.hours) for phase in phases))
        return {**single, **play(NORMAL, *phases, chain_length="3+", release="1.0.1")}

    def test_long_chains_that_break_more_often_fire(self) -> None:
        self.check("AemChainLengthDegradation", self.chains(self.WORSE), {"47h": [], "59h": [self.LONG]})

    def test_what_is_as_ever_does_not_fire(self) -> None:
        self.check("AemChainLengthDegradation", self.chains(replace(NORMAL, hours=12)), {"59h": []})

    def test_few_turns_prove_nothing(self) -> None:
        normal = few(NORMAL)
        exposed = play(normal, few(self.WORSE), chain_length="3+")
        self.check("AemChainLengthDegradation", exposed, {"59h": []})

    def test_a_restart_changes_nothing(self) -> None:
        rest = replace(NORMAL, hours=6, restart=True)
        self.check("AemChainLengthDegradation", self.chains(replace(NORMAL, hours=6), rest), {"55h": [], "59h": []})

    def test_series_that_vanish_do_not_resolve_it_at_once(self) -> None:
        exposed = self.chains(self.WORSE, Traffic(2, absent=True))
        self.check("AemChainLengthDegradation", exposed, {"60h30m": [self.LONG]})


class TestTurnCorrectness(Checks):
    BAD: Final = Traffic(12, roots={"tool_mismatch": 0.1}, cascades=0.1)
    ALARM: Final = {**RELEASE, "window": "1d"}

    def test_a_rate_surely_below_the_objective_fires(self) -> None:
        self.check("AemTurnCorrectnessLow", play(self.BAD), {"11h": [self.ALARM]})

    def test_a_rate_that_may_be_at_the_objective_does_not_fire(self) -> None:
        self.check("AemTurnCorrectnessLow", play(replace(self.BAD, cascades=0.01)), {"11h": []})

    def test_few_runs_prove_nothing(self) -> None:
        self.check("AemTurnCorrectnessLow", play(few(replace(self.BAD, cascades=0.9))), {"11h": []})

    def test_a_restart_changes_nothing(self) -> None:
        good = play(replace(NORMAL, hours=6), Traffic(1, absent=True), replace(NORMAL, hours=6, restart=True))
        self.check("AemTurnCorrectnessLow", good, {"8h": [], "12h": []})

    def test_series_that_vanish_do_not_resolve_it_at_once(self) -> None:
        self.check("AemTurnCorrectnessLow", play(self.BAD, Traffic(2, absent=True)), {"12h30m": [self.ALARM]})


class TestBurnRate(Checks):
    FAST: Final = {**AGENT, "window": "1h"}
    SLOW: Final = {**AGENT, "window": "1d"}
    MOST: Final = Traffic(3, roots={"tool_mismatch": 0.3}, cascades=0.4)
    MORE: Final = Traffic(30, roots={"tool_mismatch": 0.15}, cascades=0.1)

    def test_most_turns_failing_fires_within_the_hour_and_resolves_soon_after(self) -> None:
        exposed = play(NORMAL, self.MOST, replace(NORMAL, hours=3))
        self.check("AemBurnRateFast", exposed, {"47h": [], "49h": [self.FAST], "51h45m": []})

    def test_twice_the_budget_is_slow_not_fast(self) -> None:
        self.check("AemBurnRateFast", play(self.MORE), {"29h": []})
        self.check("AemBurnRateSlow", play(self.MORE), {"29h": [self.SLOW]})

    def test_within_the_budget_neither_fires(self) -> None:
        for alert in ("AemBurnRateFast", "AemBurnRateSlow"):
            self.check(alert, play(NORMAL), {"1h": [], "24h": [], "47h": []})

    def test_few_runs_prove_nothing(self) -> None:
        for alert in ("AemBurnRateFast", "AemBurnRateSlow"):
            self.check(alert, play(few(replace(self.MOST, hours=30))), {"1h": [], "29h": []})

    def test_a_restart_changes_nothing(self) -> None:
        good = play(replace(NORMAL, hours=6), Traffic(1, absent=True), replace(NORMAL, hours=6, restart=True))
        for alert in ("AemBurnRateFast", "AemBurnRateSlow"):
            self.check(alert, good, {"7h30m": [], "12h": []})
        self.check("AemBurnRateFast", play(self.MOST, replace(self.MOST, restart=True)), {"5h": [self.FAST]})

    def test_series_that_vanish_do_not_resolve_it_at_once(self) -> None:
        self.check("AemBurnRateFast", play(self.MOST, Traffic(1, absent=True)), {"3h": [self.FAST]})
        self.check("AemBurnRateSlow", play(self.MORE, Traffic(2, absent=True)), {"30h30m": [self.SLOW]})


class TestCoverage(Checks):
    POOR: Final = Traffic(12, unscored=0.5)

    def test_many_turns_without_a_verdict_fire(self) -> None:
        self.check("AemCoverageLow", play(self.POOR), {"11h": [AGENT]})

    def test_a_tenth_without_a_verdict_does_not(self) -> None:
        self.check("AemCoverageLow", play(replace(self.POOR, unscored=0.1)), {"11h": []})

    def test_few_turns_prove_nothing(self) -> None:
        self.check("AemCoverageLow", play(few(self.POOR)), {"11h": []})

    def test_a_restart_changes_nothing(self) -> None:
        good = play(Traffic(4), Traffic(1, absent=True), Traffic(6, restart=True))
        self.check("AemCoverageLow", good, {"6h": [], "10h": []})

    def test_series_that_vanish_do_not_resolve_it_at_once(self) -> None:
        self.check("AemCoverageLow", play(self.POOR, Traffic(2, absent=True)), {"12h30m": [AGENT]})


class TestCorrectnessFallsWithLatency(Checks):
    @staticmethod
    def moments(pairs: list[tuple[float, float]], *phases: Phase) -> dict[str, str]:
        """Pairs of latency and success rate, all of them in each sample of a phase."""
        sums = {
            "count": float(len(pairs)),
            "latency_sum": sum(x for x, _ in pairs),
            "success_sum": sum(y for _, y in pairs),
            "latency_square_sum": sum(x * x for x, _ in pairs),
            "success_square_sum": sum(y * y for _, y in pairs),
            "product_sum": sum(x * y for x, y in pairs),
        }
        return {
            series(f"aem_latency_correctness_{name}_total", agent="reporting", release="1.0.0"): values(
                *(replace(phase, step=phase.step * amount) for phase in phases)
            )
            for name, amount in sums.items()
        }

    FALLING: Final = [(1.0, 1.0), (2.0, 1.0), (3.0, 0.5), (4.0, 0.5), (5.0, 0.0)]
    FLAT: Final = [(1.0, 1.0), (1.0, 0.0), (5.0, 1.0), (5.0, 0.0)]
    DAY: Final = Phase(24 * PER_HOUR, 1.0)

    def test_the_slower_the_worse_fires(self) -> None:
        self.check("AemCorrectnessFallsWithLatency", self.moments(self.FALLING, self.DAY), {"20h": [AGENT]})

    def test_neither_no_connection_nor_the_slower_the_better_does(self) -> None:
        rising = [(6 - x, y) for x, y in self.FALLING]
        for pairs in (self.FLAT, rising, [(x, 1.0) for x, _ in self.FLAT]):
            self.check("AemCorrectnessFallsWithLatency", self.moments(pairs, self.DAY), {"20h": []})

    def test_few_runs_prove_nothing(self) -> None:
        slow = replace(self.DAY, step=0.1)
        self.check("AemCorrectnessFallsWithLatency", self.moments(self.FALLING, slow), {"20h": []})

    def test_a_restart_changes_nothing(self) -> None:
        phases = (self.DAY, Phase(PER_HOUR, absent=True), replace(self.DAY, restart=True))
        self.check("AemCorrectnessFallsWithLatency", self.moments(self.FLAT, *phases), {"26h": [], "40h": []})

    def test_series_that_vanish_do_not_resolve_it_at_once(self) -> None:
        exposed = self.moments(self.FALLING, self.DAY, Phase(2 * PER_HOUR, absent=True))
        self.check("AemCorrectnessFallsWithLatency", exposed, {"24h30m": [AGENT]})
