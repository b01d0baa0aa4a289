"""A short soak; ``make soak`` is the long one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.failures.soak import disturb
from tests.services.cache import ServiceUnavailableError
from tests.services.kafka import KafkaBroker
from tests.services.postgresql import PostgresqlServer

pytestmark = pytest.mark.service


@pytest.fixture
def own_postgresql_server() -> Iterator[PostgresqlServer]:
    """One that may be killed."""
    try:
        server = PostgresqlServer()
    except ServiceUnavailableError as error:
        pytest.skip(str(error))
    yield server
    server.close()


def test_random_faults_change_nothing(
    own_kafka_broker: KafkaBroker, own_postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    own_kafka_broker.start()
    same, counted = disturb(own_kafka_broker, own_postgresql_server, tmp_path, seed=4, plays=10, pieces=3, grace=10)
    assert counted.total() >= 3
    assert same
