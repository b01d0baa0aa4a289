"""What goes wrong around a daemon: brokers, databases, disks, clocks, topics."""

import random
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.failures.oracle import Quiet
from tests.failures.running import Disturbed, eventually
from tests.failures.workload import Message, Workload
from tests.services.cache import ServiceUnavailableError
from tests.services.kafka import KafkaBroker
from tests.services.postgresql import PostgresqlServer

pytestmark = pytest.mark.service

SEED = 3


@pytest.fixture(scope="module")
def halves(plays: Workload) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """In the middle of several conversations."""
    middle = len(plays.messages) // 2
    return plays.messages[:middle], plays.messages[middle:]


@pytest.fixture
def disturbed(kafka_broker: KafkaBroker, tmp_path: Path) -> Iterator[Disturbed]:
    one = Disturbed(kafka_broker, tmp_path)
    yield one
    one.close()


def has_read(disturbed: Disturbed, messages: int) -> None:
    """Wait until the daemon has read so many."""
    wanted = f'aem_monitor_received_batches_total{{source="kafka"}} {messages}.0'
    eventually(lambda: wanted in disturbed.daemon.scrape(), disturbed.state)


def test_a_broker_that_goes_and_comes_back(
    own_kafka_broker: KafkaBroker,
    tmp_path: Path,
    halves: tuple[tuple[Message, ...], tuple[Message, ...]],
    undisturbed: Quiet,
) -> None:
    own_kafka_broker.start()
    disturbed = Disturbed(own_kafka_broker, tmp_path)
    try:
        disturbed.daemon.start()
        disturbed.produce(halves[0])
        has_read(disturbed, len(halves[0]))
        own_kafka_broker.stop()
        own_kafka_broker.start()
        disturbed.produce(halves[1])
        assert disturbed.finish() == undisturbed
    finally:
        disturbed.close()


def test_every_message_twice_and_out_of_order(disturbed: Disturbed, plays: Workload, undisturbed: Quiet) -> None:
    chance = random.Random(SEED)
    twice = [replace(message, at=message.at + chance.uniform(0, 2)) for message in (*plays.messages, *plays.messages)]
    disturbed.produce(sorted(twice, key=lambda message: message.at))
    assert disturbed.finish() == undisturbed


def test_sigterm_in_the_middle_of_everything(
    disturbed: Disturbed,
    halves: tuple[tuple[Message, ...], tuple[Message, ...]],
    undisturbed: Quiet,
) -> None:
    disturbed.produce(halves[0])
    disturbed.daemon.start()
    eventually(lambda: "aem_monitor_received_batches_total" in disturbed.daemon.scrape(), disturbed.state)
    assert disturbed.daemon.stop() == 0
    disturbed.daemon.start()
    disturbed.produce(halves[1])
    assert disturbed.daemon.stop() == 0
    assert disturbed.finish() == undisturbed


def test_a_topic_that_gets_more_partitions(
    kafka_broker: KafkaBroker, disturbed: Disturbed, plays: Workload, undisturbed: Quiet
) -> None:
    disturbed.daemon.start()
    old = [message for message in plays.messages if message.partition < 2]
    disturbed.produce(old)
    has_read(disturbed, len(old))
    disturbed.add_partitions(5)
    disturbed.produce([replace(message, partition=4) for message in plays.messages if message.partition == 2])
    assert disturbed.finish() == undisturbed


def test_a_wall_clock_that_jumps(
    disturbed: Disturbed,
    halves: tuple[tuple[Message, ...], tuple[Message, ...]],
    undisturbed: Quiet,
) -> None:
    disturbed.daemon.start("tests.failures.afflicted", "jumping_clock")
    disturbed.produce(halves[0])
    has_read(disturbed, len(halves[0]))
    disturbed.daemon.signal(signal.SIGUSR1)
    time.sleep(1.0)
    disturbed.produce(halves[1])
    has_read(disturbed, sum(map(len, halves)))
    disturbed.daemon.signal(signal.SIGUSR1)
    assert disturbed.finish() == undisturbed
    assert "The wall clock jumped by +3600" in disturbed.daemon.log
    assert "The wall clock jumped by -7200" in disturbed.daemon.log


def test_a_disk_that_is_full_for_a_while(
    disturbed: Disturbed,
    halves: tuple[tuple[Message, ...], tuple[Message, ...]],
    undisturbed: Quiet,
) -> None:
    daemon = disturbed.daemon
    daemon.start("tests.failures.afflicted", "full_disk")
    disturbed.produce(halves[0])
    has_read(disturbed, len(halves[0]))
    daemon.signal(signal.SIGUSR1)
    disturbed.produce(halves[1])
    eventually(lambda: daemon.get("/-/ready") == 503, disturbed.state)
    assert 'aem_monitor_store_errors_total{reason="full"}' in daemon.scrape()
    daemon.signal(signal.SIGUSR1)
    eventually(lambda: daemon.get("/-/ready") == 200, disturbed.state)
    assert disturbed.finish() == undisturbed


def test_a_postgresql_that_crashes_and_comes_back(
    kafka_broker: KafkaBroker,
    tmp_path: Path,
    halves: tuple[tuple[Message, ...], tuple[Message, ...]],
    undisturbed: Quiet,
) -> None:
    try:
        server = PostgresqlServer()
    except ServiceUnavailableError as error:
        pytest.skip(str(error))
    try:
        with server.database() as url:
            disturbed = Disturbed(kafka_broker, tmp_path, url)
            disturbed.daemon.start()
            disturbed.produce(halves[0])
            has_read(disturbed, len(halves[0]))
            server.kill()
            disturbed.produce(halves[1])
            eventually(lambda: disturbed.daemon.get("/-/ready") == 503, disturbed.state)
            server.start()
            try:
                assert disturbed.finish() == undisturbed
            finally:
                disturbed.close()
    finally:
        server.close()
