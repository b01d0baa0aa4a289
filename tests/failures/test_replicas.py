"""Three replicas of one group on one PostgreSQL, while the group changes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.failures.oracle import Quiet
from tests.failures.running import Disturbed, eventually
from tests.failures.workload import Workload
from tests.services.kafka import KafkaBroker
from tests.services.postgresql import PostgresqlServer

pytestmark = pytest.mark.service


@pytest.fixture
def three(kafka_broker: KafkaBroker, postgresql_server: PostgresqlServer, tmp_path: Path) -> Iterator[Disturbed]:
    with postgresql_server.database() as url:
        replicas = Disturbed(kafka_broker, tmp_path, url, replicas=3)
        yield replicas
        replicas.close()


def test_replicas_that_come_die_and_go_add_up_to_one(three: Disturbed, plays: Workload, undisturbed: Quiet) -> None:
    """In the middle of conversations: one alone, then three, one killed, one stopped, both back."""
    half = len(plays.messages) // 2
    first, second, third = three.daemons
    first.start()
    three.produce(plays.messages[:half])
    eventually(lambda: 'aem_monitor_received_batches_total{source="kafka"}' in first.scrape(), lambda: first.log)
    second.start()
    third.start()
    three.produce(plays.messages[half:])
    second.kill()
    assert third.stop() == 0
    assert three.finish() == undisturbed
