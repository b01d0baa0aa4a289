"""Spans and log records from Kafka: one consumer of a group, on one thread."""

import importlib.util
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from threading import Event, Thread
from typing import Final

from kafka.errors import FencedInstanceIdError, KafkaError

from aem_monitor.ingest.batch import (
    Batch,
    EngineInput,
    Partition,
    PartitionsAssigned,
    PartitionsHeldBack,
    PartitionsRevoked,
    Submit,
)
from aem_monitor.ingest.causes import Stall
from aem_monitor.ingest.complaints import Complaints
from aem_monitor.ingest.kafka_client import reason
from aem_monitor.ingest.kafka_connection import KafkaConnection, Message
from aem_monitor.ingest.kafka_group import Ownership, OwnershipChange
from aem_monitor.ingest.kafka_losses import Losses, tell
from aem_monitor.ingest.kafka_measures import Measured, Measures
from aem_monitor.ingest.kafka_membership import Membership
from aem_monitor.ingest.kafka_message import decode_message
from aem_monitor.ingest.kafka_poison import PassedOver, Poison
from aem_monitor.ingest.kafka_progress import PartitionProgress
from aem_monitor.ingest.kafka_reader import MessageReader, Waiting, partition_of
from aem_monitor.ingest.kafka_settings import KafkaSettings
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter

_LOG: Final = logging.getLogger(__name__)

# All in seconds. Together they bound a turn of the thread, and so how long ``stop`` and ``close`` wait for it.
_POLL: Final = 0.25
_DELIVER: Final = 0.5
_BOOTSTRAP: Final = 3.0
_COMMIT: Final = 3.0
_BACK_OFF: Final = (1.0, 30.0)
_UNREACHABLE_AFTER: Final = 5.0


class KafkaSource:
    """Consumes OTLP messages in a consumer group and commits what the engine releases.

    Every message becomes a batch, also one without agent content or that cannot be decoded (then an empty one, and
    ``count(cause, 1)`` is called), so that the engine sees all offsets in order and can release them. What cannot be
    used goes to ``poison``, and no commit passes it before it is settled there. While the engine's queue is full, or
    ``poison`` is stalled, partitions are paused and polling goes on: the membership is kept. So it is for good where
    there was too much poison. An unreachable broker, a missing topic or any error of the client is said once a minute
    and tried again with back-off, never raised.

    A session that comes to nothing (``Membership``) is given up for a new one, and ``reconnecting`` is told.

    ``submit``, ``count`` and ``reconnecting`` are called from the source's thread. ``release`` and ``take_back`` may be
    called from any.
    """

    name = "kafka"

    def __init__(
        self,
        settings: KafkaSettings,
        limits: Limits,
        keep: Prefilter,
        submit: Submit,
        count: Callable[[str, int], None],
        poison: Poison | None = None,
        *,
        reconnecting: Callable[[Stall], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._topics = {topic.name: topic for topic in settings.topics}
        self._submit = submit
        self._count = count
        self._progress = PartitionProgress()
        self._losses = Losses(lambda _: {}, lambda _: None)
        self._ownership = Ownership()
        self._clock = clock
        self._complaints = Complaints(_LOG)
        self._poison: Poison = poison or PassedOver()
        self._reader = MessageReader(
            self.name,
            lambda message: decode_message(message.value, self._topics[message.topic], limits, keep),
            self._poison,
            self._progress,
            count,
            self._complaints,
            clock,
        )
        self._waiting: deque[Waiting] = deque()
        self._paused: frozenset[Partition] = frozenset()
        self._stopping = Event()
        self._stopped = Event()
        self._closing = Event()
        self._close_by = 0.0
        self._thread: Thread | None = None
        self._up = False
        self._membership = Membership(settings, reconnecting)
        self._measures = Measures(clock)
        self._alive_at = time.monotonic()
        self._next_commit = 0.0
        self._connected_at = 0.0
        self._was_joined = False
        self._was_replaced = False

    # What others call.

    def start(self) -> None:
        """Begin to consume. Raises ConfigError for a client setting that is not passed through."""
        self._settings.consumer_arguments()
        self._poison.start()
        if importlib.util.find_spec("crc32c") is None:
            _LOG.warning("Package crc32c is missing: reading from Kafka is about twelve times slower; install it.")
        self._thread = Thread(target=self._run, name="kafka", daemon=True)
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Deliver nothing more, but stay in the group and go on committing what the engine releases."""
        self._stopping.set()
        if self._thread is not None:
            self._stopped.wait(timeout)

    def close(self, timeout: float) -> None:
        """Commit what was released, leave the group, end the thread. Idempotent."""
        self._close_by = time.monotonic() + timeout
        self._stopping.set()
        self._closing.set()
        if self._thread is not None:
            self._thread.join(timeout + 1.0)

    def release(self, offsets: Mapping[Partition, int]) -> None:
        """The engine needs nothing below these offsets any more; they are committed within the commit interval."""
        self._progress.release(offsets)

    def take_back(self, item: EngineInput, error: str) -> None:
        """The engine could not take an item in because of a defect; called before it is passed over."""
        self._reader.take_back(item, error)

    def problem(self) -> str | None:
        """What keeps it from reading on, in a sentence, where that is neither brokers nor engine."""
        return self._poison.problem() or self._membership.problem(time.monotonic())

    def alive_at(self) -> float | None:
        """When its thread last came by (monotonic seconds); None while it does not run."""
        return self._alive_at if self._thread is not None and self._thread.is_alive() else None

    @property
    def servers(self) -> str:
        """Where the brokers are looked for, for messages."""
        return self._settings.servers

    @property
    def up(self) -> bool:
        """Whether a broker is connected, the group joined and at least one topic there."""
        return self._up

    @property
    def measured(self) -> Measured:
        """How far behind it is, as of the last second in which its thread came to measure it."""
        return self._measures.latest

    # The thread.

    def _run(self) -> None:
        back_off = _BACK_OFF[0]
        while not self._closing.is_set():
            self._was_joined = False
            try:
                self._session()
            except FencedInstanceIdError:
                self._stay_out()
            except Exception as error:  # noqa: BLE001  a client error of any kind must not end the source silently
                self._complaints.complain(
                    "session",
                    f"Kafka at {self._settings.servers} cannot be read from ({reason(error)}); retrying.",
                )
            self._up = False
            self._apply(self._ownership.forget())
            self._rest(back_off)
            back_off = _BACK_OFF[0] if self._was_joined else min(2 * back_off, _BACK_OFF[1])
        self._poison.close(_COMMIT)
        self._stopped.set()

    def _stay_out(self) -> None:
        """Read nothing more: two processes of one name would throw each other out for ever, or count twice."""
        _LOG.error(
            "Another process has joined Kafka group %s as group_instance_id %s and reads in this one's place. This one "
            "reads nothing more until it is restarted; give each replica a group_instance_id of its own.",
            self._settings.group_id,
            self._settings.group_instance_id,
        )
        self._up = False
        self._apply(self._ownership.forget())
        while not self._closing.is_set():
            self._rest(_DELIVER)

    def _rest(self, seconds: float) -> None:
        """Wait before the next attempt, still handing the engine what it must know."""
        until = time.monotonic() + seconds
        while not self._closing.is_set() and time.monotonic() < until:
            self._alive_at = time.monotonic()
            self._heed_stop()
            self._deliver(_DELIVER)
            self._closing.wait(min(_DELIVER, max(0.0, until - time.monotonic())))

    def _session(self) -> None:
        """One membership, until closing. Raises what the client raises."""
        connection = KafkaConnection(self._settings, _BOOTSTRAP)
        self._connected_at = time.monotonic()
        self._membership.begin(self._connected_at)
        self._losses = Losses(
            lambda partitions: connection.beginning_offsets(partitions, _COMMIT),
            lambda partition: connection.committed(partition, _COMMIT),
        )
        try:
            while not self._closing.is_set():
                self._turn(connection)
            self._poison.close(min(_COMMIT, max(0.5, self._close_by - time.monotonic())))
            self._commit(connection, min(_COMMIT, max(0.5, self._close_by - time.monotonic())))
        finally:
            left = self._close_by - time.monotonic() if self._closing.is_set() else _COMMIT
            connection.close(min(_COMMIT, max(0.5, left)))

    def _turn(self, connection: KafkaConnection) -> None:
        self._alive_at = time.monotonic()
        messages = connection.poll(_POLL)
        self._measures.polled()
        self._look_for_a_replacement(connection)
        rewound = self._follow_group(connection)
        taken = self._ownership.partitions - rewound
        valid = [message for message in messages if (message.topic, message.partition) in taken]
        self._waiting.extend(valid)
        self._look_for_losses(valid)
        self._heed_stop()
        self._deliver(_DELIVER)
        self._hold_back()
        self._balance(connection)
        if time.monotonic() >= self._next_commit:
            self._commit(connection, _COMMIT)
        self._observe(connection)

    def _look_for_a_replacement(self, connection: KafkaConnection) -> None:
        """Raise FencedInstanceIdError where two polls agree: a join that just ends looks the same for a moment."""
        replaced = connection.replaced
        if replaced and self._was_replaced:
            raise FencedInstanceIdError
        self._was_replaced = replaced

    def _heed_stop(self) -> None:
        if self._stopping.is_set():
            self._waiting.clear()
            self._stopped.set()
        elif self._poison.stopped:
            self._waiting = deque(item for item in self._waiting if partition_of(item) is None)

    def _follow_group(self, connection: KafkaConnection) -> frozenset[Partition]:
        """Act on what the group did during the last poll; returns partitions whose polled messages are not valid."""
        rewound: frozenset[Partition] = frozenset()
        while (event := connection.events.take()) is not None:
            change = self._ownership.apply(event)
            self._was_joined = self._was_joined or self._ownership.joined
            self._apply(change)  # Before going back, which may fail: what the group took away is gone in any case.
            if change.rewound:
                connection.rewind(change.rewound, _COMMIT)
                rewound |= change.rewound
            try:
                self._losses.assigned(change.gained)
            except KafkaError as error:
                _LOG.debug("where the group goes on is unknown: %s", error)
        return rewound

    def _look_for_losses(self, messages: Sequence[Message]) -> None:
        try:
            lost = self._losses.fetched(messages, time.monotonic())
        except KafkaError as error:
            _LOG.debug("whether retention took messages is unknown: %s", error)
            return
        tell(lost, self._complaints, self._count)

    def _apply(self, change: OwnershipChange) -> None:
        """Forget what waits for lost partitions, then tell the engine of the change, in this order."""
        if change.lost:
            self._waiting = deque(item for item in self._waiting if partition_of(item) not in change.lost)
            self._waiting.append(PartitionsRevoked(self.name, tuple(sorted(change.lost))))
            self._progress.revoke(change.lost)
            self._losses.forget(change.lost)
            self._poison.forget(change.lost)
            self._measures.forget(change.lost)
            self._paused -= change.lost
        if change.gained:
            self._waiting.append(PartitionsAssigned(self.name, tuple(sorted(change.gained))))
            self._progress.assign(change.gained)

    def _deliver(self, seconds: float) -> None:
        """Hand on what waits, for at most ``seconds``; nothing of an assignment that is being revoked."""
        until = time.monotonic() + seconds
        while self._waiting:
            item = self._waiting[0]
            if partition_of(item) is not None and not self._ownership.joined:
                return
            if not isinstance(item, Batch | PartitionsRevoked | PartitionsAssigned):
                if self._begins_again(item):
                    continue
                if self._poison.stalled:
                    return
                batch = self._batch(item)
                if batch is None:
                    return
                item = self._waiting[0] = batch
            if isinstance(item, Batch) and item.position is not None:
                # Before it is submitted: the engine may release it before this thread runs again.
                self._progress.delivered(item.position.key, item.position.offset)
                self._measures.received(item.position.key, item.position.offset, item.received_at)
            if not self._submit(item, max(0.0, until - time.monotonic())):
                return
            self._waiting.popleft()
            if time.monotonic() >= until:
                return

    def _begins_again(self, message: Message) -> bool:
        """Whether the partition has gone back (its topic was created anew, or lost its end with a broker).

        What the engine knows of its offsets is then of another log: the partition is put before it as lost and gained.
        """
        place = (message.topic, message.partition)
        expected = self._progress.next_offset(place)
        if expected is None or message.offset >= expected:
            return False
        self._complaints.complain(
            "back",
            f"Kafka partition {message.topic}/{message.partition} went back from offset {expected} to "
            f"{message.offset}: the topic was created anew or has lost messages; reading on from there.",
        )
        self._progress.assign([place])
        self._poison.forget([place])
        self._measures.forget([place])
        self._waiting.extendleft([PartitionsAssigned(self.name, (place,)), PartitionsRevoked(self.name, (place,))])
        return True

    def _batch(self, message: Message) -> Batch | None:
        """What the engine is given for a message; None where no more may be read."""
        return self._reader.batch(message)

    def _hold_back(self) -> None:
        """While poison keeps it from reading: what stands behind it may belong to runs that would end without it."""
        if self._ownership.partitions and (self._poison.stalled or self._poison.stopped):
            self._submit(PartitionsHeldBack(self.name, tuple(sorted(self._ownership.partitions))), 0.0)

    def _balance(self, connection: KafkaConnection) -> None:
        """Pause all partitions while something waits (or no more is wanted), resume them when nothing does."""
        held_back = self._waiting or self._stopping.is_set() or self._poison.stopped
        wanted = self._ownership.partitions if held_back else frozenset()
        if not self._ownership.joined or wanted == self._paused:
            return
        connection.pause(wanted - self._paused)
        connection.resume(self._paused - wanted)
        self._paused = wanted

    def _commit(self, connection: KafkaConnection, timeout: float) -> None:
        """Commit what may be; what fails is tried again after the interval, so nothing is lost but time."""
        self._next_commit = time.monotonic() + self._settings.commit_interval_seconds
        self._pass_over_gaps(connection)
        offsets = self._progress.committable()
        if not offsets or not self._ownership.joined:
            return
        try:
            connection.commit(offsets, timeout)
        except FencedInstanceIdError:
            raise
        except KafkaError as error:
            # A rebalance or a coordinator on the move; the next interval or the next owner takes it up.
            _LOG.debug("commit of %s failed: %s", offsets, error)
            return
        self._progress.committed(offsets)

    def _pass_over_gaps(self, connection: KafkaConnection) -> None:
        """Let commits follow where there is nothing to deliver: aborted transactions, control records, idle partitions.

        Without it they would look unread for good, and who begins with ``latest`` would miss what comes while it is
        down. From offset 0, ``earliest`` begins anyway.
        """
        if self._waiting or self._stopping.is_set() or self._poison.stopped or not self._ownership.joined:
            return
        lowest = 1 if self._settings.auto_offset_reset == "earliest" else 0
        for partition in self._ownership.partitions:
            position = connection.position(partition)
            if position is not None and position >= lowest:
                self._progress.passed(partition, position)

    def _observe(self, connection: KafkaConnection) -> None:
        now = time.monotonic()
        connected = connection.connected
        missing = connection.missing_topics()
        if connected:
            self._connected_at = now
        self._up = (
            connected and self._ownership.joined and len(missing) < len(self._topics) and not self._poison.stopped
        )
        if now - self._connected_at > _UNREACHABLE_AFTER:
            why = f" ({trouble})" if (trouble := connection.trouble) else ""
            self._complaints.complain("session", f"Kafka at {self._settings.servers} does not answer{why}; retrying.")
        elif connected and missing:
            self._complaints.complain("topics", f"Kafka topic {', '.join(missing)} does not exist; waiting for it.")
        elif self._up and self._complaints.over("session"):
            _LOG.info("Kafka at %s is read from again.", self._settings.servers)
        self._measures.measure(connection, self._ownership, self._paused, self._progress, now)
        able = connected and len(missing) < len(self._topics)
        self._membership.observe(now, able=able, joined=self._ownership.joined, heard_at=connection.heard_at)
