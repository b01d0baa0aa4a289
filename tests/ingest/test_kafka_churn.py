"""Members of a group come and go at random times: an oracle says that nothing is lost and the order is kept."""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from uuid import uuid4

import pytest
from kafka import KafkaProducer

from aem_monitor.ingest.batch import Batch, EngineInput, Partition, PartitionsRevoked
from aem_monitor.ingest.kafka import KafkaSource
from aem_monitor.ingest.kafka_settings import KafkaSettings, KafkaTopic
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from tests.services.kafka import KafkaBroker

pytestmark = pytest.mark.service

PARTITIONS = 4
Place = tuple[int, int]


class Member:
    """A source with an engine that needs each message for a random while and checks what it is handed."""

    def __init__(self, settings: KafkaSettings, finished: set[Place], chance: random.Random) -> None:
        self.faults: list[str] = []
        self._finished = finished
        self._chance = chance
        self._lock = Lock()
        self._next: dict[Partition, int | None] = {}
        self._held: dict[Partition, list[tuple[int, float]]] = {}
        self._ended = Event()
        self._source = KafkaSource(settings, Limits(), Prefilter([""]), self._submit, lambda cause, number: None)
        self._source.start()
        self._engine = Thread(target=self._run)
        self._engine.start()

    def leave(self) -> None:
        self._source.stop(10.0)
        self._ended.set()
        self._engine.join()
        self._source.close(10.0)

    def _submit(self, item: EngineInput, timeout: float) -> bool:
        with self._lock:
            if isinstance(item, Batch):
                self._receive(item)
            elif isinstance(item, PartitionsRevoked):
                for partition in item.partitions:
                    if partition not in self._next:
                        self.faults.append(f"{partition} revoked but not assigned")
                    self._next.pop(partition, None)
                    self._held.pop(partition, None)
            else:
                for partition in item.partitions:
                    if partition in self._next:
                        self.faults.append(f"{partition} assigned twice")
                    self._next[partition] = None
        return True

    def _receive(self, batch: Batch) -> None:
        assert batch.position is not None
        partition, offset = batch.position.key, batch.position.offset
        if partition not in self._next:
            self.faults.append(f"{partition}@{offset} delivered after it was revoked")
            return
        if self._next[partition] not in (None, offset):
            self.faults.append(f"{partition}@{offset} delivered instead of {self._next[partition]}")
        self._next[partition] = offset + 1
        self._held.setdefault(partition, []).append((offset, time.monotonic() + self._chance.random() * 0.5))

    def _run(self) -> None:
        while not self._ended.wait(0.05):
            released: dict[Partition, int] = {}
            with self._lock:
                for partition, held in self._held.items():
                    while held and held[0][1] < time.monotonic():
                        offset, _ = held.pop(0)
                        self._finished.add((partition[1], offset))
                        released[partition] = offset + 1
            self._source.release(released)


@contextmanager
def producing(broker: KafkaBroker, topic: str, chance: random.Random) -> Iterator[set[Place]]:
    """Writes about a hundred messages a second; the set is complete when the block has ended."""
    produced: set[Place] = set()
    ended = Event()
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap)

    def write() -> None:
        while not ended.wait(0.01):
            sent = producer.send(topic, value=b"", partition=chance.randrange(PARTITIONS))
            sent.add_callback(lambda record: produced.add((record.partition, record.offset)))

    thread = Thread(target=write)
    thread.start()
    yield produced
    ended.set()
    thread.join()
    producer.flush(30)
    producer.close()


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_while_members_come_and_go(kafka_broker: KafkaBroker, seed: int) -> None:
    chance = random.Random(seed)
    topic, group = f"churn.{uuid4().hex[:8]}", f"churn.{uuid4().hex[:8]}"
    kafka_broker.create_topic(topic, PARTITIONS)
    settings = KafkaSettings(
        bootstrap_servers=(kafka_broker.bootstrap,),
        topics=(KafkaTopic(topic),),
        group_id=group,
        commit_interval_seconds=0.2,
        session_timeout_seconds=6.0,
        heartbeat_interval_seconds=0.3,
    )
    finished: set[Place] = set()
    members: list[Member] = []
    faults: list[str] = []
    with producing(kafka_broker, topic, random.Random(seed)) as produced:
        for _ in range(8):
            if len(members) < 2 or (len(members) < 4 and chance.random() < 0.5):
                members.append(Member(settings, finished, chance))
            else:
                leaving = members.pop(chance.randrange(len(members)))
                leaving.leave()
                faults += leaving.faults
            time.sleep(chance.choice([0.1, 0.5, 1.5]))

    def ends() -> dict[Partition, int]:
        return {
            (topic, partition): 1 + max(o for p, o in produced if p == partition) for partition in range(PARTITIONS)
        }

    deadline = time.monotonic() + 40.0
    while (kafka_broker.committed(group) != ends() or not produced <= finished) and time.monotonic() < deadline:
        time.sleep(0.2)
    for member in members:
        member.leave()
        faults += member.faults
    assert faults == []
    assert produced - finished == set()
    assert kafka_broker.committed(group) == ends()
