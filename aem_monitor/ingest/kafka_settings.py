"""What the Kafka source has to know, and how kafka-python is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from aem_monitor.errors import ConfigError

Encoding: TypeAlias = Literal["auto", "otlp_proto", "otlp_json"]
Signal: TypeAlias = Literal["traces", "logs"]

_PASSED_THROUGH: Final = (
    "security_protocol",
    "ssl_",
    "sasl_",
    "proxy_url",
    "client_rack",
    "client_dns_lookup",
    "api_version",
    "check_crcs",
    "request_timeout_ms",
    "connections_max_idle_ms",
    "receive_buffer_bytes",
    "reconnect_backoff_ms",
    "reconnect_backoff_max_ms",
)
"""Names (or beginnings of names) of client settings that may be passed through; all others are the source's own."""


RECONNECT_MAX_MS: Final = 1000
"""Longest wait between two attempts to reach a broker, as in the Java client. With the 30 s of kafka-python nothing
would be read for so long after an outage is over."""


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """One topic. ``encoding`` is named as by the Collector's Kafka exporter; ``auto`` looks at each message."""

    name: str
    signal: Signal = "traces"
    encoding: Encoding = "auto"


@dataclass(frozen=True, slots=True)
class KafkaSettings:
    """Settings of one Kafka source.

    ``client`` holds settings that go to kafka-python unchanged: ``security_protocol``, ``ssl_*``, ``sasl_*`` and a few
    others (``ConfigError`` for one that would break the source's promises). It may hold secrets and is left out of
    ``repr``. ``auto_offset_reset`` says where a partition begins that the group has never committed,
    ``isolation_level`` whether messages of transactions that were aborted are left out.

    The fetch bounds limit memory: a backlog otherwise arrives in answers of 50 MiB for each broker, before
    decompression. A single message over ``max_partition_fetch_bytes`` is still delivered (KIP-74).
    ``metadata_max_age_seconds`` bounds how long a new topic or partition stays unnoticed.
    """

    bootstrap_servers: tuple[str, ...]
    topics: tuple[KafkaTopic, ...] = (KafkaTopic("otlp_spans"),)
    group_id: str = "aem-monitor"
    group_instance_id: str | None = None
    client_id: str = "aem-monitor"
    auto_offset_reset: Literal["earliest", "latest"] = "earliest"
    isolation_level: Literal["read_committed", "read_uncommitted"] = "read_committed"
    max_poll_records: int = 500
    max_poll_interval_seconds: float = 300.0
    session_timeout_seconds: float = 45.0
    heartbeat_interval_seconds: float = 3.0
    fetch_min_bytes: int = 1
    fetch_max_wait_seconds: float = 0.5
    fetch_max_bytes: int = 16 * 2**20
    max_partition_fetch_bytes: int = 4 * 2**20
    metadata_max_age_seconds: float = 60.0
    commit_interval_seconds: float = 5.0
    client: Mapping[str, object] = field(default_factory=dict, repr=False)

    @property
    def servers(self) -> str:
        """The bootstrap servers as one word for messages."""
        return ", ".join(self.bootstrap_servers)

    def consumer_arguments(self) -> dict[str, object]:
        """Keyword arguments of ``kafka.KafkaConsumer``.

        Raises:
            ConfigError: ``client`` holds a setting that is not passed through.
        """
        for name in self.client:
            if not name.startswith(_PASSED_THROUGH):
                raise ConfigError(
                    f"kafka: client setting {name!r} is not passed through; "
                    "only security, connection and integrity settings are (security_protocol, ssl_*, sasl_*, ...)"
                )
        arguments: dict[str, object] = {
            "bootstrap_servers": list(self.bootstrap_servers),
            "group_id": self.group_id,
            "client_id": self.client_id,
            "enable_auto_commit": False,
            "auto_offset_reset": self.auto_offset_reset,
            "isolation_level": self.isolation_level,
            # A consumer that creates the topic it waits for would fix its number of partitions by accident.
            "allow_auto_create_topics": False,
            "max_poll_records": self.max_poll_records,
            "max_poll_interval_ms": int(self.max_poll_interval_seconds * 1000),
            "session_timeout_ms": int(self.session_timeout_seconds * 1000),
            "heartbeat_interval_ms": int(min(self.heartbeat_interval_seconds, self.session_timeout_seconds / 3) * 1000),
            "fetch_min_bytes": self.fetch_min_bytes,
            "fetch_max_wait_ms": int(self.fetch_max_wait_seconds * 1000),
            "fetch_max_bytes": self.fetch_max_bytes,
            "max_partition_fetch_bytes": min(self.max_partition_fetch_bytes, self.fetch_max_bytes),
            "metadata_max_age_ms": int(self.metadata_max_age_seconds * 1000),
            "reconnect_backoff_max_ms": RECONNECT_MAX_MS,
            **self.client,
        }
        if self.group_instance_id is not None:
            arguments["group_instance_id"] = self.group_instance_id
        return arguments
