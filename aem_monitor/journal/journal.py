"""The journal: appended to by requests, read again after a crash, cut when nothing needs it."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias

from aem_monitor.errors import JournalError
from aem_monitor.journal.faults import Damaged, Evicted, journal_error
from aem_monitor.journal.folder import Folder, Sealed
from aem_monitor.journal.record import Damage, Record, decode
from aem_monitor.journal.segment import Segment
from aem_monitor.journal.settings import JournalSettings
from aem_monitor.metrics.registry import Metrics

_LOG = logging.getLogger(__name__)

SEAL_AFTER: Final = 60.0
"""Seconds after which a segment takes no more, however short it is: only a whole segment can be deleted, and what
nobody needs should not wait for what comes at night."""

_PROBE_EVERY: Final = 3.0
_FULL: Final = 0.9
_ROOM: Final = 0.8
"""Above the first share of ``max_bytes`` segments are given up, down to the second."""

Deliver: TypeAlias = Callable[[int, int], bool]
"""``deliver(segment, index)``: hands on what was written there; False when nobody takes it."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """What ``append`` has written, and ``commit`` waits for."""

    segment: Segment
    index: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A record of an earlier process, and the segment that holds it."""

    segment: int
    record: Record


@dataclass(frozen=True, slots=True)
class Figures:
    """How much is kept. ``oldest`` is when the last record of the oldest segment was received, None without any."""

    size: int
    segments: int
    oldest: float | None


class Journal:
    """Append-only segments in a folder. Thread-safe; ``keep`` and ``replay`` are for one thread each.

    A segment is deleted when it takes no more records and ``release`` has been told that none of them is needed.
    ``steady`` is a clock that does not jump: records grow old by it, so that a corrected wall clock gives nothing up.
    """

    def __init__(
        self,
        settings: JournalSettings,
        metrics: Metrics,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._metrics = metrics
        self._clock = clock
        self._steady = steady
        self._flushes = settings.fsync != "off"
        self._folder = Folder(settings.path, flush=self._flushes)
        # Taken in this order: one request writes and is handed on at a time, so that those who take it see the order
        # of the file. The other lock is held for moments only, since the engine waits for it.
        self._turn = threading.Lock()
        self._state = threading.Lock()
        self._active: Segment | None = None
        self._sealed: dict[int, Sealed] = {}
        self._unread: list[Sealed] = []
        self._reading: int | None = None
        self._released: dict[int, int] = {}
        self._gone: list[int] = []
        self._open = False
        self._problem: tuple[float, str] | None = None
        self._probed_at = 0.0

    def open(self) -> None:
        """Take the folder. Raises ``ConfigError`` when it cannot be used or another process has it."""
        self._sealed = {segment.number: segment for segment in self._folder.open(self._clock(), self._steady())}
        self._give_up(self._is_too_old, Evicted.AGE)
        self._unread = list(self._sealed.values())
        self._open = True

    @property
    def left_over(self) -> Figures:
        """What an earlier process has left."""
        return Figures(sum(segment.size for segment in self._unread), len(self._unread), None)

    # Writing

    def append(self, head: bytes, body: bytes, received_at: float, deliver: Deliver, timeout: float) -> Ticket | None:
        """Write a record and hand it on; None when it was not taken within ``timeout`` seconds, and is not kept.

        It is on disk when ``commit`` has returned. Raises ``JournalError``; then it was not handed on.
        """
        if not self._turn.acquire(timeout=timeout):
            return None
        try:
            segment = self._write(head, body, received_at)
            index = segment.end - 1
            if not deliver(segment.number, index):
                segment.take_back()
                return None
            self._metrics.counter("aem_monitor_journal_records_total").inc()
            return Ticket(segment, index)
        finally:
            self._turn.release()

    def commit(self, ticket: Ticket) -> None:
        """Return when the record may be acknowledged. Raises ``JournalError``; then it may be lost."""
        if self._settings.fsync == "always":
            self._flush(ticket.segment, ticket.index)
        if self._problem is not None and self._problem[1] != "full":
            # That there was room for a small one says nothing of the next.
            self._recovered()

    def _write(self, head: bytes, body: bytes, received_at: float) -> Segment:
        if not self._open:
            raise JournalError("the journal is closed", reason="closed")
        if self.figures.size + len(body) > self._settings.max_bytes:
            error = JournalError(
                f"the journal {self._folder.path} is full: {self._settings.max_bytes} bytes are needed by open runs; "
                "raise ingest.otlp_journal.max_bytes, or find out why runs do not end",
                reason="full",
            )
            self._failed(error)
            raise error
        try:
            segment = self._open_segment()
            segment.append(received_at, head, body, self._steady())
        except OSError as error:
            fault = journal_error("be written", self._folder.path, error)
            self._failed(fault)
            raise fault from error
        return segment

    def _open_segment(self) -> Segment:
        """The segment to write to, a new one if the last takes no more."""
        segment = self._active
        if segment is not None and (segment.failed or segment.size >= self._settings.segment_bytes):
            self._seal(segment)
            segment = None
        if segment is None:
            segment = self._folder.create(self._clock(), self._steady())
            with self._state:
                self._active = segment
        return segment

    def _seal(self, segment: Segment) -> None:
        """Let a segment take no more; to be called by who has the turn."""
        try:
            segment.close(flush=self._flushes)
        except OSError as error:
            # Whoever waits for a record of it is told; what was flushed before is as good as it was.
            self._failed(journal_error("be flushed", self._folder.path, error))
        with self._state:
            self._sealed[segment.number] = Sealed(
                segment.path,
                segment.number,
                segment.marker,
                segment.size,
                segment.newest,
                segment.written_at,
                segment.end,
            )
            self._active = None

    def _flush(self, segment: Segment, index: int) -> None:
        began = time.perf_counter()
        try:
            segment.sync(index)
        except OSError as error:
            fault = journal_error("be flushed", self._folder.path, error)
            self._failed(fault)
            raise fault from error
        self._metrics.histogram("aem_monitor_journal_sync_seconds").observe(time.perf_counter() - began)

    # Reading again

    def replay(self) -> Iterator[Entry]:
        """The records that an earlier process has left, oldest first.

        An entry is done with when the next one is asked for. What is damaged is counted and passed over.
        """
        for segment in self._unread:
            with self._state:
                if segment.number not in self._sealed:
                    continue
                self._reading = segment.number
            try:
                data = segment.path.read_bytes()
            except OSError as error:
                self._unreadable(segment, error)
                continue
            end = 0
            for found in decode(data, segment.marker):
                if isinstance(found, Damage):
                    self._note(segment, found)
                    continue
                end = found.index + 1
                yield Entry(segment.number, found)
                self._metrics.counter("aem_monitor_journal_replayed_records_total").inc()
            segment.end = end
        self._unread, self._reading = [], None

    def _note(self, segment: Sealed, damage: Damage) -> None:
        where = f"bytes {damage.start} to {damage.end}"
        if not damage.tail:
            self._corrupt(segment, where)
            return
        self._metrics.counter("aem_monitor_journal_damage_total", kind=Damaged.TORN.value).inc()
        _LOG.warning("The journal's segment %s ends in the middle of a record (%s); cut there", segment.path, where)
        self._folder.cut(segment, damage.start)

    def _corrupt(self, segment: Sealed, where: str) -> None:
        segment.damaged = True
        self._metrics.counter("aem_monitor_journal_damage_total", kind=Damaged.CORRUPT.value).inc()
        _LOG.error("The journal's segment %s is corrupt (%s); the file is kept aside", segment.path, where)

    def _unreadable(self, segment: Sealed, error: OSError) -> None:
        """Leave it as it is: what keeps it from being read now (no more open files, a share that is away) may pass."""
        self._metrics.counter("aem_monitor_journal_damage_total", kind=Damaged.UNREADABLE.value).inc()
        _LOG.error(
            "The journal's segment %s cannot be read (%s); it stays until it is too old, each start tries it again",
            segment.path,
            error,
        )

    # Cutting

    def release(self, needed_from: Mapping[int, int]) -> None:
        """Per segment, the lowest index that is still needed: none below it is. Never blocks for long."""
        with self._state:
            for number, index in needed_from.items():
                if number in self._sealed or (self._active is not None and self._active.number == number):
                    self._released[number] = index

    def keep(self, needed_by_runs: Callable[[], Collection[int] | None]) -> None:
        """What has to be done from time to time: flush, seal, delete, give up, and try again after a fault.

        ``needed_by_runs`` tells the segments that open runs need, None when that cannot be said now; it is only asked
        when the journal is nearly full.
        """
        self._look_after_active(self._steady())
        self._delete_released()
        self._give_up(self._is_too_old, Evicted.AGE)
        self._folder.prune(self._clock() - self._settings.max_age)
        if self.figures.size > _FULL * self._settings.max_bytes:
            self._make_room(needed_by_runs())
        self._try_again()

    def _look_after_active(self, now: float) -> None:
        segment = self._active
        if segment is None:
            return
        if not segment.failed:
            try:
                segment.check_place()
            except OSError as error:
                self._failed(journal_error("be read again", self._folder.path, error))
                return
        if now - segment.created_at >= SEAL_AFTER:
            with self._turn:
                if self._active is segment:
                    self._seal(segment)
        elif self._settings.fsync == "interval" and segment.unsynced:
            try:
                self._flush(segment, segment.end - 1)
            except JournalError:
                # Counted and said; the next request begins a new segment.
                return

    def _delete_released(self) -> None:
        with self._state:
            free = [
                segment
                for segment in self._sealed.values()
                if segment.end is not None and self._released.get(segment.number, 0) >= segment.end
            ]
        for segment in free:
            self._delete(segment)

    def _is_too_old(self, segment: Sealed) -> bool:
        return segment.written_at < self._steady() - self._settings.max_age

    def _make_room(self, needed: Collection[int] | None) -> None:
        if needed is None:
            return
        bound = _ROOM * self._settings.max_bytes
        self._give_up(
            lambda segment: segment.end is not None and segment.number not in needed and self.figures.size > bound,
            Evicted.FULL,
        )

    def _give_up(self, which: Callable[[Sealed], bool], cause: Evicted) -> None:
        """Delete segments that something may need, oldest first."""
        for segment in sorted(self._sealed.values(), key=lambda one: one.number):
            if which(segment) and self._delete(segment):
                self._metrics.counter("aem_monitor_journal_evicted_segments_total", cause=cause.value).inc()
                _LOG.warning("The journal's segment %s was deleted before it was done with: %s", segment.path, cause)

    def _delete(self, segment: Sealed) -> bool:
        with self._state:
            if segment.number == self._reading and segment.end is None:
                # What is handed on of it next would have a place that is gone.
                return False
            self._sealed.pop(segment.number, None)
        try:
            self._folder.remove(segment)
        except OSError as error:
            with self._state:
                self._sealed[segment.number] = segment
            # Nothing is lost by it; should it go on, the journal gets full and says so.
            fault = journal_error("be cut", self._folder.path, error)
            self._metrics.counter("aem_monitor_journal_errors_total", reason=fault.reason).inc()
            _LOG.debug("%s", fault)
            return False
        with self._state:
            self._released.pop(segment.number, None)
            self._gone.append(segment.number)
        return True

    def take_gone(self) -> list[int]:
        """The segments that were deleted since the last call."""
        with self._state:
            gone, self._gone = self._gone, []
        return gone

    # State

    @property
    def figures(self) -> Figures:
        """How much is kept now."""
        with self._state:
            active = self._active
            sealed = list(self._sealed.values())
        times = [segment.newest for segment in sealed] + ([] if active is None else [active.newest])
        size = sum(segment.size for segment in sealed) + (0 if active is None else active.size)
        return Figures(size, len(times), min(times, default=None))

    def problem(self) -> str | None:
        """Since when and why nothing can be written, in a sentence; None while it can. From any thread."""
        found = self._problem
        if found is None:
            return None
        since = datetime.fromtimestamp(found[0], UTC)
        return f"the OTLP journal cannot be written since {since:%Y-%m-%dT%H:%M:%SZ}: {found[1]}"

    def _failed(self, error: JournalError) -> None:
        self._metrics.counter("aem_monitor_journal_errors_total", reason=error.reason).inc()
        known = self._problem
        self._problem = (self._clock() if known is None else known[0], error.reason)
        if known is None:
            _LOG.error("OTLP requests are refused until the journal takes them again: %s", error)

    def _recovered(self) -> None:
        known, self._problem = self._problem, None
        if known is not None:
            _LOG.info("The journal can be written again, after %.0f seconds", self._clock() - known[0])

    def _try_again(self) -> None:
        """Find out whether the fault is over: without it nobody sends anything to a monitor that is not ready."""
        known = self._problem
        if known is None or time.monotonic() - self._probed_at < _PROBE_EVERY:
            return
        self._probed_at = time.monotonic()
        try:
            self._folder.probe()
        except JournalError as error:
            self._failed(error)
            return
        if self.figures.size <= _FULL * self._settings.max_bytes:
            self._recovered()

    def close(self) -> None:
        """Take no more, delete what is free, let another process have the folder. Idempotent."""
        with self._turn:
            if not self._open:
                return
            self._open = False
            if self._active is not None:
                self._seal(self._active)
        self._delete_released()
        self._folder.close()
