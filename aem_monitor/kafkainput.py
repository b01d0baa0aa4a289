"""The Kafka source, with what becomes of messages that it cannot use."""

from aem_monitor.config.ingest import Kafka
from aem_monitor.config.settings import dead_letter_settings, kafka_settings
from aem_monitor.deadletters.causes import Bound
from aem_monitor.deadletters.writer import DeadLetters, Pending
from aem_monitor.ingest.batch import Submit
from aem_monitor.ingest.causes import Stall
from aem_monitor.ingest.kafka import KafkaSource
from aem_monitor.ingest.kafka_publisher import Publisher
from aem_monitor.ingest.kafka_settings import KafkaSettings
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.metrics.registry import Metrics, Readings


def kafka_source(kafka: Kafka, bounds: Limits, keep: Prefilter, submit: Submit, metrics: Metrics) -> KafkaSource:
    """The source as configured, with its metrics. Raises ``ConfigError`` where a secret cannot be read."""
    settings = kafka_settings(kafka)

    def refused(cause: str, amount: int) -> None:
        metrics.counter("aem_monitor_refused_requests_total", source="kafka", cause=cause).inc(amount)

    def reconnecting(cause: Stall) -> None:
        metrics.counter("aem_monitor_kafka_reconnects_total", cause=cause.value).inc()

    letters = _dead_letters(kafka, settings, metrics)
    return KafkaSource(settings, bounds, keep, submit, refused, letters, reconnecting=reconnecting)


def _dead_letters(kafka: Kafka, settings: KafkaSettings, metrics: Metrics) -> DeadLetters | None:
    chosen = dead_letter_settings(kafka)
    if chosen is None:
        return None
    publisher: Publisher[Pending] = Publisher(
        settings.bootstrap_servers, settings.client, f"{settings.client_id}-dead-letters"
    )
    letters = DeadLetters(chosen, publisher, metrics)

    def stopped() -> Readings:
        return [((("cause", bound.value),), float(letters.stopped_by(bound))) for bound in Bound]

    metrics.watch("aem_monitor_kafka_stopped", stopped)
    metrics.watch("aem_monitor_dead_letters_unconfirmed", lambda: [((), float(letters.unconfirmed))])
    return letters
