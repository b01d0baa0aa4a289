"""The sources that a configuration asks for; of Kafka with what becomes of messages that it cannot use."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from aem_monitor.config.ingest import Kafka
from aem_monitor.config.root import Config
from aem_monitor.config.settings import dead_letter_settings, kafka_settings, limits
from aem_monitor.deadletters.causes import Bound
from aem_monitor.deadletters.writer import DeadLetters, Pending
from aem_monitor.errors import ConfigError
from aem_monitor.ingest.batch import Source, Submit
from aem_monitor.ingest.causes import Stall
from aem_monitor.ingest.kafka import KafkaSource
from aem_monitor.ingest.kafka_publisher import Publisher
from aem_monitor.ingest.kafka_settings import KafkaSettings
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_http import OtlpHttpSource
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.journal.journal import Journal
from aem_monitor.metrics.registry import Metrics, Readings

if TYPE_CHECKING:
    from aem_monitor.ingest.otlp_grpc import OtlpGrpcSource


def build_sources(
    config: Config, keep: Prefilter, submit: Submit, metrics: Metrics, journal: Journal | None
) -> tuple[Source, ...]:
    """The sources, not started, with their metrics.

    Raises ``ConfigError`` where there is none, a secret cannot be read or a package is missing.
    """
    bounds = limits(config)
    sources: list[Source] = []
    if config.ingest.otlp_http.enabled:
        listen = config.ingest.otlp_http.listen
        refused = _refused("otlp_http", metrics)
        sources.append(OtlpHttpSource(listen.host, listen.port, bounds, keep, submit, refused, journal=journal))
    if config.ingest.otlp_grpc.enabled:
        grpc_listen = config.ingest.otlp_grpc.listen
        source = _grpc_source()
        refused = _refused("otlp_grpc", metrics)
        sources.append(source(grpc_listen.host, grpc_listen.port, bounds, keep, submit, refused, journal=journal))
    if config.ingest.kafka is not None:
        sources.append(_kafka_source(config.ingest.kafka, bounds, keep, submit, metrics))
    if not sources:
        raise ConfigError("ingest: no input is configured; enable ingest.otlp_http or give ingest.kafka")
    return tuple(sources)


def _grpc_source() -> "type[OtlpGrpcSource]":
    """The gRPC source, whose packages are an extra."""
    try:
        from aem_monitor.ingest.otlp_grpc import OtlpGrpcSource
    except ImportError as error:
        message = (
            f"ingest.otlp_grpc: {error.name} is not installed; pip install 'aem-monitor[grpc]', or set enabled: false"
        )
        raise ConfigError(message) from error
    return OtlpGrpcSource


def _refused(source: str, metrics: Metrics) -> Callable[[str, int], None]:
    def count(cause: str, amount: int) -> None:
        metrics.counter("aem_monitor_refused_requests_total", source=source, cause=cause).inc(amount)

    return count


def _kafka_source(kafka: Kafka, bounds: Limits, keep: Prefilter, submit: Submit, metrics: Metrics) -> KafkaSource:
    settings = kafka_settings(kafka)

    def reconnecting(cause: Stall) -> None:
        metrics.counter("aem_monitor_kafka_reconnects_total", cause=cause.value).inc()

    letters = _dead_letters(kafka, settings, metrics)
    refused = _refused("kafka", metrics)
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
