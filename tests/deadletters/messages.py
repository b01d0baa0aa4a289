"""Messages and brokers that the tests of dead letters make up."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from aem_monitor.deadletters.writer import Pending
from aem_monitor.ingest.kafka_publisher import Outcome, Record


@dataclass
class Message:
    """A message as the client hands it over."""

    offset: int = 0
    topic: str = "spans"
    partition: int = 0
    timestamp: int = 1_790_000_000_123
    key: bytes | None = b"key"
    value: bytes | None = b"\xff poison"
    headers: Sequence[tuple[str, bytes | None]] = ()


@dataclass
class Brokers:
    """Stands for the publisher: what it was given is confirmed, refused for its size, or stays open."""

    answering: bool = True
    most: int = 10**6
    full: bool = False
    records: list[Record[Pending]] = field(default_factory=list)
    closed: bool = False
    _open: list[Record[Pending]] = field(default_factory=list)

    def put(self, record: Record[Pending]) -> None:
        self._open.append(record)

    def poll(self) -> list[Outcome[Pending]]:
        if not self.answering:
            return []
        decided, self._open = self._open, []
        outcomes = [Outcome(record, refused=len(record.value) > self.most) for record in decided]
        self.records += [outcome.record for outcome in outcomes if not outcome.refused]
        return outcomes

    def close(self, timeout: float) -> None:
        self.closed = True
