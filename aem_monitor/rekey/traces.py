"""The traces that are kept until they name their conversation, and those that were published a while ago."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from aem_monitor.rekey.chunk import Chunk

_CHUNK_BYTES: Final = 1000
"""What is kept of a part beside its bytes: links, bookkeeping. Estimated."""


@dataclass(slots=True)
class Trace:
    """One trace. Times are wall clock seconds.

    Without ``key`` it waits, and ``chunks`` is what has come. With one, it is published, ``unacknowledged`` of its
    messages are on their way, and it is kept until ``until`` so that its offsets stay uncommitted: who reads from there
    after a crash learns the key of what comes late.
    """

    trace_id: str
    opened_at: float
    heard_at: float
    key: str | None = None
    chunks: list[Chunk] = field(default_factory=list)
    size: int = 0
    unacknowledged: int = 0
    until: float = 0.0
    _span_ids: set[str] = field(default_factory=set)
    _parent_ids: set[str] = field(default_factory=set)
    _has_root: bool = False

    def add(self, chunk: Chunk) -> int:
        """Keep a part; returns by how much the trace has grown."""
        self.chunks.append(chunk)
        for link in chunk.links:
            self._span_ids.add(link.span_id)
            if link.parent_id is None:
                self._has_root = True
            else:
                self._parent_ids.add(link.parent_id)
        grown = len(chunk.body) + _CHUNK_BYTES
        self.size += grown
        return grown

    @property
    def complete(self) -> bool:
        """Whether the root is there and no parent is missing. Spans may still come, but nothing says so."""
        return self._has_root and self._parent_ids <= self._span_ids


class Traces:
    """All traces in the order in which they were opened; those that wait, in the order in which they were heard."""

    def __init__(self) -> None:
        self._traces: dict[str, Trace] = {}
        self._waiting: dict[str, None] = {}
        self._silent: dict[str, None] = {}
        self._published: dict[str, None] = {}
        self.size = 0

    def get(self, trace_id: str) -> Trace | None:
        """The trace, or None."""
        return self._traces.get(trace_id)

    def open(self, trace_id: str, now: float, key: str | None) -> Trace:
        """A new trace; with a key where it is one that was published before."""
        trace = self._traces[trace_id] = Trace(trace_id, now, now, key)
        return trace

    def add(self, trace: Trace, chunk: Chunk, now: float) -> None:
        """A part of a trace that waits has come."""
        self.size += trace.add(chunk)
        trace.heard_at = now
        self._silent.pop(trace.trace_id, None)
        self._waiting.pop(trace.trace_id, None)
        self._waiting[trace.trace_id] = None

    def looked_at(self, trace: Trace) -> None:
        """It was silent and named no conversation: it waits the longer time."""
        if self._waiting.pop(trace.trace_id, True) is None:
            self._silent[trace.trace_id] = None

    def take(self, trace: Trace) -> list[Chunk]:
        """Its parts, which are kept no longer; it waits no longer either."""
        chunks, trace.chunks = trace.chunks, []
        self.size -= trace.size
        trace.size = 0
        self._waiting.pop(trace.trace_id, None)
        self._silent.pop(trace.trace_id, None)
        return chunks

    def published(self, trace: Trace, until: float) -> None:
        """Keep it until then."""
        trace.until = until
        self._published.pop(trace.trace_id, None)
        self._published[trace.trace_id] = None

    def drop(self, trace_ids: Iterable[str]) -> None:
        """Forget traces."""
        for trace_id in trace_ids:
            trace = self._traces.pop(trace_id, None)
            if trace is not None:
                self.size -= trace.size
            for order in (self._waiting, self._silent, self._published):
                order.pop(trace_id, None)

    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting) + len(self._silent)

    def silent_since(self, heard: float, heard_longer: float) -> list[Trace]:
        """Those that have not been heard since ``heard``, or since ``heard_longer`` if they were looked at before."""
        return [*self._before(self._waiting, heard), *self._before(self._silent, heard_longer)]

    def _before(self, order: dict[str, None], heard: float) -> Iterator[Trace]:
        for trace_id in order:
            trace = self._traces[trace_id]
            if trace.heard_at > heard:
                return
            yield trace

    def opened_first(self) -> Iterator[Trace]:
        """Those that wait, the ones opened first in front. They may be taken while the next one is asked for."""
        return (trace for trace in list(self._traces.values()) if trace.key is None)

    def opened_before(self, at: float) -> list[Trace]:
        """Those that wait and were opened at ``at`` or before."""
        old: list[Trace] = []
        for trace in self._traces.values():
            if trace.opened_at > at:
                break
            if trace.key is None:
                old.append(trace)
        return old

    def over(self, now: float) -> list[str]:
        """Published traces that may be forgotten: acknowledged, and kept long enough."""
        done: list[str] = []
        for trace_id in self._published:
            trace = self._traces[trace_id]
            if trace.until > now:
                break
            if not trace.unacknowledged:
                done.append(trace_id)
        return done
