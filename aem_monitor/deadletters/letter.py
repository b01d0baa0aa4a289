"""A dead letter: the message as it was, with headers that say where it stood and what was wrong with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aem_monitor import __version__
from aem_monitor.deadletters.causes import cause_of
from aem_monitor.ingest.kafka_connection import Message
from aem_monitor.ingest.kafka_publisher import Headers

PREFIX: Final = "aem.dlq."
REPLAYS: Final = f"{PREFIX}replays"
_LEFT_OUT: Final = f"{PREFIX}left_out"

_MAX_ERROR: Final = 500
_MAX_NUMBER: Final = 20


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a message stood. ``timestamp`` is the one that it had there, in milliseconds."""

    topic: str
    partition: int
    offset: int
    timestamp: int


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter as it is read again.

    ``partition``, ``offset`` and ``written_at`` (milliseconds) are its own in the dead-letter topic. ``replays`` is how
    often the message was given back before it became this letter. ``headers`` are the message's own. ``left_out`` is
    the size of a value that its topic did not take, None where the value is here.
    """

    partition: int
    offset: int
    written_at: int
    origin: Origin
    cause: str
    error: str
    group: str
    version: str
    replays: int
    key: bytes | None
    value: bytes
    headers: Headers
    left_out: int | None = None

    @property
    def size(self) -> int:
        """Bytes of the message's value."""
        return len(self.value) if self.left_out is None else self.left_out


def headers_of_letter(message: Message, cause: str, error: str, group: str) -> Headers:
    """The message's own headers, then those of the letter. Of an earlier letter only the count of replays is kept.

    ``error`` is cut to 500 characters; it holds no content of the message.
    """
    told = {
        "topic": message.topic,
        "partition": str(message.partition),
        "offset": str(message.offset),
        "timestamp": str(message.timestamp),
        "cause": cause,
        "error": error[:_MAX_ERROR],
        "group": group,
        "version": __version__,
    }
    kept = [(name, value or b"") for name, value in message.headers if not name.startswith(PREFIX)]
    if replays := _replays(message.headers):
        kept.append((REPLAYS, str(replays).encode()))
    return [*kept, *((f"{PREFIX}{name}", text.encode("utf-8", "replace")) for name, text in told.items())]


def without_value(headers: Headers, size: int) -> Headers:
    """The headers of a letter whose value of ``size`` bytes its topic does not take."""
    return [*headers, (_LEFT_OUT, str(size).encode())]


def headers_of_replay(letter: Letter) -> Headers:
    """The headers with which the message is given back: its own, and how often it was."""
    return [*letter.headers, (REPLAYS, str(letter.replays + 1).encode())]


def read_letter(record: Any) -> Letter | None:
    """A message of the dead-letter topic; None for one that is no letter."""
    told: Mapping[str, str] = {
        name.removeprefix(PREFIX): (value or b"").decode("utf-8", "replace")
        for name, value in record.headers
        if name.startswith(PREFIX)
    }
    numbers = [_number(told.get(name, "")) for name in ("partition", "offset")]
    if not told.get("topic") or "cause" not in told or None in numbers:
        return None
    partition, offset = (number or 0 for number in numbers)
    return Letter(
        partition=record.partition,
        offset=record.offset,
        written_at=record.timestamp,
        origin=Origin(told["topic"], partition, offset, _number(told.get("timestamp", "")) or 0),
        cause=cause_of(told["cause"]),
        error=told.get("error", "")[:_MAX_ERROR],
        group=told.get("group", ""),
        version=told.get("version", ""),
        replays=_number(told.get("replays", "")) or 0,
        key=record.key,
        value=record.value or b"",
        headers=[(name, value or b"") for name, value in record.headers if not name.startswith(PREFIX)],
        left_out=_number(told.get("left_out", "")),
    )


def _replays(headers: Sequence[tuple[str, bytes | None]]) -> int:
    found = [_number((value or b"").decode("utf-8", "replace")) for name, value in headers if name == REPLAYS]
    return max((number for number in found if number is not None), default=0)


def _number(text: str) -> int | None:
    """A whole number of at most 20 digits, zero or more."""
    return int(text) if len(text) <= _MAX_NUMBER and text.isascii() and text.isdigit() else None
