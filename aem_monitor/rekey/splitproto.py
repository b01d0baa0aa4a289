"""Protobuf export requests by traces, cut from the wire: unknown fields stay where they are.

Field numbers are those of opentelemetry-proto ``trace.proto`` and ``logs.proto``; requests for spans and for log
records have one shape down to their items.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from aem_monitor.errors import DecodeError
from aem_monitor.ingest.kafka_settings import KafkaTopic
from aem_monitor.ingest.limits import Limits, check_body_size, check_item_count
from aem_monitor.ingest.wire import LENGTH, FieldTally, WireError, read_field, write_varint
from aem_monitor.rekey.chunk import Chunk, Link, Split, check_size

_BLOCK: Final = 1
_SCOPED: Final = 2
_ITEM: Final = 2
_TRACE_ID: Final = {"traces": 1, "logs": 9}
_SPAN_ID: Final = 2
_PARENT_ID: Final = 4
_NO_TRACE: Final = bytes(16)
_NO_SPAN: Final = bytes(8)


@dataclass(slots=True)
class _Part:
    """What is one trace's: whole blocks, and how its spans hang together."""

    body: bytearray = field(default_factory=bytearray)
    items: int = 0
    links: list[Link] = field(default_factory=list)


def split_proto(body: bytes, topic: KafkaTopic, limits: Limits) -> Split:
    """Cut one or several concatenated requests into one request a trace.

    Raises:
        DecodeError: the bytes are not such a request (``malformed``).
        TooLargeError: the body, its number of items or what it is cut into is over the limit.
    """
    check_body_size(len(body), limits)
    try:
        return _Splitter(body, topic, limits).split()
    except WireError as error:
        raise DecodeError(f"not an OTLP request in protobuf ({len(body)} bytes): {error}") from error


class _Splitter:
    def __init__(self, body: bytes, topic: KafkaTopic, limits: Limits) -> None:
        self._body = body
        self._topic = topic
        self._limits = limits
        self._tally = FieldTally()
        self._parts: dict[bytes, _Part] = {}
        self._nameless = 0

    def split(self) -> Split:
        rest = bytearray()
        for number, wire_type, start, end, begin in _fields(self._body, 0, len(self._body)):
            if number == _BLOCK and wire_type == LENGTH:
                self._count()
                self._block(start, end)
            else:
                self._tally.other()
                rest += self._body[begin:end]
        if len(self._parts) == 1 and not self._nameless:
            # As most messages of an exporter that keys by trace: nothing to cut.
            ((trace_id, only),) = self._parts.items()
            return Split((self._chunk(trace_id, only, self._body),))
        chunks = [self._chunk(trace_id, part, bytes(part.body + rest)) for trace_id, part in self._parts.items()]
        return Split(chunks, self._nameless)

    def _chunk(self, trace_id: bytes, part: _Part, body: bytes) -> Chunk:
        topic = self._topic
        return Chunk(trace_id.hex(), topic.name, topic.signal, "otlp_proto", body, part.items, part.links)

    def _block(self, at: int, end: int) -> None:
        common = bytearray()
        scoped: dict[bytes, bytearray] = {}
        for number, wire_type, start, stop, begin in _fields(self._body, at, end):
            if number == _SCOPED and wire_type == LENGTH:
                self._count()
                self._scope(start, stop, scoped)
            else:
                self._tally.other()
                common += self._body[begin:stop]
        for trace_id, scopes in scoped.items():
            self._parts[trace_id].body += _message(_BLOCK, common + scopes)
        check_size(sum(len(part.body) for part in self._parts.values()), self._limits.max_body_bytes)

    def _scope(self, at: int, end: int, scoped: dict[bytes, bytearray]) -> None:
        common = bytearray()
        found: dict[bytes, bytearray] = {}
        for number, wire_type, start, stop, begin in _fields(self._body, at, end):
            if number == _ITEM and wire_type == LENGTH:
                self._count()
                trace_id = self._item(start, stop)
                if trace_id is not None:
                    found.setdefault(trace_id, bytearray()).extend(self._body[begin:stop])
            else:
                self._tally.other()
                common += self._body[begin:stop]
        for trace_id, items in found.items():
            scoped.setdefault(trace_id, bytearray()).extend(_message(_SCOPED, common + items))
        check_size(sum(map(len, scoped.values())), self._limits.max_body_bytes)

    def _item(self, at: int, end: int) -> bytes | None:
        """Note an item for its trace; None when it names none."""
        wanted = _TRACE_ID[self._topic.signal]
        ids: dict[int, bytes] = {}
        for number, wire_type, start, stop, _ in _fields(self._body, at, end):
            if number > _PARENT_ID and number != wanted:
                if wanted in ids:
                    # Every known writer puts the ids first, so that dozens of attributes need not be walked over. A
                    # parent that came behind them would be missed: its span would pass for a root.
                    break
            elif wire_type == LENGTH:
                ids[number] = self._body[start:stop] if stop - start <= len(_NO_TRACE) else b""
        trace_id = ids.get(wanted, b"")
        if len(trace_id) != len(_NO_TRACE) or trace_id == _NO_TRACE:
            self._nameless += 1
            return None
        part = self._parts.setdefault(trace_id, _Part())
        part.items += 1
        if self._topic.signal == "traces":
            parent = ids.get(_PARENT_ID, b"")
            named = len(parent) == len(_NO_SPAN) and parent != _NO_SPAN
            part.links.append(Link(ids.get(_SPAN_ID, b"").hex(), parent.hex() if named else None))
        return trace_id

    def _count(self) -> None:
        self._tally.known += 1
        check_item_count(self._tally.known, self._limits, "spans or log records, scopes and resources")


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int, int]]:
    """The fields of ``data[at:end]`` as ``read_field`` gives them, and where the tag of each stands."""
    while at < end:
        number, wire_type, start, stop = read_field(data, at, end)
        yield number, wire_type, start, stop, at
        at = stop


def _message(number: int, payload: bytearray) -> bytes:
    return write_varint(number << 3 | LENGTH) + write_varint(len(payload)) + payload
