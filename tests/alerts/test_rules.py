"""The rule files as a whole: what Prometheus' checker says, what every alert carries, and that all that is named is."""

import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from aem_monitor.metrics.catalogue import CATALOGUE, Kind
from tests.alerts.promtool import ALERTS, RECORDING, RULE_FILES, load_yaml, rules_for, run_tests, shipped
from tests.alerts.test_quality_alerts import NORMAL, SPIKE
from tests.alerts.traffic import play

RUNBOOKS: Final = Path(__file__).parents[2] / "deploy" / "docs" / "runbooks"

FOREIGN: Final = {"up", "process_start_time_seconds", "process_resident_memory_bytes"}
"""What Prometheus and its client library expose of any process."""

RULES: Final[list[dict[str, Any]]] = [
    rule for path in RULE_FILES for group in load_yaml(path)["groups"] for rule in group["rules"]
]
ALERTING: Final = {rule["alert"]: rule for rule in RULES if "alert" in rule}
RECORDED: Final = {rule["record"] for rule in RULES if "record" in rule}
SAMPLES: Final = {
    f"{name}{suffix}"
    for name, metric in CATALOGUE.items()
    for suffix in (("_bucket", "_sum", "_count") if metric.kind is Kind.HISTOGRAM else ("",))
}

alerts = pytest.mark.parametrize("alert", ALERTING.values(), ids=list(ALERTING))


def named(expression: str) -> set[str]:
    """What looks like a metric in an expression: of aem-monitor, recorded, or known of any process."""
    without_regexes = re.sub(r'__name__=~"[^"]*"', "", expression)
    return set(re.findall(r"\b(?:aem_\w+|\w+:\w+:\w+|up|process_\w+)(?![\w:])", without_regexes))


def test_promtool_finds_nothing_to_criticise(promtool: Path) -> None:
    checked = subprocess.run(
        [promtool, "check", "rules", "--lint=all", "--lint-fatal", *RULE_FILES], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.get("alert") or rule["record"])
def test_a_rule_names_only_what_exists(rule: dict[str, Any]) -> None:
    assert named(rule["expr"]) - SAMPLES - RECORDED - FOREIGN == set()


def test_a_name_that_does_not_exist_is_found() -> None:
    expression = 'sum(rate(aem_turn_total{result="pass"}[5m])) > job:aem_turns:rate5m + aem_turns_total and up == 0'
    assert named(expression) - SAMPLES - RECORDED - FOREIGN == {"aem_turn_total", "job:aem_turns:rate5m"}


def test_what_is_matched_by_its_name_exists() -> None:
    (pattern,) = {found for rule in RULES for found in re.findall(r'__name__=~"([^"]*)"', rule["expr"])}
    assert {name for name in CATALOGUE if re.fullmatch(pattern, name)} == {
        "aem_dialog_last_run_timestamp_seconds",
        "aem_dialog_loaded_timestamp_seconds",
    }


def test_every_recorded_series_is_read_by_an_alert_or_shows_a_bound() -> None:
    read = {name for rule in RULES for name in re.findall(r"[\w:]+", rule["expr"])}
    # Bounds that no alert needs are for dashboards: the other end of the interval, and the whole agent.
    assert {name for name in RECORDED - read if "wilson" not in name} == set()


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_a_recorded_name_says_its_level_and_operation(name: str) -> None:
    assert re.fullmatch(r"(?:[a-z_]+:)?[a-z_]+:[a-z0-9_]+", name)


@alerts
def test_an_alert_says_how_bad_it_is_and_where_to_look(alert: dict[str, Any]) -> None:
    name = alert["alert"]
    assert re.fullmatch("Aem[A-Za-z]+", name)
    assert alert["labels"]["severity"] in ("critical", "warning", "info")
    assert alert["labels"]["component"] in ("agent-quality", "monitor")
    annotations = alert["annotations"]
    assert re.fullmatch(r"[A-Za-z][^{}]*\.", annotations["summary"]), "a fixed sentence: it is the title of the page"
    assert annotations["description"]
    assert annotations["runbook_url"] == f"https://docs.example.com/aem-monitor/runbooks/{name}.md"
    assert re.match(r"https://grafana\.example\.com/d/aem-[a-z-]+(\?|$)", annotations["dashboard_url"])


def test_the_dashboards_that_alerts_lead_to_are_there() -> None:
    shipped = {load_yaml(path)["uid"] for path in (RUNBOOKS.parents[2] / "grafana" / "dashboards").glob("*.json")}
    linked = {re.findall(r"/d/([a-z-]+)", alert["annotations"]["dashboard_url"])[0] for alert in ALERTING.values()}
    assert linked <= shipped


@alerts
def test_an_alert_names_only_labels_that_it_has(alert: dict[str, Any]) -> None:
    grouped = re.findall(r"\bby \(([^)]*)\)", alert["expr"])
    kept = {label.strip() for labels in grouped for label in labels.split(",")} | {"job", "instance"}
    kept |= {label for name in named(alert["expr"]) if name in CATALOGUE for label in CATALOGUE[name].label_names}
    for recorded in named(alert["expr"]) & RECORDED:
        level = recorded.split(":")[0]
        kept |= {label for label in ("agent", "release", "model", "reason", "chain_length") if label in level}
    used = set(re.findall(r"\$labels\.(\w+)", " ".join(alert["annotations"].values())))
    assert used <= kept


def test_every_alert_has_its_page_and_every_page_its_alert() -> None:
    assert {page.stem for page in RUNBOOKS.glob("Aem*.md")} == set(ALERTING)


@alerts
def test_a_runbook_says_what_to_do(alert: dict[str, Any]) -> None:
    name, severity = alert["alert"], alert["labels"]["severity"]
    text = (RUNBOOKS / f"{name}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {name}\n\n**Meaning** ({severity}). ")
    parts = ("**Meaning**", "**First look.**", "| cause | how it shows | fix |", "**Silence.**")
    positions = [text.find(part) for part in parts]
    assert -1 not in positions
    assert positions == sorted(positions)


@alerts
def test_the_page_of_alerts_lists_it_with_its_severity(alert: dict[str, Any]) -> None:
    name, severity, summary = alert["alert"], alert["labels"]["severity"], alert["annotations"]["summary"]
    page = (RUNBOOKS.parent / "alerts.md").read_text(encoding="utf-8")
    assert f"| [{name}](runbooks/{name}.md) | {severity} | {summary} |" in page


def test_the_pages_name_only_metrics_that_exist() -> None:
    pages = [*RUNBOOKS.glob("Aem*.md"), RUNBOOKS.parent / "alerts.md"]
    read = {name for page in pages for name in named(page.read_text(encoding="utf-8"))}
    assert read - SAMPLES - RECORDED - FOREIGN - set(CATALOGUE) == set()


def test_every_alert_is_tested() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*_alerts.py"))
    assert [name for name in ALERTING if f'"{name}"' not in tests] == []


def test_an_alert_is_tested_with_all_rules_that_it_reads() -> None:
    for name, alert in ALERTING.items():
        kept = [rule for group in rules_for(name) for rule in group["rules"]]
        assert alert in kept
        recorded = {rule["record"] for rule in kept if "record" in rule}
        assert recorded == {one for rule in kept for one in re.split(r"[^\w:]+", rule["expr"]) if one in RECORDED}


def test_the_page_of_a_spike_tells_what_and_how_much(promtool: Path, tmp_path: Path) -> None:
    alert = ALERTING["AemRootCauseSpike"]
    links = {
        "runbook_url": "https://docs.example.com/aem-monitor/runbooks/AemRootCauseSpike.md",
        "dashboard_url": "https://grafana.example.com/d/aem-root-causes?var-agent=reporting&var-release=1.0.0",
    }
    description = (
        "reporting 1.0.0: tool_mismatch is the root cause of 12% of the turns; in the baseline it was 2%. "
        "Most in the last hour: reports  (36) "
    )
    exposed = [{"series": name, "values": samples} for name, samples in play(NORMAL, SPIKE).items()]
    expected = {
        "exp_labels": {
            "severity": "critical",
            "component": "agent-quality",
            "job": "aem-monitor",
            "agent": "reporting",
            "release": "1.0.0",
            "reason": "tool_mismatch",
        },
        "exp_annotations": {"summary": alert["annotations"]["summary"], "description": description, **links},
    }
    group = {
        "interval": "15m",
        "input_series": exposed,
        "alert_rule_test": [{"eval_time": "50h", "alertname": "AemRootCauseSpike", "exp_alerts": [expected]}],
    }
    run_tests(promtool, tmp_path, group, shipped())


def test_recording_and_alerting_rules_are_apart() -> None:
    assert [rule for group in load_yaml(RECORDING)["groups"] for rule in group["rules"] if "record" not in rule] == []
    assert [rule for group in load_yaml(ALERTS)["groups"] for rule in group["rules"] if "alert" not in rule] == []
