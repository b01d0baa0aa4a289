"""The spans and log records of open traces."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import takewhile
from typing import Final, TypeAlias

from aem_monitor.assembly import TraceReading
from aem_monitor.model.jsonvalue import Attributes, AttributeValue
from aem_monitor.model.span import LogRecord, Span
from aem_monitor.store.records import StoredPlay

_MAX_COPIES: Final = 4
"""Copies of one span that differ: retries and double registration give two; more say nothing new."""

_TRACE_BYTES: Final = 6000
"""What is kept of a trace beside its spans: reading, conversation, run. Measured with 10,000 open runs."""

_SPAN_BYTES: Final = 600
_VALUE_BYTES: Final = 60

LogKey: TypeAlias = tuple[str, int, str, str]
"""(span id, time, event name, beginning of the body): what tells two records of one trace apart."""


class Added(Enum):
    """What became of a span that was added."""

    NEW = auto()
    ANOTHER_COPY = auto()
    DUPLICATE = auto()


@dataclass(slots=True)
class TraceState:
    """One open trace. ``size`` estimates its bytes in memory. Times are wall clock seconds, unless they say ns.

    ``earlier`` are the runs that were final before this process first saw the trace. ``settled_ns`` is the end of what
    has been counted of the trace, while nothing in it is unfinished; ``reported`` how many of its spans were counted as
    late or as seen before, ``unread_tools`` how many as having definitions of tools that cannot be read, by cause.
    ``reading`` is what was made of it when it was last read.
    """

    trace_id: str
    first_seen: float
    last_arrival: float
    size: int = 0
    spans: dict[str, list[Span]] = field(default_factory=dict)
    logs: dict[LogKey, LogRecord] = field(default_factory=dict)
    reading: TraceReading | None = None
    cell: int | None = None
    earlier: tuple[StoredPlay, ...] = ()
    settled_ns: int | None = None
    reported: int = 0
    unread_tools: Mapping[str, int] = field(default_factory=dict)

    def add(self, span: Span) -> Added:
        """Keep a span, unless an equal one is there already."""
        copies = self.spans.setdefault(span.span_id, [])
        if span in copies:
            return Added.DUPLICATE
        if len(copies) >= _MAX_COPIES:
            return Added.DUPLICATE
        copies.append(span)
        self.size += size_of(span)
        return Added.NEW if len(copies) == 1 else Added.ANOTHER_COPY

    def add_log(self, record: LogRecord) -> bool:
        """Keep a log record; False when an equal one is there already."""
        key = (record.span_id, record.time_ns, record.event_name, repr(record.body)[:200])
        if key in self.logs:
            return False
        self.logs[key] = record
        self.size += _SPAN_BYTES + _size(record.body) + _sizes(record.attributes)
        return True

    def last_ns(self) -> int:
        """The latest end of its spans."""
        return max((span.end_ns for copies in self.spans.values() for span in copies), default=0)

    def is_known(self) -> bool:
        """Whether all of it lies within runs that were stored before: nothing of it waits for what is to come."""
        return self.last_ns() <= max((play.ended_ns for play in self.earlier), default=-1)

    def all_spans(self) -> list[Span]:
        """Every copy of every span; assembly picks the most complete ones."""
        return [span for copies in self.spans.values() for span in copies]


class TraceBuffer:
    """All open traces, with their total size; those that are part of no conversation yet are pending."""

    def __init__(self) -> None:
        self._traces: dict[str, TraceState] = {}
        self._pending: dict[str, None] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._traces)

    def __contains__(self, trace_id: object) -> bool:
        return trace_id in self._traces

    def __getitem__(self, trace_id: str) -> TraceState:
        return self._traces[trace_id]

    def get(self, trace_id: str) -> TraceState | None:
        """The trace, or None."""
        return self._traces.get(trace_id)

    def open(self, trace_id: str, now: float, earlier: tuple[StoredPlay, ...] = ()) -> TraceState:
        """The trace, opened now if it is new."""
        state = self._traces.get(trace_id)
        if state is None:
            state = self._traces[trace_id] = TraceState(trace_id, now, now, earlier=earlier)
            self._pending[trace_id] = None
            state.size = _TRACE_BYTES
            self.size += _TRACE_BYTES
        return state

    def add(self, state: TraceState, span: Span) -> Added:
        """Add a span to one of the traces."""
        before = state.size
        added = state.add(span)
        self.size += state.size - before
        return added

    def add_log(self, state: TraceState, record: LogRecord) -> bool:
        """Add a log record to one of the traces."""
        before = state.size
        added = state.add_log(record)
        self.size += state.size - before
        return added

    def place(self, state: TraceState, cell: int) -> None:
        """The trace is in a cell, and pending no longer."""
        state.cell = cell
        self._pending.pop(state.trace_id, None)

    def drop(self, trace_ids: Iterable[str]) -> None:
        """Forget traces."""
        for trace_id in trace_ids:
            self._pending.pop(trace_id, None)
            state = self._traces.pop(trace_id, None)
            if state is not None:
                self.size -= state.size

    def heard(self, trace_ids: Iterable[str], default: float) -> float:
        """When the last span of these traces arrived; ``default`` when none of them is open."""
        known = (self._traces.get(trace_id) for trace_id in trace_ids)
        return max((state.last_arrival for state in known if state is not None), default=default)

    def states(self) -> list[TraceState]:
        """All open traces, the ones opened first in front."""
        return list(self._traces.values())

    @property
    def pending_count(self) -> int:
        """How many traces are pending."""
        return len(self._pending)

    def pending_opened_before(self, at: float) -> list[str]:
        """Pending traces that were opened at ``at`` or before."""
        old: list[str] = []
        for trace_id in self._pending:
            if self._traces[trace_id].first_seen > at:
                break
            old.append(trace_id)
        return old

    def opened_before(self, at: float) -> list[str]:
        """All traces that were opened before ``at``."""
        return [state.trace_id for state in takewhile(lambda state: state.first_seen < at, self._traces.values())]

    def pending(self) -> list[str]:
        """Pending traces, the ones opened first in front."""
        return list(self._pending)


def size_of(span: Span) -> int:
    """Estimated bytes of a span in memory; its resource and scope are shared and count nothing."""
    return _SPAN_BYTES + _sizes(span.attributes) + sum(_VALUE_BYTES + _sizes(event.attributes) for event in span.events)


def _sizes(attributes: Attributes) -> int:
    return sum(_VALUE_BYTES + _size(value) for value in attributes.values())


def _size(value: AttributeValue) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, list | tuple):
        return sum(_VALUE_BYTES + _size(item) for item in value)
    if isinstance(value, dict):
        return sum(_VALUE_BYTES + len(key) + _size(item) for key, item in value.items())
    return 0
