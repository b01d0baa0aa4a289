"""From the configuration to the settings of each part, which know nothing of files."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr
from sqlalchemy.engine import make_url

from aem_monitor.assembly.settings import AssemblySettings
from aem_monitor.attribution.steps import ScoringSettings
from aem_monitor.build import PipelineSettings
from aem_monitor.calibration.file import read_calibration
from aem_monitor.config.conventions import MappedSpans
from aem_monitor.config.ingest import Kafka, KafkaClient
from aem_monitor.config.kafkatls import check_tls
from aem_monitor.config.root import Config
from aem_monitor.config.secrets import read_secret
from aem_monitor.conventions.mapped import Fields, KindRule, SpanMapping
from aem_monitor.conventions.reading import SpanKind
from aem_monitor.deadletters.settings import DeadLetterSettings
from aem_monitor.engine.settings import EngineSettings
from aem_monitor.ingest.kafka_settings import KafkaSettings, KafkaTopic
from aem_monitor.ingest.limits import Limits
from aem_monitor.journal.settings import JournalSettings
from aem_monitor.scoring.compose import composition
from aem_monitor.scoring.thresholds import ReplyThresholds
from aem_monitor.store.conversations import Keeping
from aem_monitor.store.outbox import ALERTING
from aem_monitor.store.redaction import Redaction

_KINDS: Final[Mapping[str, SpanKind]] = {
    "runner": SpanKind.RUN,
    "agent": SpanKind.AGENT,
    "model": SpanKind.MODEL,
    "tool": SpanKind.TOOL,
    "step": SpanKind.STEP,
    "other": SpanKind.OTHER,
}


def limits(config: Config) -> Limits:
    """Bounds of the decoders. One size of a body holds for OTLP requests and for Kafka messages."""
    chosen = config.ingest.limits
    return Limits(
        max_body_bytes=config.ingest.otlp_http.max_body,
        max_attribute_chars=chosen.max_attribute_chars,
        max_depth=chosen.max_depth,
        max_attributes=chosen.max_attributes,
        max_events=chosen.max_events,
        max_spans=chosen.max_spans,
    )


def admin_hosts(config: Config) -> frozenset[str] | None:
    """Names under which the admin listener answers beside those of loopback; None: any, since others can reach it."""
    if not config.admin.listen.loopback:
        return None
    outside = config.web.external_url
    return frozenset(() if outside is None else (urlsplit(outside).hostname or "",))


def span_mappings(config: Config) -> tuple[SpanMapping, ...]:
    """The mappings of house-made spans, in the order in which they are asked."""
    return tuple(_mapping(one) for one in config.conventions.mappings)


def _mapping(chosen: MappedSpans) -> SpanMapping:
    return SpanMapping(
        name=chosen.name,
        scope=chosen.detect.scope,
        attributes=chosen.detect.attributes,
        resource=chosen.detect.resource,
        kind=KindRule(
            source=chosen.kind.by,
            values={value: _KINDS[kind] for value, kind in chosen.kind.values.items()},
            default=_KINDS[chosen.kind.default],
        ),
        fields=Fields(**{name: getattr(chosen.fields, name) for name in type(chosen.fields).model_fields}),
    )


def assembly_settings(config: Config) -> AssemblySettings:
    """Attributes and rules of assembly."""
    chosen = config.assembly
    return AssemblySettings(
        conversation_id=chosen.conversation_id,
        rejected_id_prefixes=chosen.rejected_id_prefixes,
        release=chosen.release,
        agent=chosen.agent,
        dialog_id=chosen.dialog_id,
        run_id=chosen.run_id,
        end_marker=chosen.end_marker,
        error_prefixes=chosen.error_prefixes,
        tool_separators=chosen.tool_names.separators,
        tool_prefixes=chosen.tool_names.drop_prefixes,
        answer_tools=chosen.answer_tools,
    )


def _scoring(config: Config) -> ScoringSettings:
    """Calibrated thresholds where there are some, else the configured ones. Raises ``ConfigError`` for a file that
    cannot be used."""
    chosen = config.scoring
    found = {} if chosen.calibration is None else read_calibration(chosen.calibration, "scoring.calibration").thresholds
    return ScoringSettings(
        threshold=found.get("value", chosen.threshold),
        band=chosen.band,
        composition=composition(chosen.composition),
        reply=ReplyThresholds(
            found.get("response_completeness", chosen.reply.completeness),
            found.get("response_truthfulness", chosen.reply.truthfulness),
        ),
    )


def engine_settings(config: Config) -> EngineSettings:
    """Times and bounds of the engine."""
    chosen = config.assembly
    return EngineSettings(
        idle=chosen.idle,
        grace=chosen.grace,
        play_gap=chosen.play_gap,
        wall_idle=chosen.wall_idle,
        pending_max_age=chosen.pending.max_age,
        pending_max_bytes=chosen.pending.max_bytes,
        max_conversations=chosen.max_conversations,
        max_traces=chosen.max_traces,
        max_run_age=chosen.max_run_age,
        late_window=chosen.late_window,
        remembered_traces=chosen.remembered_traces,
        max_uncommitted=chosen.max_uncommitted,
    )


def pipeline_settings(config: Config) -> PipelineSettings:
    """What the pure steps go by in the daemon. Recognition by words needs a restriction there."""
    return PipelineSettings(
        assembly=assembly_settings(config),
        scoring=_scoring(config),
        where=config.recognise.where,
        require_where=True,
        similarity=config.recognise.similarity,
        margin=config.recognise.margin,
        play_gap=config.assembly.play_gap,
    )


def keeping(config: Config) -> Keeping:
    """What the store keeps of conversations, and what is taken out of all that it keeps."""
    chosen = config.store
    return Keeping(
        conversations=chosen.conversations.keep,
        max_bytes=chosen.conversations.max_bytes,
        redaction=Redaction.of(chosen.redact.fields, chosen.redact.patterns),
        sinks=config.sinks.names + ((ALERTING,) if config.alerting.enabled else ()),
    )


def journal_settings(config: Config) -> JournalSettings | None:
    """Where OTLP requests are journalled; None where they are not.

    What a journal holds is read to its end also when no receiver runs any more.
    """
    chosen = config.ingest.otlp_journal
    path = chosen.path or _beside_store(config.store.url, config.store.replica)
    if not chosen.enabled or path is None or not (config.ingest.takes_otlp or path.is_dir()):
        return None
    return JournalSettings(path, chosen.max_bytes, chosen.max_age, chosen.fsync, chosen.segment_bytes)


def _beside_store(url: str, replica: str) -> Path | None:
    """The journal's folder beside a SQLite file: one for each replica that has a name, as the file may have several.

    The host's name, which is a replica's without one, is left out: it changes with each container, and the next one
    has to find what the last has left. Two such replicas at once are refused by the folder's lock.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        return None
    file = Path(str(parsed.database))
    digest = hashlib.sha256(replica.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return file.with_name(f"{file.name}-otlp-{digest}" if replica else f"{file.name}-otlp")


def kafka_settings(kafka: Kafka) -> KafkaSettings:
    """Settings of the Kafka source, secrets read from their files. Raises ``ConfigError`` where one cannot be read."""
    return KafkaSettings(
        bootstrap_servers=kafka.bootstrap_servers,
        topics=tuple(KafkaTopic(topic.name, topic.signal, topic.encoding) for topic in kafka.topics),
        group_id=kafka.group_id,
        group_instance_id=kafka.group_instance_id,
        auto_offset_reset=kafka.auto_offset_reset,
        isolation_level=kafka.isolation_level,
        max_poll_records=kafka.max_poll_records,
        max_poll_interval_seconds=kafka.max_poll_interval,
        session_timeout_seconds=kafka.session_timeout,
        heartbeat_interval_seconds=kafka.heartbeat_interval,
        fetch_min_bytes=kafka.fetch_min_bytes,
        fetch_max_wait_seconds=kafka.fetch_max_wait,
        fetch_max_bytes=kafka.fetch_max_bytes,
        max_partition_fetch_bytes=kafka.max_partition_fetch_bytes,
        metadata_max_age_seconds=kafka.metadata_max_age,
        commit_interval_seconds=kafka.commit_interval,
        client=client_settings(kafka.client, "ingest.kafka.client"),
    )


def dead_letter_settings(kafka: Kafka) -> DeadLetterSettings | None:
    """Where messages go that cannot be used; None where they are passed over."""
    chosen = kafka.dead_letters
    if chosen.topic is None:
        return None
    return DeadLetterSettings(
        chosen.topic, kafka.group_id, chosen.max_ratio, chosen.window, chosen.max_run, chosen.max_replays
    )


def client_settings(client: KafkaClient, key: str) -> dict[str, object]:
    """Only what was chosen: the client's own defaults hold for the rest. ``key`` is where it stands.

    Raises ``ConfigError`` where a secret or a file of TLS cannot be read.
    """
    chosen: dict[str, object] = {}
    for name in type(client).model_fields:
        value = getattr(client, name)
        if value is None:
            continue
        if name.endswith("_file") and name.removesuffix("_file") in type(client).model_fields:
            chosen[name.removesuffix("_file")] = read_secret(value, f"{key}.{name}")
        elif isinstance(value, SecretStr):
            chosen[name] = value.get_secret_value()
        else:
            chosen[name] = str(value) if isinstance(value, Path) else value
    check_tls(client, key, None if (phrase := chosen.get("ssl_password")) is None else str(phrase))
    return chosen
