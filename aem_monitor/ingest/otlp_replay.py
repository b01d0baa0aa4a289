"""What an earlier process has acknowledged and not finished, brought to the engine again."""

import logging
import threading
import time
from typing import Final

from aem_monitor.errors import DecodeError
from aem_monitor.ingest.batch import (
    JOURNAL,
    Batch,
    Decoded,
    EngineInput,
    PartitionsAssigned,
    PartitionsRevoked,
    Position,
    Submit,
)
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_request import journalled_request
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.journal.faults import Damaged
from aem_monitor.journal.journal import Entry, Journal
from aem_monitor.metrics.registry import Metrics

_LOG = logging.getLogger(__name__)

_HOLD: Final = ((JOURNAL, 0),)
"""A sender that has come nowhere yet, while it is assigned: segments have numbers from 1."""

_HOLD_EVERY: Final = 0.2
"""Seconds; well below ``assembly.wall_idle``, after which a silent sender no longer holds event time."""
_SUBMIT_SECONDS: Final = 1.0


class OtlpReplay:
    """Reads the journal in a thread of its own, beside the sources: the order of requests is no matter.

    Event time stands still meanwhile, so that no conversation is closed before all of it has been read.
    """

    def __init__(self, journal: Journal, limits: Limits, keep: Prefilter, submit: Submit, metrics: Metrics) -> None:
        self._journal = journal
        self._limits = limits
        self._keep = keep
        self._submit = submit
        self._metrics = metrics
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journal-replay", daemon=True)
        self._held_at = 0.0

    def start(self) -> None:
        """Hold event time, and begin. To be called before anything else can reach the engine."""
        left = self._journal.left_over
        if not left.segments:
            return
        _LOG.info("Reading the journal: %d segments of %d bytes", left.segments, left.size)
        self._hold()
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Read no more; the next process does."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        records = 0
        for entry in self._journal.replay():
            if not self._until_taken(self._batch(entry)):
                return
            records += 1
        self._until_taken(PartitionsRevoked("journal", _HOLD))
        _LOG.info("The journal is read: %d requests", records)

    def _batch(self, entry: Entry) -> Batch:
        record = entry.record
        position = Position(JOURNAL, entry.segment, record.index)
        source, peer, decoded = "otlp_http", "journal", Decoded()
        try:
            request = journalled_request(record.head, record.body)
            source, peer, decoded = request.source, request.peer, request.decode(self._limits, self._keep)
        except DecodeError as error:
            what = str(error)
        except Exception as error:  # noqa: BLE001 - one request must never keep all others from being read
            what = f"{type(error).__name__} while decoding"
        else:
            return Batch(source, peer, decoded, record.received_at, position)
        # It was decoded once: a limit has been lowered since, or the program has changed.
        self._metrics.counter("aem_monitor_journal_damage_total", kind=Damaged.UNDECODABLE.value).inc()
        _LOG.warning("A request of the journal is passed over: %s", what)
        return Batch(source, peer, Decoded(), record.received_at, position)

    def _until_taken(self, item: EngineInput) -> bool:
        """Whether the engine took it; False when the process ends before it does."""
        while not self._stopping.is_set():
            if time.monotonic() - self._held_at >= _HOLD_EVERY:
                self._hold()
            if self._submit(item, _SUBMIT_SECONDS):
                return True
            # The store cannot be written, and the queue has room: that is refused at once.
            self._stopping.wait(0.1)
        return False

    def _hold(self) -> None:
        self._held_at = time.monotonic()
        self._submit(PartitionsAssigned("journal", _HOLD), _SUBMIT_SECONDS)
