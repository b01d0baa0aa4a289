"""Every query of every panel against a real Prometheus that scraped the real daemon."""

import math
import re
from collections.abc import Iterator
from typing import Final

import pytest

from aem_monitor.metrics.catalogue import LATENCY_BUCKETS
from tests.grafana.dashboards import DASHBOARDS, Target, targets
from tests.grafana.filled import BASELINE, CANDIDATE, ROUNDS, filled_prometheus
from tests.services.cache import ServiceUnavailableError
from tests.services.prometheus import PrometheusServer, QueriedSample

pytestmark = pytest.mark.service

# What cannot have data here, with the reason; everything else has some, and these have none.
WITHOUT_DATA: Final = {
    "aem_monitor_kafka_consumer_lag": "of Kafka",
    "aem_monitor_kafka_uncommitted_offsets": "of Kafka",
    "aem_monitor_kafka_oldest_uncommitted_timestamp_seconds": "of Kafka",
    "aem_monitor_kafka_last_poll_timestamp_seconds": "of Kafka",
    "aem_monitor_kafka_last_heartbeat_timestamp_seconds": "of Kafka",
    "aem_monitor_kafka_stopped": "of Kafka",
    "aem_monitor_dead_letters_unconfirmed": "of Kafka",
    "aem_monitor_rekey_unacknowledged_messages": "of another process, aem-monitor rekey, that needs Kafka",
    "aem_monitor_scorer_errors_total": "a scorer has a series once it failed; the embedded one does not",
    "aem_monitor_collector_errors_total": "a gauge has a series once it could not be read",
}

NOT_ALWAYS: Final = {
    "aem_monitor_alerting_oldest_run_timestamp_seconds": "there only while a run waits, which a scrape may miss",
    "aem_monitor_alerting_oldest_notification_timestamp_seconds": "the same, of notifications",
    "aem_monitor_sink_oldest_timestamp_seconds": "there only while a verdict waits, which a scrape may miss",
}

VALUES: Final = {
    "$__rate_interval": "10m",
    "$__range": "10m",
    "$window": "10m",
    "$baseline": BASELINE,
    "$candidate": CANDIDATE,
}

PANELS = {(target.dashboard, target.panel, target.ref): target for uid in DASHBOARDS for target in targets(uid)}


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    try:
        with filled_prometheus(tmp_path_factory.mktemp("grafana")) as server:
            yield server
    except ServiceUnavailableError as error:
        pytest.skip(str(error))


def substituted(expression: str) -> str:
    """With values for the variables, as Grafana would put them in: all, where any number may be chosen."""
    for variable, value in VALUES.items():
        expression = expression.replace(variable, value)
    return re.sub(r'"\$\w+"', '".+"', expression)


def answer(prometheus: PrometheusServer, target: Target) -> list[QueriedSample]:
    """What the panel would get: of a graph the last value of every line."""
    query = substituted(target.expression)
    if not target.document["range"]:
        return [one for one in prometheus.query(query) if not math.isnan(one.value)]
    now = prometheus.query("time()")[0].value
    data = prometheus.api("query_range", {"query": query, "start": str(now - 300), "end": str(now), "step": "2"})
    lines = [
        (one["metric"], [value for _, text in one["values"] if not math.isnan(value := float(text))])
        for one in data["result"]
    ]
    return [QueriedSample(labels, values[-1]) for labels, values in lines if values]


def value(prometheus: PrometheusServer, dashboard: str, panel: str, ref: str = "A", **labels: str) -> float:
    found = [one.value for one in answer(prometheus, PANELS[dashboard, panel, ref]) if one.labels == labels]
    assert len(found) == 1
    return found[0]


def legend(target: Target, sample: QueriedSample) -> str:
    """What Grafana calls a series."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: sample.labels.get(found[1], ""), target.document["legendFormat"])


def is_bucket(target: Target) -> bool:
    return target.panel == "Run success rate by latency"


@pytest.mark.parametrize("uid", list(DASHBOARDS))
def test_every_query_has_data(prometheus: PrometheusServer, uid: str) -> None:
    for target in targets(uid):
        found = answer(prometheus, target)
        if is_bucket(target) or target.metrics & NOT_ALWAYS.keys():
            continue
        assert bool(found) is not bool(target.metrics & WITHOUT_DATA.keys()), str(target)


@pytest.mark.parametrize("uid", list(DASHBOARDS))
def test_every_series_has_a_name_of_its_own(prometheus: PrometheusServer, uid: str) -> None:
    for target in targets(uid):
        if target.document["format"] == "table":
            continue
        named = [legend(target, one) for one in answer(prometheus, target)]
        assert len(set(named)) == len(named), f"{target}: {named}"


def test_buckets_of_latency_are_those_with_runs(prometheus: PrometheusServer) -> None:
    buckets = [target for target in targets("aem-latency") if is_bucket(target)]
    assert len(buckets) == len(LATENCY_BUCKETS) + 1
    # The recorded agent is quick: no run takes as long as 2.5 s.
    assert [bool(answer(prometheus, target)) for target in buckets] == [True] * 3 + [False] * (len(buckets) - 3)
    # The small agent of the tests takes next to no time: one right play, one with a broken backend.
    assert value(prometheus, "aem-latency", buckets[0].panel) == pytest.approx(0.5)


def test_the_regression_of_the_recorded_releases_is_seen(prometheus: PrometheusServer) -> None:
    releases = "aem-releases"
    assert value(prometheus, releases, "Baseline: $baseline", "B") == 1.0
    # Four of twelve canaries are right: one of each of the first four dialogs.
    assert value(prometheus, releases, "Candidate: $candidate", "B") == pytest.approx(4 / 12, abs=0.01)
    lower = value(prometheus, releases, "Change of the run success rate", "B")
    change = value(prometheus, releases, "Change of the run success rate", "A")
    upper = value(prometheus, releases, "Change of the run success rate", "C")
    assert change == pytest.approx(-8 / 12, abs=0.01)
    # By hand: Wilson of 36/36 is (0.904, 1), of 12/36 (0.202, 0.497); Newcombe joins them.
    assert lower == pytest.approx(change - math.hypot(1 / 3 - 0.2023, 0), abs=0.02)
    assert upper == pytest.approx(change + math.hypot(0.4968 - 1 / 3, 1 - 0.9036), abs=0.02)
    lost = answer(prometheus, PANELS[releases, "Gains and losses by dialog", "C"])
    assert {one.labels["dialog"]: round(one.value, 2) for one in lost} == {
        "flight-booking": -0.5,
        "quarterly-sales": -0.5,
        "refund-damaged-order": -0.5,
        "sales-report": -0.5,
        "travel-policy": -1.0,
        "travel-request": -1.0,
    }


def test_intervals_hold_what_they_are_of(prometheus: PrometheusServer) -> None:
    for panel in ("Turn success rate", "Run success rate"):
        share, lower, upper = (value(prometheus, "aem-overview", panel, ref) for ref in "ABC")
        assert 0 < lower < share < upper < 1


def test_cascades_are_kept_apart_and_responses_have_a_name(prometheus: PrometheusServer) -> None:
    roots = value(prometheus, "aem-root-causes", "Root causes")
    cascades = value(prometheus, "aem-root-causes", "Cascades")
    assert value(prometheus, "aem-root-causes", "Cascades a root cause") == pytest.approx(cascades / roots, abs=0.01)
    tools = {one.labels.get("tool") for one in answer(prometheus, PANELS["aem-root-causes", "Tool by reason", "A"])}
    assert "responses" in tools
    assert None not in tools


def test_pearson_from_the_moments_is_that_of_the_ranks_here(prometheus: PrometheusServer) -> None:
    panel = PANELS["aem-latency", "Pearson correlation", "A"]
    # Of the baseline every run is right: nothing varies, and nothing is said.
    assert [one.labels for one in answer(prometheus, panel)] == [{"release": CANDIDATE}]
    pearson = value(prometheus, "aem-latency", panel.panel, release=CANDIDATE)
    spearman = value(prometheus, "aem-latency", "Spearman correlation", release=CANDIDATE)
    assert pearson == pytest.approx(spearman, abs=0.2)
    assert value(prometheus, "aem-latency", "Runs behind Spearman", release=CANDIDATE) == 12 * ROUNDS


def test_first_values_of_baseline_and_candidate_are_the_newest_releases(prometheus: PrometheusServer) -> None:
    chosen = {}
    for variable in DASHBOARDS["aem-releases"]["templating"]["list"]:
        if variable["query"].startswith("query_result("):
            query = substituted(variable["query"].removeprefix("query_result(").removesuffix(")"))
            # Of the agent of the recordings alone.
            query = query.replace('agent=~".+"', 'agent="office-assistant"')
            chosen[variable["name"]] = [one.labels["release"] for one in prometheus.query(query)]
    assert chosen == {"candidate": [CANDIDATE, BASELINE], "baseline": [BASELINE, CANDIDATE]}


def test_new_releases_and_models_are_marked(prometheus: PrometheusServer) -> None:
    releases, models = (one["expr"] for one in DASHBOARDS["aem-overview"]["annotations"]["list"][1:])
    seen = {one.labels["release"]: one.value for one in prometheus.query(substituted(releases))}
    assert seen.keys() == {BASELINE, CANDIDATE, "1.0.0"}
    assert seen[BASELINE] < seen[CANDIDATE] < seen["1.0.0"]
    assert {one.labels["model"] for one in prometheus.query(substituted(models))} >= {"acme-large-2", "acme-small-3"}


def test_points_of_the_heat_map_lead_to_traces(prometheus: PrometheusServer) -> None:
    heatmap = PANELS["aem-latency", "Run latency", "A"]
    assert heatmap.document["exemplar"]
    now = prometheus.query("time()")[0].value
    found = prometheus.api(
        "query_exemplars",
        {"query": substituted(heatmap.expression), "start": str(now - 600), "end": str(now + 60)},
    )
    assert any(len(one["labels"]["trace_id"]) == 32 for series in found for one in series["exemplars"])
