"""Which thresholds scoring goes by: configured ones, and calibrated ones in their place."""

import json
from pathlib import Path

from aem_monitor.attribution.steps import ScoringSettings
from aem_monitor.config.load import load_config
from aem_monitor.config.settings import pipeline_settings
from aem_monitor.scoring.thresholds import ReplyThresholds


def scoring(tmp_path: Path, text: str) -> ScoringSettings:
    path = tmp_path / "aem.yaml"
    path.write_text(text, encoding="utf-8")
    return pipeline_settings(load_config(path, {})).scoring


def test_every_sub_metric_has_a_threshold_of_its_own(tmp_path: Path) -> None:
    found = scoring(tmp_path, "scoring: {threshold: 0.4, reply: {completeness: 0.8}}\n")
    assert (found.threshold, found.reply) == (0.4, ReplyThresholds(0.8, 1.0))


def test_calibrated_thresholds_take_the_place_of_the_configured_ones_that_they_are_for(tmp_path: Path) -> None:
    one = {"labels": 5, "agreement": 0.9, "constant": 0.5}
    names = {"value": 0.6, "response_truthfulness": 0.7, "safety": 0.1}
    calibrated = {
        "format": "aem-monitor-calibration/1",
        "submetrics": {name: {"threshold": threshold, **one} for name, threshold in names.items()},
    }
    (tmp_path / "c.json").write_text(json.dumps(calibrated), encoding="utf-8")
    found = scoring(tmp_path, "scoring: {calibration: c.json, threshold: 0.4, reply: {completeness: 0.8}}\n")
    assert (found.threshold, found.reply) == (0.6, ReplyThresholds(0.8, 0.7))
