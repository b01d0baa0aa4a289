"""The whole way with real parts: OpenTelemetry SDK, Apache Kafka, the daemon, Prometheus.

What the agent of two releases did is read back through Prometheus' query API.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from uuid import uuid4

import pytest

from aem_monitor.examples import example_dialogs
from tests.conftest import StartPrometheus
from tests.end_to_end.sales import NOT_SHARED, PROFIT, RIGHT
from tests.services.agent import Turn, agent_spans
from tests.services.collector import otlp_json, otlp_proto
from tests.services.daemon import Daemon
from tests.services.kafka import KafkaBroker
from tests.services.process import free_port
from tests.services.prometheus import PrometheusServer

pytestmark = pytest.mark.service

GOLDEN = example_dialogs() / "sales-report.yaml"
OLD, NEW = "1.0.0", "2.0.0"


class Topics:
    """One topic of each encoding, read by a consumer group of their own."""

    def __init__(self, broker: KafkaBroker) -> None:
        unique = uuid4().hex[:8]
        self.broker = broker
        self.group = f"aem-monitor.{unique}"
        self.proto, self.json = f"otlp_spans.{unique}", f"otlp_spans_json.{unique}"
        for name in (self.proto, self.json):
            broker.create_topic(name, partitions=2)

    @property
    def configuration(self) -> dict[str, object]:
        return {
            "ingest": {
                "otlp_http": {"enabled": False},
                "kafka": {
                    "bootstrap_servers": [self.broker.bootstrap],
                    "group_id": self.group,
                    "commit_interval": "200ms",
                    # A killed member holds its partitions until then.
                    "session_timeout": "1500ms",
                    "heartbeat_interval": "300ms",
                    "topics": [
                        {"name": self.proto, "encoding": "otlp_proto"},
                        {"name": self.json, "encoding": "otlp_json"},
                    ],
                },
            }
        }

    def play(self, turns: Sequence[Turn], release: str, times: int = 1) -> None:
        """Each play is a conversation of its own; the old release writes protobuf, the new one JSON."""
        for _ in range(times):
            spans = agent_spans(uuid4().hex, turns, release, attributes={"aem.dialog.id": "sales-report"})
            if release == OLD:
                self.broker.produce(self.proto, otlp_proto(spans), partition=0)
            else:
                # Spans of one conversation in several messages, as batches of the Collector end anywhere.
                self.broker.produce(self.json, *(otlp_json([span]) for span in spans), partition=1)

    def all_committed(self) -> bool:
        ends = {(name, p): self.broker.end_offset(name, p) for name, p in ((self.proto, 0), (self.json, 1))}
        return self.broker.committed(self.group) == {place: end for place, end in ends.items() if end}


@pytest.fixture
def topics(kafka_broker: KafkaBroker) -> Topics:
    return Topics(kafka_broker)


@pytest.fixture
def daemon(tmp_path: Path, topics: Topics) -> Iterator[Daemon]:
    process = Daemon(tmp_path, GOLDEN, topics.configuration)
    yield process
    process.close()


def scraping(start_prometheus: StartPrometheus, daemon: Daemon) -> PrometheusServer:
    return start_prometheus(
        [{"job_name": "aem-monitor", "static_configs": [{"targets": [daemon.metrics_address]}]}],
    )


def wait_for_value(prometheus: PrometheusServer, expression: str, value: float) -> None:
    prometheus.wait_for(expression, lambda samples: [sample.value for sample in samples] == [value], 60.0)


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 30.0
    while not condition():
        assert time.monotonic() < deadline, f"not within 30 s: {what}"
        time.sleep(0.1)


def test_two_releases_are_told_apart(topics: Topics, daemon: Daemon, start_prometheus: StartPrometheus) -> None:
    daemon.start()
    prometheus = scraping(start_prometheus, daemon)
    topics.play(RIGHT, OLD, times=3)
    topics.play(PROFIT, NEW, times=2)
    topics.play(NOT_SHARED, NEW)
    wait_for_value(prometheus, f'sum(aem_runs_total{{release="{OLD}",result="pass"}})', 3)
    wait_for_value(prometheus, f'sum(aem_runs_total{{release="{NEW}",result="fail"}})', 3)
    assert prometheus.query(f'sum(aem_turns_total{{release="{OLD}",result="pass"}})')[0].value == 15
    assert prometheus.query(f'sum(aem_turns_total{{release="{OLD}",result!="pass"}}) or vector(0)')[0].value == 0
    assert prometheus.query(f'sum(aem_root_causes_total{{release="{OLD}"}}) or vector(0)')[0].value == 0
    profit = f'aem_root_causes_total{{release="{NEW}",reason="inconsistent_parameter_values",tool="reports"}}'
    assert prometheus.query(f"sum({profit})")[0].value == 2
    missing = f'aem_root_causes_total{{release="{NEW}",reason="tool_mismatch",detail="not_called",tool="reports"}}'
    assert prometheus.query(f"sum({missing})")[0].value == 1
    # The three turns that were built on the wrong metric, in each of the two plays, are no root causes.
    assert prometheus.query(f'sum(aem_turns_total{{release="{NEW}",result="cascade"}})')[0].value >= 6
    exemplars = prometheus.api(
        "query_exemplars",
        {"query": "aem_run_latency_seconds_bucket", "start": str(time.time() - 600), "end": str(time.time() + 60)},
    )
    assert any(len(one["labels"]["trace_id"]) == 32 for series in exemplars for one in series["exemplars"])
    wait_until(topics.all_committed, "all offsets committed")
    assert daemon.stop() == 0


def test_a_killed_daemon_counts_every_run_once(
    topics: Topics, daemon: Daemon, start_prometheus: StartPrometheus
) -> None:
    daemon.start()
    prometheus = scraping(start_prometheus, daemon)
    topics.play(RIGHT, OLD, times=2)
    wait_for_value(prometheus, "sum(aem_runs_total)", 2)
    topics.play(PROFIT, NEW)
    daemon.kill()
    topics.play(RIGHT, OLD)
    daemon.start()
    wait_for_value(prometheus, "sum(aem_runs_total)", 4)
    wait_until(topics.all_committed, "all offsets committed")
    assert daemon.stop() == 0
    daemon.start()
    time.sleep(3.0)  # longer than the grace: what would be counted twice would be counted now
    wait_for_value(prometheus, "sum(aem_runs_total)", 4)
    assert prometheus.query('sum(aem_turns_total{result="pass"})')[0].value == 3 * 5 + 1


def test_a_broker_crash_is_survived_by_a_running_daemon(
    own_kafka_broker: KafkaBroker, tmp_path: Path, start_prometheus: StartPrometheus
) -> None:
    own_kafka_broker.start()
    topics = Topics(own_kafka_broker)
    daemon = Daemon(tmp_path, GOLDEN, topics.configuration)
    try:
        daemon.start()
        prometheus = scraping(start_prometheus, daemon)
        topics.play(RIGHT, OLD)
        wait_for_value(prometheus, "sum(aem_runs_total)", 1)
        own_kafka_broker.kill()
        wait_for_value(prometheus, 'aem_monitor_source_up{source="kafka"}', 0)
        own_kafka_broker.start()
        topics.play(PROFIT, NEW)
        wait_for_value(prometheus, "sum(aem_runs_total)", 2)
        wait_for_value(prometheus, 'aem_monitor_source_up{source="kafka"}', 1)
        wait_until(topics.all_committed, "all offsets committed")
        assert daemon.stop() == 0
    finally:
        daemon.close()


def test_an_unreachable_broker_is_said_and_does_not_stop_the_daemon(tmp_path: Path) -> None:
    nowhere = f"127.0.0.1:{free_port()}"
    configuration = {"ingest": {"otlp_http": {"enabled": False}, "kafka": {"bootstrap_servers": [nowhere]}}}
    daemon = Daemon(tmp_path, GOLDEN, configuration)
    try:
        daemon.start()
        wait_until(lambda: nowhere in daemon.log, "a sentence that names the broker")
        assert daemon.get("/-/healthy") == 200
        assert daemon.get("/-/ready") == 503
        assert daemon.stop() == 0
    finally:
        daemon.close()
