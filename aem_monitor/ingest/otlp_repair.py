"""Makes a protobuf request readable that protobuf refuses for one bad value.

protobuf parses nothing of a message that holds a string with invalid UTF-8 or that is nested more than 100 messages
deep. Both come from one careless attribute, and a whole batch of other services' spans would be lost with it.
"""

from collections import Counter
from typing import Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from aem_monitor.ingest.causes import Altered
from aem_monitor.ingest.wire import LENGTH, WireError, read_field, write_varint

_MAX_MESSAGES: Final = 90
"""Nesting that is kept; under protobuf's own limit of 100."""

_MAX_FIELDS: Final = 2_000_000
"""Fields visited before giving up: some seconds of one worker, more than any real batch has."""


def repair(body: bytes, descriptor: Descriptor, altered: Counter[str]) -> bytes:
    """The same message with replacement characters for invalid UTF-8 and without what is nested too deep.

    ``altered`` counts what was changed. Raises WireError when the bytes are no message at all.
    """
    return _Rewriter(body, altered).message(0, len(body), descriptor, _MAX_MESSAGES)


class _Rewriter:
    def __init__(self, body: bytes, altered: Counter[str]) -> None:
        self._body = body
        self._altered = altered
        self._fields = 0
        self._tables: dict[str, dict[int, Descriptor | None]] = {}

    def message(self, at: int, end: int, descriptor: Descriptor, depth: int) -> bytes:
        """Rewrite ``body[at:end]``, a message of this type, that may contain ``depth`` further levels."""
        body = self._body
        table = self._table(descriptor)
        pieces: list[bytes] = []
        while at < end:
            self._fields += 1
            if self._fields > _MAX_FIELDS:
                raise WireError("too many fields to repair")
            number, wire_type, start, stop = read_field(body, at, end)
            if wire_type != LENGTH or number not in table:
                pieces.append(body[at:stop])
            elif (inner := table[number]) is None:
                pieces.append(self._text(number, body[start:stop]))
            elif depth <= 0:
                self._altered[Altered.TOO_DEEP] += 1
            else:
                payload = self.message(start, stop, inner, depth - 1)
                pieces += (write_varint(number << 3 | LENGTH), write_varint(len(payload)), payload)
            at = stop
        return b"".join(pieces)

    def _text(self, number: int, raw: bytes) -> bytes:
        try:
            raw.decode()
        except UnicodeDecodeError:
            self._altered[Altered.INVALID_UTF8] += 1
            raw = raw.decode(errors="replace").encode()
        return write_varint(number << 3 | LENGTH) + write_varint(len(raw)) + raw

    def _table(self, descriptor: Descriptor) -> dict[int, Descriptor | None]:
        """Message fields by number with their type, string fields with None; other fields need no look."""
        table = self._tables.get(descriptor.full_name)
        if table is None:
            table = {}
            for field in descriptor.fields:
                if field.type == FieldDescriptor.TYPE_MESSAGE:
                    table[field.number] = field.message_type
                elif field.type == FieldDescriptor.TYPE_STRING:
                    table[field.number] = None
            self._tables[descriptor.full_name] = table
        return table
