"""The format follows the Accept header, and Prometheus' own tool accepts it."""

import subprocess
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from aem_monitor.metrics.exposition import expose
from aem_monitor.metrics.increments import increments, zeros
from aem_monitor.metrics.registry import Metrics
from tests.store.results import failing, run

PROMETHEUS_2 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"


@pytest.fixture
def registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    metrics.apply(zeros("reporting", "1.0.0", "small-1", "sales-report", ["reports"]))
    metrics.apply(increments(run("r", failing(1), test_pass=False, trace_ids=("ab" * 16,)), {"reports"}))
    for name in ("queue_depth", "pending_traces", "config_last_reload_success_timestamp_seconds"):
        metrics.gauge(f"aem_monitor_{name}").set(1)
    metrics.gauge("aem_monitor_source_up", source="kafka").set(1)
    metrics.gauge("aem_monitor_kafka_consumer_lag", topic="otlp_spans", partition="0").set(1)
    metrics.histogram("aem_monitor_scorer_seconds", scorer="embedded").observe(0.01)
    return registry


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (None, TEXT),
        ("", TEXT),
        ("*/*", TEXT),
        ("text/plain", TEXT),
        ("text/html", TEXT),
        (PROMETHEUS_2, OPENMETRICS),
        (PROMETHEUS_3, OPENMETRICS),
        ("application/openmetrics-text", OPENMETRICS),
        ("Application/OpenMetrics-Text; Version=1.0.0", OPENMETRICS),
        ("application/openmetrics-text;version=1.0.0;q=0.2, text/plain;q=0.9", TEXT),
        ("application/openmetrics-text;version=1.0.0;q=0", TEXT),
        ("application/openmetrics-text;version=2.0.0", TEXT),
        ("application/openmetrics-text;version=2.0.0,application/openmetrics-text;version=1.0.0;q=0.5", OPENMETRICS),
        ("application/openmetrics-text;version=0.0.1", TEXT),
        ("application/openmetrics-text;q=many", TEXT),
        (";;;,,,=;q", TEXT),
    ],
)
def test_the_format_is_the_one_asked_for(registry: CollectorRegistry, accept: str | None, content_type: str) -> None:
    body, given = expose(registry, accept)
    assert given == content_type
    assert body.endswith(b"# EOF\n") == (content_type == OPENMETRICS)


def test_promtool_finds_nothing_to_criticise(registry: CollectorRegistry, promtool: Path) -> None:
    body, _ = expose(registry, None)
    checked = subprocess.run([promtool, "check", "metrics"], input=body, capture_output=True)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
