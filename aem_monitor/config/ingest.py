"""Configuration of what comes in: OTLP and its journal, Kafka, bounds, the queue to the engine."""

from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, model_validator

from aem_monitor.config.names import Broker, TopicName
from aem_monitor.config.section import FileName, Listener, Section
from aem_monitor.config.units import Address, Duration, ListenAddress, Size, format_size
from aem_monitor.validation import KeyFaultError


class OtlpHttp(Listener):
    """The OTLP/HTTP receiver: `/v1/traces` and `/v1/logs`, protobuf and JSON, plain or gzip."""

    enabled: bool = Field(True, description="Whether the receiver runs.")
    listen: ListenAddress = Field(
        Address("127.0.0.1", 4318), description="Address of the receiver; 4318 is OTLP's own port."
    )
    max_body: Size = Field(
        64 * 2**20, gt=0, description="Largest request body, counted after decompression; a larger one is answered 413."
    )


class OtlpGrpc(Listener):
    """The OTLP/gRPC receiver: traces and logs. Needs the extra `grpc` (`pip install aem-monitor[grpc]`)."""

    enabled: bool = Field(False, description="Whether the receiver runs.")
    listen: ListenAddress = Field(
        Address("127.0.0.1", 4317), description="Address of the receiver; 4317 is OTLP's own port."
    )


class OtlpJournal(Section):
    """OTLP requests are on disk before they are acknowledged, and read again after a crash or a restart."""

    enabled: bool = Field(True, description="Whether there is a journal. Without it, OTLP input is lost in a crash.")
    path: FileName | None = Field(
        None,
        description="Folder of the journal, of this replica alone. Default: beside the store's SQLite file, with its "
        "name and `-otlp`; where the store is no file, there is no journal unless this is given.",
    )
    max_bytes: Size = Field(
        2**30,
        gt=0,
        description="Most bytes of the journal. Above nine tenths of it, the oldest requests that no open run needs "
        "are given up; when open runs need all of it, OTLP is answered 503 (retry).",
    )
    max_age: Duration = Field(
        86400.0, gt=0, description="Requests are deleted after this time, whatever needs them; also while nothing runs."
    )
    fsync: Literal["always", "interval", "off"] = Field(
        "always",
        description="When requests are flushed to the disk: before they are acknowledged (requests share a flush), "
        "every second, or when the system does it. A killed process loses nothing either way, a power cut does.",
    )
    segment_bytes: Size = Field(
        8 * 2**20,
        gt=0,
        le=2**28,
        description="Length of one file; files are deleted, and read into memory, as a whole.",
    )


class KafkaTopic(Section):
    """One topic and what its messages hold."""

    name: TopicName = Field(description="Name of the topic.")
    signal: Literal["traces", "logs"] = Field("traces", description="What its messages are export requests of.")
    encoding: Literal["auto", "otlp_proto", "otlp_json"] = Field(
        "auto",
        description="Encoding of its messages, as the Collector's Kafka exporter names them; auto looks at each.",
    )


class KafkaClient(Section):
    """Settings that go to the Kafka client (kafka-python) under the same names; secrets are better kept in files."""

    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT", description="How brokers are reached."
    )
    ssl_cafile: FileName | None = Field(None, description="PEM file of the authorities that sign brokers.")
    ssl_certfile: FileName | None = Field(None, description="PEM file of the client's certificate.")
    ssl_keyfile: FileName | None = Field(None, description="PEM file of the client's private key.")
    ssl_password: SecretStr | None = Field(None, description="Pass phrase of the private key; better its `_file`.")
    ssl_password_file: FileName | None = Field(None, description="File that holds the pass phrase.")
    ssl_check_hostname: bool = Field(True, description="Whether a broker's certificate must name its host.")
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI"] | None = Field(
        None, description="How the client proves who it is; needs a SASL security protocol."
    )
    sasl_plain_username: str | None = Field(None, description="User name of PLAIN and SCRAM.")
    sasl_plain_password: SecretStr | None = Field(None, description="Password; better its `_file`.")
    sasl_plain_password_file: FileName | None = Field(None, description="File that holds the password.")
    sasl_kerberos_service_name: str | None = Field(None, description="Service name of GSSAPI; default `kafka`.")
    sasl_kerberos_domain_name: str | None = Field(None, description="Domain name of GSSAPI; default the broker's host.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for name in ("ssl_password", "sasl_plain_password"):
            if getattr(self, name) is not None and getattr(self, f"{name}_file") is not None:
                raise KeyFaultError(name, f"is given here and by {name}_file; keep one")
        if self.sasl_mechanism is not None and not self.security_protocol.startswith("SASL_"):
            raise KeyFaultError(
                "sasl_mechanism",
                f"has no effect with security_protocol {self.security_protocol}; use SASL_SSL (or SASL_PLAINTEXT)",
            )
        if self.sasl_mechanism not in (None, "GSSAPI"):
            password = self.sasl_plain_password is not None or self.sasl_plain_password_file is not None
            if self.sasl_plain_username is None or not password:
                raise KeyFaultError(
                    "sasl_mechanism",
                    f"{self.sasl_mechanism} needs sasl_plain_username and sasl_plain_password_file; give both",
                )
        if self.sasl_mechanism is None and self.security_protocol.startswith("SASL_"):
            raise KeyFaultError("security_protocol", f"{self.security_protocol} needs sasl_mechanism; add it")
        return self


class DeadLetters(Section):
    """Messages that cannot be used go to a topic of their own; see [dead-letters.md](dead-letters.md)."""

    topic: TopicName | None = Field(
        None,
        description="Name of the topic; it has to exist. Without one, such messages are counted and passed over, "
        "however many there are.",
    )
    max_ratio: float = Field(
        0.25,
        gt=0,
        le=1,
        description="Share of a partition's last `window` messages; at more of them nothing is read until a restart.",
    )
    window: int = Field(1000, gt=0, le=10**6, description="How many of a partition's last messages are looked at.")
    max_run: int = Field(
        100, gt=0, description="Most of them in a row on a partition; at one more nothing is read until a restart."
    )
    max_replays: int = Field(
        3, gt=0, description="How often `aem-monitor dlq replay` gives back one message that fails again and again."
    )


class Kafka(Section):
    """Spans from Kafka. Offsets are committed when the verdicts they led to are stored."""

    bootstrap_servers: Annotated[tuple[Broker, ...], Field(strict=False)] = Field(
        min_length=1, description="Brokers to begin with, each `host:port`. Required."
    )
    group_id: str = Field("aem-monitor", min_length=1, description="Consumer group; replicas share one.")
    group_instance_id: str | None = Field(
        None, description="Static member name, unique for each replica; a restart then moves no partitions."
    )
    topics: Annotated[tuple[KafkaTopic, ...], Field(strict=False)] = Field(
        (KafkaTopic(name="otlp_spans"),), min_length=1, description="Topics to read."
    )
    auto_offset_reset: Literal["earliest", "latest"] = Field(
        "earliest", description="Where to begin on a partition that the group has not committed."
    )
    isolation_level: Literal["read_committed", "read_uncommitted"] = Field(
        "read_committed",
        description="Whether messages of aborted transactions are left out, and of open ones waited for, or both read.",
    )
    max_poll_records: int = Field(500, gt=0, description="Most messages taken in one poll.")
    max_poll_interval: Duration = Field(300.0, gt=0, description="Longest pause between polls in the group's eyes.")
    session_timeout: Duration = Field(45.0, gt=0, description="Silence after which the group gives partitions away.")
    heartbeat_interval: Duration = Field(
        3.0,
        gt=0,
        description="How often the group hears from this replica, but at least three times in `session_timeout`.",
    )
    fetch_min_bytes: int = Field(1, gt=0, description="Bytes a broker waits for before it answers a fetch.")
    fetch_max_wait: Duration = Field(0.5, gt=0, description="How long a broker waits for `fetch_min_bytes`.")
    fetch_max_bytes: Size = Field(
        16 * 2**20, gt=0, description="Most bytes of one fetch answer of one broker; bounds the memory of a backlog."
    )
    max_partition_fetch_bytes: Size = Field(
        4 * 2**20, gt=0, description="Most bytes a partition contributes to one fetch answer."
    )
    metadata_max_age: Duration = Field(60.0, gt=0, description="How long a new topic or partition may stay unnoticed.")
    commit_interval: Duration = Field(5.0, gt=0, description="How often released offsets are committed.")
    client: KafkaClient = Field(default_factory=KafkaClient, description="Security settings of the client.")
    dead_letters: DeadLetters = Field(default_factory=DeadLetters)

    @model_validator(mode="after")
    def _topics_differ(self) -> Self:
        seen: set[str] = set()
        for number, topic in enumerate(self.topics):
            if topic.name in seen:
                raise KeyFaultError(("topics", number, "name"), f"topic {topic.name!r} is listed twice; keep one")
            seen.add(topic.name)
        if self.dead_letters.topic in seen:
            raise KeyFaultError(
                ("dead_letters", "topic"),
                f"topic {self.dead_letters.topic!r} is read as well; its letters would become letters again",
            )
        return self


class Limits(Section):
    """Bounds on one span and one request, whichever way they come in. What is cut or left out is counted."""

    max_attribute_chars: int = Field(2**20, gt=0, description="Longer attribute texts are cut to this many characters.")
    max_depth: int = Field(64, gt=0, le=100, description="Attribute values nested deeper are cut.")
    max_attributes: int = Field(8192, gt=0, description="Entries of one map or list of an attribute.")
    max_events: int = Field(8192, gt=0, description="Events of one span.")
    max_spans: int = Field(250_000, gt=0, description="Spans (or log records) of one request; a larger one is refused.")


class Queue(Section):
    """The queue between sources and engine. While it is full, Kafka is paused and OTLP is answered 503 (retry)."""

    batches: int = Field(256, gt=0, description="Most requests or messages that wait.")


class Ingest(Section):
    """Where spans come from."""

    otlp_http: OtlpHttp = Field(default_factory=OtlpHttp)
    otlp_grpc: OtlpGrpc = Field(default_factory=OtlpGrpc)
    otlp_journal: OtlpJournal = Field(default_factory=OtlpJournal)
    kafka: Kafka | None = Field(None)
    limits: Limits = Field(default_factory=Limits)
    queue: Queue = Field(default_factory=Queue)

    @property
    def takes_otlp(self) -> bool:
        """Whether any OTLP receiver runs."""
        return self.otlp_http.enabled or self.otlp_grpc.enabled

    @model_validator(mode="after")
    def _journal_takes_every_request(self) -> Self:
        journal, needed = self.otlp_journal, self.otlp_http.max_body + 2 * self.otlp_journal.segment_bytes
        if journal.enabled and journal.max_bytes < needed:
            raise KeyFaultError(
                ("otlp_journal", "max_bytes"),
                f"{format_size(journal.max_bytes)} may not take a single request; it must be at least "
                f"otlp_http.max_body and two segments: {format_size(needed)}",
            )
        return self
