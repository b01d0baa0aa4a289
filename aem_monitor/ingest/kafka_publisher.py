"""The one place that writes to Kafka: every record until a broker has it, in order, over any outage."""

import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeAlias, TypeVar

from kafka import KafkaProducer
from kafka.errors import KafkaError, MessageSizeTooLargeError, RecordListTooLargeError

from aem_monitor.ingest.complaints import Complaints
from aem_monitor.ingest.kafka_client import connecting, reason
from aem_monitor.ingest.kafka_settings import RECONNECT_MAX_MS

_LOG: Final = logging.getLogger(__name__)

_PASSED_ON: Final = ("security_protocol", "ssl_", "sasl_", "client_dns_lookup", "api_version", "request_timeout_ms")
_MOST_BYTES: Final = 64 * 2**20
"""Records on their way beyond which no more is taken."""

_RETRY_SECONDS: Final = 1.0
_FLUSH_EVERY: Final = 0.02
_BOOTSTRAP_SECONDS: Final = 2.0
_SILENT_SECONDS: Final = 10.0
_NEVER_MS: Final = 2**31 - 1

Headers: TypeAlias = Sequence[tuple[str, bytes]]

Tag = TypeVar("Tag")


@dataclass(frozen=True, slots=True)
class Record(Generic[Tag]):
    """A message to be written. ``tag`` is what the caller knows it by. Without a ``partition`` the key chooses one."""

    topic: str
    key: bytes | None
    value: bytes
    headers: Headers
    tag: Tag
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Tag]):
    """What became of a record: a broker has it, or none will ever take it (``refused``)."""

    record: Record[Tag]
    refused: bool = False


class Publisher(Generic[Tag]):
    """Writes records in the order given, acknowledged by all replicas in sync (``acks=all``, idempotent).

    What the client gives up, and what was on its way when it fails, is sent again by a new client: nothing is lost but
    what brokers refuse for its size: first in a batch with others, then by itself. ``put`` and ``poll`` belong to one
    thread, ``close`` to whoever comes after it.
    """

    def __init__(
        self, servers: Sequence[str], client: Mapping[str, object], client_id: str, most_bytes: int = _MOST_BYTES
    ) -> None:
        self._servers = list(servers)
        self._client = {name: value for name, value in client.items() if name.startswith(_PASSED_ON)}
        self._client_id = client_id
        self._most_bytes = most_bytes
        self._complaints = Complaints(_LOG)
        self._producer: Any = None
        self._waiting: deque[Record[Tag]] = deque()
        self._sent: dict[int, Record[Tag]] = {}
        # Refused for their size, perhaps that of another record: kafka-python 3.0.12 takes it for a fatal error and
        # answers so for every record that follows. Each is sent again by a new client, with nothing beside it.
        self._suspected: deque[Record[Tag]] = deque()
        self._alone: int | None = None
        self._number = 0
        self._answers: SimpleQueue[tuple[int, BaseException | None]] = SimpleQueue()
        self._size = 0
        self._retry_at = 0.0
        self._heard_at = time.monotonic()

    @property
    def full(self) -> bool:
        """Whether so much is on its way that nothing should be added."""
        return self._size >= self._most_bytes

    @property
    def unacknowledged(self) -> int:
        """Records that no broker has confirmed."""
        return len(self._waiting) + len(self._suspected) + len(self._sent)

    def put(self, record: Record[Tag]) -> None:
        """Take a record; it is on its way from the next ``poll`` on."""
        if not self.unacknowledged:
            # Nothing was to be heard of before, however long that was.
            self._heard_at = time.monotonic()
        self._waiting.append(record)
        self._size += len(record.value)

    def poll(self) -> list[Outcome[Tag]]:
        """Send what waits, as far as brokers can be reached; returns what has been decided since the last call."""
        outcomes = self._decided()
        if (self._waiting or self._suspected) and time.monotonic() >= self._retry_at:
            outcomes += self._send()
        self._complain()
        return outcomes

    def flush(self, timeout: float) -> list[Outcome[Tag]]:
        """``poll`` until nothing is on its way, for at most ``timeout`` seconds."""
        until = time.monotonic() + timeout
        outcomes = self.poll()
        while self.unacknowledged and time.monotonic() < until:
            time.sleep(_FLUSH_EVERY)
            outcomes += self.poll()
        return outcomes

    def close(self, timeout: float) -> None:
        """End the client, within ``timeout`` seconds; what is still on its way may arrive or not."""
        producer, self._producer = self._producer, None
        if producer is None:
            return
        with contextlib.suppress(KafkaError, OSError):
            producer.close(timeout=timeout)
        # Where records could not be delivered in time, the producer has not got as far as ending its thread, which
        # closes the connections.
        producer._sender.force_close()  # noqa: SLF001  nothing public does
        producer._sender.join(_BOOTSTRAP_SECONDS)  # noqa: SLF001

    def _decided(self) -> list[Outcome[Tag]]:
        outcomes: list[Outcome[Tag]] = []
        failed: BaseException | None = None
        while True:
            try:
                number, error = self._answers.get_nowait()
            except Empty:
                break
            record = self._sent.get(number)
            if record is None:
                # Of a client that was given up: the record has been sent again.
                continue
            if error is None or (_too_large(error) and number == self._alone):
                del self._sent[number]
                outcomes.append(self._settled(record, refused=error is not None))
            elif _too_large(error):
                self._suspected.append(self._sent.pop(number))
            failed = failed or error
        if failed is not None:
            self._begin_again(failed)
        return outcomes

    def _send(self) -> list[Outcome[Tag]]:
        outcomes: list[Outcome[Tag]] = []
        try:
            producer = self._connected()
            if self._suspected:
                if not self._sent:
                    self._send_one(producer, self._suspected)
                    self._alone = self._number
                return outcomes
            while self._waiting:
                try:
                    self._send_one(producer, self._waiting)
                except MessageSizeTooLargeError:
                    outcomes.append(self._settled(self._waiting.popleft(), refused=True))
        except Exception as error:  # noqa: BLE001  a client error of any kind must not end the process silently
            # Also where the topic is not there: the client has waited for it.
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            topic = (self._suspected or self._waiting)[0].topic
            self._complaints.complain(
                "send",
                f"Kafka topic {topic} at {', '.join(self._servers)} cannot be written to "
                f"({reason(error)}); retrying. It has to exist: it is never created.",
            )
        return outcomes

    def _send_one(self, producer: Any, queue: deque[Record[Tag]]) -> None:
        record = queue[0]
        future = producer.send(record.topic, record.value, record.key, list(record.headers), record.partition)
        queue.popleft()
        self._number += 1
        self._sent[self._number] = record
        future.add_both(self._answer(self._number))

    def _connected(self) -> Any:
        if self._producer is not None:
            return self._producer
        with connecting() as clients:
            self._producer = KafkaProducer(
                bootstrap_servers=self._servers,
                client_id=self._client_id,
                acks="all",
                enable_idempotence=True,
                # A record is given up by nobody but us: its offset stays uncommitted as long.
                delivery_timeout_ms=_NEVER_MS,
                allow_auto_create_topics=False,
                reconnect_backoff_max_ms=RECONNECT_MAX_MS,
                compression_type="zstd",
                linger_ms=20,
                batch_size=2**18,
                # A part is never larger than the message it came in: how large that may be, the brokers say.
                max_request_size=2**30,
                max_block_ms=int(_BOOTSTRAP_SECONDS * 1000),
                bootstrap_timeout_ms=int(_BOOTSTRAP_SECONDS * 1000),
                kafka_client=clients,
                **self._client,
            )
        return self._producer

    def _answer(self, number: int) -> Callable[..., None]:
        def answer(result: Any) -> None:
            self._answers.put((number, result if isinstance(result, BaseException) else None))

        return answer

    def _begin_again(self, error: BaseException) -> None:
        """The client cannot go on (or has given up a record): all that is on its way is sent again by a new one."""
        if not _too_large(error):
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            self._complaints.complain(
                "client",
                f"Kafka at {', '.join(self._servers)} did not take a message ({reason(error)}); "
                f"{len(self._sent)} are sent again.",
            )
        self.close(0.0)
        self._waiting.extendleft(reversed(self._sent.values()))
        self._sent.clear()

    def _settled(self, record: Record[Tag], *, refused: bool) -> Outcome[Tag]:
        self._size -= len(record.value)
        self._heard_at = time.monotonic()
        return Outcome(record, refused)

    def _complain(self) -> None:
        now = time.monotonic()
        if not self.unacknowledged:
            self._heard_at = now
        elif now - self._heard_at > _SILENT_SECONDS:
            self._complaints.complain(
                "silent",
                f"Kafka at {', '.join(self._servers)} has not confirmed any of {self.unacknowledged} messages for "
                f"{now - self._heard_at:.0f} s; retrying.",
            )


def _too_large(error: BaseException) -> bool:
    return isinstance(error, MessageSizeTooLargeError | RecordListTooLargeError)
