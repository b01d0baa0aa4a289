"""Fixtures of the ingest tests."""

import logging
from uuid import uuid4

import pytest

from aem_monitor.ingest.kafka_settings import KafkaSettings, KafkaTopic
from tests.services.kafka import KafkaBroker


@pytest.fixture(autouse=True)
def _quiet_client(monkeypatch: pytest.MonkeyPatch) -> None:
    # The client's own log says every attempt; a failing test should show ours.
    monkeypatch.setattr(logging.getLogger("kafka"), "level", logging.CRITICAL)


@pytest.fixture
def kafka_topic(kafka_broker: KafkaBroker) -> str:
    """A new topic with two partitions."""
    name = f"otlp_spans.{uuid4().hex[:8]}"
    kafka_broker.create_topic(name, partitions=2)
    return name


@pytest.fixture
def kafka_settings(kafka_broker: KafkaBroker, kafka_topic: str) -> KafkaSettings:
    """Settings for that topic in a group of its own, with short intervals."""
    return KafkaSettings(
        bootstrap_servers=(kafka_broker.bootstrap,),
        topics=(KafkaTopic(kafka_topic),),
        group_id=f"group.{uuid4().hex[:8]}",
        commit_interval_seconds=0.2,
        session_timeout_seconds=6.0,
        heartbeat_interval_seconds=0.3,
        metadata_max_age_seconds=1.0,
    )
