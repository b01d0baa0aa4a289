"""From the configuration to the settings of ``rekey``."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from aem_monitor.config.root import Config
from aem_monitor.config.settings import kafka_settings
from aem_monitor.errors import ConfigError, UsageError
from aem_monitor.golden.load import load_dialogs
from aem_monitor.golden.recognise import Recogniser
from aem_monitor.ingest.kafka_settings import KafkaSettings, KafkaTopic
from aem_monitor.rekey.settings import RekeySettings


def rekey_kafka_settings(config: Config, path: Path) -> KafkaSettings:
    """How ``rekey`` reads: as the monitor, but its own topics in its own group. Raises ``ConfigError``."""
    kafka, chosen = config.ingest.kafka, config.rekey
    if kafka is None:
        raise ConfigError(f"{path}: ingest.kafka: rekey needs the brokers; give at least bootstrap_servers")
    return replace(
        kafka_settings(kafka),
        topics=tuple(KafkaTopic(topic.name, topic.signal, topic.encoding) for topic in chosen.topics),
        group_id=chosen.group_id,
        group_instance_id=chosen.group_instance_id,
    )


def rekey_settings(config: Config, to: str | None) -> RekeySettings:
    """What ``rekey`` does with what it reads. ``to`` takes the place of the only topic's ``to``.

    Raises ``UsageError`` where there are several topics, or it is the one that is read.
    """
    chosen = config.rekey
    targets = {topic.name: topic.to for topic in chosen.topics}
    if to is not None:
        if len(targets) > 1:
            raise UsageError(f"--to: {len(targets)} topics are read; say where each goes in rekey.topics")
        if to in targets:
            raise UsageError(f"--to: topic {to!r} is the one that is read; what is written would come again")
        targets = dict.fromkeys(targets, to)
    return RekeySettings(
        targets=targets,
        wait=chosen.wait,
        wait_without_id=chosen.wait_without_id,
        max_age=max(config.assembly.pending.max_age, chosen.wait_without_id),
        max_traces=chosen.max_traces,
        max_bytes=chosen.max_bytes,
        without_id=chosen.without_id,
        remembered_traces=config.assembly.remembered_traces,
    )


def read_by_the_monitor(config: Config, settings: RekeySettings) -> list[str]:
    """Topics that ``rekey`` reads and that this configuration has the monitor read too, as it does by default.

    Replicas of it would read conversations that are torn apart.
    """
    kafka = config.ingest.kafka
    return [] if kafka is None else [topic.name for topic in kafka.topics if topic.name in settings.targets]


def restricting_attributes(config: Config) -> frozenset[str]:
    """The attributes by which golden dialogs are restricted, as far as the configuration names dialogs."""
    dialogs = load_dialogs(config.golden.paths) if config.golden.paths else ()
    named = config.recognise.where if isinstance(config.recognise.where, Mapping) else {}
    return Recogniser(dialogs, config.recognise.where).attributes | named.keys()
