"""Prometheus' own unit tests of the shipped rules, written from values: what is exposed, and what fires when."""

import functools
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

FOLDER: Final = Path(__file__).parents[2] / "deploy" / "prometheus"

RECORDING: Final = FOLDER / "aem-monitor.recording.yaml"

ALERTS: Final = FOLDER / "aem-monitor.alerts.yaml"

RULE_FILES: Final = (RECORDING, ALERTS)


@dataclass(frozen=True, slots=True)
class Phase:
    """Some samples of one series: so many, each more than the one before by ``step``.

    ``absent`` has no samples, ``restart`` begins at zero again, ``at`` begins at a value of a gauge.
    """

    samples: int
    step: float = 0.0
    absent: bool = False
    restart: bool = False
    at: float | None = None


def values(*phases: Phase) -> str:
    """The phases in promtool's notation."""
    parts = []
    value = 0.0
    for phase in phases:
        if phase.absent:
            parts.append(f"_x{phase.samples}")
            continue
        value = 0.0 if phase.restart else phase.at if phase.at is not None else value
        parts.append(f"{value:.6f}+{phase.step:.6f}x{phase.samples - 1}")
        value += phase.step * phase.samples
    return " ".join(parts)


def series(name: str, /, **labels: str) -> str:
    """A series of a monitor whose job and instance are always the same."""
    pairs = {"job": "aem-monitor", "instance": "monitor-0", **labels}
    return name + _labels(pairs)


def check_firing(
    promtool: Path,
    folder: Path,
    alert: str,
    exposed: Mapping[str, str],
    expected: Mapping[str, Sequence[Mapping[str, str]]],
    interval: str = "15m",
) -> None:
    """Check which alerts of a name fire at which times; the labels that every rule adds are left out.

    Args:
        exposed: series to values in promtool's notation, one sample an ``interval``.
        expected: time since the start to the labels of the alerts that fire then.

    Only the alert's own rule and those that it reads are evaluated; nothing else can change what is asked, and all of
    them together take seconds. Raises ``AssertionError`` with promtool's answer.
    """
    query = f'sum without (severity, component, alertstate) (ALERTS{{alertname="{alert}",alertstate="firing"}})'
    tests = [
        {
            "expr": query,
            "eval_time": at,
            "exp_samples": [{"labels": _labels({"alertname": alert, **labels}), "value": 1} for labels in alerts],
        }
        for at, alerts in expected.items()
    ]
    group = {"interval": interval, "input_series": _input(exposed), "promql_expr_test": tests}
    run_tests(promtool, folder, group, rules_for(alert))


def run_tests(promtool: Path, folder: Path, group: Mapping[str, Any], rules: Sequence[Mapping[str, Any]]) -> None:
    """Run one test group on groups of rules. Raises ``AssertionError`` with promtool's answer."""
    path, evaluated = folder / "tests.yaml", folder / "rules.yaml"
    evaluated.write_text(json.dumps({"groups": rules}), encoding="utf-8")
    document = {
        "rule_files": [str(evaluated)],
        "evaluation_interval": group["interval"],
        "group_eval_order": [one["name"] for one in rules],
        "tests": [group],
    }
    path.write_text(json.dumps(document), encoding="utf-8")  # every JSON document is YAML
    ran = subprocess.run([promtool, "test", "rules", path], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@functools.cache
def shipped() -> Sequence[Mapping[str, Any]]:
    """All groups of rules, in the order in which they are evaluated."""
    return [group for path in RULE_FILES for group in load_yaml(path)["groups"]]


@functools.cache
def rules_for(alert: str) -> Sequence[Mapping[str, Any]]:
    """The groups of rules without what an alert does not read, directly or by way of what is recorded."""
    rules = [rule for group in shipped() for rule in group["rules"]]
    recorded = {rule["record"]: rule["expr"] for rule in rules if "record" in rule}
    named = [rule for rule in rules if rule.get("alert") == alert]
    assert named, f"no alert {alert}"
    waiting = [rule["expr"] for rule in named]
    read: set[str] = set()
    while waiting:
        found = set(re.findall(r"[\w:]+", waiting.pop())) & set(recorded) - read
        read |= found
        waiting += [recorded[name] for name in found]
    kept = [
        {**group, "rules": [rule for rule in group["rules"] if rule in named or rule.get("record") in read]}
        for group in shipped()
    ]
    return [group for group in kept if group["rules"]]


def load_yaml(path: Path) -> Any:
    """What a file of deploy/ holds."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _input(exposed: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"series": name, "values": samples} for name, samples in exposed.items()]


def _labels(labels: Mapping[str, str]) -> str:
    return f"{{{','.join(f'{label}={json.dumps(value)}' for label, value in labels.items())}}}"
