"""What the Kafka tests share: a stand-in for the engine's queue, a running source, messages."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

import pytest

from aem_monitor.ingest.batch import Batch, EngineInput, Partition
from aem_monitor.ingest.kafka import KafkaSource
from aem_monitor.ingest.kafka_settings import KafkaSettings
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from tests.ingest.requests import AGENTS
from tests.services.agent import agent_spans
from tests.services.collector import otlp_proto

PATIENCE = 30.0


class Queue:
    """Stands for the engine's queue: takes ``capacity`` more items, then stays full until given more room."""

    def __init__(self, capacity: float = float("inf")) -> None:
        self.capacity = capacity
        self.items: list[EngineInput] = []
        self._lock = Lock()

    def submit(self, item: EngineInput, timeout: float) -> bool:
        until = time.monotonic() + timeout
        while True:
            with self._lock:
                if len(self.items) < self.capacity:
                    self.items.append(item)
                    return True
            if time.monotonic() >= until:
                return False
            time.sleep(0.01)

    @property
    def batches(self) -> list[Batch]:
        return [item for item in list(self.items) if isinstance(item, Batch)]

    def offsets(self, partition: Partition) -> list[int]:
        positions = [batch.position for batch in self.batches if batch.position is not None]
        return [position.offset for position in positions if position.key == partition]


@contextmanager
def running(
    settings: KafkaSettings, queue: Queue, causes: Counter[str] | None = None, keep: Prefilter = AGENTS
) -> Iterator[KafkaSource]:
    """A source that has been started; stopped and closed at the end. ``causes`` takes what it counts."""
    counted: Counter[str] = Counter() if causes is None else causes

    def count(cause: str, number: int) -> None:
        counted[cause] += number

    source = KafkaSource(settings, Limits(), keep, queue.submit, count)
    source.start()
    try:
        yield source
    finally:
        source.stop(5.0)
        source.close(10.0)


def wait_until(condition: Callable[[], object], what: str, patience: float = PATIENCE) -> None:
    """Wait until the condition holds; fails with ``what`` was awaited."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, f"not within {patience:.0f} s: {what}"
        time.sleep(0.05)


def message(conversation: str = "c-1") -> bytes:
    """A message of encoding ``otlp_proto`` with one span of an agent."""
    return otlp_proto(agent_spans(conversation))


def release_all(source: KafkaSource, queue: Queue) -> None:
    """Release everything that was delivered, as the engine does when nothing is unfinished."""
    offsets: dict[Partition, int] = {}
    for batch in queue.batches:
        assert batch.position is not None
        offsets[batch.position.key] = batch.position.offset + 1
    source.release(offsets)


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the source has logged."""
    return [record.message for record in caplog.records if record.name == "aem_monitor.ingest.kafka"]
