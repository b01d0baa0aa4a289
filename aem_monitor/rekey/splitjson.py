"""JSON export requests by traces; members that OTLP does not have stay where they are."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import orjson

from aem_monitor.errors import DecodeError
from aem_monitor.ingest.kafka_settings import KafkaTopic, Signal
from aem_monitor.ingest.lenient_json import parse_lenient
from aem_monitor.ingest.limits import Limits, check_body_size, check_item_count
from aem_monitor.ingest.otlp_values import field as member
from aem_monitor.ingest.otlp_values import identifier, mapping, members
from aem_monitor.rekey.chunk import Chunk, Link, Split, check_size

_Object: TypeAlias = Mapping[str, Any]

_NAMES: Final = {
    "traces": (("resourceSpans", "resource_spans"), ("scopeSpans", "scope_spans"), ("spans", "spans")),
    "logs": (("resourceLogs", "resource_logs"), ("scopeLogs", "scope_logs"), ("logRecords", "log_records")),
}


@dataclass(slots=True)
class _Holder:
    """A request, block or scope, and what a trace has below it, by its place there."""

    original: _Object
    below: dict[int, "_Holder"] = field(default_factory=dict)

    def at(self, place: int, original: _Object) -> "_Holder":
        """The holder at a place below, new if there is none."""
        return self.below.setdefault(place, _Holder(original))

    def written(self, names: tuple[tuple[str, str], ...]) -> _Object:
        """A copy with everything but the items of other traces."""
        if not names:
            return self.original
        ((camel, snake), *inner) = names
        kept = {key: value for key, value in self.original.items() if key not in (camel, snake)}
        return {**kept, camel: [one.written(tuple(inner)) for one in self.below.values()]}


@dataclass(slots=True)
class _Part:
    """What is one trace's: its requests by place, and how its spans hang together."""

    requests: dict[int, _Holder] = field(default_factory=dict)
    items: int = 0
    links: list[Link] = field(default_factory=list)


def split_json(body: bytes, topic: KafkaTopic, limits: Limits) -> Split:
    """Cut a request, or a list of them, into one request a trace.

    Raises:
        DecodeError: not JSON, or not shaped as such a request (``malformed``).
        TooLargeError: the body, its number of items or what it is cut into is over the limit.
    """
    check_body_size(len(body), limits)
    signal = topic.signal
    document, write = _read(body)
    parts: dict[str, _Part] = {}
    nameless = 0
    for count, (places, item) in enumerate(_items(document, signal), start=1):
        check_item_count(count, limits, "spans or log records")
        trace_id = identifier(member(item, "traceId", "trace_id"), 16)
        if trace_id is None:
            nameless += 1
            continue
        part = parts.setdefault(trace_id, _Part())
        (number, request), *inner = places
        holder = part.requests.setdefault(number, _Holder(request))
        for place, original in inner:
            holder = holder.at(place, original)
        holder.at(count, item)
        part.items += 1
        if signal == "traces":
            part.links.append(_link(item))
    if len(parts) == 1 and not nameless:
        ((trace_id, only),) = parts.items()
        return Split((Chunk(trace_id, topic.name, signal, "otlp_json", body, only.items, only.links),))
    chunks: list[Chunk] = []
    size = 0
    for trace_id, part in parts.items():
        requests = [request.written(_NAMES[signal]) for request in part.requests.values()]
        whole = write(requests if isinstance(document, list) else requests[0])
        size += len(whole)
        check_size(size, limits.max_body_bytes)
        chunks.append(Chunk(trace_id, topic.name, signal, "otlp_json", whole, part.items, part.links))
    return Split(chunks, nameless)


def _read(body: bytes) -> tuple[Any, Callable[[Any], bytes]]:
    """The document, and what writes it again: what the strict parser refuses, NaN for one, it would not write."""
    try:
        return orjson.loads(body), orjson.dumps
    except orjson.JSONDecodeError:
        return parse_lenient(body, Counter()), lambda value: json.dumps(value).encode()


def _items(document: Any, signal: Signal) -> Iterator[tuple[list[tuple[int, _Object]], dict[str, Any]]]:
    """Every span or log record, with the places of its request, block and scope and what stands there."""
    blocks, scopes, items = _NAMES[signal]
    for at, request in enumerate(document if isinstance(document, list) else [document]):
        if not isinstance(request, dict):
            raise DecodeError(f"request is {type(request).__name__}, expected an object with {blocks[0]}")
        for block_at, block in enumerate(members(request, *blocks, "request")):
            for scope_at, scoped in enumerate(members(mapping(block, blocks[0]), *scopes, blocks[0])):
                around = [(at, request), (block_at, block), (scope_at, scoped)]
                for item in members(mapping(scoped, scopes[0]), *items, scopes[0]):
                    yield around, mapping(item, items[0])


def _link(span: dict[str, Any]) -> Link:
    span_id = identifier(member(span, "spanId", "span_id"), 8)
    return Link(span_id or "", identifier(member(span, "parentSpanId", "parent_span_id"), 8))
