"""On real Kafka: spans keyed by trace or not at all, three replicas behind ``rekey``, and the sums of one replica."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from aem_monitor.store import Store
from tests.failures.kills import quiet
from tests.failures.oracle import Outcome, Series
from tests.failures.running import Disturbed, eventually
from tests.failures.workload import Workload, workload
from tests.rekey.kills import CONFIGURATION, killed
from tests.rekey.running import Rekey
from tests.services.kafka import KafkaBroker
from tests.services.postgresql import PostgresqlServer

pytestmark = pytest.mark.service

SEED = 5


@pytest.fixture(scope="module")
def load() -> Workload:
    return workload(SEED)


@pytest.fixture(scope="module")
def undisturbed(
    kafka_broker: KafkaBroker, load: Workload, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Outcome, dict[Series, float]]:
    """What one replica says that reads everything, each conversation from one partition."""
    return quiet(kafka_broker, tmp_path_factory.mktemp("quiet"), load)


@pytest.fixture
def three(kafka_broker: KafkaBroker, postgresql_server: PostgresqlServer, tmp_path: Path) -> Iterator[Disturbed]:
    """Three replicas with one store, whose grace is longer than any disturbance here."""
    with postgresql_server.database() as url:
        folder = tmp_path / "daemons"
        folder.mkdir()
        replicas = Disturbed(kafka_broker, folder, url, replicas=3, **CONFIGURATION)
        for daemon in replicas.daemons:
            daemon.start()
        yield replicas
        replicas.close()


@pytest.fixture
def rekey(kafka_broker: KafkaBroker, three: Disturbed, tmp_path: Path) -> Iterator[Rekey]:
    folder = tmp_path / "rekey"
    folder.mkdir()
    process = Rekey(kafka_broker, folder, three.topic)
    yield process
    process.close()


@pytest.mark.parametrize("keyed", ["by_trace", "without_key"])
def test_replicas_behind_it_add_up_to_one_that_reads_everything(
    keyed: str, three: Disturbed, rekey: Rekey, load: Workload, undisturbed: tuple[Outcome, dict[Series, float]]
) -> None:
    process = rekey.start()
    (rekey.produce_by_trace if keyed == "by_trace" else rekey.produce_without_key)(load.messages)
    eventually(rekey.done, rekey.state)
    assert process.stop() == 0
    found = three.finish()
    assert len(found[0].runs) == load.runs
    assert found == undisturbed
    with Store(three.url, "reader") as store:
        assert all(any(total.value for total in store.totals(name)) for name in three.names)


def test_a_process_that_is_killed_again_and_again_changes_nothing(
    three: Disturbed, rekey: Rekey, load: Workload, undisturbed: tuple[Outcome, dict[Series, float]]
) -> None:
    assert killed(three, rekey, load, random.Random(SEED)) == undisturbed
