"""Fixtures of the tests of dead letters."""

import logging
from uuid import uuid4

import pytest

from tests.services.kafka import KafkaBroker


@pytest.fixture(autouse=True)
def _quiet_client(monkeypatch: pytest.MonkeyPatch) -> None:
    # The client's own log says every attempt; a failing test should show ours.
    monkeypatch.setattr(logging.getLogger("kafka"), "level", logging.CRITICAL)


@pytest.fixture
def dead_topic(kafka_broker: KafkaBroker) -> str:
    """A new topic for dead letters."""
    name = f"dead.{uuid4().hex[:8]}"
    kafka_broker.create_topic(name)
    return name
