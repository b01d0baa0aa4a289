import json
import math
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from google.protobuf.json_format import MessageToJson
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from aem_monitor.errors import DecodeError, TooLargeError
from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_json import decode_json, decode_logs_json, decode_traces_json
from aem_monitor.ingest.otlp_proto import decode_logs_proto, decode_traces_proto
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.model.span import Span, StatusCode
from tests.ingest.requests import (
    AGENTS,
    DATA,
    EVERYTHING,
    LIMITS,
    PARENT,
    SPAN,
    add_span,
    agent_request,
    compliant_json,
    json_request,
    json_span,
    logs_requests,
    trace_requests,
)

CORPUS = DATA / "otlp"


def decode(document: Any, limits: Limits = LIMITS) -> Decoded:
    return decode_traces_json(json.dumps(document).encode(), limits, AGENTS)


def only(decoded: Decoded) -> Span:
    (span,) = decoded.spans
    return span


@pytest.mark.parametrize("file", sorted((CORPUS / "accepted").iterdir()), ids=lambda file: str(file.stem))
def test_the_same_span_is_read_from_every_spelling(file: Path) -> None:
    decoded = decode_json(file.read_bytes(), LIMITS, AGENTS)
    span = only(decoded)
    assert (span.trace_id, span.span_id) == ("5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174")
    assert span.parent_span_id is None
    assert (span.name, span.kind) == ("chat", 1)
    assert (span.start_ns, span.end_ns) == (1764500000000000001, 1764500003000000002)
    assert span.attributes == {"gen_ai.operation.name": "chat"}
    assert (span.status_code, span.status_message) == (StatusCode.ERROR, "boom")
    assert (span.scope.name, span.scope.version) == ("shop.agent", "1")
    assert span.resource.attributes == {"service.name": "shop"}
    assert decoded.altered == {}


@pytest.mark.parametrize("file", sorted((CORPUS / "malformed").iterdir()), ids=lambda file: str(file.stem))
def test_a_document_of_the_wrong_shape_is_refused(file: Path) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_json(file.read_bytes(), LIMITS, AGENTS)
    assert caught.value.reason == "malformed"
    assert str(caught.value)


def test_a_refusal_names_the_place() -> None:
    with pytest.raises(DecodeError, match=r"request\.resourceSpans\[0\]\.scopeSpans\[0\]\.spans\[1\] is int"):
        decode({"resourceSpans": [{"scopeSpans": [{"spans": [json_span(), 3]}]}]})


@pytest.mark.parametrize("document", [{}, [], {"resourceSpans": []}, {"resourceSpans": None}, {"other": 1}])
def test_an_empty_request_is_fine(document: Any) -> None:
    assert decode(document) == Decoded()


@pytest.mark.parametrize("attributes", [{"a": 1}, "x", [3], [{"key": 3}]])
def test_unreadable_attributes_are_counted_and_the_span_stays(attributes: Any) -> None:
    marked = {"name": "gen_ai.choice"}
    decoded = decode(json_request(json_span(attributes=attributes, events=[marked])))
    assert only(decoded).attributes == {}
    assert decoded.altered == {"unreadable_value": 1}


@pytest.mark.parametrize(("events", "names"), [("x", []), ([3, {"name": "a"}], ["a"])])
def test_unreadable_events_are_counted_and_the_span_stays(events: Any, names: list[str]) -> None:
    decoded = decode(json_request(json_span(events=events)))
    assert [event.name for event in only(decoded).events] == names
    assert decoded.altered == {"unreadable_value": 1}


@pytest.mark.parametrize(
    "ids",
    [
        {"traceId": ""},
        {"traceId": "0" * 32},
        {"traceId": "AAAAAAAAAAAAAAAAAAAAAA=="},
        {"traceId": "x" * 32},
        {"traceId": 17},
        {"traceId": None},
        {"spanId": "0" * 16},
        {"spanId": "eee19b7ec3c1b1"},
        {"spanId": "AAAAAAAAAAA="},
        {"spanId": "not base 64!"},
    ],
)
def test_a_span_with_an_invalid_id_is_skipped_and_counted(ids: dict[str, Any]) -> None:
    decoded = decode(json_request(json_span(), json_span(**ids)))
    assert len(decoded.spans) == 1
    assert (decoded.skipped, decoded.seen_spans) == ({"invalid_id": 1}, 2)


@pytest.mark.parametrize(
    ("parent", "altered"),
    [("AAAAAAAAAAA=", {}), ("0000000000000000", {}), ("odd", {"unreadable_value": 1}), (5, {"unreadable_value": 1})],
)
def test_a_parent_that_is_none_makes_a_root(parent: Any, altered: dict[str, int]) -> None:
    decoded = decode(json_request(json_span(parentSpanId=parent)))
    assert only(decoded).parent_span_id is None
    assert decoded.altered == altered


@pytest.mark.parametrize(("flags", "remote"), [(0, None), (1, None), (0x101, False), (0x301, True), (0x200, None)])
def test_the_flags_say_whether_the_parent_is_remote(flags: int, remote: bool | None) -> None:
    request = agent_request(parent_span_id=PARENT, flags=flags)
    add_span(request, {}, span_id=PARENT, parent_span_id=SPAN, flags=flags)
    in_proto = decode_traces_proto(request.SerializeToString(), LIMITS, AGENTS)
    for decoded in (decode(compliant_json(request)), in_proto):
        assert [span.parent_remote for span in decoded.spans] == [remote, remote]
    assert only(decode(compliant_json(agent_request(flags=flags)))).parent_remote is None


@pytest.mark.parametrize("between", ["", "\n", "\r\n\r\n", " "])
def test_requests_that_follow_one_another_are_one_body(between: str) -> None:
    parts = [json.dumps(json_request(json_span(spanId=SPAN.hex()))), json.dumps([json_request(json_span())] * 2)]
    decoded = decode_traces_json(between.join(parts).encode(), LIMITS, AGENTS)
    assert decoded.seen_spans == len(decoded.spans) == 3
    for broken in (between.join([*parts, "{"]), between.join([parts[0], "x", parts[1]]), parts[0] + "1"):
        with pytest.raises(DecodeError):
            decode_traces_json(broken.encode(), LIMITS, AGENTS)


def test_a_body_over_a_limit_is_refused() -> None:
    with pytest.raises(TooLargeError):
        decode(json_request(json_span()), Limits(max_body_bytes=10))
    with pytest.raises(TooLargeError):
        decode(json_request(json_span(), json_span()), Limits(max_spans=1))


@pytest.mark.parametrize("filling", ["[],", "{},", '{"a":[]},'])
def test_a_bomb_of_brackets_is_refused_before_it_is_parsed(filling: str) -> None:
    body = '{"resourceSpans":[' + filling * (5 * 2**20 // len(filling)) + "{}]}"
    with pytest.raises(TooLargeError, match="mostly brackets"):
        decode_traces_json(body.encode(), LIMITS, AGENTS)


def test_a_large_body_of_the_smallest_attributes_is_no_bomb() -> None:
    attribute = {"key": "gen_ai.a", "value": {"intValue": "1"}}
    body = orjson.dumps(json_request(*[json_span(attributes=[attribute] * 8)] * 12_000))
    assert len(body) > 5 * 2**20
    assert len(decode_traces_json(body, LIMITS, AGENTS).spans) == 12_000


def test_nan_and_infinity_in_bare_words_do_not_lose_the_request() -> None:
    body = json.dumps(json_request(json_span(attributes=[{"key": "gen_ai.x", "value": {"doubleValue": math.inf}}])))
    assert "Infinity" in body
    assert only(decode_traces_json(body.encode(), LIMITS, AGENTS)).attributes == {"gen_ai.x": math.inf}


def test_invalid_utf8_is_replaced_and_counted() -> None:
    body = json.dumps(json_request(json_span(name="caf?"))).encode().replace(b"caf?", b"caf\xe9")
    decoded = decode_traces_json(body, LIMITS, AGENTS)
    assert only(decoded).name == "caf\ufffd"
    assert decoded.altered == {"invalid_utf8": 1}


def test_a_lone_surrogate_is_replaced_and_counted() -> None:
    decoded = decode(json_request(json_span(name="a\ud83db", status={"message": "\U0001f600"})))
    assert (only(decoded).name, only(decoded).status_message) == ("a\ufffdb", "\U0001f600")
    assert decoded.altered == {"invalid_utf8": 1}


def test_raw_control_characters_do_not_lose_the_request() -> None:
    body = json.dumps(json_request(json_span(name="a b"))).encode().replace(b"a b", b"a\x00\tb")
    assert only(decode_traces_json(body, LIMITS, AGENTS)).name == "a\x00\tb"


@pytest.mark.parametrize("levels", [63, 64, 65, 300, 2000, 100_000])
def test_any_depth_of_nesting_is_cut_while_the_span_stays(levels: int) -> None:
    opening, closing = '{"arrayValue":{"values":[', "]}}"
    value = opening * levels + '{"stringValue":"]}"}' + closing * levels
    body = json.dumps(json_request(json_span(attributes=[{"key": "gen_ai.x", "value": "HERE"}], name="after")))
    decoded = decode_traces_json(body.replace('"HERE"', value).encode(), LIMITS, AGENTS)
    assert only(decoded).name == "after"
    depth, inner = 0, only(decoded).attributes["gen_ai.x"]
    while isinstance(inner, list):
        depth += 1
        (inner,) = inner
    assert depth == min(levels, LIMITS.max_depth)
    assert inner == ("]}" if levels <= LIMITS.max_depth else None)
    assert bool(decoded.altered) == (levels > LIMITS.max_depth)


def test_other_spans_are_kept_as_links_or_skipped_as_in_protobuf() -> None:
    message = ExportTraceServiceRequest()
    add_span(message, {"http.route": "/"}, name="gateway")
    add_span(message, {"http.route": "/health"}, trace_id=b"h" * 16)
    add_span(message)
    decoded = decode(compliant_json(message))
    assert sorted(span.name for span in decoded.spans) == ["chat", "gateway"]
    assert decoded.skipped == {"no_agent_content": 1}
    assert decoded == decode_traces_proto(message.SerializeToString(), LIMITS, AGENTS)


def test_a_span_marker_on_a_resource_keeps_no_other_spans() -> None:
    keep = Prefilter(["gen_ai."], ["service.name", "canary"])
    message = ExportTraceServiceRequest()
    add_span(message, {"http.route": "/"}, trace_id=b"h" * 16, name="health")
    add_span(message, {"canary": "true"}, name="driver")
    add_span(message)
    body = message.SerializeToString()
    decoded = decode_traces_proto(body, LIMITS, keep)
    assert [(span.name, len(span.attributes)) for span in decoded.spans] == [("driver", 1), ("chat", 1)]
    assert decoded.skipped == {"no_agent_content": 1}
    assert decode_traces_json(json.dumps(compliant_json(message)).encode(), LIMITS, keep) == decoded


def test_spans_and_logs_of_one_document_are_read_together() -> None:
    log = {"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "7uGbfsPBsXQ=", "eventName": "gen_ai.choice"}
    document = {**json_request(json_span()), "resourceLogs": [{"scopeLogs": [{"logRecords": [log]}]}]}
    body = json.dumps(document).encode()
    both = decode_json(body, LIMITS, AGENTS)
    assert (len(both.spans), len(both.logs)) == (1, 1)
    assert both.logs[0].span_id == both.spans[0].span_id
    assert not decode_traces_json(body, LIMITS, AGENTS).logs
    assert not decode_logs_json(body, LIMITS, AGENTS).spans


def test_log_records_are_read_from_snake_case_too() -> None:
    record = {
        "trace_id": "5b8efff798038103d269b633813fc60c",
        "span_id": "eee19b7ec3c1b174",
        "observed_time_unix_nano": "8",
        "attributes": [{"key": "event.name", "value": {"string_value": "gen_ai.user.message"}}],
        "body": {"kvlist_value": {"values": [{"key": "content", "value": {"string_value": "hi"}}]}},
    }
    body = json.dumps({"resource_logs": [{"scope_logs": [{"log_records": [record]}]}]}).encode()
    (log,) = decode_logs_json(body, LIMITS, AGENTS).logs
    assert (log.event_name, log.time_ns, log.body) == ("gen_ai.user.message", 8, {"content": "hi"})


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"spanId": ""}, "no_span_id"),
        ({"spanId": None}, "no_span_id"),
        ({"spanId": "0" * 16}, "no_span_id"),
        ({"spanId": "odd"}, "invalid_id"),
        ({"traceId": ""}, "invalid_id"),
        ({"eventName": "exception"}, "no_agent_content"),
    ],
)
def test_a_log_record_that_cannot_be_joined_is_skipped_and_counted(fields: dict[str, Any], cause: str) -> None:
    good = {"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "eventName": "gen_ai.choice"}
    document = {"resourceLogs": [{"scopeLogs": [{"logRecords": [good, {**good, **fields}]}]}]}
    decoded = decode_logs_json(json.dumps(document).encode(), LIMITS, AGENTS)
    assert (len(decoded.logs), decoded.seen_logs, decoded.skipped_logs) == (1, 2, {cause: 1})


@given(trace_requests())
def test_json_and_protobuf_of_a_request_give_the_same_spans(message: ExportTraceServiceRequest) -> None:
    from_proto = decode_traces_proto(message.SerializeToString(), LIMITS, AGENTS)
    hexadecimal = json.dumps(compliant_json(message)).encode()
    assert decode_traces_json(hexadecimal, LIMITS, AGENTS) == from_proto


@given(trace_requests(), st.booleans())
def test_the_json_of_a_plain_protobuf_printer_gives_the_same_spans(
    message: ExportTraceServiceRequest, snake_case: bool
) -> None:
    text = MessageToJson(message, preserving_proto_field_name=snake_case)
    from_proto = decode_traces_proto(message.SerializeToString(), LIMITS, AGENTS)
    assert decode_traces_json(text.encode(), LIMITS, AGENTS) == from_proto


@given(logs_requests())
def test_json_and_protobuf_of_a_request_give_the_same_logs(message: ExportLogsServiceRequest) -> None:
    from_proto = decode_logs_proto(message.SerializeToString(), LIMITS, AGENTS)
    assert decode_logs_json(json.dumps(compliant_json(message)).encode(), LIMITS, AGENTS) == from_proto


def test_a_body_cut_at_any_byte_is_refused() -> None:
    body = orjson.dumps(json_request(json_span(name="\u00fc")))
    for size in range(len(body)):
        with pytest.raises(DecodeError):
            decode_traces_json(body[:size], LIMITS, AGENTS)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["key", "value", "values", "name", "spanId", "intValue", "arrayValue", "attributes", "events"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(sorted({*json_span(), "kind", "status", "events", "parentSpanId", "startTimeUnixNano"})),
        JSON_VALUES,
    )
)
def test_a_span_with_any_fields_is_kept_or_counted(fields: dict[str, Any]) -> None:
    body = json.dumps(json_request(json_span(**fields))).encode()
    decoded = decode_traces_json(body, LIMITS, EVERYTHING)
    assert len(decoded.spans) + sum(decoded.skipped.values()) == decoded.seen_spans == 1


@given(JSON_VALUES)
def test_any_document_is_decoded_or_refused(document: Any) -> None:
    for shaped in (document, {"resourceSpans": document}, {"resourceSpans": [{"scopeSpans": document}]}):
        with suppress(DecodeError):
            decode_json(json.dumps(shaped).encode(), LIMITS, EVERYTHING)


@given(st.binary(max_size=60))
def test_any_bytes_are_decoded_or_refused(body: bytes) -> None:
    with suppress(DecodeError):
        decode_json(body, replace(LIMITS, max_depth=2), EVERYTHING)
