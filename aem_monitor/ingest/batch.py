"""What a source hands to the engine, and how it learns that it may forget it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from aem_monitor.model.span import LogRecord, Span

Partition: TypeAlias = tuple[str, int]
"""What can be read again from an offset on: a Kafka topic partition (topic, partition), or a segment of the journal
(``JOURNAL``, number)."""

JOURNAL: Final = "otlp:journal"
"""Stands for a topic where a position is one in the journal; Kafka allows no colon in a topic's name."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The agent telemetry of one export request or message.

    ``seen_spans`` counts all spans of the request, ``skipped`` those left out by bounded cause (``causes.Skipped``);
    spans + skipped = seen. ``seen_logs`` and ``skipped_logs`` say the same of log records. ``altered`` counts values of
    kept spans and records that were cut or repaired (``causes.Altered``). ``max_end_ns`` is the latest end of any span,
    skipped ones included: the sender's progress in event time (0 when there is none). ``size`` is the length of the
    request or message in bytes, decompressed; the source fills it in.
    """

    spans: tuple[Span, ...] = ()
    logs: tuple[LogRecord, ...] = ()
    seen_spans: int = 0
    seen_logs: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    max_end_ns: int = 0
    skipped_logs: Mapping[str, int] = field(default_factory=dict)
    altered: Mapping[str, int] = field(default_factory=dict)
    size: int = 0


@dataclass(frozen=True, slots=True)
class Position:
    """Where a Kafka message, or a record of the journal, stands."""

    topic: str
    partition: int
    offset: int

    @property
    def key(self) -> Partition:
        """The partition of this message."""
        return self.topic, self.partition


@dataclass(frozen=True, slots=True)
class Batch:
    """One decoded message on its way to the engine.

    ``source`` is bounded (``kafka``, ``otlp_http``, ``file``), ``sender`` names the partition or OTLP peer whose
    progress in event time the watermark follows. ``received_at`` is the wall clock in seconds. ``position`` is None
    for sources that cannot replay.
    """

    source: str
    sender: str
    decoded: Decoded
    received_at: float
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class PartitionsRevoked:
    """A consumer lost partitions: what is unfinished on them belongs to another replica now."""

    source: str
    partitions: tuple[Partition, ...]


@dataclass(frozen=True, slots=True)
class PartitionsAssigned:
    """A consumer was given partitions; their progress holds the watermark back until it is known or idle."""

    source: str
    partitions: tuple[Partition, ...]


@dataclass(frozen=True, slots=True)
class PartitionsHeldBack:
    """A consumer has messages of these partitions that it does not read for now; said about once a second meanwhile."""

    source: str
    partitions: tuple[Partition, ...]


@dataclass(frozen=True, slots=True)
class PartitionsDropped:
    """Segments of the journal that were deleted: nothing can be read from them again, and nobody else will."""

    partitions: tuple[Partition, ...]


EngineInput: TypeAlias = Batch | PartitionsRevoked | PartitionsAssigned | PartitionsHeldBack | PartitionsDropped

Submit: TypeAlias = Callable[[EngineInput, float], bool]
"""``submit(item, timeout_seconds)``: puts an item into the engine's bounded queue; False when it stayed full."""


class Source(Protocol):
    """A running input. Threads and sockets are the source's own; ``up`` feeds a gauge."""

    name: str

    def start(self) -> None:
        """Begin to submit batches. Raises ``ConfigError`` for what cannot work at all (a port in use)."""

    def stop(self, timeout: float) -> None:
        """Stop taking input; what was submitted stays submitted. Idempotent."""

    def close(self, timeout: float) -> None:
        """After the engine has drained: commit what it released, leave the group, free the sockets."""

    def release(self, offsets: Mapping[Partition, int]) -> None:
        """The engine needs nothing below these offsets any more; called from the engine's thread, never blocks."""

    @property
    def up(self) -> bool:
        """Whether the source can receive now."""
