"""The catalogue follows Prometheus' conventions and the names that dashboards and rules rely on."""

import re
from pathlib import Path

import pytest
from prometheus_client import ProcessCollector

from aem_monitor.metrics.catalogue import CATALOGUE, Kind, Metric
from aem_monitor.metrics.document import document

PAGE = Path(__file__).parents[2] / "deploy" / "docs" / "metrics.md"

# Fixed in public: renaming one breaks every dashboard, rule and gate built on it.
FIXED = {
    "aem_turns_total": ("agent", "release", "model", "chain_length", "kind", "result"),
    "aem_submetric_results_total": ("agent", "release", "model", "submetric", "result"),
    "aem_root_causes_total": ("agent", "release", "model", "reason", "detail", "tool"),
    "aem_not_scored_total": ("agent", "cause"),
    "aem_runs_total": ("agent", "release", "model", "dialog", "result"),
    "aem_another_path_runs_total": ("agent", "release", "dialog"),
    "aem_draft_runs_total": ("dialog", "result"),
    "aem_run_latency_seconds": ("agent", "release", "result"),
    "aem_exchange_latency_seconds": ("agent", "release"),
    "aem_turn_latency_seconds": ("agent", "release", "kind"),
    "aem_latency_correctness_count_total": ("agent", "release"),
    "aem_latency_correctness_latency_sum_total": ("agent", "release"),
    "aem_latency_correctness_success_sum_total": ("agent", "release"),
    "aem_latency_correctness_latency_square_sum_total": ("agent", "release"),
    "aem_latency_correctness_success_square_sum_total": ("agent", "release"),
    "aem_latency_correctness_product_sum_total": ("agent", "release"),
    "aem_latency_correctness_spearman": ("agent", "release"),
    "aem_latency_correctness_spearman_samples": ("agent", "release"),
    "aem_recovered_turns_total": ("agent", "release", "tool"),
    "aem_incomplete_runs_total": ("agent", "release", "cause"),
    "aem_verdict_revisions_total": ("cause",),
    "aem_tool_errors_total": ("tool",),
    "aem_dialog_last_run_timestamp_seconds": ("dialog",),
    "aem_dialog_loaded_timestamp_seconds": ("dialog",),
    "aem_release_first_seen_timestamp_seconds": ("agent", "release"),
}

# Labels that a scraper attaches itself, and those that would grow without bound.
RESERVED = {
    "job",
    "instance",
    "service",
    "env",
    "environment",
    "stage",
    "owner",
    "cluster",
    "region",
    "zone",
    "type",
    "le",
}
UNBOUNDED = {"conversation", "conversation_id", "user", "trace_id", "span_id", "run_id", "turn", "field"}

metrics = pytest.mark.parametrize("metric", CATALOGUE.values(), ids=lambda metric: metric.name)


@pytest.mark.parametrize(("name", "labels"), FIXED.items(), ids=str)
def test_the_fixed_names_and_labels_stand(name: str, labels: tuple[str, ...]) -> None:
    assert CATALOGUE[name].label_names == labels


def test_every_metric_is_either_fixed_or_about_the_monitor() -> None:
    assert {name for name in CATALOGUE if not name.startswith("aem_monitor_")} == set(FIXED)


@metrics
def test_a_name_says_its_kind_and_holds_no_label(metric: Metric) -> None:
    assert re.fullmatch("[a-z][a-z0-9_]*", metric.name)
    assert metric.name.endswith("_total") == (metric.kind is Kind.COUNTER)
    assert metric.name.endswith("_info") == (metric.kind is Kind.INFO)


@metrics
def test_labels_are_bounded_and_nobody_elses(metric: Metric) -> None:
    assert not set(metric.label_names) & (RESERVED | UNBOUNDED)
    assert len(set(metric.label_names)) == len(metric.label_names)
    for label in metric.labels:
        assert len(set(label.values)) == len(label.values)
        assert not {"total", "all"} & set(label.values)


@metrics
def test_a_meaning_is_a_sentence(metric: Metric) -> None:
    assert metric.help.endswith(".")
    assert metric.help[0].isupper() or metric.help.startswith("aem_")


@metrics
def test_buckets_rise_and_are_for_histograms(metric: Metric) -> None:
    assert bool(metric.buckets) == (metric.kind is Kind.HISTOGRAM)
    assert list(metric.buckets) == sorted(set(metric.buckets))


@metrics
def test_labels_of_one_name_have_one_limit(metric: Metric) -> None:
    limits = {label.name: label.limit for other in CATALOGUE.values() for label in other.labels if not label.values}
    assert all(label.limit == limits[label.name] for label in metric.labels if not label.values)


def test_an_observation_belongs_to_the_first_bucket_that_holds_it() -> None:
    histogram = CATALOGUE["aem_run_latency_seconds"]
    assert [histogram.bucket(value) for value in (0.0, 0.5, 0.51, 600.0, 601.0)] == [0.5, 0.5, 1.0, 600.0, float("inf")]


def test_the_page_is_generated_from_the_catalogue() -> None:
    assert PAGE.read_text() == document(), "run: python -m aem_monitor.metrics.document > deploy/docs/metrics.md"


def test_the_page_names_the_metrics_of_the_process() -> None:
    found = {family.name for family in ProcessCollector(registry=None).collect()}
    missing = [name for name in found if f"`{name}`" not in document() and f"`{name}_total`" not in document()]
    assert missing == []
