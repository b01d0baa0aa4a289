"""OTLP export requests as JSON, decoded into spans and log records.

Selects as ``otlp_proto`` does and reads what emitters really write, see ``otlp_values``. A document is one export
request, a list of them, or an object that holds spans and log records both; several may follow one another in a body.
"""

from collections import Counter
from collections.abc import Iterator
from enum import Enum
from typing import Any, Final, TypeAlias

from aem_monitor.errors import DecodeError, TooLargeError
from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.causes import Altered, Skipped
from aem_monitor.ingest.lenient_json import JsonSyntaxError, documents_in, parse_lenient
from aem_monitor.ingest.limits import Limits, check_body_size, check_item_count
from aem_monitor.ingest.otlp_values import (
    JsonValues,
    field,
    identifier,
    mapping,
    members,
    nanoseconds,
    span_kind,
    status_code,
    uint32,
)
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.model.span import LogRecord, Resource, Scope, Span, SpanEvent, parent_is_remote


class Signal(Enum):
    """What an export request carries."""

    TRACES = "traces"
    LOGS = "logs"


Signals: TypeAlias = frozenset[Signal]
BOTH: Final[Signals] = frozenset(Signal)

_DENSE_BYTES: Final = 2**22
"""Below this size brackets are not counted: their memory is bounded anyway."""


def decode_traces_json(body: bytes, limits: Limits, keep: Prefilter) -> Decoded:
    """Decode trace export requests.

    Raises:
        DecodeError: not JSON, or not shaped as such a request (``malformed``).
        TooLargeError: the body or its number of spans is over the limit.
    """
    return _decode(body, limits, keep, frozenset({Signal.TRACES}))


def decode_logs_json(body: bytes, limits: Limits, keep: Prefilter) -> Decoded:
    """Decode logs export requests; only records of agents that name a span are kept. Raises as above."""
    return _decode(body, limits, keep, frozenset({Signal.LOGS}))


def decode_json(body: bytes, limits: Limits, keep: Prefilter) -> Decoded:
    """Decode a document that may hold ``resourceSpans``, ``resourceLogs`` or both. Raises as above."""
    return _decode(body, limits, keep, BOTH)


def decode_document(
    document: Any, marked: bool, limits: Limits, keep: Prefilter, altered: Counter[str], signals: Signals = BOTH
) -> Decoded:
    """Decode what ``parse_lenient`` returned; ``marked`` says whether its text contains a marker at all.

    ``altered`` is what parsing repaired and is added to. Raises as above.
    """
    requests = document if isinstance(document, list) else [document]
    trace_reader = _TraceReader(limits, keep, altered)
    log_reader = _LogReader(limits, keep, altered)
    for number, request in enumerate(requests):
        where = f"request[{number}]" if isinstance(document, list) else "request"
        if not isinstance(request, dict):
            raise DecodeError(f"{where} is {type(request).__name__}, expected an object with resourceSpans")
        if Signal.TRACES in signals:
            trace_reader.add(members(request, "resourceSpans", "resource_spans", where), where)
        if Signal.LOGS in signals:
            log_reader.add(members(request, "resourceLogs", "resource_logs", where), where)
    trace_reader.read(marked)
    log_reader.read(marked)
    return Decoded(
        spans=tuple(trace_reader.spans),
        logs=tuple(log_reader.logs),
        seen_spans=trace_reader.seen,
        seen_logs=log_reader.seen,
        skipped=_counts(trace_reader.skipped),
        skipped_logs=_counts(log_reader.skipped),
        max_end_ns=trace_reader.max_end_ns,
        altered=dict(altered),
    )


def _decode(body: bytes, limits: Limits, keep: Prefilter, signals: Signals) -> Decoded:
    check_body_size(len(body), limits)
    _check_density(body)
    altered: Counter[str] = Counter()
    document = _parse(body, altered)
    return decode_document(document, keep.in_bytes(body), limits, keep, altered, signals)


def _parse(body: bytes, altered: Counter[str]) -> Any:
    """One document, or the requests of several, one after the other, as the collector's file exporter writes lines."""
    try:
        return parse_lenient(body, altered)
    except JsonSyntaxError as error:
        if not error.more_follows:
            raise
    documents = [parse_lenient(body[start:end], altered) for start, end in documents_in(body)]
    return [request for one in documents for request in (one if isinstance(one, list) else [one])]


def _check_density(body: bytes) -> None:
    """Raise TooLargeError for a large body that is little more than brackets.

    An empty list is three bytes of text and over sixty in memory. Compact OTLP JSON has a bracket in every 18 bytes.
    """
    if len(body) >= _DENSE_BYTES and (body.count(b"[") + body.count(b"{")) * 8 > len(body):
        raise TooLargeError(f"body of {len(body)} bytes is mostly brackets; no OTLP request is")


def _counts(counts: Counter[Skipped]) -> dict[str, int]:
    return {str(cause): number for cause, number in counts.items() if number}


def _keys(holder: dict[str, Any]) -> Iterator[str]:
    """The readable keys of an object's attributes."""
    pairs = holder.get("attributes")
    for pair in pairs if isinstance(pairs, list) else ():
        if isinstance(pair, dict) and isinstance(key := pair.get("key", ""), str):
            yield key


class _Block:
    """One ResourceSpans or ResourceLogs with its checked parts: (scope, spans or records) pairs."""

    __slots__ = ("resource", "scoped")

    def __init__(self, block: Any, lists: tuple[str, str], items: tuple[str, str], where: str) -> None:
        holder = mapping(block, where)
        self.resource = mapping(holder.get("resource"), f"{where}.resource")
        self.scoped: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
        for number, scoped in enumerate(members(holder, *lists, where)):
            place = f"{where}.{lists[0]}[{number}]"
            part = mapping(scoped, place)
            found = members(part, *items, place)
            for index, item in enumerate(found):
                if not isinstance(item, dict):
                    raise DecodeError(f"{place}.{items[0]}[{index}] is {type(item).__name__}, expected an object")
            self.scoped.append((mapping(part.get("scope"), f"{place}.scope"), found))


class _Reader:
    lists: tuple[str, str]
    items: tuple[str, str]
    blocks_name: str
    what: str

    def __init__(self, limits: Limits, keep: Prefilter, altered: Counter[str]) -> None:
        self._limits = limits
        self._keep = keep
        self._altered = altered
        self._values = JsonValues(limits, altered)
        self._blocks: list[_Block] = []
        self.skipped: Counter[Skipped] = Counter()
        self.seen = 0

    def add(self, blocks: list[Any], where: str) -> None:
        """Check the shape of a request's blocks and count what is in them."""
        for number, block in enumerate(blocks):
            checked = _Block(block, self.lists, self.items, f"{where}.{self.blocks_name}[{number}]")
            self._blocks.append(checked)
            self.seen += sum(len(items) for _, items in checked.scoped)
            check_item_count(self.seen, self._limits, self.what)

    def _resource(self, block: _Block) -> Resource:
        return Resource(self._attributes(block.resource))

    def _scope(self, scope: dict[str, Any]) -> Scope:
        return Scope(self._values.text(scope.get("name")), self._values.text(scope.get("version")))

    def _attributes(self, holder: dict[str, Any]) -> Any:
        pairs = holder.get("attributes")
        if isinstance(pairs, list):
            return self._values.attributes(pairs)
        if pairs is not None:
            self._altered[Altered.UNREADABLE_VALUE] += 1
        return {}

    def _named(self, name: Any) -> bool:
        return isinstance(name, str) and self._keep.in_name(name)

    def _any_named(self, holder: dict[str, Any]) -> bool:
        # Not by _keys: for most spans of most bodies this is all that is done.
        in_name = self._keep.in_name
        pairs = holder.get("attributes")
        for pair in pairs if isinstance(pairs, list) else ():
            if isinstance(pair, dict) and isinstance(key := pair.get("key", ""), str) and in_name(key):
                return True
        return False


class _TraceReader(_Reader):
    lists = ("scopeSpans", "scope_spans")
    items = ("spans", "spans")
    blocks_name = "resourceSpans"
    what = "spans"

    def __init__(self, limits: Limits, keep: Prefilter, altered: Counter[str]) -> None:
        super().__init__(limits, keep, altered)
        self.spans: list[Span] = []
        self.max_end_ns = 0
        self._agent_traces: set[str] = set()

    def read(self, marked: bool) -> None:
        """Select and decode what was added; ``marked`` says whether the body contains a marker at all."""
        for block in self._blocks:
            for _, spans in block.scoped:
                for span in spans:
                    self.max_end_ns = max(
                        self.max_end_ns, nanoseconds(field(span, "endTimeUnixNano", "end_time_unix_nano"))
                    )
        if not marked:
            self.skipped[Skipped.NO_AGENT_CONTENT] += self.seen
            return
        rest = [block for block in self._blocks if not self._block(block)]
        for block in rest:
            self._linking_spans(block)

    def _block(self, block: _Block) -> bool:
        of_agent = [
            [in_scope or self._of_agent(span) for span in spans]
            for scope, spans in block.scoped
            for in_scope in (self._named(scope.get("name", "")),)
        ]
        in_resource = self._keep.in_resource_name
        if not any(map(any, of_agent)) and not any(map(in_resource, _keys(block.resource))):
            return False
        resource = self._resource(block)
        for (scope_object, spans), flags in zip(block.scoped, of_agent, strict=True):
            scope = self._scope(scope_object)
            for span, agent in zip(spans, flags, strict=True):
                if (ids := self._ids(span)) is not None:
                    self.spans.append(self._span(span, ids, resource, scope, agent))
                    if agent:
                        self._agent_traces.add(ids[0])
        return True

    def _linking_spans(self, block: _Block) -> None:
        resource: Resource | None = None
        for scope, spans in block.scoped:
            for span in spans:
                trace_id = identifier(field(span, "traceId", "trace_id"), 16)
                if trace_id not in self._agent_traces:
                    self.skipped[Skipped.NO_AGENT_CONTENT] += 1
                elif (ids := self._ids(span)) is not None:
                    resource = resource or self._resource(block)
                    self.spans.append(self._span(span, ids, resource, self._scope(scope), False))

    def _of_agent(self, span: dict[str, Any]) -> bool:
        if self._any_named(span):
            return True
        events = span.get("events")
        return isinstance(events, list) and any(
            self._named(event.get("name", "")) for event in events if isinstance(event, dict)
        )

    def _ids(self, span: dict[str, Any]) -> tuple[str, str] | None:
        trace_id = identifier(field(span, "traceId", "trace_id"), 16)
        span_id = identifier(field(span, "spanId", "span_id"), 8)
        if trace_id is None or span_id is None:
            self.skipped[Skipped.INVALID_ID] += 1
            return None
        return trace_id, span_id

    def _span(self, span: dict[str, Any], ids: tuple[str, str], resource: Resource, scope: Scope, agent: bool) -> Span:
        """A span in full, or without contents when it only links spans of agents."""
        status = span.get("status")
        if not isinstance(status, dict):
            status = {"code": status}
        parent = self._parent(field(span, "parentSpanId", "parent_span_id"))
        return Span(
            trace_id=ids[0],
            span_id=ids[1],
            parent_span_id=parent,
            name=self._values.text(span.get("name")),
            kind=span_kind(span.get("kind")),
            start_ns=nanoseconds(field(span, "startTimeUnixNano", "start_time_unix_nano")),
            end_ns=nanoseconds(field(span, "endTimeUnixNano", "end_time_unix_nano")),
            attributes=self._attributes(span) if agent else {},
            events=self._events(span) if agent else (),
            status_code=status_code(status.get("code")),
            status_message=self._values.text(status.get("message")) if agent else "",
            resource=resource,
            scope=scope,
            dropped=self._dropped(span) if agent else 0,
            parent_remote=parent_is_remote(uint32(span.get("flags"))) if parent is not None else None,
        )

    def _parent(self, value: Any) -> str | None:
        parent = identifier(value, 8)
        if parent is None and value and not (isinstance(value, str) and not value.strip("0A=")):
            self._altered[Altered.UNREADABLE_VALUE] += 1
        return parent

    def _events(self, span: dict[str, Any]) -> tuple[SpanEvent, ...]:
        events = span.get("events")
        if not isinstance(events, list):
            if events is not None:
                self._altered[Altered.UNREADABLE_VALUE] += 1
            return ()
        decoded: list[SpanEvent] = []
        for event in self._values.bounded(events, self._limits.max_events):
            if not isinstance(event, dict):
                self._altered[Altered.UNREADABLE_VALUE] += 1
                continue
            time_ns = nanoseconds(field(event, "timeUnixNano", "time_unix_nano"))
            decoded.append(SpanEvent(self._values.text(event.get("name")), time_ns, self._attributes(event)))
        return tuple(decoded)

    @staticmethod
    def _dropped(span: dict[str, Any]) -> int:
        attributes = uint32(field(span, "droppedAttributesCount", "dropped_attributes_count"))
        return attributes + uint32(field(span, "droppedEventsCount", "dropped_events_count"))


class _LogReader(_Reader):
    lists = ("scopeLogs", "scope_logs")
    items = ("logRecords", "log_records")
    blocks_name = "resourceLogs"
    what = "log records"

    def __init__(self, limits: Limits, keep: Prefilter, altered: Counter[str]) -> None:
        super().__init__(limits, keep, altered)
        self.logs: list[LogRecord] = []

    def read(self, marked: bool) -> None:
        """Select and decode what was added; ``marked`` says whether the body contains a marker at all."""
        if not marked:
            self.skipped[Skipped.NO_AGENT_CONTENT] += self.seen
            return
        for block in self._blocks:
            resource: Resource | None = None
            for scope_object, records in block.scoped:
                in_scope = self._named(scope_object.get("name", ""))
                scope = self._scope(scope_object)
                for record in records:
                    name = self._values.text(_event_name(record))
                    if not (in_scope or self._keep.in_name(name) or self._any_named(record)):
                        self.skipped[Skipped.NO_AGENT_CONTENT] += 1
                    elif (ids := self._ids(record)) is not None:
                        resource = resource or self._resource(block)
                        self.logs.append(self._record(record, ids, name, resource, scope))

    def _ids(self, record: dict[str, Any]) -> tuple[str, str] | None:
        raw = field(record, "spanId", "span_id")
        trace_id = identifier(field(record, "traceId", "trace_id"), 16)
        span_id = identifier(raw, 8)
        if trace_id is not None and span_id is not None:
            return trace_id, span_id
        unnamed = not raw or (isinstance(raw, str) and not raw.strip("0A="))
        self.skipped[Skipped.NO_SPAN_ID if unnamed else Skipped.INVALID_ID] += 1
        return None

    def _record(
        self, record: dict[str, Any], ids: tuple[str, str], name: str, resource: Resource, scope: Scope
    ) -> LogRecord:
        time_ns = nanoseconds(field(record, "timeUnixNano", "time_unix_nano"))
        return LogRecord(
            trace_id=ids[0],
            span_id=ids[1],
            time_ns=time_ns or nanoseconds(field(record, "observedTimeUnixNano", "observed_time_unix_nano")),
            event_name=name,
            body=self._values.value(record.get("body")),
            attributes=self._attributes(record),
            resource=resource,
            scope=scope,
        )


def _event_name(record: dict[str, Any]) -> Any:
    """The record's own event name, else the attribute that carried it before the field existed."""
    name: Any = field(record, "eventName", "event_name")
    pairs = record.get("attributes")
    for pair in pairs if not name and isinstance(pairs, list) else ():
        if isinstance(pair, dict) and pair.get("key") == "event.name" and isinstance(pair.get("value"), dict):
            name = field(pair["value"], "stringValue", "string_value")
    return name
