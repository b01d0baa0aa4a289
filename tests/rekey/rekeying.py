"""A state machine of ``rekey`` on a clock of the test, with a broker that takes what it is told to."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from prometheus_client import CollectorRegistry

from aem_monitor.assembly import AssemblySettings
from aem_monitor.build import build_prefilter, build_registry
from aem_monitor.ingest.batch import Decoded, Partition, PartitionsRevoked, Position
from aem_monitor.ingest.kafka_publisher import Outcome, Record
from aem_monitor.ingest.kafka_settings import KafkaTopic
from aem_monitor.ingest.limits import Limits
from aem_monitor.metrics.registry import Metrics
from aem_monitor.rekey.naming import naming_of
from aem_monitor.rekey.rekeyer import Rekeyer, Tag
from aem_monitor.rekey.settings import RekeySettings
from aem_monitor.rekey.source import CutMessage
from aem_monitor.rekey.split import split_message

SOURCE, TARGET = "spans", "spans-by-conversation"
LOG_SOURCE, LOG_TARGET = "logs", "logs-by-conversation"
SETTINGS = RekeySettings(
    targets={SOURCE: TARGET, LOG_SOURCE: LOG_TARGET}, wait=10, wait_without_id=60, max_age=600, max_message_bytes=10**6
)
REGISTRY = build_registry()


@dataclass
class Broker:
    """What was published; acknowledged at once unless it is ``away``, refused if ``refusing``."""

    records: list[Record[Tag]] = field(default_factory=list)
    away: bool = False
    refusing: bool = False
    _open: list[Record[Tag]] = field(default_factory=list)

    def put(self, record: Record[Tag]) -> None:
        self.records.append(record)
        self._open.append(record)

    def poll(self) -> list[Outcome[Tag]]:
        if self.away:
            return []
        decided, self._open = [Outcome(record, self.refusing) for record in self._open], []
        return decided

    def flush(self, timeout: float) -> list[Outcome[Tag]]:
        return self.poll()


class Rekeying:
    """Messages in, records out. ``now`` goes on only when told to."""

    def __init__(self, settings: RekeySettings = SETTINGS) -> None:
        self.broker = Broker()
        self.metrics = Metrics(CollectorRegistry())
        keep = build_prefilter(REGISTRY, AssemblySettings())
        read = partial(naming_of, registry=REGISTRY, settings=AssemblySettings())
        self.rekeyer = Rekeyer(settings, read, keep, Limits(), self.broker, self.metrics)
        self.now = 1000.0
        self._offsets: dict[Partition, itertools.count[int]] = {}
        self._released: dict[Partition, int] = {}

    def message(self, value: bytes, partition: int = 0, topic: str = SOURCE) -> None:
        """One message arrives."""
        offset = next(self._offsets.setdefault((topic, partition), itertools.count()))
        split = split_message(value, KafkaTopic(topic, "logs" if topic == LOG_SOURCE else "traces"), Limits())
        position = Position(topic, partition, offset)
        cut = CutMessage("kafka", "", Decoded(), self.now, position, split.chunks, split.nameless, None, len(value))
        self.rekeyer.ingest(cut, self.now)

    def unreadable(self, value: bytes) -> None:
        """One message arrives that is no request."""
        offset = next(self._offsets.setdefault((SOURCE, 0), itertools.count()))
        position = Position(SOURCE, 0, offset)
        self.rekeyer.ingest(CutMessage("kafka", "", Decoded(), self.now, position, unreadable=value), self.now)

    def spans(self, *spans: ReadableSpan, partition: int = 0) -> None:
        """One message of these spans arrives."""
        self.message(proto(spans), partition)

    def revoke(self, *partitions: int) -> None:
        """Partitions go to another process."""
        self.rekeyer.ingest(PartitionsRevoked("kafka", tuple((SOURCE, one) for one in partitions)), self.now)

    def after(self, seconds: float) -> None:
        """Time passes, in steps as the thread takes them."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + 1.0)
            self.rekeyer.tick(self.now)
        self.rekeyer.tick(self.now)

    @property
    def keys(self) -> list[str]:
        """The keys of what was published, in order."""
        return [record.key.decode() for record in self.broker.records if record.key is not None]

    @property
    def committed(self) -> dict[Partition, int]:
        """What is free to be committed by now."""
        self._released.update(self.rekeyer.releasable())
        return self._released

    def count(self, name: str, **labels: str) -> float:
        """Value of a counter."""
        return self.metrics.counter(name, **labels).value


def proto(spans: Iterable[ReadableSpan]) -> bytes:
    """An export request of these spans."""
    return bytes(encode_spans(list(spans)).SerializeToString())


def by_trace(spans: Sequence[ReadableSpan]) -> list[list[ReadableSpan]]:
    """The spans of each trace, in order of the traces."""
    traces: dict[int, list[ReadableSpan]] = {}
    for span in spans:
        traces.setdefault(span.context.trace_id, []).append(span)
    return list(traces.values())
