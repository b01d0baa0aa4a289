"""Static membership: a restart moves no partitions, and two processes of one name do not both read."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest

from aem_monitor.ingest.batch import Partition, PartitionsAssigned, PartitionsRevoked
from aem_monitor.ingest.kafka import KafkaSource
from aem_monitor.ingest.kafka_settings import KafkaSettings, KafkaTopic
from tests.ingest.kafka_engine import Queue, message, release_all, running, said, wait_until
from tests.services.kafka import KafkaBroker

pytestmark = pytest.mark.service

MEMBERS = ("replica-0", "replica-1", "replica-2")


@pytest.fixture
def settings(kafka_broker: KafkaBroker, kafka_settings: KafkaSettings, kafka_topic: str) -> KafkaSettings:
    """A topic of three partitions; a member may be away for longer than a restart takes."""
    topic = f"{kafka_topic}.three"
    kafka_broker.create_topic(topic, partitions=3)
    return replace(kafka_settings, topics=(KafkaTopic(topic),), session_timeout_seconds=30.0)


@contextmanager
def member(settings: KafkaSettings, name: str, queue: Queue) -> Iterator[KafkaSource]:
    with running(replace(settings, group_instance_id=name), queue) as source:
        yield source


def changes(queue: Queue) -> list[PartitionsAssigned | PartitionsRevoked]:
    return [item for item in list(queue.items) if isinstance(item, PartitionsAssigned | PartitionsRevoked)]


def owned(queue: Queue) -> set[Partition]:
    partitions: set[Partition] = set()
    for change in changes(queue):
        if isinstance(change, PartitionsAssigned):
            partitions.update(change.partitions)
        else:
            partitions.difference_update(change.partitions)
    return partitions


def test_members_that_are_restarted_one_after_the_other_move_no_partitions(
    kafka_broker: KafkaBroker, settings: KafkaSettings
) -> None:
    topic = settings.topics[0].name
    queues = {name: Queue() for name in MEMBERS}
    with ExitStack() as stack:
        running_members = {name: stack.enter_context(ExitStack()) for name in MEMBERS}
        for name in MEMBERS:
            running_members[name].enter_context(member(settings, name, queues[name]))
        wait_until(lambda: all(len(owned(queue)) == 1 for queue in queues.values()), "a partition each")
        before = {name: owned(queue) for name, queue in queues.items()}
        seen = {name: len(changes(queue)) for name, queue in queues.items()}
        for name in MEMBERS:
            running_members[name].close()
            queues[name] = Queue()
            running_members[name].enter_context(member(settings, name, queues[name]))
            wait_until(lambda name=name: owned(queues[name]) == before[name], "the partition it had")  # type: ignore[misc]
            seen[name] = len(changes(queues[name]))
            assert {other: len(changes(queue)) for other, queue in queues.items()} == seen
        for partition in range(3):
            kafka_broker.produce(topic, message(), partition=partition)
        wait_until(lambda: sum(len(queue.batches) for queue in queues.values()) == 3, "every message once")
        assert {name: len(queue.batches) for name, queue in queues.items()} == dict.fromkeys(MEMBERS, 1)


def test_a_process_whose_name_another_one_takes_says_so_and_reads_nothing_more(
    kafka_broker: KafkaBroker, settings: KafkaSettings, caplog: pytest.LogCaptureFixture
) -> None:
    topic = settings.topics[0].name
    first, second = Queue(), Queue()
    with member(settings, "replica-0", first) as one, ExitStack() as stack:
        wait_until(lambda: len(owned(first)) == 3, "all partitions")
        kafka_broker.produce(topic, message(), partition=0)
        wait_until(lambda: first.batches, "its message")
        release_all(one, first)
        wait_until(lambda: kafka_broker.committed(settings.group_id).get((topic, 0)) == 1, "its commit")
        other = stack.enter_context(member(settings, "replica-0", second))
        wait_until(lambda: len(owned(second)) == 3 and not owned(first), "that they are the other's")
        assert not one.up
        assert other.up
        (line,) = [line for line in said(caplog) if "group_instance_id" in line]
        assert "replica-0" in line
        kafka_broker.produce(topic, message(), message(), partition=1)
        wait_until(lambda: len(second.batches) == 2, "what is written now")
        assert len(first.batches) == 1
