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


class WireError(ValueError):
    """The bytes are not a protobuf message; never leaves the decoders."""


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


def field_slices(data: bytes) -> Iterator[tuple[int, int, int]]:
    """The top-level fields with a length: (field number, start of the payload, end of the payload).

    Raises WireError where the bytes stop being a message.
    """
    at, end = 0, len(data)
    while at < end:
        number, wire_type, start, stop = read_field(data, at, end)
        if wire_type == LENGTH:
            yield number, start, stop
        at = stop


def count_field(data: bytes, at: int, end: int, number: int) -> int:
    """How often a message field with a number below 16 stands in ``data[at:end]``.

    Raises WireError where the bytes stop being a message.
    """
    tag = number << 3 | LENGTH
    count = 0
    # One or two length bytes are read in line: this runs once a span, before anything else is known of it.
    while at + 2 < end:
        if data[at] != tag:
            found, wire_type, _, at = read_field(data, at, end)
            count += found == number and wire_type == LENGTH
            continue
        length = data[at + 1]
        if length < 0x80:
            at += 2 + length
        elif (high := data[at + 2]) < 0x80:
            at += 3 + (length & 0x7F | high << 7)
        else:
            at = read_field(data, at, end)[3]
        count += 1
    while at < end:
        found, wire_type, _, at = read_field(data, at, end)
        count += found == number and wire_type == LENGTH
    if at > end:
        raise WireError(f"field ends {at - end} bytes behind its message")
    return count
