"""Shorter times change times only, and all of them."""

import re
from pathlib import Path

import pytest

from tests.alerts.promtool import ALERTS, RULE_FILES, load_yaml
from tests.alerts.test_alertmanager import CONFIGURATION
from tests.services.timescale import seconds, shorter, shorter_expression, shorter_routes, shorter_rules


@pytest.mark.parametrize(
    ("duration", "expected"),
    [("5m", "5000ms"), ("1h30m", "90000ms"), ("7d", "10080000ms"), ("30s", "500ms"), ("10ms", "1ms"), ("0s", "0s")],
)
def test_a_duration_is_divided(duration: str, expected: str) -> None:
    assert shorter(duration, 60) == expected


def test_what_is_no_duration_is_refused() -> None:
    with pytest.raises(ValueError, match="no duration"):
        seconds("soon")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('increase(a_total{window="1h"}[1h]) >= 100', 'increase(a_total{window="1h"}[60000ms]) >= 100'),
        ("sum_over_time(a[7d:6h] offset 1d)", "sum_over_time(a[10080000ms:360000ms] offset 1440000ms)"),
        ("time() - max by (job) (a) > 3600 and b", "time() - max by (job) (a) > 60 and b"),
        ("n >= 100 and time() - a < 7 * 86400", "n >= 100 and time() - a < 7 * 1440"),
    ],
)
def test_times_of_an_expression_are_divided_and_nothing_else(expression: str, expected: str) -> None:
    assert shorter_expression(expression, 60) == expected


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: path.name)
def test_at_the_factor_of_one_the_shipped_rules_mean_the_same(path: Path) -> None:
    document = load_yaml(path)
    same = shorter_rules(document, 1)
    for group, changed in zip(document["groups"], same["groups"], strict=True):
        for before, after in zip(group["rules"], changed["rules"], strict=True):
            assert _in_milliseconds(before["expr"]) == _in_milliseconds(after["expr"])
            assert {key: before[key] for key in before if key in ("alert", "record", "labels")} == {
                key: after[key] for key in after if key in ("alert", "record", "labels")
            }


def _in_milliseconds(text: str) -> str:
    """Every duration in brackets and offsets as a number."""
    return re.sub(r"(?<=[\[: ])(?:\d+(?:ms|[smhd]))+(?=[\]:)\s])", lambda found: str(seconds(found[0])), text)


def test_every_time_of_the_shipped_files_becomes_shorter() -> None:
    for path in RULE_FILES:
        for before, after in zip(_times(load_yaml(path)), _times(shorter_rules(load_yaml(path), 60)), strict=True):
            assert seconds(after) == seconds(before) / 60
    routes = load_yaml(CONFIGURATION)
    pairs = list(zip(_times(routes), _times(shorter_routes(routes, 60)), strict=True))
    assert len(pairs) >= 6
    assert all(seconds(after) == seconds(before) / 60 for before, after in pairs)


def test_every_age_of_the_shipped_alerts_becomes_shorter() -> None:
    ages = [
        rule["expr"] for group in load_yaml(ALERTS)["groups"] for rule in group["rules"] if "time()" in rule["expr"]
    ]
    assert len(ages) >= 4
    for expression in ages:
        assert re.search(r"\b(3600|86400|900)\b", expression)
        assert not re.search(r"\b(3600|86400|900)\b", shorter_expression(expression, 60))


def _times(node: object) -> list[str]:
    """All durations that are values of fields, in order."""
    if isinstance(node, dict):
        named = ("for", "keep_firing_for", "interval", "group_wait", "group_interval", "repeat_interval")
        return [time for key, value in node.items() for time in ([value] if key in named else _times(value)) if time]
    if isinstance(node, list):
        return [time for one in node for time in _times(one)]
    return []
