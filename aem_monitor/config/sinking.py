"""From the configuration to the sinks."""

from aem_monitor.config.root import Config
from aem_monitor.config.secrets import read_secret
from aem_monitor.config.settings import client_settings
from aem_monitor.config.sinks import HEADER_VALUE, KafkaSink, OtlpSink
from aem_monitor.errors import ConfigError
from aem_monitor.ingest.kafka_publisher import Publisher
from aem_monitor.sinks.base import Sink
from aem_monitor.sinks.jsonlines import JsonLines
from aem_monitor.sinks.kafka import KafkaTopic
from aem_monitor.sinks.otlp import OtlpEvents
from aem_monitor.sinks.otlp_http import LogsReceiver, OtlpHttpSettings
from aem_monitor.sinks.rotating import Rotation
from aem_monitor.store.records import RevisionKey


def sinks(config: Config) -> tuple[Sink, ...]:
    """The sinks that are on; nothing is opened yet. Raises ``ConfigError`` where a secret cannot be read."""
    chosen = config.sinks
    found: list[Sink] = []
    if chosen.json_lines is not None:
        lines = chosen.json_lines
        found.append(JsonLines(lines.path, Rotation(lines.max_bytes, lines.max_files, lines.max_age)))
    if chosen.kafka is not None:
        found.append(_kafka(chosen.kafka))
    if chosen.otlp is not None:
        found.append(_otlp(chosen.otlp))
    return tuple(found)


def _kafka(chosen: KafkaSink) -> KafkaTopic:
    client = client_settings(chosen.client, "sinks.kafka.client")
    publisher: Publisher[RevisionKey] = Publisher(chosen.bootstrap_servers, client, "aem-monitor-sink")
    return KafkaTopic(chosen.topic, publisher)


def _otlp(chosen: OtlpSink) -> OtlpEvents:
    headers = {name: value.get_secret_value() for name, value in chosen.headers.items()}
    if chosen.authorization_file is not None:
        key = "sinks.otlp.authorization_file"
        headers["Authorization"] = read_secret(chosen.authorization_file, key)
        if not HEADER_VALUE.fullmatch(headers["Authorization"]):
            raise ConfigError(f"{key}: {chosen.authorization_file} must hold printable ASCII on one line")
    return OtlpEvents(LogsReceiver(OtlpHttpSettings(chosen.endpoint, headers, chosen.timeout, chosen.cafile)))
