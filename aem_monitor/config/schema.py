"""The configuration file's sections with their defaults, and its JSON Schema."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from pydantic import BaseModel, SecretStr

from aem_monitor.config.alerting import Alertmanager, PagerDuty, Webhook
from aem_monitor.config.conventions import Conventions, MappedSpans
from aem_monitor.config.environment import section_of
from aem_monitor.config.experts import Judge, Sentence
from aem_monitor.config.ingest import Kafka, KafkaTopic
from aem_monitor.config.rekey import Rekey, RekeyTopic
from aem_monitor.config.root import Config
from aem_monitor.config.sinks import JsonLines, KafkaSink, OtlpSink

DEFAULTS: Final[Mapping[str, Any]] = Config().model_dump(mode="json")
"""The default of every key, as the file writes it."""

KAFKA_DEFAULTS: Final[Mapping[str, Any]] = Kafka(bootstrap_servers=("localhost:9092",)).model_dump(mode="json")
"""The same for ``ingest.kafka``, which is off by default."""

JUDGE_DEFAULTS: Final[Mapping[str, Any]] = Judge(url="http://localhost:8000/v1", model="model").model_dump(mode="json")
SENTENCE_DEFAULTS: Final[Mapping[str, Any]] = Sentence(model=Path("model")).model_dump(mode="json")
"""The same for the experts, which are off by default."""

JSON_LINES_DEFAULTS: Final[Mapping[str, Any]] = JsonLines(path=Path("verdicts.jsonl")).model_dump(mode="json")
KAFKA_SINK_DEFAULTS: Final[Mapping[str, Any]] = KafkaSink(
    bootstrap_servers=("localhost:9092",), topic="verdicts"
).model_dump(mode="json")
OTLP_SINK_DEFAULTS: Final[Mapping[str, Any]] = OtlpSink(endpoint="http://localhost:4318/v1/logs").model_dump(
    mode="json"
)
"""The same for the sinks, all of which are off by default."""

PAGERDUTY_DEFAULTS: Final[Mapping[str, Any]] = PagerDuty(routing_key_file=Path("routing-key")).model_dump(mode="json")
ALERTMANAGER_DEFAULTS: Final[Mapping[str, Any]] = Alertmanager(url="http://localhost:9093").model_dump(mode="json")
_HOOK: Final = "https://receiver.example/hook"
WEBHOOK_DEFAULTS: Final[Mapping[str, Any]] = {**Webhook(url=SecretStr(_HOOK)).model_dump(mode="json"), "url": _HOOK}
"""The same for receivers of notifications, all of which are off by default."""

MAPPING_DEFAULTS: Final[Mapping[str, Any]] = MappedSpans.model_validate(
    {"name": "name", "detect": {"scope": "scope"}}
).model_dump(mode="json")
"""The same for an entry of ``conventions.mappings``, of which there are none by default."""

OFF_BY_DEFAULT: Final[Mapping[type[BaseModel], Mapping[str, Any]]] = {
    Kafka: KAFKA_DEFAULTS,
    Judge: JUDGE_DEFAULTS,
    Sentence: SENTENCE_DEFAULTS,
    JsonLines: JSON_LINES_DEFAULTS,
    KafkaSink: KAFKA_SINK_DEFAULTS,
    OtlpSink: OTLP_SINK_DEFAULTS,
    PagerDuty: PAGERDUTY_DEFAULTS,
    Alertmanager: ALERTMANAGER_DEFAULTS,
    Webhook: WEBHOOK_DEFAULTS,
}
"""Sections that are off until they are written, with what their keys default to then."""

DescribedSection: TypeAlias = tuple[tuple[str, ...], type[BaseModel], Mapping[str, Any]]
"""Key path of a section, its model, its defaults as the file writes them."""


def sections() -> Iterator[DescribedSection]:
    """Every section, outer ones first; the entries of lists of sections as ``topics[]``, ``mappings[]``."""
    yield from _below((), Config, DEFAULTS)


def _below(path: tuple[str, ...], model: type[BaseModel], defaults: Mapping[str, Any]) -> Iterator[DescribedSection]:
    for key, field in model.model_fields.items():
        section = section_of(field.annotation)
        if section is None:
            continue
        written = OFF_BY_DEFAULT.get(section, defaults[key])
        yield (*path, key), section, written
        if section is Kafka:
            yield (*path, key, "topics[]"), KafkaTopic, written["topics"][0]
        elif section is Rekey:
            yield (*path, key, "topics[]"), RekeyTopic, written["topics"][0]
        elif section is Conventions:
            yield (*path, key, "mappings[]"), MappedSpans, MAPPING_DEFAULTS
            yield from _below((*path, key, "mappings[]"), MappedSpans, MAPPING_DEFAULTS)
        yield from _below((*path, key), section, written)


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the file, defaults written as in the file."""
    schema = Config.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "aem-monitor configuration"
    for _, model, written in sections():
        for key, described in schema["$defs"][model.__name__]["properties"].items():
            if "default" in described:
                described["default"] = written[key]
    return schema


def json_schema_text() -> str:
    """The schema as the file that is published: indented, with a final newline."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
