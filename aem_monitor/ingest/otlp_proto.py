"""OTLP export requests as protobuf, decoded into spans and log records.

The wire form of ``TracesData`` (what the collector's Kafka exporter writes) is that of ``ExportTraceServiceRequest``,
and requests laid end to end are one request: both need no code of their own.

Selection, the same for JSON: a block (one ResourceSpans) counts when some attribute key, scope name or event name in
it, or a key of its resource, contains a marker. Spans of a counting block that carry no marker themselves are kept
without attributes and events, because they link the agent's spans to their ancestors. Of the other blocks only spans
that share a trace with an agent span of the same body are kept, likewise; the rest is skipped.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, TypeVar, cast

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError as ProtobufError
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from aem_monitor.errors import DecodeError
from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.causes import Altered, Skipped
from aem_monitor.ingest.limits import Limits, check_body_size, check_item_count
from aem_monitor.ingest.otlp_proto_values import ProtoReader
from aem_monitor.ingest.otlp_repair import repair
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.ingest.wire import LENGTH, FieldTally, WireError, count_field, fields
from aem_monitor.model.span import LogRecord, Resource, Scope, Span, SpanEvent, StatusCode, parent_is_remote

_ZERO_TRACE: Final = bytes(16)
_ZERO_SPAN: Final = bytes(8)
_LAST_KIND: Final = 5
_INT64: Final = 2**63
_STATUS: Final = {0: StatusCode.UNSET, 1: StatusCode.OK, 2: StatusCode.ERROR}
BLOCK: Final = 1
"""Field number of ``resource_spans`` and ``resource_logs`` in their requests."""
_SCOPED: Final = 2
"""Field number of ``scope_spans`` and ``scope_logs`` in their blocks."""
_ITEM: Final = 2
"""Field number of ``spans`` and ``log_records`` in those."""

_Request = TypeVar("_Request", bound=Message)


def decode_traces_proto(body: bytes, limits: Limits, keep: Prefilter) -> Decoded:
    """Decode one or several concatenated trace export requests.

    Raises:
        DecodeError: the bytes are not such a request (``malformed``).
        TooLargeError: the body or its number of spans is over the limit.
    """
    check_body_size(len(body), limits)
    altered: Counter[str] = Counter()
    _check_items(body, limits, "spans, scopes and resources")
    request, body = _parse(ExportTraceServiceRequest, body, altered)
    blocks = request.resource_spans
    seen = sum(len(scope.spans) for block in blocks for scope in block.scope_spans)
    max_end = max(
        (_time(span.end_time_unix_nano) for block in blocks for scope in block.scope_spans for span in scope.spans),
        default=0,
    )
    if not keep.in_bytes(body):
        return Decoded(seen_spans=seen, skipped=_skipped({Skipped.NO_AGENT_CONTENT: seen}), max_end_ns=max_end)
    reader = _TraceReader(limits, keep, altered)
    rest = [
        block
        for block, marked in zip(blocks, _marked(body, len(blocks), keep), strict=True)
        if not (marked and reader.block(block))
    ]
    for block in rest:
        reader.linking_spans(block)
    return Decoded(
        spans=tuple(reader.spans),
        seen_spans=seen,
        skipped=_skipped(reader.skipped),
        max_end_ns=max_end,
        altered=dict(altered),
    )


def decode_logs_proto(body: bytes, limits: Limits, keep: Prefilter) -> Decoded:
    """Decode one or several concatenated logs export requests; only records of agents that name a span are kept.

    Raises as ``decode_traces_proto``.
    """
    check_body_size(len(body), limits)
    altered: Counter[str] = Counter()
    _check_items(body, limits, "log records, scopes and resources")
    request, body = _parse(ExportLogsServiceRequest, body, altered)
    blocks = request.resource_logs
    seen = sum(len(scope.log_records) for block in blocks for scope in block.scope_logs)
    if not keep.in_bytes(body):
        return Decoded(seen_logs=seen, skipped_logs=_skipped({Skipped.NO_AGENT_CONTENT: seen}))
    reader = _LogReader(limits, keep, altered)
    for block in blocks:
        reader.block(block)
    return Decoded(
        logs=tuple(reader.logs), seen_logs=seen, skipped_logs=_skipped(reader.skipped), altered=dict(altered)
    )


def _check_items(body: bytes, limits: Limits, what: str) -> None:
    """Raise TooLargeError for more blocks, scopes and items together than the limit, before protobuf builds them.

    An empty message is two bytes on the wire and some hundred in memory: 8 MiB of them took 3 GB and half a minute.
    Fields that are none of these cost time only, a second for some hundred thousand; too many are a DecodeError.
    """
    tally = FieldTally()
    try:
        for number, wire_type, start, end in fields(body, 0, len(body)):
            if number != BLOCK or wire_type != LENGTH:
                tally.other()
                continue
            tally.known += 1
            _count_items(body, start, end, limits.max_spans, tally)
            check_item_count(tally.known, limits, what)
    except WireError as error:
        raise DecodeError(f"not an OTLP request in protobuf ({len(body)} bytes): {error}") from error


def _count_items(body: bytes, at: int, end: int, most: int, tally: FieldTally) -> None:
    """Add the scopes and items of one block to ``tally``, no further than just over ``most``."""
    for number, wire_type, start, stop in fields(body, at, end):
        if number != _SCOPED or wire_type != LENGTH:
            tally.other()
            continue
        tally.known += 1
        count_field(body, start, stop, _ITEM, tally)
        if tally.known > most:
            return


def _parse(kind: type[_Request], body: bytes, altered: Counter[str]) -> tuple[_Request, bytes]:
    try:
        return kind.FromString(body), body
    except ProtobufError as error:
        first = error
    # One invalid string or one value nested too deep makes protobuf refuse the whole request.
    try:
        body = repair(body, cast("Descriptor", kind.DESCRIPTOR), altered)
        return kind.FromString(body), body
    except (ProtobufError, WireError) as error:
        raise DecodeError(f"not an OTLP {kind.DESCRIPTOR.name} in protobuf ({len(body)} bytes): {first}") from error


def _marked(body: bytes, count: int, keep: Prefilter) -> Sequence[bool]:
    """Which of the ``count`` top-level blocks contain a marker, by their bytes."""
    if count == 1:
        return (True,)
    slices = [
        (start, end)
        for number, wire_type, start, end in fields(body, 0, len(body))
        if number == BLOCK and wire_type == LENGTH
    ]
    if len(slices) != count:
        return (True,) * count
    return [keep.in_bytes(body, start, end) for start, end in slices]


def _skipped(counts: dict[Skipped, int] | Counter[Skipped]) -> dict[str, int]:
    return {str(cause): number for cause, number in counts.items() if number}


class _TraceReader(ProtoReader):
    def __init__(self, limits: Limits, keep: Prefilter, altered: Counter[str]) -> None:
        super().__init__(limits, keep, altered)
        self.spans: list[Span] = []
        self.skipped: Counter[Skipped] = Counter()
        self._agent_traces: set[bytes] = set()

    def block(self, block: Any) -> bool:
        """Read one ResourceSpans; False, with nothing read, when no name in it contains a marker."""
        scoped_spans = [(scoped, list(scoped.spans)) for scoped in block.scope_spans]
        of_agent = [
            [self._of_agent(span, in_scope) for span in spans]
            for scoped, spans in scoped_spans
            for in_scope in (self.keep.in_name(scoped.scope.name),)
        ]
        in_resource = self.keep.in_resource_name
        if not any(map(any, of_agent)) and not any(in_resource(pair.key) for pair in block.resource.attributes):
            return False
        resource = self.resource(block)
        for (scoped, spans), flags in zip(scoped_spans, of_agent, strict=True):
            scope = self.scope(scoped)
            for span, agent in zip(spans, flags, strict=True):
                if self._valid(span):
                    self.spans.append(
                        self._full(span, resource, scope) if agent else self._light(span, resource, scope)
                    )
                    if agent:
                        self._agent_traces.add(span.trace_id)
        return True

    def linking_spans(self, block: Any) -> None:
        """Of a block without any marker keep the spans that share a trace with an agent's span."""
        resource: Resource | None = None
        for scoped in block.scope_spans:
            for span in scoped.spans:
                if span.trace_id not in self._agent_traces:
                    self.skipped[Skipped.NO_AGENT_CONTENT] += 1
                elif self._valid(span):
                    resource = resource or self.resource(block)
                    self.spans.append(self._light(span, resource, self.scope(scoped)))

    def _of_agent(self, span: Any, in_scope: bool) -> bool:
        if in_scope or self.any_named(span.attributes):
            return True
        in_name = self.keep.in_name
        return any(in_name(event.name) for event in span.events)

    def _valid(self, span: Any) -> bool:
        trace_id, span_id = span.trace_id, span.span_id
        if len(trace_id) == 16 and len(span_id) == 8 and trace_id != _ZERO_TRACE and span_id != _ZERO_SPAN:
            return True
        self.skipped[Skipped.INVALID_ID] += 1
        return False

    def _full(self, span: Any, resource: Resource, scope: Scope) -> Span:
        status = span.status
        parent = self._parent(span.parent_span_id)
        return Span(
            span.trace_id.hex(),
            span.span_id.hex(),
            parent,
            self.text(span.name),
            span.kind if 0 <= span.kind <= _LAST_KIND else 0,
            _time(span.start_time_unix_nano),
            _time(span.end_time_unix_nano),
            self.attributes(span.attributes),
            tuple(
                SpanEvent(self.text(event.name), _time(event.time_unix_nano), self.attributes(event.attributes))
                for event in self.bounded(span.events, self.max_events)
            ),
            _STATUS.get(status.code, StatusCode.UNSET),
            self.text(status.message),
            resource,
            scope,
            span.dropped_attributes_count + span.dropped_events_count,
            None if parent is None else parent_is_remote(span.flags),
        )

    def _light(self, span: Any, resource: Resource, scope: Scope) -> Span:
        parent = self._parent(span.parent_span_id)
        return Span(
            span.trace_id.hex(),
            span.span_id.hex(),
            parent,
            self.text(span.name),
            span.kind if 0 <= span.kind <= _LAST_KIND else 0,
            _time(span.start_time_unix_nano),
            _time(span.end_time_unix_nano),
            {},
            (),
            _STATUS.get(span.status.code, StatusCode.UNSET),
            "",
            resource,
            scope,
            parent_remote=None if parent is None else parent_is_remote(span.flags),
        )

    def _parent(self, parent: bytes) -> str | None:
        if not parent or parent == _ZERO_SPAN:
            return None
        if len(parent) == 8:
            return parent.hex()
        self.altered[Altered.UNREADABLE_VALUE] += 1
        return None


class _LogReader(ProtoReader):
    def __init__(self, limits: Limits, keep: Prefilter, altered: Counter[str]) -> None:
        super().__init__(limits, keep, altered)
        self.logs: list[LogRecord] = []
        self.skipped: Counter[Skipped] = Counter()

    def block(self, block: Any) -> None:
        """Read one ResourceLogs."""
        resource: Resource | None = None
        for scoped in block.scope_logs:
            in_scope = self.keep.in_name(scoped.scope.name)
            scope = self.scope(scoped)
            for record in scoped.log_records:
                name = _event_name(record)
                trace_id, span_id = record.trace_id, record.span_id
                if not (in_scope or self.keep.in_name(name) or self.any_named(record.attributes)):
                    self.skipped[Skipped.NO_AGENT_CONTENT] += 1
                elif not span_id or span_id == _ZERO_SPAN:
                    self.skipped[Skipped.NO_SPAN_ID] += 1
                elif len(span_id) != 8 or len(trace_id) != 16 or trace_id == _ZERO_TRACE:
                    self.skipped[Skipped.INVALID_ID] += 1
                else:
                    resource = resource or self.resource(block)
                    self.logs.append(
                        LogRecord(
                            trace_id.hex(),
                            span_id.hex(),
                            _time(record.time_unix_nano) or _time(record.observed_time_unix_nano),
                            self.text(name),
                            self.value(record.body),
                            self.attributes(record.attributes),
                            resource,
                            scope,
                        )
                    )


def _time(nanoseconds: int) -> int:
    """A time; 0, OTLP's unknown, for times past the year 2262, which no int64 of a store or client holds."""
    return nanoseconds if nanoseconds < _INT64 else 0


def _event_name(record: Any) -> str:
    """The record's own event name, else the attribute that carried it before the field existed."""
    name: str = record.event_name
    for pair in record.attributes if not name else ():
        if pair.key == "event.name":
            name = pair.value.string_value
    return name
