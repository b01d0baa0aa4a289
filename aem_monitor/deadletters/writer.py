"""Dead letters on their way to their topic."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Final, Protocol, TypeAlias

from aem_monitor.deadletters.bounds import Bounds
from aem_monitor.deadletters.causes import Bound, Kept, cause_of
from aem_monitor.deadletters.letter import headers_of_letter, without_value
from aem_monitor.deadletters.settings import DeadLetterSettings
from aem_monitor.ingest.batch import Partition
from aem_monitor.ingest.causes import Refused
from aem_monitor.ingest.complaints import Complaints
from aem_monitor.ingest.kafka_connection import Message
from aem_monitor.ingest.kafka_publisher import Outcome, Record
from aem_monitor.metrics.registry import Metrics

_LOG: Final = logging.getLogger(__name__)

_STALLED_AFTER: Final = 10.0
"""Seconds without an answer after which no more is read: what is read on meanwhile is read again after a crash."""

_ASK_EVERY: Final = 0.02
_REST: Final = 0.25
_CLOSE: Final = 1.0


@dataclass(slots=True, eq=False)
class Pending:
    """A letter that no broker has confirmed. ``since`` is monotonic, in seconds; ``size`` is the value's, in bytes."""

    where: str
    cause: str
    size: int
    since: float
    settled: Callable[[], None]
    whole: bool = True


_Letters: TypeAlias = Record[Pending]


class Publish(Protocol):
    """Where letters are written; see ``ingest.kafka_publisher.Publisher``."""

    @property
    def full(self) -> bool:
        """Whether nothing should be added."""

    def put(self, record: _Letters) -> None:
        """Take a letter."""

    def poll(self) -> list[Outcome[Pending]]:
        """What has become of letters."""

    def close(self, timeout: float) -> None:
        """End."""


class DeadLetters:
    """Writes messages that cannot be used to a topic of their own, and stops the source where there are too many.

    A letter is settled when brokers have confirmed it. While they do not, they are asked again and again; after ten
    seconds the source is held back. A value that the topic does not take is left out of its letter, and a letter that
    it does not take even so is given up; both are said and counted.

    Has a thread of its own: what a missing topic costs in waiting must not keep the source from polling.
    """

    keeps = True

    def __init__(
        self,
        settings: DeadLetterSettings,
        publisher: Publish,
        metrics: Metrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._publisher = publisher
        self._metrics = metrics
        self._clock = clock
        self._lock = threading.Lock()
        self._bounds = Bounds(settings.max_ratio, settings.window, settings.max_run)
        self._stopped: tuple[Bound, str] | None = None
        self._inbox: SimpleQueue[_Letters] = SimpleQueue()
        self._pending: dict[Pending, None] = {}
        self._was_stalled = False
        self._complaints = Complaints(_LOG)
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._close_by = 0.0
        self._thread = threading.Thread(target=self._run, name="dead-letters", daemon=True)

    # What the source calls.

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def usable(self, message: Message) -> None:
        """A message is not poison."""
        with self._lock:
            self._bounds.usable((message.topic, message.partition), message.offset)

    def take(self, message: Message, cause: str, error: str, settled: Callable[[], None]) -> bool:
        """Write a message that cannot be decoded; False when it is one too many."""
        with self._lock:
            bound = self._bounds.bad((message.topic, message.partition), message.offset)
        return self._take(message, cause_of(cause), error, settled, bound)

    def take_back(self, message: Message, error: str, settled: Callable[[], None]) -> bool:
        """Write one that the engine could not take in; False when it is one too many."""
        with self._lock:
            bound = self._bounds.bad_after_all((message.topic, message.partition), message.offset)
        return self._take(message, Refused.INTERNAL.value, error, settled, bound)

    def forget(self, partitions: Iterable[Partition]) -> None:
        """Begin anew with counting on these partitions."""
        with self._lock:
            self._bounds.forget(partitions)

    def _take(self, message: Message, cause: str, error: str, settled: Callable[[], None], bound: Bound | None) -> bool:
        if self._stopped is not None:
            return False
        if bound is not None:
            self._stop(message, bound, error)
            return False
        where = f"{message.topic}/{message.partition} at offset {message.offset}"
        value = message.value or b""
        pending = Pending(where, cause, len(value), self._clock(), settled)
        headers = headers_of_letter(message, cause, error, self._settings.group)
        with self._lock:
            self._pending[pending] = None
        self._inbox.put(Record(self._settings.topic, message.key, value, headers, pending))
        self._wake.set()
        return True

    def _stop(self, message: Message, bound: Bound, error: str) -> None:
        chosen = self._settings
        many = {
            Bound.RUN: f"more than {chosen.max_run} in a row (ingest.kafka.dead_letters.max_run)",
            Bound.RATIO: f"more than {chosen.max_ratio:.4g} of the last {chosen.window} "
            "(ingest.kafka.dead_letters.max_ratio)",
        }
        why = (
            f"too many messages of {message.topic}/{message.partition} cannot be used: {many[bound]} up to offset "
            f"{message.offset}. Nothing more is read from Kafka until a restart"
        )
        self._stopped = (bound, why)
        _LOG.error("%s. The last error: %s", f"{why[0].upper()}{why[1:]}", error)

    # What the operator sees.

    @property
    def stopped(self) -> bool:
        """Whether there were too many."""
        return self._stopped is not None

    @property
    def stalled(self) -> bool:
        """Whether the topic is written to no longer, or too slowly."""
        return self._publisher.full or self._silence() > _STALLED_AFTER

    def problem(self) -> str | None:
        """Why nothing is read, in a sentence."""
        if self._stopped is not None:
            return self._stopped[1]
        if self.stalled:
            return (
                f"dead-letter topic {self._settings.topic} does not take messages: Kafka is not read on until it does"
            )
        return None

    def stopped_by(self, bound: Bound) -> bool:
        """Whether this is what there were too many of."""
        return self._stopped is not None and self._stopped[0] is bound

    @property
    def unconfirmed(self) -> int:
        """Letters that no broker has confirmed."""
        with self._lock:
            return len(self._pending)

    def _silence(self) -> float:
        with self._lock:
            oldest = next(iter(self._pending), None)
        return 0.0 if oldest is None else self._clock() - oldest.since

    # The thread.

    def close(self, timeout: float) -> None:
        """Wait for what is under way, ``timeout`` seconds at most, and end. What is left is read again. Idempotent."""
        self._close_by = time.monotonic() + timeout
        self._closing.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout + _CLOSE)

    def _run(self) -> None:
        while not self._closing.is_set() or (self.unconfirmed and time.monotonic() < self._close_by):
            self.step()
            if self.unconfirmed:
                time.sleep(_ASK_EVERY)
            else:
                self._wake.wait(_REST)
                self._wake.clear()
        self._publisher.close(_CLOSE)

    def step(self) -> None:
        """Send what has come, and take the answers."""
        while True:
            try:
                self._publisher.put(self._inbox.get_nowait())
            except Empty:
                break
        self._settle(self._publisher.poll())
        stalled = self.stalled
        if stalled and not self._was_stalled:
            self._metrics.counter("aem_monitor_dead_letter_stalls_total").inc()
            _LOG.error("Dead-letter topic %s does not take messages; Kafka waits for it.", self._settings.topic)
        elif self._was_stalled and not stalled:
            _LOG.info("Dead-letter topic %s takes messages again.", self._settings.topic)
        self._was_stalled = stalled

    def _settle(self, outcomes: Sequence[Outcome[Pending]]) -> None:
        for outcome in outcomes:
            pending = outcome.record.tag
            if outcome.refused and pending.whole:
                pending.whole = False
                self._publisher.put(
                    replace(outcome.record, value=b"", headers=without_value(outcome.record.headers, pending.size))
                )
                self._complaints.complain(
                    "too large",
                    f"Kafka message of {pending.where} has {pending.size} bytes, more than dead-letter topic "
                    f"{self._settings.topic} takes; its letter says so and is without them. Raise the topic's "
                    "max.message.bytes.",
                )
                continue
            if outcome.refused:
                kept = Kept.NOTHING
                _LOG.error("Kafka message of %s is given up: its dead letter is refused for its size.", pending.where)
            else:
                kept = Kept.MESSAGE if pending.whole else Kept.HEADERS
            self._metrics.counter("aem_monitor_dead_letters_total", cause=pending.cause, kept=kept.value).inc()
            with self._lock:
                del self._pending[pending]
            pending.settled()
