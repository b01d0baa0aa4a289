"""Replies that are right enough: the least shares of right claims, by configuration and by turn."""

from typing import Any

import pytest

from aem_monitor.attribution.steps import Judge, ScoringSettings
from aem_monitor.model.verdict import FailureReason, RunResult
from aem_monitor.scoring.thresholds import TOLERATED, ReplyThresholds
from tests.playing import SCORER, agent, entry, exchange, golden, runs, user

ASK = "How did we do in 2024?"
REFERENCE = "Revenue was 1.2 million. Profit was 310000. We have 42 stores. The best region was Spain."
INCOMPLETE = "Revenue was 1.2 million. Profit was 310000. The best region was Spain."
UNTRUE = "Revenue was 1.2 million. Profit was 310000. We have 42 stores in Spain. Costs were 777 euros."


def result(reply: str, configured: ReplyThresholds | None = None, **turn: Any) -> RunResult:
    dialog = golden([user(ASK), agent(1, REFERENCE, **turn)])
    (run,) = runs(dialog, exchange(ASK, [], reply))
    return Judge(SCORER, ScoringSettings(reply=configured or ReplyThresholds())).plan(run).result


@pytest.mark.parametrize(
    ("reply", "submetric", "reason"),
    [
        (INCOMPLETE, "completeness", FailureReason.INCOMPLETE_RESPONSE),
        (UNTRUE, "truthfulness", FailureReason.INCONSISTENT_RESPONSE),
    ],
)
def test_a_share_of_right_claims_passes_from_its_threshold_on(
    reply: str, submetric: str, reason: FailureReason
) -> None:
    strict = entry(result(reply), 1)
    assert strict.failure_reason is reason
    (share,) = {check.score for check in strict.checks if check.passed is False}
    assert share == pytest.approx(0.75)
    enough, too_little = ({submetric: least} for least in (0.75, 0.8))
    for judged in (result(reply, thresholds=enough), result(reply, ReplyThresholds(**enough))):
        checks = [check for check in entry(judged, 1).checks if check.rule == TOLERATED]
        assert [(check.submetric, check.passed, check.score) for check in checks] == [(submetric, True, share)]
        assert judged.test_pass is True
    for judged in (result(reply, thresholds=too_little), result(reply, ReplyThresholds(**too_little))):
        assert entry(judged, 1).failure_reason is reason


def test_the_turn_s_own_threshold_goes_before_the_configured_one() -> None:
    lenient = ReplyThresholds(0.1, 0.1)
    assert result(INCOMPLETE, lenient).test_pass is True
    assert result(INCOMPLETE, lenient, thresholds={"completeness": 1.0}).test_pass is False
    assert result(INCOMPLETE, lenient, thresholds={"truthfulness": 1.0}).test_pass is True


def test_each_sub_metric_has_its_own() -> None:
    assert result(INCOMPLETE, ReplyThresholds(truthfulness=0.1)).test_pass is False
    assert result(UNTRUE, ReplyThresholds(truthfulness=0.5)).test_pass is True


def test_what_must_or_must_not_be_mentioned_is_not_weighed() -> None:
    anything = ReplyThresholds(0.0, 0.0)
    assert result(INCOMPLETE, anything, must_mention=["42"]).test_pass is False
    assert result(INCOMPLETE, anything, must_not_mention=["310000"]).test_pass is False
