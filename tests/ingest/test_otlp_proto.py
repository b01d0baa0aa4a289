import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from aem_monitor.errors import DecodeError, TooLargeError
from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_proto import decode_logs_proto, decode_traces_proto
from aem_monitor.model.span import Span, StatusCode
from tests.ingest.requests import (
    AGENTS,
    EVERYTHING,
    LIMITS,
    PARENT,
    SPAN,
    TRACE,
    add_sibling,
    add_span,
    agent_request,
    trace_requests,
)


def decode(request: ExportTraceServiceRequest, limits: Limits = LIMITS) -> Decoded:
    return decode_traces_proto(request.SerializeToString(), limits, AGENTS)


def only(decoded: Decoded) -> Span:
    (span,) = decoded.spans
    return span


def test_every_field_of_a_span_is_read() -> None:
    request = agent_request(parent_span_id=PARENT, kind=3, start_time_unix_nano=5, dropped_attributes_count=2)
    scoped = request.resource_spans[0].scope_spans[0]
    scoped.scope.name, scoped.scope.version = "shop.agent", "1.2"
    wire: Any = scoped.spans[0]
    wire.status.code, wire.status.message, wire.dropped_events_count = 2, "boom", 1
    wire.events.add(name="exception", time_unix_nano=6).attributes.add(key="n").value.int_value = -3
    span = only(decode(request))
    assert (span.trace_id, span.span_id, span.parent_span_id) == (TRACE.hex(), SPAN.hex(), PARENT.hex())
    assert (span.name, span.kind, span.start_ns, span.end_ns, span.dropped) == ("chat", 3, 5, 7, 3)
    assert (span.status_code, span.status_message) == (StatusCode.ERROR, "boom")
    assert span.attributes == {"gen_ai.operation.name": "chat"}
    assert [(event.name, event.time_ns, event.attributes) for event in span.events] == [("exception", 6, {"n": -3})]
    assert (span.scope.name, span.scope.version) == ("shop.agent", "1.2")
    assert span.resource.attributes == {"service.name": "shop"}


def test_requests_laid_end_to_end_are_one() -> None:
    first, second = agent_request(), agent_request(span_id=PARENT)
    decoded = decode_traces_proto(first.SerializeToString() + second.SerializeToString(), LIMITS, AGENTS)
    assert [span.span_id for span in decoded.spans] == [SPAN.hex(), PARENT.hex()]


def test_an_empty_body_is_an_empty_request() -> None:
    assert decode_traces_proto(b"", LIMITS, AGENTS) == Decoded()


def test_a_body_without_any_marker_is_skipped_and_counted() -> None:
    request = ExportTraceServiceRequest()
    add_span(request, {"http.route": "/"}, end_time_unix_nano=99)
    decoded = decode(request)
    assert not decoded.spans
    assert (decoded.seen_spans, decoded.skipped, decoded.max_end_ns) == (1, {"no_agent_content": 1}, 99)


def test_a_marker_in_a_value_does_not_make_an_agent() -> None:
    request = ExportTraceServiceRequest()
    add_span(request, {"note": "see gen_ai. docs"})
    assert decode(request).skipped == {"no_agent_content": 1}


def test_other_spans_of_an_agents_block_are_kept_as_links_without_contents() -> None:
    request = agent_request(parent_span_id=PARENT)
    other = add_sibling(request.resource_spans[0].scope_spans[0], {"http.route": "/"}, span_id=PARENT, name="GET /")
    other.events.add(name="exception")
    other.status.code = 2
    decoded = decode(request)
    link = decoded.spans[1]
    assert (link.span_id, link.name, link.end_ns, link.status_code) == (PARENT.hex(), "GET /", 7, StatusCode.ERROR)
    assert (link.attributes, link.events) == ({}, ())
    assert link.resource is decoded.spans[0].resource
    assert decoded.skipped == {}


def test_of_other_blocks_only_spans_of_the_agents_trace_are_kept() -> None:
    request = ExportTraceServiceRequest()
    add_span(request, {"http.route": "/"}, span_id=PARENT, name="gateway")
    add_span(request, {"http.route": "/health"}, trace_id=TRACE[::-1])
    add_span(request, parent_span_id=PARENT)
    decoded = decode(request)
    assert sorted(span.name for span in decoded.spans) == ["chat", "gateway"]
    assert decoded.skipped == {"no_agent_content": 1}


@pytest.mark.parametrize("place", ["scope", "event", "resource", "session"])
def test_a_marker_counts_in_every_kind_of_name(place: str) -> None:
    request = ExportTraceServiceRequest()
    span = add_span(request, {"http.route": "/"})
    block = request.resource_spans[0]
    if place == "scope":
        block.scope_spans[0].scope.name = "strands.telemetry.tracer"
    elif place == "event":
        span.events.add(name="gen_ai.choice")
    elif place == "resource":
        block.resource.attributes.add(key="gen_ai.release").value.string_value = "1"
    else:
        span.attributes.add(key="session.id").value.string_value = "s"
    assert only(decode(request)).attributes.keys() >= (set() if place == "resource" else {"http.route"})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("trace_id", b""),
        ("trace_id", bytes(16)),
        ("trace_id", b"x" * 15),
        ("span_id", b""),
        ("span_id", bytes(8)),
        ("span_id", b"x" * 16),
    ],
)
def test_a_span_with_an_invalid_id_is_skipped_and_counted(field: str, value: bytes) -> None:
    request = agent_request(**{field: value})
    add_span(request)
    decoded = decode(request)
    assert len(decoded.spans) == 1
    assert (decoded.skipped, decoded.seen_spans) == ({"invalid_id": 1}, 2)


@pytest.mark.parametrize(("parent", "altered"), [(b"", {}), (bytes(8), {}), (b"x", {"unreadable_value": 1})])
def test_a_parent_that_is_none_makes_a_root(parent: bytes, altered: dict[str, int]) -> None:
    decoded = decode(agent_request(parent_span_id=parent))
    assert only(decoded).parent_span_id is None
    assert decoded.altered == altered


def test_an_unknown_span_kind_is_unspecified() -> None:
    assert only(decode(agent_request(kind=99))).kind == 0


def test_times_are_kept_as_they_are() -> None:
    span = only(decode(agent_request(start_time_unix_nano=2**63 - 1, end_time_unix_nano=0)))
    assert (span.start_ns, span.end_ns) == (2**63 - 1, 0)


def test_times_that_no_int64_holds_are_unknown() -> None:
    decoded = decode(agent_request(start_time_unix_nano=2**63, end_time_unix_nano=2**64 - 1))
    assert (only(decoded).start_ns, only(decoded).end_ns, decoded.max_end_ns) == (0, 0, 0)


def test_the_last_of_equal_attribute_keys_wins() -> None:
    request = agent_request()
    request.resource_spans[0].scope_spans[0].spans[0].attributes.add(
        key="gen_ai.operation.name"
    ).value.string_value = "last"
    assert only(decode(request)).attributes == {"gen_ai.operation.name": "last"}


def test_equal_keys_of_many_spans_are_kept_once() -> None:
    first, second = (only(decode(agent_request())) for _ in range(2))
    (key,), (same,) = first.attributes, second.attributes
    assert key is same


def test_every_kind_of_value_is_read() -> None:
    request = agent_request()
    pairs = request.resource_spans[0].scope_spans[0].spans[0].attributes
    pairs.add(key="null")
    pairs.add(key="empty").value.SetInParent()
    pairs.add(key="double").value.double_value = 0.5
    pairs.add(key="bool").value.bool_value = True
    pairs.add(key="bytes").value.bytes_value = b"\xff\x00"
    pairs.add(key="nul").value.string_value = "a\x00b"
    array = pairs.add(key="array").value.array_value
    array.values.add().int_value = 1
    array.values.add().kvlist_value.values.add(key="k").value.string_value = "v"
    assert {key: value for key, value in only(decode(request)).attributes.items() if "." not in key} == {
        "null": None,
        "empty": None,
        "double": 0.5,
        "bool": True,
        "bytes": b"\xff\x00",
        "nul": "a\x00b",
        "array": [1, {"k": "v"}],
    }


def test_long_strings_and_bytes_are_cut_and_counted() -> None:
    request = agent_request(name="n" * 20)
    pairs = request.resource_spans[0].scope_spans[0].spans[0].attributes
    pairs.add(key="long").value.string_value = "x" * 50
    pairs.add(key="raw").value.bytes_value = b"x" * 50
    decoded = decode(request, Limits(max_attribute_chars=22))
    assert only(decoded).attributes["long"] == "x" * 22
    assert only(decoded).attributes["raw"] == b"x" * 22
    assert only(decoded).name == "n" * 20
    assert decoded.altered == {"string_cut": 2}


def test_ten_thousand_attributes_and_events_are_bounded_and_counted() -> None:
    request = agent_request()
    span = request.resource_spans[0].scope_spans[0].spans[0]
    for number in range(10_000):
        span.attributes.add(key=f"k{number}").value.int_value = number
        span.events.add(name="e")
    decoded = decode(request)
    assert len(only(decoded).attributes) == LIMITS.max_attributes
    assert len(only(decoded).events) == LIMITS.max_events
    assert decoded.altered == {"too_many": 2}


def length_delimited(tag: int, payload: bytes) -> bytes:
    size, prefix = len(payload), b""
    while size > 127:
        prefix += bytes([size & 127 | 128])
        size >>= 7
    return bytes([tag]) + prefix + bytes([size]) + payload


def nested_value(levels: int) -> bytes:
    """An AnyValue of that many lists around a text, which protobuf itself would refuse to build."""
    value = length_delimited(0x0A, b"x")
    for _ in range(levels):
        value = length_delimited(0x2A, length_delimited(0x0A, value))
    return value


def request_with_value(value: bytes) -> bytes:
    pair = length_delimited(0x0A, b"gen_ai.deep") + length_delimited(0x12, value)
    span = length_delimited(0x0A, TRACE) + length_delimited(0x12, SPAN) + length_delimited(0x4A, pair)
    return length_delimited(0x0A, length_delimited(0x12, length_delimited(0x12, span)))


@pytest.mark.parametrize("levels", [10, 44, 45, 46, 47, 48, 49, 50, 1000])
def test_deep_nesting_is_cut_and_counted_while_the_span_stays(levels: int) -> None:
    decoded = decode_traces_proto(request_with_value(nested_value(levels)), Limits(max_depth=8), AGENTS)
    value = only(decoded).attributes["gen_ai.deep"]
    for _ in range(8):
        assert isinstance(value, list)
        (value,) = value
    assert value is None
    assert decoded.altered["too_deep"] >= 1


def test_invalid_utf8_is_replaced_and_counted_while_other_spans_stay() -> None:
    request = agent_request(name="bad")
    add_span(request, name="good")
    body = request.SerializeToString().replace(b"bad", b"b\xffd")
    decoded = decode_traces_proto(body, LIMITS, AGENTS)
    assert [span.name for span in decoded.spans] == ["b\ufffdd", "good"]
    assert decoded.altered == {"invalid_utf8": 1}


def test_a_body_over_the_limit_is_refused_with_its_size() -> None:
    body = agent_request().SerializeToString()
    with pytest.raises(TooLargeError, match=f"{len(body)} bytes is over the limit of 10") as caught:
        decode_traces_proto(body, Limits(max_body_bytes=10), AGENTS)
    assert caught.value.reason == "too_large"


def test_a_body_of_too_many_spans_is_refused() -> None:
    request = agent_request()
    for _ in range(9):
        add_sibling(request.resource_spans[0].scope_spans[0])
    assert len(decode(request, Limits(max_spans=12)).spans) == 10
    with pytest.raises(TooLargeError, match="12 spans, scopes and resources in one body are over the limit of 11"):
        decode(request, Limits(max_spans=11))


@pytest.mark.parametrize("level", ["resources", "scopes", "spans", "spans after a long one"])
@pytest.mark.parametrize("decode_body", [decode_traces_proto, decode_logs_proto])
def test_a_bomb_of_empty_messages_is_refused_before_it_is_parsed(
    decode_body: Callable[..., Decoded], level: str
) -> None:
    if level == "resources":
        body = b"\x0a\x00" * 1_000_000
    elif level == "scopes":
        body = length_delimited(0x0A, b"\x12\x00" * 1_000_000)
    else:
        first = length_delimited(0x12, b"x" * 50_000) if "long" in level else b""
        body = length_delimited(0x0A, length_delimited(0x12, first + b"\x12\x00" * 1_000_000))
    with pytest.raises(TooLargeError, match="over the limit of 250000"):
        decode_body(body, LIMITS, AGENTS)


@pytest.mark.parametrize("level", ["body", "block", "scope", "scope of long spans"])
@pytest.mark.parametrize("field", [b"  ", b"\x1a\x00", b"\x1d1234", b"\x191234abcd"])
@pytest.mark.parametrize("decode_body", [decode_traces_proto, decode_logs_proto])
def test_a_body_of_other_fields_is_refused(decode_body: Callable[..., Decoded], level: str, field: bytes) -> None:
    body = field * 50_000
    if level == "scope of long spans":
        body = length_delimited(0x12, b"\x0a" + b"x" * 20_000) + body
    if level.startswith("scope"):
        body = length_delimited(0x12, body)
    if level != "body":
        body = length_delimited(0x0A, body)
    with pytest.raises(DecodeError, match=r"100\d\d fields hold no spans or log records") as caught:
        decode_body(body + agent_request().SerializeToString(), LIMITS, AGENTS)
    assert caught.value.reason == "malformed"


def test_many_small_blocks_with_all_their_fields_are_no_such_body() -> None:
    request = ExportTraceServiceRequest()
    for _ in range(20_000):
        block = request.resource_spans.add(schema_url="r")
        block.resource.SetInParent()
        scoped = block.scope_spans.add(schema_url="s")
        scoped.scope.name = "strands."
        scoped.spans.add(trace_id=TRACE, span_id=SPAN)
    assert len(decode(request).spans) == 20_000


@given(trace_requests())
def test_what_is_counted_before_parsing_is_what_is_there(request: ExportTraceServiceRequest) -> None:
    scopes = [scope for block in request.resource_spans for scope in block.scope_spans]
    count = len(request.resource_spans) + len(scopes) + sum(len(scope.spans) for scope in scopes)
    decode(request, Limits(max_spans=count))
    if count:
        with pytest.raises(TooLargeError):
            decode(request, Limits(max_spans=count - 1))


@pytest.mark.parametrize("body", [b"{}", b"\x0a\x05abc", b"\xff" * 40, b"\x0b\x0b\x0b", b"resourceSpans"])
@pytest.mark.parametrize("decode_body", [decode_traces_proto, decode_logs_proto])
def test_what_is_no_request_is_refused(decode_body: Callable[..., Decoded], body: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_body(body, LIMITS, AGENTS)
    assert caught.value.reason == "malformed"


def test_a_body_cut_at_any_byte_is_decoded_or_refused() -> None:
    request = agent_request(name="\u00fc")
    request.resource_spans[0].scope_spans[0].spans[0].events.add(name="gen_ai.choice")
    body = request.SerializeToString()
    refused = 0
    for size in range(len(body)):
        try:
            decode_traces_proto(body[:size], LIMITS, AGENTS)
        except DecodeError:
            refused += 1
    assert refused >= len(body) - 2


@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_or_refused(body: bytes) -> None:
    for decode_body in (decode_traces_proto, decode_logs_proto):
        with suppress(DecodeError):
            decode_body(body, LIMITS, EVERYTHING)


@given(trace_requests(), st.integers(0, 10_000), st.integers(0, 255))
def test_a_request_with_one_wrong_byte_is_decoded_or_refused(
    request: ExportTraceServiceRequest, at: int, byte: int
) -> None:
    body = bytearray(request.SerializeToString())
    if body:
        body[at % len(body)] = byte
    try:
        decoded = decode_traces_proto(bytes(body), LIMITS, EVERYTHING)
    except DecodeError:
        return
    for span in decoded.spans:
        span.name.encode()


@given(trace_requests())
def test_every_span_is_kept_or_counted(request: ExportTraceServiceRequest) -> None:
    decoded = decode(request)
    seen = [span for block in request.resource_spans for scoped in block.scope_spans for span in scoped.spans]
    assert decoded.seen_spans == len(seen) == len(decoded.spans) + sum(decoded.skipped.values())
    assert decoded.max_end_ns == max(
        (span.end_time_unix_nano for span in seen if span.end_time_unix_nano < 2**63), default=0
    )


@given(trace_requests(), trace_requests())
def test_spans_of_agents_are_kept_in_full_whatever_else_is_in_the_body(
    one: ExportTraceServiceRequest, other: ExportTraceServiceRequest
) -> None:
    alone = {repr(span) for span in decode(one).spans if span.attributes}
    together = {
        repr(span)
        for span in decode_traces_proto(one.SerializeToString() + other.SerializeToString(), LIMITS, AGENTS).spans
    }
    assert alone <= together


def logs_request(**fields: Any) -> ExportLogsServiceRequest:
    request = ExportLogsServiceRequest()
    block = request.resource_logs.add()
    block.resource.attributes.add(key="service.name").value.string_value = "shop"
    chosen = {"trace_id": TRACE, "span_id": SPAN, "event_name": "gen_ai.choice", "time_unix_nano": 5, **fields}
    block.scope_logs.add().log_records.add(**chosen)
    return request


def decode_logs(request: ExportLogsServiceRequest) -> Decoded:
    return decode_logs_proto(request.SerializeToString(), LIMITS, AGENTS)


def test_a_log_record_is_read_with_its_body() -> None:
    request = logs_request()
    record = request.resource_logs[0].scope_logs[0].log_records[0]
    record.body.kvlist_value.values.add(key="content").value.string_value = "hello"
    record.attributes.add(key="gen_ai.system").value.string_value = "openai"
    (log,) = decode_logs(request).logs
    assert (log.trace_id, log.span_id, log.time_ns, log.event_name) == (TRACE.hex(), SPAN.hex(), 5, "gen_ai.choice")
    assert (log.body, log.attributes) == ({"content": "hello"}, {"gen_ai.system": "openai"})
    assert log.resource.attributes == {"service.name": "shop"}


def test_the_event_name_may_be_an_attribute_and_the_time_the_observed_one() -> None:
    request = logs_request(event_name="", time_unix_nano=0, observed_time_unix_nano=9)
    record = request.resource_logs[0].scope_logs[0].log_records[0]
    record.attributes.add(key="event.name").value.string_value = "gen_ai.user.message"
    (log,) = decode_logs(request).logs
    assert (log.event_name, log.time_ns) == ("gen_ai.user.message", 9)


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"span_id": b""}, "no_span_id"),
        ({"span_id": bytes(8)}, "no_span_id"),
        ({"span_id": b"odd"}, "invalid_id"),
        ({"trace_id": b""}, "invalid_id"),
        ({"event_name": "exception"}, "no_agent_content"),
    ],
)
def test_a_log_record_that_cannot_be_joined_is_skipped_and_counted(fields: dict[str, Any], cause: str) -> None:
    request = logs_request()
    request.MergeFrom(logs_request(**fields))
    decoded = decode_logs(request)
    assert len(decoded.logs) == 1
    assert (decoded.seen_logs, decoded.skipped_logs, decoded.skipped) == (2, {cause: 1}, {})


def test_unknown_fields_are_ignored() -> None:
    body = agent_request().SerializeToString() + struct.pack("<BBQ", 0xF9, 0x01, 3)
    assert len(decode_traces_proto(body, LIMITS, AGENTS).spans) == 1
