"""What goes wrong around a daemon: brokers, databases, disks, clocks, topics."""

import random
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from tests.failures.oracle import Quiet
from tests.failures.running import Disturbed, eventually
from tests.failures.workload import Message, Workload
from tests.services.cache import ServiceUnavailableError
from tests.services.kafka import KafkaBroker
from tests.services.postgresql import PostgresqlServer

pytestmark = pytest.mark.service

SEED = 3


def halves(plays: Workload) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """In the middle of several conversations."""
    middle = len(plays.messages) // 2
    return plays.messages[:middle], plays.messages[middle:]


def has_read(disturbed: Disturbed, messages: int) -> None:
    """Wait until the daemon has read so many."""
    wanted = f'aem_monitor_received_batches_total{{source="kafka"}} {messages}.0'
    eventually(lambda: wanted in disturbed.daemon.scrape(), disturbed.state)


def every_message_twice_and_out_of_order(disturbed: Disturbed, plays: Workload) -> Quiet:
    chance = random.Random(SEED)
    twice = [replace(message, at=message.at + chance.uniform(0, 2)) for message in (*plays.messages, *plays.messages)]
    disturbed.produce(sorted(twice, key=lambda message: message.at))
    return disturbed.finish()


def sigterm_in_the_middle_of_everything(disturbed: Disturbed, plays: Workload) -> Quiet:
    first, second = halves(plays)
    disturbed.produce(first)
    disturbed.daemon.start()
    eventually(lambda: "aem_monitor_received_batches_total" in disturbed.daemon.scrape(), disturbed.state)
    assert disturbed.daemon.stop() == 0
    disturbed.daemon.start()
    disturbed.produce(second)
    assert disturbed.daemon.stop() == 0
    return disturbed.finish()


def a_topic_that_gets_more_partitions(disturbed: Disturbed, plays: Workload) -> Quiet:
    disturbed.daemon.start()
    old = [message for message in plays.messages if message.partition < 2]
    disturbed.produce(old)
    has_read(disturbed, len(old))
    disturbed.add_partitions(5)
    disturbed.produce([replace(message, partition=4) for message in plays.messages if message.partition == 2])
    return disturbed.finish()


def a_wall_clock_that_jumps(disturbed: Disturbed, plays: Workload) -> Quiet:
    first, second = halves(plays)
    disturbed.daemon.start("tests.failures.afflicted", "jumping_clock")
    disturbed.produce(first)
    has_read(disturbed, len(first))
    disturbed.daemon.signal(signal.SIGUSR1)
    eventually(lambda: "The wall clock jumped by +3600" in disturbed.daemon.log, disturbed.state)
    disturbed.produce(second)
    has_read(disturbed, len(plays.messages))
    disturbed.daemon.signal(signal.SIGUSR1)
    found = disturbed.finish()
    assert "The wall clock jumped by -7200" in disturbed.daemon.log
    return found


def a_disk_that_is_full_for_a_while(disturbed: Disturbed, plays: Workload) -> Quiet:
    first, second = halves(plays)
    daemon = disturbed.daemon
    daemon.start("tests.failures.afflicted", "full_disk")
    disturbed.produce(first)
    has_read(disturbed, len(first))
    daemon.signal(signal.SIGUSR1)
    disturbed.produce(second)
    eventually(lambda: daemon.get("/-/ready") == 503, disturbed.state)
    assert 'aem_monitor_store_errors_total{reason="full"}' in daemon.scrape()
    daemon.signal(signal.SIGUSR1)
    eventually(lambda: daemon.get("/-/ready") == 200, disturbed.state)
    return disturbed.finish()


def a_database_file_that_is_taken_away_for_a_while(disturbed: Disturbed, plays: Workload) -> Quiet:
    first, second = halves(plays)
    daemon, path = disturbed.daemon, Path(disturbed.url.removeprefix("sqlite:///"))
    daemon.start()
    disturbed.produce(first)
    has_read(disturbed, len(first))
    elsewhere = path.rename(path.with_suffix(".elsewhere"))
    disturbed.produce(second)
    eventually(lambda: "removed or replaced" in daemon.problems(), disturbed.state)
    elsewhere.rename(path)
    eventually(lambda: daemon.get("/-/ready") == 200, disturbed.state)
    return disturbed.finish()


ALONE: Final = (
    every_message_twice_and_out_of_order,
    sigterm_in_the_middle_of_everything,
    a_topic_that_gets_more_partitions,
    a_wall_clock_that_jumps,
    a_disk_that_is_full_for_a_while,
    a_database_file_that_is_taken_away_for_a_while,
)


@pytest.fixture(scope="module")
def found(
    kafka_broker: KafkaBroker, plays: Workload, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Quiet]]]:
    """What each of them leaves, three at a time."""

    def play(scenario: Callable[[Disturbed, Workload], Quiet]) -> Quiet:
        disturbed = Disturbed(kafka_broker, tmp_path_factory.mktemp(scenario.__name__))
        try:
            return scenario(disturbed, plays)
        finally:
            disturbed.close()

    with ThreadPoolExecutor(3) as pool:
        yield {scenario.__name__: pool.submit(play, scenario) for scenario in ALONE}


@pytest.mark.parametrize("name", [scenario.__name__ for scenario in ALONE])
def test_a_daemon_is_not_changed_by(name: str, found: dict[str, Future[Quiet]], undisturbed: Quiet) -> None:
    assert found[name].result() == undisturbed


def test_a_broker_that_goes_and_comes_back(
    own_kafka_broker: KafkaBroker, tmp_path: Path, plays: Workload, undisturbed: Quiet
) -> None:
    first, second = halves(plays)
    own_kafka_broker.start()
    disturbed = Disturbed(own_kafka_broker, tmp_path)
    try:
        disturbed.daemon.start()
        disturbed.produce(first)
        has_read(disturbed, len(first))
        own_kafka_broker.stop()
        own_kafka_broker.start()
        disturbed.produce(second)
        assert disturbed.finish() == undisturbed
    finally:
        disturbed.close()


def test_a_postgresql_that_crashes_and_comes_back(
    kafka_broker: KafkaBroker, tmp_path: Path, plays: Workload, undisturbed: Quiet
) -> None:
    first, second = halves(plays)
    try:
        server = PostgresqlServer()
    except ServiceUnavailableError as error:
        pytest.skip(str(error))
    try:
        with server.database() as url:
            disturbed = Disturbed(kafka_broker, tmp_path, url)
            disturbed.daemon.start()
            disturbed.produce(first)
            has_read(disturbed, len(first))
            server.kill()
            disturbed.produce(second)
            eventually(lambda: disturbed.daemon.get("/-/ready") == 503, disturbed.state)
            server.start()
            try:
                assert disturbed.finish() == undisturbed
            finally:
                disturbed.close()
    finally:
        server.close()
