"""The protobuf wire format, as far as it must be read without its messages.

Source: the encoding chapter of the protobuf documentation (tag = field number << 3 | wire type; wire type 0 varint,
1 eight bytes, 2 length and bytes, 5 four bytes; groups, 3 and 4, do not occur in proto3).
"""

from collections.abc import Iterator
from typing import Final

VARINT: Final = 0
FIXED64: Final = 1
LENGTH: Final = 2
FIXED32: Final = 5


_FREE: Final = 10_000
_PER_KNOWN: Final = 4
"""Other fields allowed for each block, scope and item. Exporters write at most two: a resource or scope, its schema."""


class WireError(ValueError):
    """The bytes are not a protobuf message; never leaves the decoders."""


class TooManyFieldsError(WireError):
    """A message of far more fields that hold no telemetry than any exporter writes: a bomb, or no OTLP."""


class FieldTally:
    """Counts the fields that are walked one by one, so that a body of nothing but others ends early.

    ``known`` are blocks, scopes and items; unknown fields, resources and the like are the others.
    """

    def __init__(self) -> None:
        self.known = 0
        self.others = 0

    def other(self, known: int = 0) -> None:
        """One more other field, with so many known ones that are not counted yet. Raises TooManyFieldsError."""
        self.others += 1
        if self.others > _FREE + _PER_KNOWN * (self.known + known):
            message = f"{self.others} fields hold no spans or log records, more than any exporter writes"
            raise TooManyFieldsError(message)


def read_varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The varint at ``at`` and the position behind it."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            raise WireError("truncated varint")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise WireError("varint of more than ten bytes")


def write_varint(value: int) -> bytes:
    """A non-negative integer as varint."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def read_field(data: bytes, at: int, end: int) -> tuple[int, int, int, int]:
    """The field at ``at``: (field number, wire type, start of its payload, end of its payload)."""
    tag, at = read_varint(data, at, end)
    wire_type = tag & 7
    if wire_type == VARINT:
        stop = read_varint(data, at, end)[1]
    elif wire_type == LENGTH:
        length, at = read_varint(data, at, end)
        stop = at + length
    elif wire_type == FIXED64:
        stop = at + 8
    elif wire_type == FIXED32:
        stop = at + 4
    else:
        raise WireError(f"wire type {wire_type} at byte {at}")
    if stop > end:
        raise WireError(f"field at byte {at} ends {stop - end} bytes behind its message")
    return tag >> 3, wire_type, at, stop


def fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """The fields of the message ``data[at:end]``, each as ``read_field`` gives it.

    Raises WireError where the bytes stop being a message.
    """
    while at < end:
        field = read_field(data, at, end)
        yield field
        at = field[3]


def count_field(data: bytes, at: int, end: int, number: int, tally: FieldTally) -> None:
    """Add to ``tally`` how often a message field with a number below 16 stands in ``data[at:end]``.

    Raises WireError where the bytes stop being a message, TooManyFieldsError for too many others.
    """
    tag = number << 3 | LENGTH
    count = 0
    # One or two length bytes are read in line: this runs once a span, before anything else is known of it.
    while at < end:
        if data[at] != tag or at + 2 >= end:
            found, wire_type, _, at = read_field(data, at, end)
            if found == number and wire_type == LENGTH:
                count += 1
            else:
                tally.other(count)
            continue
        length = data[at + 1]
        if length < 0x80:
            at += 2 + length
        elif (high := data[at + 2]) < 0x80:
            at += 3 + (length & 0x7F | high << 7)
        else:
            at = read_field(data, at, end)[3]
        count += 1
    if at > end:
        raise WireError(f"field ends {at - end} bytes behind its message")
    tally.known += count
