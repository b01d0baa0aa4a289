"""The state machine between messages that were read and messages that are to be written.

Like the engine it has no thread and no clock of its own: ``ingest`` takes what the source has cut, ``tick`` lets time
pass. An offset is free when every trace that has something at or behind it is published, acknowledged, and kept long
enough for what comes late.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from aem_monitor.engine.offsets import OffsetTracker
from aem_monitor.engine.remembered import Remembered
from aem_monitor.engine.round import Spent, never
from aem_monitor.errors import DecodeError
from aem_monitor.ingest.batch import Decoded, EngineInput, Partition, PartitionsRevoked, Position
from aem_monitor.ingest.causes import Refused, Skipped
from aem_monitor.ingest.complaints import Complaints
from aem_monitor.ingest.kafka_publisher import Outcome, Record
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.metrics.registry import Metrics
from aem_monitor.model.span import LogRecord, Span
from aem_monitor.rekey.chunk import Chunk
from aem_monitor.rekey.keys import Keys
from aem_monitor.rekey.naming import Naming
from aem_monitor.rekey.settings import RekeySettings
from aem_monitor.rekey.source import CutMessage
from aem_monitor.rekey.split import decode_chunk, joined
from aem_monitor.rekey.traces import Trace, Traces

_LOG: Final = logging.getLogger(__name__)

Bound: TypeAlias = Literal["age", "traces", "bytes"]

Tag: TypeAlias = Trace | str
"""What a record is known by: its trace, or where its message stood."""

_FLUSH_SECONDS: Final = 5.0

_BROKEN: Final = Refused.MALFORMED.value

ORIGIN: Final = "aem.origin"
"""Header of a message that is passed on as it is: topic, partition and offset where it stood."""

_WITHOUT_ID: Final = {
    "agent": "Traces without a conversation id are keyed by their agent: one replica reads all of them.",
    "trace_id": "Traces without a conversation id are keyed by their trace id: conversations of several such traces "
    "are torn apart unless one replica reads the whole topic.",
}


class Read(Protocol):
    """What the spans and log records of one trace say of its conversation; see ``naming.naming_of``."""

    def __call__(self, spans: Sequence[Span], logs: Sequence[LogRecord], /) -> Naming:
        """Read them."""


class Publish(Protocol):
    """Where records go; see ``ingest.kafka_publisher.Publisher``."""

    def put(self, record: Record[Tag]) -> None:
        """Take a record."""

    def poll(self) -> list[Outcome[Tag]]:
        """What has become of records."""

    def flush(self, timeout: float) -> list[Outcome[Tag]]:
        """The same, after all of them are written or ``timeout`` seconds have passed."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a trace says. ``of_agent`` is false where the monitor would drop it. ``broken`` are parts of it that cannot
    be decoded."""

    naming: Naming
    of_agent: bool
    broken: Sequence[Chunk] = ()


class Rekeyer:
    """All state of one process. One thread calls it."""

    def __init__(
        self,
        settings: RekeySettings,
        read: Read,
        keep: Prefilter,
        limits: Limits,
        publisher: Publish,
        metrics: Metrics,
    ) -> None:
        self._settings = settings
        self._read = read
        self._keep = keep
        self._limits = limits
        self._publisher = publisher
        self._metrics = metrics
        self._traces = Traces()
        self._keys = Keys(settings.without_id, settings.remembered_traces)
        self._key_of: Remembered[str] = Remembered(settings.remembered_traces)
        self._offsets = OffsetTracker()
        self._dirty: set[str] = set()
        self._scattered = False
        self._complaints = Complaints(_LOG)

    @property
    def waiting(self) -> int:
        """Traces that wait for their conversation id."""
        return self._traces.waiting()

    @property
    def waiting_bytes(self) -> int:
        """Their size."""
        return self._traces.size

    # Input

    def ingest(self, item: EngineInput, now: float) -> None:
        """Take in a message, or a change of partitions."""
        if isinstance(item, PartitionsRevoked):
            # What only these held is read again by their next owner; what is on its way arrives twice.
            gone = self._offsets.revoke(item.partitions)
            self._dirty -= gone
            self._traces.drop(gone)
        elif isinstance(item, CutMessage) and item.position is not None:
            self._offsets.received(item.position)
            self._count(item)
            if item.unreadable is not None:
                self._pass_on(item.unreadable, item.position)
            for chunk in item.chunks:
                self._take(chunk, item.position, now)

    def abandon(self, item: EngineInput) -> None:
        """The item could not be taken in before the end: its offset stays uncommitted."""
        if isinstance(item, CutMessage) and item.position is not None:
            self._offsets.abandon(item.position)

    def pass_over(self, item: EngineInput) -> None:
        """The item cannot be taken in, now or ever: it is done with."""
        if isinstance(item, CutMessage) and item.position is not None:
            self._offsets.received(item.position)

    def releasable(self) -> Mapping[Partition, int]:
        """Partitions whose offsets have become free since the last call."""
        return self._offsets.releasable()

    def _take(self, chunk: Chunk, position: Position, now: float) -> None:
        trace = self._traces.get(chunk.trace_id)
        if trace is None:
            trace = self._traces.open(chunk.trace_id, now, self._key_of.get(chunk.trace_id))
        self._notice_scattering(chunk.trace_id, position)
        self._offsets.hold(chunk.trace_id, position)
        if trace.key is None:
            self._traces.add(trace, chunk, now)
            self._dirty.add(chunk.trace_id)
        else:
            self._follow(trace, trace.key, chunk, now)

    def _notice_scattering(self, trace_id: str, position: Position) -> None:
        """Say once that the producer does not key by trace: what that asks for, nothing here can see to."""
        known = self._offsets.partitions_of(trace_id)
        if not self._scattered and any(
            topic == position.topic and place != position.partition for topic, place in known
        ):
            self._scattered = True
            _LOG.warning(
                "Spans of one trace come from several partitions of topic %s: it is not keyed by trace, and one "
                "process of rekey has to read all of it. Where there are several, traces are torn apart.",
                position.topic,
            )

    def _follow(self, trace: Trace, key: str, chunk: Chunk, now: float) -> None:
        """What comes after its trace was published follows it at once, whatever it says itself."""
        seen = self._look_at([chunk])
        if not seen.of_agent:
            self._skip(chunk.items)
            self._traces.published(trace, now + self._settings.wait)
            return
        self._metrics.counter("aem_monitor_rekey_late_messages_total").inc()
        if not self._keys.agrees(key, seen.naming):
            self._metrics.counter("aem_monitor_rekey_late_ids_total").inc()
        self._send(trace, key, [chunk], now)

    def _count(self, item: CutMessage) -> None:
        signal = "logs" if any(chunk.signal == "logs" for chunk in item.chunks) else "spans"
        items = sum(chunk.items for chunk in item.chunks) + item.nameless
        self._metrics.counter("aem_monitor_received_batches_total", source=item.source).inc()
        self._metrics.counter("aem_monitor_received_bytes_total", source=item.source).inc(item.size)
        self._metrics.counter(f"aem_monitor_received_{signal}_total", source=item.source).inc(items)
        if item.nameless:
            self._metrics.counter("aem_monitor_skipped_spans_total", cause=Skipped.INVALID_ID).inc(item.nameless)

    def _skip(self, items: int) -> None:
        self._metrics.counter("aem_monitor_skipped_spans_total", cause=Skipped.NO_AGENT_CONTENT).inc(items)

    # Time

    def tick(self, now: float, spent: Spent = never) -> bool:  # noqa: ARG002  never much at once
        """Publish what names its conversation or has waited long enough; free what is done."""
        for trace_id in sorted(self._dirty):
            trace = self._traces.get(trace_id)
            if trace is not None and trace.complete:
                self._consider(trace, now)
        self._dirty.clear()
        longest = now - self._settings.wait_without_id
        for trace in self._traces.silent_since(now - self._settings.wait, longest):
            self._consider(trace, now, silent=True, given_up=trace.heard_at <= longest)
        self._keep_bounds(now)
        self._settle(now)
        return True

    def _consider(self, trace: Trace, now: float, *, silent: bool = False, given_up: bool = False) -> None:
        """Publish a trace if its time has come.

        A complete one of an agent, at once. One that is silent, if it names its conversation; what is missing may
        belong to others, and never come. Without a name it waits for the longer time, since its root, which tends to
        carry the name, comes last. A trace in which nothing of an agent has come by then is dropped.
        """
        seen = self._look_at(trace.chunks)
        if seen.naming.has_turns:
            if given_up or seen.naming.ids or not silent:
                self._publish(trace, seen, now)
                return
        elif given_up:
            self._publish(trace, seen, now)
            return
        if silent:
            self._traces.looked_at(trace)

    def _keep_bounds(self, now: float) -> None:
        for trace in self._traces.opened_before(now - self._settings.max_age):
            self._cut(trace, "age", now)
        if self._traces.waiting() > self._settings.max_traces:
            self._make_room("traces", now)
        if self._traces.size > self._settings.max_bytes:
            self._make_room("bytes", now)

    def _make_room(self, bound: Bound, now: float) -> None:
        for trace in self._traces.opened_first():
            if bound == "traces" and self._traces.waiting() <= self._settings.max_traces:
                return
            if bound == "bytes" and self._traces.size <= self._settings.max_bytes:
                return
            self._cut(trace, bound, now)

    def _cut(self, trace: Trace, bound: Bound, now: float) -> None:
        self._metrics.counter("aem_monitor_rekey_cut_traces_total", cause=bound).inc()
        self._publish(trace, self._look_at(trace.chunks), now)

    def _look_at(self, chunks: Sequence[Chunk]) -> _Seen:
        """What the monitor will make of these parts of a trace."""
        spans: list[Span] = []
        logs: list[LogRecord] = []
        broken: list[Chunk] = []
        try:
            parts = [self._decode(chunk) for chunk in joined(chunks, self._limits.max_body_bytes)]
        except DecodeError:
            parts = []
            for chunk in chunks:
                try:
                    parts.append(self._decode(chunk))
                except DecodeError:
                    broken.append(chunk)
        for decoded in parts:
            spans += decoded.spans
            logs += decoded.logs
        of_agent = bool(logs or broken)
        if not spans:
            return _Seen(Naming(), of_agent, broken)
        try:
            naming = self._read(spans, logs)
        except Exception:  # noqa: BLE001 - logged and counted
            _LOG.exception("A trace could not be read because of a defect; please report it")
            self._metrics.counter("aem_monitor_engine_errors_total", step="trace").inc()
            return _Seen(Naming(), of_agent=True, broken=broken)
        return _Seen(naming, of_agent or naming.of_agent, broken)

    def _decode(self, chunk: Chunk) -> Decoded:
        return decode_chunk(chunk, self._limits, self._keep)

    # Output

    def _publish(self, trace: Trace, seen: _Seen, now: float) -> None:
        chunks = self._traces.take(trace)
        if not seen.of_agent:
            self._skip(sum(chunk.items for chunk in chunks))
            self._offsets.let_go([trace.trace_id])
            self._traces.drop([trace.trace_id])
            return
        key = self._keys.choose(trace.trace_id, seen.naming)
        self._metrics.counter("aem_monitor_rekeyed_traces_total", by=key.by).inc()
        if key.by != "conversation_id":
            self._complaints.complain(key.by, _WITHOUT_ID[key.by])
        if key.shared:
            self._metrics.counter("aem_monitor_rekey_shared_ids_total").inc()
        trace.key = key.value
        self._key_of.put(trace.trace_id, key.value)
        whole = [chunk for chunk in chunks if chunk not in seen.broken]
        if seen.broken:
            refused = self._metrics.counter("aem_monitor_refused_requests_total", source="kafka", cause=_BROKEN)
            refused.inc(len(seen.broken))
        self._send(trace, key.value, [*joined(whole, self._settings.max_message_bytes), *seen.broken], now)

    def _send(self, trace: Trace, key: str, chunks: Sequence[Chunk], now: float) -> None:
        for chunk in chunks:
            target = self._settings.targets[chunk.topic]
            self._publisher.put(Record(target, key.encode(), chunk.body, (), trace))
            trace.unacknowledged += 1
        self._traces.published(trace, now + self._settings.wait)

    def _pass_on(self, value: bytes, position: Position) -> None:
        """What cannot be read has no key. The monitor says what is wrong with it, in one place for all messages."""
        origin = f"{position.topic}/{position.partition}/{position.offset}"
        self._offsets.hold(origin, position)
        target = self._settings.targets[position.topic]
        self._publisher.put(Record(target, None, value, ((ORIGIN, origin.encode()),), origin))

    def _settle(self, now: float) -> None:
        """Note what brokers have, and free what nothing needs any more."""
        self._note(self._publisher.poll())
        done = self._traces.over(now)
        self._offsets.let_go(done)
        self._traces.drop(done)

    def _note(self, outcomes: Sequence[Outcome[Tag]]) -> None:
        for outcome in outcomes:
            record = outcome.record
            if outcome.refused:
                self._metrics.counter("aem_monitor_rekey_refused_messages_total").inc()
                self._complaints.complain(
                    "too large",
                    f"A message of {len(record.value)} bytes is larger than topic {record.topic} takes, and is lost; "
                    "raise its max.message.bytes to that of the topics that are read.",
                )
            else:
                self._metrics.counter("aem_monitor_rekey_published_messages_total").inc()
            if isinstance(record.tag, Trace):
                record.tag.unacknowledged -= 1
            else:
                self._offsets.let_go([record.tag])

    def drain(self, now: float) -> None:
        """Before the process ends: what is known has been published; its answers are taken.

        What waits, and what was published just now, stays uncommitted: the next process reads it again.
        """
        self.tick(now)
        self._note(self._publisher.flush(_FLUSH_SECONDS))
        self._settle(now)
