"""Requests to decode: hand-made ones, and generated ones for properties."""

import base64
import math
from pathlib import Path
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter

DATA: Final = Path(__file__).parent.parent / "data"
LIMITS: Final = Limits()
AGENTS: Final = Prefilter(["gen_ai.", "strands.", "session.id"])
EVERYTHING: Final = Prefilter([""])
TRACE: Final = bytes.fromhex("5b8efff798038103d269b633813fc60c")
SPAN: Final = bytes.fromhex("eee19b7ec3c1b174")
PARENT: Final = bytes.fromhex("eee19b7ec3c1b170")


def add_span(request: ExportTraceServiceRequest, attributes: dict[str, str] | None = None, **fields: Any) -> Any:
    """Add a span in a ResourceSpans block of its own; of an agent unless ``attributes`` say otherwise."""
    block = request.resource_spans.add()
    block.resource.attributes.add(key="service.name").value.string_value = "shop"
    return add_sibling(block.scope_spans.add(), attributes, **fields)


def add_sibling(scoped: Any, attributes: dict[str, str] | None = None, **fields: Any) -> Any:
    """Add a span to a ScopeSpans."""
    chosen = {"trace_id": TRACE, "span_id": SPAN, "name": "chat", "end_time_unix_nano": 7, **fields}
    span = scoped.spans.add(**chosen)
    for key, text in ({"gen_ai.operation.name": "chat"} if attributes is None else attributes).items():
        span.attributes.add(key=key).value.string_value = text
    return span


def agent_request(**fields: Any) -> ExportTraceServiceRequest:
    """A request of one agent span."""
    request = ExportTraceServiceRequest()
    add_span(request, **fields)
    return request


def json_span(**fields: Any) -> dict[str, Any]:
    """A span of an agent in OTLP JSON."""
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": "eee19b7ec3c1b174",
        "attributes": [{"key": "gen_ai.system", "value": {"stringValue": "x"}}],
        **fields,
    }


def json_request(*spans: dict[str, Any]) -> dict[str, Any]:
    """A trace request of these spans in OTLP JSON."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def compliant_json(request: Any) -> dict[str, Any]:
    """The request as the OTLP specification spells it: hexadecimal ids, integer enums."""
    document: dict[str, Any] = MessageToDict(request, use_integers_for_enums=True)
    _hexadecimal(document)
    return document


def _hexadecimal(value: Any) -> None:
    if isinstance(value, list):
        for item in value:
            _hexadecimal(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in ("traceId", "spanId", "parentSpanId"):
                value[key] = base64.b64decode(item).hex()
            else:
                _hexadecimal(item)


TEXTS: Final = st.text(max_size=12)
TIMES: Final = st.integers(0, 2**64 - 1)
KEYS: Final = st.sampled_from(["gen_ai.operation.name", "session.id", "http.route", "k"]) | TEXTS
COUNTS: Final = st.integers(0, 2**32 - 1)


def _array(items: list[AnyValue]) -> AnyValue:
    value = AnyValue()
    value.array_value.values.extend(items)
    return value


def _map(items: list[tuple[str, AnyValue]]) -> AnyValue:
    value = AnyValue()
    value.kvlist_value.SetInParent()
    for key, item in items:
        value.kvlist_value.values.add(key=key, value=item)
    return value


VALUES: Final = st.recursive(
    st.one_of(
        st.builds(AnyValue),
        st.builds(lambda text: AnyValue(string_value=text), TEXTS),
        st.builds(lambda flag: AnyValue(bool_value=flag), st.booleans()),
        st.builds(lambda number: AnyValue(int_value=number), st.integers(-(2**63), 2**63 - 1)),
        st.builds(
            lambda number: AnyValue(double_value=number),
            st.floats(allow_nan=False) | st.sampled_from([math.inf, -math.inf]),
        ),
        st.builds(lambda data: AnyValue(bytes_value=data), st.binary(max_size=12)),
    ),
    lambda inner: st.lists(inner, max_size=3).map(_array) | st.lists(st.tuples(TEXTS, inner), max_size=3).map(_map),
    max_leaves=6,
)
ATTRIBUTES: Final = st.lists(st.tuples(KEYS, VALUES), max_size=4)
TRACE_IDS: Final = st.sampled_from([TRACE, TRACE[::-1], bytes(16), b"short", b""])
SPAN_IDS: Final = st.sampled_from([SPAN, SPAN[::-1], bytes(8), b"odd", b""]) | st.binary(min_size=8, max_size=8)


def _fill(holder: Any, attributes: list[tuple[str, AnyValue]]) -> None:
    for key, value in attributes:
        holder.attributes.add(key=key, value=value)


@st.composite
def trace_requests(draw: st.DrawFn) -> ExportTraceServiceRequest:
    """Trace requests of a few blocks, with agent spans, other spans and invalid ids."""
    request = ExportTraceServiceRequest()
    for _ in range(draw(st.integers(0, 3))):
        block = request.resource_spans.add()
        _fill(block.resource, draw(ATTRIBUTES))
        for _ in range(draw(st.integers(0, 2))):
            scoped = block.scope_spans.add()
            scoped.scope.name = draw(st.sampled_from(["", "strands.telemetry.tracer", "http"]))
            for _ in range(draw(st.integers(0, 3))):
                span: Any = scoped.spans.add(
                    trace_id=draw(TRACE_IDS),
                    span_id=draw(SPAN_IDS),
                    parent_span_id=draw(SPAN_IDS),
                    name=draw(TEXTS),
                    kind=draw(st.integers(0, 5)),
                    start_time_unix_nano=draw(TIMES),
                    end_time_unix_nano=draw(TIMES),
                    dropped_attributes_count=draw(COUNTS),
                )
                span.status.code = draw(st.integers(0, 2))
                span.status.message = draw(TEXTS)
                _fill(span, draw(ATTRIBUTES))
                for _ in range(draw(st.integers(0, 2))):
                    event = span.events.add(name=draw(KEYS), time_unix_nano=draw(TIMES))
                    _fill(event, draw(ATTRIBUTES))
    return request


@st.composite
def logs_requests(draw: st.DrawFn) -> ExportLogsServiceRequest:
    """Logs requests with records of agents and others, with and without ids."""
    request = ExportLogsServiceRequest()
    for _ in range(draw(st.integers(0, 2))):
        block = request.resource_logs.add()
        _fill(block.resource, draw(ATTRIBUTES))
        scoped = block.scope_logs.add()
        for _ in range(draw(st.integers(0, 3))):
            record = scoped.log_records.add(
                trace_id=draw(TRACE_IDS),
                span_id=draw(SPAN_IDS),
                time_unix_nano=draw(TIMES),
                observed_time_unix_nano=draw(TIMES),
                event_name=draw(st.sampled_from(["", "gen_ai.choice", "exception"])),
                body=draw(VALUES),
            )
            _fill(record, draw(ATTRIBUTES))
            if draw(st.booleans()):
                record.attributes.add(key="event.name").value.string_value = draw(KEYS)
    return request
