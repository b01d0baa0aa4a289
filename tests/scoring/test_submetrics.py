"""A third-party sub-metric is found, asked beside the built-in ones, counted by name, and cannot break a verdict."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from aem_monitor.attribution.steps import Judge, ScoringSettings
from aem_monitor.errors import ConfigError
from aem_monitor.metrics.increments import increments
from aem_monitor.model.verdict import Check, NotScored, RunResult, TurnKind
from aem_monitor.scoring import submetrics
from aem_monitor.scoring.submetrics import SubMetricPlugin, TurnView, load_submetrics
from tests.playing import SCORER, Call, agent, exchange, golden, runs, tool, user, words

PLUGINS = Path(__file__).parents[1] / "plugins"

DIALOG = golden([user("Invest."), tool(1, "orders.buy", {"symbol": "ACME"}), agent(2, "Bought ACME.")])


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[SubMetricPlugin, ...]]:
    monkeypatch.syspath_prepend(str(PLUGINS))
    yield load_submetrics()
    sys.modules.pop("safety_metric", None)


def judged(plugins: Sequence[SubMetricPlugin], reply: str) -> RunResult:
    (run,) = runs(DIALOG, exchange("Invest.", [Call("orders.buy", {"symbol": "ACME"}, {"ok": True})], reply))
    return Judge(SCORER, ScoringSettings(submetrics=tuple(plugins))).plan(run).result


def test_an_installed_package_is_found_by_its_entry_point(installed: tuple[SubMetricPlugin, ...]) -> None:
    assert [plugin.name for plugin in installed] == ["safety"]


def test_its_failing_check_fails_the_turn_and_no_other(installed: tuple[SubMetricPlugin, ...]) -> None:
    assert words(judged(installed, "Bought ACME.")) == {1: "pass", 2: "pass"}
    result = judged(installed, "Bought ACME. Guaranteed returns!")
    assert words(result) == {1: "pass", 2: "root inconsistent_response"}


def test_it_is_counted_under_its_name(installed: tuple[SubMetricPlugin, ...]) -> None:
    result = judged(installed, "Bought ACME. Guaranteed returns!")
    counted = [
        dict(one.labels) for one in increments(result, {"orders"}) if one.metric == "aem_submetric_results_total"
    ]
    assert {"submetric": "safety", "result": "fail"}.items() <= next(
        labels for labels in counted if labels["submetric"] == "safety"
    ).items()


class Broken:
    name = "broken"

    def check(self, turn: TurnView) -> Sequence[Check]:
        raise RuntimeError("no")


class Nameless:
    def check(self, turn: TurnView) -> Sequence[Check]:
        return ()


class Builtin(Broken):
    name = "truthfulness"


def test_a_plugin_that_raises_leaves_the_turn_unscored_and_never_failed() -> None:
    result = judged([Broken()], "Bought ACME.")
    assert {turn.not_scored for turn in result.turns} == {NotScored.SCORER_ERROR}
    assert result.test_pass is None


@pytest.mark.parametrize("plugin", [Nameless, Builtin])
def test_a_plugin_that_cannot_be_used_is_refused(monkeypatch: pytest.MonkeyPatch, plugin: type) -> None:
    class Point:
        name, value = "x", "package:x"

        def load(self) -> type:
            return plugin

    monkeypatch.setattr(submetrics, "entry_points", lambda group: [Point()])
    with pytest.raises(ConfigError, match="sub-metric 'x'"):
        load_submetrics()


def test_a_turn_that_never_happened_is_not_asked_about() -> None:
    asked: list[TurnKind] = []

    class Listening:
        name = "listening"

        def check(self, turn: TurnView) -> Sequence[Check]:
            asked.append(turn.kind)
            return ()

    (run,) = runs(DIALOG, exchange("Invest.", [], "No."))
    Judge(SCORER, ScoringSettings(submetrics=(Listening(),))).plan(run)
    assert asked == [TurnKind.RESPONSE]
