"""The spans and log records of open traces."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final, TypeAlias

from aem_monitor.assembly import TraceReading
from aem_monitor.model.jsonvalue import Attributes, AttributeValue
from aem_monitor.model.span import LogRecord, Span

_MAX_COPIES: Final = 4
"""Copies of one span that differ: retries and double registration give two; more say nothing new."""

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
    """One open trace. ``size`` estimates its bytes in memory. Times are wall clock seconds."""

    trace_id: str
    first_seen: float
    last_arrival: float
    size: int = 0
    spans: dict[str, list[Span]] = field(default_factory=dict)
    logs: dict[LogKey, LogRecord] = field(default_factory=dict)
    reading: TraceReading | None = None
    cell: int | None = None

    def add(self, span: Span) -> Added:
        """Keep a span, unless an equal one is there already."""
        copies = self.spans.setdefault(span.span_id, [])
        if span in copies:
            return Added.DUPLICATE
        if len(copies) >= _MAX_COPIES:
            return Added.DUPLICATE
        copies.append(span)
        self.size += size_of(span)
        self.reading = None
        return Added.NEW if len(copies) == 1 else Added.ANOTHER_COPY

    def add_log(self, record: LogRecord) -> bool:
        """Keep a log record; False when an equal one is there already."""
        key = (record.span_id, record.time_ns, record.event_name, repr(record.body)[:200])
        if key in self.logs:
            return False
        self.logs[key] = record
        self.size += _SPAN_BYTES + _size(record.body) + _sizes(record.attributes)
        self.reading = None
        return True

    def all_spans(self) -> list[Span]:
        """Every copy of every span; assembly picks the most complete ones."""
        return [span for copies in self.spans.values() for span in copies]


class TraceBuffer:
    """All open traces, with their total size."""

    def __init__(self) -> None:
        self._traces: dict[str, TraceState] = {}
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

    def open(self, trace_id: str, now: float) -> TraceState:
        """The trace, opened now if it is new."""
        state = self._traces.get(trace_id)
        if state is None:
            state = self._traces[trace_id] = TraceState(trace_id, now, now)
        return state

    def grown(self, by: int) -> None:
        """Some trace has grown by so many bytes."""
        self.size += by

    def drop(self, trace_ids: Iterable[str]) -> None:
        """Forget traces."""
        for trace_id in trace_ids:
            state = self._traces.pop(trace_id, None)
            if state is not None:
                self.size -= state.size

    def states(self) -> list[TraceState]:
        """All open traces, the ones opened first in front."""
        return list(self._traces.values())


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
