"""The registry holds what it was given, bounded, and a scrape survives everything."""

import math
import threading
from collections.abc import Iterable

import prometheus_client
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from aem_monitor.metrics.catalogue import CATALOGUE, Kind
from aem_monitor.metrics.exposition import expose
from aem_monitor.metrics.increments import increments, zeros
from aem_monitor.metrics.registry import Metrics
from aem_monitor.model.increment import Increment, Total
from aem_monitor.model.verdict import RunResult
from aem_monitor.store import Store
from tests.store.results import failing, results, run, turn

RUNS = "aem_runs_total"
TRACE = "5b8efff798038103d269b633813fc60c"


def new(max_label_values: int = 200, max_series: int = 10_000) -> Metrics:
    return Metrics(CollectorRegistry(), max_label_values, max_series, now=lambda: 1764500000.0)


def ran(release: str, **changes: str) -> Increment:
    labels = {"agent": "a", "release": release, "model": "m", "dialog": "d", "result": "pass", **changes}
    return Increment(RUNS, CATALOGUE[RUNS].label_set(**labels))


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def releases(metrics: Metrics) -> dict[str, float]:
    families = {family.name: family for family in metrics.registry.collect()}
    return {sample.labels["release"]: sample.value for sample in families["aem_runs"].samples}


# What is there from the start


def test_counters_with_known_labels_start_at_zero() -> None:
    metrics = new()
    assert value(metrics, "aem_monitor_late_spans_total") == 0
    assert value(metrics, "aem_monitor_skipped_spans_total", cause="invalid_id") == 0
    assert value(metrics, "aem_monitor_store_errors_total", reason="full") == 0
    assert value(metrics, "aem_verdict_revisions_total", cause="late_span") == 0


def test_a_gauge_is_absent_until_it_has_a_value() -> None:
    metrics = new()
    assert value(metrics, "aem_monitor_source_up", source="kafka") is None
    metrics.gauge("aem_monitor_source_up", source="kafka").set(0)
    assert value(metrics, "aem_monitor_source_up", source="kafka") == 0


def test_the_version_that_runs_is_exposed() -> None:
    families = {family.name: family for family in new().registry.collect()}
    (sample,) = families["aem_monitor_build"].samples
    assert sample.name == "aem_monitor_build_info"
    assert set(sample.labels) == {"version", "python"}


def test_nothing_reaches_the_process_wide_registry() -> None:
    new()
    names = {family.name for family in prometheus_client.REGISTRY.collect()}
    assert not [name for name in names if name.startswith("aem")]


def test_there_are_no_created_series() -> None:
    metrics = new()
    metrics.apply(increments(run(), {"reports"}))
    assert b"_created" not in expose(metrics.registry, None)[0]
    assert b"_created" not in expose(metrics.registry, "application/openmetrics-text")[0]


# Counting


def test_increments_of_a_run_are_exposed() -> None:
    metrics = new()
    metrics.apply(increments(run("r", turn(1), failing(2), latency_seconds=7.0, test_pass=False), {"reports"}))
    subject = {"agent": "reporting", "release": "1.0.0", "model": "small-1"}
    assert value(metrics, RUNS, **subject, dialog="sales-report", result="fail") == 1
    latency = {"agent": "reporting", "release": "1.0.0", "result": "fail"}
    assert value(metrics, "aem_run_latency_seconds_bucket", **latency, le="5.0") == 0
    assert value(metrics, "aem_run_latency_seconds_bucket", **latency, le="10.0") == 1
    assert value(metrics, "aem_run_latency_seconds_bucket", **latency, le="+Inf") == 1
    assert value(metrics, "aem_run_latency_seconds_sum", **latency) == 7.0


def test_zeros_make_series_and_no_observation() -> None:
    metrics = new()
    metrics.apply(zeros("a", "1", "m", "d", ["t"]))
    assert value(metrics, RUNS, agent="a", release="1", model="m", dialog="d", result="fail") == 0
    assert value(metrics, "aem_run_latency_seconds_count", agent="a", release="1", result="pass") == 0


def test_a_scrape_sees_a_run_whole_or_not_at_all() -> None:
    metrics = new()
    batch = increments(run("r", turn(1), turn(2), turn(3)), {"reports"})
    done = threading.Event()

    def count() -> None:
        for _ in range(300):
            metrics.apply(batch)
        done.set()

    worker = threading.Thread(target=count)
    worker.start()
    while not done.is_set():
        families = {family.name: family for family in metrics.registry.collect()}
        runs = sum(sample.value for sample in families["aem_runs"].samples)
        turns = sum(sample.value for sample in families["aem_turns"].samples)
        assert turns == 3 * runs
    worker.join()


def test_a_counter_cannot_shrink_and_an_observation_is_a_number() -> None:
    metrics = new()
    for amount in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="cannot grow"):
            metrics.counter("aem_monitor_late_spans_total").inc(amount)
    metrics.histogram("aem_monitor_engine_tick_seconds").observe(math.nan)
    assert value(metrics, "aem_monitor_engine_tick_seconds_count") == 0


@pytest.mark.parametrize("labels", [{}, {"reason": "full", "extra": "x"}, {"cause": "full"}])
def test_labels_that_the_catalogue_does_not_have_are_an_error(labels: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="has the labels"):
        new().counter("aem_monitor_store_errors_total", **labels)


def test_a_metric_of_another_kind_is_an_error() -> None:
    with pytest.raises(TypeError, match="counter"):
        new().gauge("aem_monitor_late_spans_total")


# Bounds


def test_values_beyond_the_limit_are_counted_as_other() -> None:
    metrics = new(max_label_values=3)
    metrics.apply(ran(f"1.0.{number}") for number in range(100))
    assert releases(metrics) == {"1.0.0": 1, "1.0.1": 1, "1.0.2": 1, "other": 97}
    assert value(metrics, "aem_monitor_series_limited_total", metric=RUNS, label="release") == 97


def test_a_value_that_was_let_in_stays() -> None:
    metrics = new(max_label_values=1)
    metrics.apply([ran("1"), ran("2"), ran("1")])
    assert releases(metrics) == {"1": 2, "other": 1}


class Days:
    """A clock that is moved by hand, in days."""

    def __init__(self) -> None:
        self.today = 20_000.0

    def now(self) -> float:
        return self.today * 86400


def aging(days: Days, max_label_values: int) -> Metrics:
    return Metrics(CollectorRegistry(), max_label_values, now=days.now)


def test_a_release_that_is_no_longer_counted_makes_room_for_a_new_one() -> None:
    days = Days()
    metrics = aging(days, max_label_values=2)
    metrics.apply([ran("1"), ran("2")])
    days.today += 8
    metrics.apply([ran("2"), ran("3")])
    assert releases(metrics) == {"2": 2, "3": 1}


def test_a_release_that_comes_back_goes_on_from_where_it_was() -> None:
    days = Days()
    metrics = aging(days, max_label_values=1)
    metrics.apply([ran("1"), ran("1")])
    days.today += 8
    metrics.apply([ran("2")])
    days.today += 8
    metrics.apply([ran("1")])
    assert releases(metrics) == {"1": 3}


def test_a_flood_of_names_does_not_push_out_what_is_in_use() -> None:
    days = Days()
    metrics = aging(days, max_label_values=3)
    for number in range(500):
        metrics.apply([ran("1"), ran(f"invented-{number}")])
        days.today += 0.01
    found = releases(metrics)
    assert found["1"] == 500
    assert len(found) == 4
    assert sum(found.values()) == 1000


def test_the_latest_releases_are_exposed_after_a_restart_and_the_others_wait() -> None:
    days = Days()
    totals = [Total(RUNS, ran(release).labels, 5.0) for release in ("1", "2", "3")]
    last_seen = {"1": days.now() - 30 * 86400, "2": days.now() - 86400, "3": days.now()}
    metrics = aging(days, max_label_values=2)
    assert metrics.restore(totals, last_seen) == 0
    assert releases(metrics) == {"2": 5, "3": 5}
    days.today += 6.5
    metrics.apply([ran("3"), ran("1")])
    assert releases(metrics) == {"1": 6, "3": 6}


def test_a_gauge_is_restored_only_where_there_is_room() -> None:
    days = Days()
    metrics = aging(days, max_label_values=1)
    name = "aem_release_first_seen_timestamp_seconds"
    metrics.restore_gauge(name, 5.0, days.now(), agent="a", release="2")
    metrics.restore_gauge(name, 1.0, 1.0, agent="a", release="1")
    assert value(metrics, name, agent="a", release="2") == 5
    assert value(metrics, name, agent="a", release="1") is None
    assert value(metrics, name, agent="a", release="other") is None


def test_a_release_is_let_in_to_all_metrics_or_none() -> None:
    metrics = new(max_label_values=1)
    metrics.apply([ran("1")])
    metrics.gauge("aem_release_first_seen_timestamp_seconds", agent="a", release="2").set(5)
    assert value(metrics, "aem_release_first_seen_timestamp_seconds", agent="a", release="other") == 5


def test_a_full_metric_counts_everything_new_as_other() -> None:
    metrics = new(max_series=10)
    metrics.apply(ran(f"1.{number}", dialog=f"d{number}") for number in range(50))
    families = {family.name: family for family in metrics.registry.collect()}
    samples = families["aem_runs"].samples
    assert len(samples) == 11
    assert sum(sample.value for sample in samples) == 50


def test_a_closed_label_takes_no_new_value() -> None:
    metrics = new()
    metrics.counter("aem_monitor_store_errors_total", reason="never heard of").inc()
    assert value(metrics, "aem_monitor_store_errors_total", reason="other") == 1
    limited = {"metric": "aem_monitor_store_errors_total", "label": "reason"}
    assert value(metrics, "aem_monitor_series_limited_total", **limited) == 1


def test_what_is_stored_is_what_is_exposed() -> None:
    metrics = new(max_label_values=1)
    admitted = metrics.admit([ran("1"), ran("2"), ran("3")])
    assert [dict(one.labels)["release"] for one in admitted] == ["1", "other", "other"]
    metrics.apply(admitted)
    assert releases(metrics) == {"1": 1, "other": 2}
    assert value(metrics, "aem_monitor_series_limited_total", metric=RUNS, label="release") == 2


HOSTILE = [
    "\x00",
    "a\x00b",
    'quote " and \\',
    "line\nbreak",
    "\ud800",
    "",
    " ",
    "é漢\U0001f600",
    "x" * 10_000,
    "\r",
    "\x85",
]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
@pytest.mark.parametrize("accept", [None, "application/openmetrics-text"])
def test_any_name_gives_a_scrape_that_can_be_read(name: str, accept: str | None) -> None:
    metrics = new()
    metrics.apply([ran(name, agent=name, model=name, dialog=name)])
    text = expose(metrics.registry, accept)[0].decode()
    parse = parse_openmetrics if accept else parse_text
    samples = [sample for family in parse(text) for sample in family.samples if sample.name == RUNS]
    assert [sample.value for sample in samples] == [1]
    assert len(samples[0].labels.get("release", "")) <= 128


@given(st.lists(st.text(st.characters(), max_size=8), max_size=5))
@settings(deadline=None, max_examples=50)
def test_any_names_give_a_scrape_that_can_be_read(names: list[str]) -> None:
    metrics = new()
    metrics.apply(ran(name) for name in names)
    samples = [one for family in parse_text(expose(metrics.registry, None)[0].decode()) for one in family.samples]
    assert sum(sample.value for sample in samples if sample.name == RUNS) == len(names)


# Exemplars


def test_openmetrics_carries_the_trace_of_a_root_cause_and_of_a_latency() -> None:
    metrics = new()
    metrics.apply(increments(run("r", failing(1, trace_id=TRACE), test_pass=False, trace_ids=(TRACE,)), {"reports"}))
    text = expose(metrics.registry, "application/openmetrics-text; version=1.0.0")[0].decode()
    marked = [line for line in text.splitlines() if f'# {{trace_id="{TRACE}"}}' in line]
    assert [line.split("{")[0] for line in marked] == ["aem_root_causes_total", "aem_run_latency_seconds_bucket"]
    assert TRACE not in expose(metrics.registry, None)[0].decode()


@pytest.mark.parametrize("trace_id", ["", "x" * 200, 'a"b', "a\nb", None])
def test_what_is_no_trace_id_is_left_out_and_the_count_stays(trace_id: str | None) -> None:
    metrics = new()
    metrics.counter("aem_monitor_late_spans_total").inc(1, trace_id)
    text = expose(metrics.registry, "application/openmetrics-text")[0].decode()
    assert "aem_monitor_late_spans_total 1.0\n" in text


# Restarts


@given(st.lists(results, max_size=4, unique_by=lambda result: result.run_id))
@settings(deadline=None, max_examples=30)
def test_totals_go_on_where_they_were_left(runs: list[RunResult]) -> None:
    before = new()
    with Store("sqlite://") as store:
        for result in runs:
            admitted = before.admit(increments(result, {"reports"}))
            assert store.record_final(result, admitted, stored_at=1.0)
            before.apply(admitted)
        after = new()
        assert after.restore(store.totals()) == 0

    def stored(metrics: Metrics) -> dict[str, dict[str, float]]:
        names = {name.removesuffix("_total") for name, metric in CATALOGUE.items() if metric.stored}
        return {
            family.name: {f"{sample.name}{sorted(sample.labels.items())}": sample.value for sample in family.samples}
            for family in metrics.registry.collect()
            if family.name in names
        }

    assert stored(after) == {
        name: {series: pytest.approx(total) for series, total in family.items()}
        for name, family in stored(before).items()
    }


def test_the_label_limit_counts_restored_values() -> None:
    metrics = new(max_label_values=2)
    metrics.restore([Total(one.metric, one.labels, 5.0) for one in (ran("1"), ran("2"))])
    metrics.apply([ran("1"), ran("3")])
    assert releases(metrics) == {"1": 6, "2": 5, "other": 1}


def test_totals_of_another_version_are_ignored_and_counted() -> None:
    totals = [
        Total("aem_gone_total", (("agent", "a"),), 5.0),
        Total(RUNS, (("agent", "a"),), 5.0),
        Total(RUNS, ran("1").labels, 5.0),
    ]
    metrics = new()
    assert metrics.restore(totals) == 2
    assert releases(metrics) == {"1": 5}


def test_a_stored_bucket_whose_bound_is_gone_goes_into_one_that_covers_it() -> None:
    metrics = new()
    labels = CATALOGUE["aem_run_latency_seconds"].label_set(agent="a", release="1", result="pass")
    metrics.restore([Total("aem_run_latency_seconds", labels, 21.0, count=3, bucket=7.5)])
    assert value(metrics, "aem_run_latency_seconds_bucket", **dict(labels), le="5.0") == 0
    assert value(metrics, "aem_run_latency_seconds_bucket", **dict(labels), le="10.0") == 3
    assert value(metrics, "aem_run_latency_seconds_sum", **dict(labels)) == 21.0


# Readings taken at the scrape


def lag(partition: str, messages: float) -> tuple[tuple[tuple[str, str], ...], float]:
    return (("topic", "otlp_spans"), ("partition", partition)), messages


def test_a_watched_gauge_is_read_at_each_scrape_and_forgets_what_is_gone() -> None:
    metrics = new()
    readings = [lag("0", 5.0), lag("1", 7.0)]
    metrics.watch("aem_monitor_kafka_consumer_lag", lambda: readings)
    assert value(metrics, "aem_monitor_kafka_consumer_lag", topic="otlp_spans", partition="1") == 7
    readings.pop()
    assert value(metrics, "aem_monitor_kafka_consumer_lag", topic="otlp_spans", partition="1") is None
    assert value(metrics, "aem_monitor_kafka_consumer_lag", topic="otlp_spans", partition="0") == 5


def test_a_reading_that_fails_is_counted_and_the_scrape_survives() -> None:
    metrics = new()

    def fail() -> Iterable[tuple[tuple[tuple[str, str], ...], float]]:
        raise RuntimeError("no broker")

    metrics.watch("aem_monitor_kafka_consumer_lag", fail)
    metrics.watch("aem_monitor_queue_depth", lambda: [((), 3.0)])
    text = expose(metrics.registry, None)[0].decode()
    assert 'aem_monitor_collector_errors_total{collector="aem_monitor_kafka_consumer_lag"} 1.0' in text
    assert "aem_monitor_queue_depth 3.0" in text


def test_a_collector_that_fails_is_counted_and_the_scrape_survives() -> None:
    class Broken:
        def collect(self) -> Iterable[Family]:
            raise OSError("no /proc")

    metrics = new()
    metrics.add_collector("process", Broken())
    text = expose(metrics.registry, None)[0].decode()
    assert 'aem_monitor_collector_errors_total{collector="process"} 1.0' in text
    assert "aem_monitor_late_spans_total 0.0" in text


def test_only_a_gauge_can_be_watched() -> None:
    with pytest.raises(ValueError, match="not a gauge"):
        new().watch("aem_monitor_late_spans_total", list)


def test_a_series_whose_subject_is_gone_can_be_removed() -> None:
    metrics = new()
    metrics.gauge("aem_monitor_source_up", source="kafka").set(1)
    metrics.remove("aem_monitor_source_up", source="kafka")
    metrics.remove("aem_monitor_source_up", source="kafka")
    assert value(metrics, "aem_monitor_source_up", source="kafka") is None


def test_every_metric_of_the_catalogue_is_exposed_under_its_name() -> None:
    metrics = new()
    text = expose(metrics.registry, None)[0].decode()
    for name, metric in CATALOGUE.items():
        assert f"# TYPE {name} {'gauge' if metric.kind is Kind.INFO else metric.kind.value}\n" in text
