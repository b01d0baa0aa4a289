"""One record of a segment as bytes, and the records of a segment's bytes, whatever has happened to them.

A record is a header, a head (what the body is) and the body. The header begins with the marker of its segment: eight
random bytes that stand in the file's name. By the marker reading finds the next record behind a damaged one, and
because nobody outside knows it, no body can hold something that looks like a record.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MARKER_BYTES: Final = 8
MAX_HEAD: Final = 2**16 - 1
MAX_BODY: Final = 2**32 - 1

_VERSION: Final = 1
_CHECKED: Final = struct.Struct("<BHIId")
"""What the checksum covers of the header: version, length of head, length of body, index, time of receipt."""

_CHECKSUM: Final = struct.Struct("<I")
_HEADER_BYTES: Final = MARKER_BYTES + _CHECKSUM.size + _CHECKED.size


@dataclass(frozen=True, slots=True)
class Record:
    """One record. ``index`` counts the records of a segment from 0, ``received_at`` is the wall clock in seconds."""

    index: int
    received_at: float
    head: bytes
    body: bytes


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes ``start`` to ``end`` of a segment that hold no record.

    ``tail``: no record follows, as when the process or the machine stopped in the middle of a write.
    """

    start: int
    end: int
    tail: bool


def encode(record: Record, marker: bytes) -> bytes:
    """The bytes of a record. Raises ``ValueError`` for one that is too long for the format."""
    if len(record.head) > MAX_HEAD or len(record.body) > MAX_BODY:
        raise ValueError(f"a record of {len(record.head)} + {len(record.body)} bytes is too long for a journal")
    checked = _CHECKED.pack(_VERSION, len(record.head), len(record.body), record.index, record.received_at)
    checksum = zlib.crc32(record.body, zlib.crc32(record.head, zlib.crc32(checked)))
    return b"".join((marker, _CHECKSUM.pack(checksum), checked, record.head, record.body))


def decode(data: bytes, marker: bytes) -> Iterator[Record | Damage]:
    """The records of a segment, in order, and what lies damaged between and behind them."""
    at = 0
    while at < len(data):
        found = _record_at(data, at, marker)
        if found is None:
            following = _next_record(data, at + 1, marker)
            yield Damage(at, following, tail=following == len(data))
            at = following
            continue
        record, at = found
        yield record


def _next_record(data: bytes, at: int, marker: bytes) -> int:
    """Where the next whole record begins; the length of the data if there is none."""
    while (at := data.find(marker, at)) >= 0:
        if _record_at(data, at, marker) is not None:
            return at
        at += 1
    return len(data)


def _record_at(data: bytes, at: int, marker: bytes) -> tuple[Record, int] | None:
    """The record that begins at ``at`` and where it ends; None if there is no whole one."""
    if at + _HEADER_BYTES > len(data) or not data.startswith(marker, at):
        return None
    (checksum,) = _CHECKSUM.unpack_from(data, at + MARKER_BYTES)
    version, head_length, body_length, index, received_at = _CHECKED.unpack_from(
        data, at + MARKER_BYTES + _CHECKSUM.size
    )
    head_at = at + _HEADER_BYTES
    body_at = head_at + head_length
    end = body_at + body_length
    if version != _VERSION or end > len(data):
        return None
    checked = memoryview(data)[at + MARKER_BYTES + _CHECKSUM.size : end]
    if zlib.crc32(checked) != checksum:
        return None
    return Record(index, received_at, data[head_at:body_at], data[body_at:end]), end
