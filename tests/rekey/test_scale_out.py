"""On real Kafka: spans keyed by trace or not at all, three replicas behind ``rekey``, and the sums of one replica."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from aem_monitor.store import Store
from tests.failures.oracle import Quiet
from tests.failures.running import Disturbed, eventually
from tests.failures.workload import Workload
from tests.rekey.kills import CONFIGURATION, killed
from tests.rekey.running import Rekey
from tests.services.kafka import KafkaBroker
from tests.services.postgresql import PostgresqlServer

pytestmark = pytest.mark.service

SEED = 5

Scenario: TypeAlias = Callable[[Disturbed, Rekey, Workload], Quiet]


def keyed_by_trace(three: Disturbed, rekey: Rekey, load: Workload) -> Quiet:
    process = rekey.start()
    rekey.produce_by_trace(load.messages)
    eventually(rekey.done, rekey.state)
    assert process.stop() == 0
    return three.finish()


def without_key(three: Disturbed, rekey: Rekey, load: Workload) -> Quiet:
    process = rekey.start()
    rekey.produce_without_key(load.messages)
    eventually(rekey.done, rekey.state)
    assert process.stop() == 0
    return three.finish()


def killed_again_and_again(three: Disturbed, rekey: Rekey, load: Workload) -> Quiet:
    return killed(three, rekey, load, random.Random(SEED))


SCENARIOS: Final[tuple[Scenario, ...]] = (keyed_by_trace, without_key, killed_again_and_again)


def played(scenario: Scenario, broker: KafkaBroker, server: PostgresqlServer, folder: Path, load: Workload) -> Quiet:
    """What three replicas with one store come to, whose grace is longer than any disturbance here."""
    for name in ("daemons", "rekey"):
        (folder / name).mkdir()
    with server.database() as url:
        three = Disturbed(broker, folder / "daemons", url, replicas=3, **CONFIGURATION)
        rekey = Rekey(broker, folder / "rekey", three.topic)
        try:
            for daemon in three.daemons:
                daemon.start()
            found = scenario(three, rekey, load)
        finally:
            rekey.close()
            three.close()
        with Store(url, "reader") as store:
            assert all(any(total.value for total in store.totals(name)) for name in three.names), "each had a part"
    return found


@pytest.fixture(scope="module")
def found(
    kafka_broker: KafkaBroker,
    postgresql_server: PostgresqlServer,
    plays: Workload,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, Future[Quiet]]]:
    """All at one time: most of each is waiting for a long grace."""
    with ThreadPoolExecutor(len(SCENARIOS)) as pool:
        yield {
            one.__name__: pool.submit(
                played, one, kafka_broker, postgresql_server, tmp_path_factory.mktemp(one.__name__), plays
            )
            for one in SCENARIOS
        }


@pytest.mark.parametrize("name", [one.__name__ for one in SCENARIOS])
def test_replicas_behind_it_add_up_to_one_that_reads_everything(
    name: str, found: dict[str, Future[Quiet]], plays: Workload, undisturbed: Quiet
) -> None:
    """One that reads each conversation from one partition, in peace."""
    outcome = found[name].result()
    assert len(outcome[0].runs) == plays.runs
    assert outcome == undisturbed
