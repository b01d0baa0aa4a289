"""What a scrape shows of a Kafka source and of the engine."""

from prometheus_client import CollectorRegistry

from aem_monitor.engine.engine import Figures
from aem_monitor.ingest.kafka import KafkaSource
from aem_monitor.ingest.kafka_measures import Measured
from aem_monitor.ingest.kafka_settings import KafkaSettings
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.metrics.registry import Metrics
from aem_monitor.readings import watch_engine, watch_kafka
from tests.engine.bench import Bench

PLACE = {"topic": "spans", "partition": "3"}


def test_what_a_source_measured_is_shown_and_disappears_with_the_partition() -> None:
    source = KafkaSource(
        KafkaSettings(("nowhere:9092",)), Limits(), Prefilter(["gen_ai."]), lambda item, timeout: True, lambda *_: None
    )
    registry = CollectorRegistry()
    watch_kafka(Metrics(registry), source)

    def shown(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"aem_monitor_kafka_{name}", labels)

    assert shown("last_poll_timestamp_seconds") is None
    place = ("spans", 3)
    source._measures.latest = Measured({place: 4}, {place: 7}, {place: 1000.5}, 1010.0, 1009.0)
    assert shown("consumer_lag", **PLACE) == 4
    assert shown("uncommitted_offsets", **PLACE) == 7
    assert shown("oldest_uncommitted_timestamp_seconds", **PLACE) == 1000.5
    assert shown("last_poll_timestamp_seconds") == 1010.0
    assert shown("last_heartbeat_timestamp_seconds") == 1009.0
    source._measures.forget([place])
    assert shown("consumer_lag", **PLACE) is None
    assert shown("uncommitted_offsets", **PLACE) is None
    assert shown("oldest_uncommitted_timestamp_seconds", **PLACE) is None
    assert shown("last_heartbeat_timestamp_seconds") is None


def test_the_oldest_open_run_is_shown_while_there_is_one() -> None:
    registry = CollectorRegistry()
    engine = Bench().engine
    watch_engine(Metrics(registry), engine)
    name = "aem_monitor_oldest_open_run_timestamp_seconds"
    assert registry.get_sample_value(name) is None
    engine.figures = Figures(runs=2, oldest_run=1234.0)
    assert registry.get_sample_value(name) == 1234.0
