"""A member that is slow to join its group, as seen by the one who polls."""

import time

import pytest

from aem_monitor.ingest.kafka_connection import KafkaConnection
from aem_monitor.ingest.kafka_group import Ownership
from aem_monitor.ingest.kafka_settings import KafkaSettings

pytestmark = pytest.mark.service


@pytest.mark.parametrize("attempt", range(3))  # whether the client forgets a join depends on the moment
def test_polls_that_end_before_a_join_does_lose_no_membership(
    attempt: int,
    kafka_settings: KafkaSettings,
    kafka_topic: str,
) -> None:
    connection = KafkaConnection(kafka_settings, 10.0)
    ownership = Ownership()
    try:
        until = time.monotonic() + 60.0
        while not ownership.partitions:
            assert time.monotonic() < until, "never joined"
            connection.poll(0.001)
            while (event := connection.events.take()) is not None:
                ownership.apply(event)
    finally:
        connection.close(5.0)
    assert {topic for topic, _ in ownership.partitions} == {kafka_topic}
