"""A real Prometheus scrapes the metrics listener and gives back what was counted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from aem_monitor.metrics.increments import increments, zeros
from aem_monitor.metrics.registry import Metrics
from aem_monitor.model.increment import Increment
from aem_monitor.web.listener import HttpListener
from aem_monitor.web.metrics_app import metrics_app
from tests.services.prometheus import PrometheusServer
from tests.store.results import failing, run, turn

StartPrometheus = Callable[[Sequence[Mapping[str, Any]]], PrometheusServer]

TRACE = "5b8efff798038103d269b633813fc60c"

pytestmark = pytest.mark.service


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(CollectorRegistry())


@pytest.fixture
def prometheus(metrics: Metrics, start_prometheus: StartPrometheus) -> Iterator[PrometheusServer]:
    listener = HttpListener(metrics_app(metrics.registry, list), "127.0.0.1", 0, "metrics.listen")
    listener.start()
    target = {"static_configs": [{"targets": [f"127.0.0.1:{listener.port}"]}], "job_name": "aem"}
    yield start_prometheus([target])
    listener.stop(5)


def broken_run(run_id: str) -> list[Increment]:
    return increments(
        run(run_id, turn(1), failing(2, trace_id=TRACE), test_pass=False, trace_ids=(TRACE,), latency_seconds=7.0),
        {"reports"},
    )


def test_the_first_failure_is_an_increase_that_names_its_trace(metrics: Metrics, prometheus: PrometheusServer) -> None:
    metrics.apply(zeros("reporting", "1.0.0", "small-1", "sales-report", ["reports"]))
    series = 'aem_root_causes_total{reason="inconsistent_parameter_values",tool="reports"}'
    prometheus.wait_for(series, lambda samples: [sample.value for sample in samples] == [0])

    metrics.apply(broken_run("r"))
    (root,) = prometheus.wait_for(series, lambda samples: [sample.value for sample in samples] == [1])
    assert {name: root.labels[name] for name in ("agent", "release", "model")} == {
        "agent": "reporting",
        "release": "1.0.0",
        "model": "small-1",
    }
    assert "detail" not in root.labels
    # Two scrapes with the value: increase() extrapolates between samples.
    prometheus.wait_for(f"increase({series}[1m])", lambda samples: bool(samples) and samples[0].value >= 1)

    exemplars = prometheus.api("query_exemplars", {"query": series, "start": "0", "end": "9999999999"})
    assert [one["labels"]["trace_id"] for found in exemplars for one in found["exemplars"]] == [TRACE]


def test_buckets_of_latency_can_be_queried(metrics: Metrics, prometheus: PrometheusServer) -> None:
    metrics.apply(broken_run("r1") + broken_run("r2"))
    bucket = 'aem_run_latency_seconds_bucket{result="fail",le="%s"}'
    prometheus.wait_for(bucket % "10.0", lambda samples: [sample.value for sample in samples] == [2])
    assert [sample.value for sample in prometheus.query(bucket % "5.0")] == [0]
    (median,) = prometheus.query("histogram_quantile(0.5, sum by (le) (aem_run_latency_seconds_bucket))")
    assert 5 < median.value <= 10
