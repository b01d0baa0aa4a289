"""A message is cut into one request a trace, and nothing of it is lost."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from aem_monitor.errors import DecodeError, TooLargeError
from aem_monitor.ingest.kafka_settings import KafkaSettings, KafkaTopic
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.rekey.chunk import Chunk, Link
from aem_monitor.rekey.source import CutMessage, CuttingSource
from aem_monitor.rekey.split import decode_chunk, joined, split_message
from tests.ingest.requests import EVERYTHING, LIMITS, PARENT, SPAN, TRACE, add_sibling, add_span, compliant_json

TOPIC = KafkaTopic("spans")
LOGS = KafkaTopic("logs", "logs")
OTHER = bytes.fromhex("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
UNKNOWN = b"\xfa\x3f\x03new"
"""Field 127, a text, which no version of OTLP has yet."""

GENERATED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def cut(request: Any, topic: KafkaTopic = TOPIC) -> dict[str, Chunk]:
    return {chunk.trace_id: chunk for chunk in split_message(request.SerializeToString(), topic, LIMITS).chunks}


def of_trace(request: ExportTraceServiceRequest, trace_id: bytes) -> ExportTraceServiceRequest:
    """The request without the spans of other traces, and without what is empty then: what a part has to be."""
    wanted = ExportTraceServiceRequest()
    for block in request.resource_spans:
        kept = type(block)()
        kept.CopyFrom(block)
        del kept.scope_spans[:]
        for scoped in block.scope_spans:
            spans = [span for span in scoped.spans if span.trace_id == trace_id]
            if spans:
                copied = kept.scope_spans.add()
                copied.CopyFrom(scoped)
                del copied.spans[:]
                copied.spans.extend(spans)
        if kept.scope_spans:
            wanted.resource_spans.append(kept)
    return wanted


@st.composite
def requests(draw: st.DrawFn) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    numbers = st.integers(0, 3)
    for block_number in range(draw(numbers)):
        block = request.resource_spans.add(schema_url=f"schema-{block_number}")
        block.resource.attributes.add(key="service.name").value.string_value = f"service-{block_number}"
        for scope_number in range(draw(numbers)):
            scoped = block.scope_spans.add(schema_url="scoped")
            scoped.scope.name = f"scope-{scope_number}"
            for trace in draw(st.lists(st.sampled_from([TRACE, OTHER, SPAN + PARENT]), max_size=4)):
                name = draw(st.sampled_from(["", "chat", "\u00e9\U0001f600", "x" * 200, "y" * 20_000]))
                add_sibling(scoped, trace_id=trace, name=name, parent_span_id=PARENT, flags=0x300)
    return request


@GENERATED
@given(requests())
def test_each_part_is_the_request_without_the_other_traces(request: ExportTraceServiceRequest) -> None:
    for trace_id, chunk in cut(request).items():
        part = ExportTraceServiceRequest.FromString(chunk.body)
        own = bytes.fromhex(trace_id)
        assert of_trace(part, own) == of_trace(request, own)
        assert {span.trace_id for block in part.resource_spans for one in block.scope_spans for span in one.spans} == {
            own
        }


@GENERATED
@given(requests())
def test_no_span_is_lost(request: ExportTraceServiceRequest) -> None:
    spans = [span.trace_id.hex() for block in request.resource_spans for one in block.scope_spans for span in one.spans]
    assert {trace: chunk.items for trace, chunk in cut(request).items()} == {one: spans.count(one) for one in spans}


@GENERATED
@given(requests())
def test_json_is_cut_as_protobuf_is(request: ExportTraceServiceRequest) -> None:
    document = json.dumps(compliant_json(request)).encode()
    found = {chunk.trace_id: chunk for chunk in split_message(document, TOPIC, LIMITS).chunks}
    expected = cut(request)
    assert found.keys() == expected.keys()
    for trace_id, chunk in found.items():
        assert (
            decode_chunk(chunk, LIMITS, EVERYTHING).spans == decode_chunk(expected[trace_id], LIMITS, EVERYTHING).spans
        )
        assert list(chunk.links) == list(expected[trace_id].links)


def two_traces() -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    add_span(request)
    add_sibling(request.resource_spans[0].scope_spans[0], trace_id=OTHER)
    return request


def test_fields_that_this_version_does_not_know_are_kept_on_every_level() -> None:
    request = two_traces()
    block = request.resource_spans[0]
    scoped = block.scope_spans[0]
    for message in (scoped.spans[0], scoped.spans[1], scoped.scope, scoped, block.resource, block, request):
        message.MergeFromString(UNKNOWN)
    parts = cut(request)
    assert len(parts) == 2
    for chunk in parts.values():
        assert chunk.body.count(UNKNOWN) == 6


def test_members_that_json_requests_do_not_have_are_kept_on_every_level() -> None:
    document = compliant_json(two_traces())
    block = document["resourceSpans"][0]
    scoped = block["scopeSpans"][0]
    for holder in (document, block, scoped, *scoped["spans"]):
        holder["new"] = 1
    for chunk in split_message(json.dumps(document).encode(), TOPIC, LIMITS).chunks:
        assert chunk.body.count(b'"new"') == 4


def test_json_that_only_a_lenient_reader_takes_keeps_its_values() -> None:
    document = compliant_json(two_traces())
    for span in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span["attributes"].append({"key": "score", "value": {"doubleValue": math.nan}})
    for chunk in split_message(json.dumps(document).encode(), TOPIC, LIMITS).chunks:
        assert b"NaN" in chunk.body


def test_a_message_of_one_trace_is_not_touched() -> None:
    request = ExportTraceServiceRequest()
    add_span(request)
    body = request.SerializeToString() + UNKNOWN
    (chunk,) = split_message(body, TOPIC, LIMITS).chunks
    assert chunk.body is body


def test_spans_say_how_they_hang_together() -> None:
    request = ExportTraceServiceRequest()
    add_span(request, parent_span_id=PARENT)
    add_span(request, span_id=PARENT)
    add_span(request, span_id=b"12345678", parent_span_id=bytes(8))
    assert list(cut(request)[TRACE.hex()].links) == [
        Link(SPAN.hex(), PARENT.hex()),
        Link(PARENT.hex(), None),
        Link(b"12345678".hex(), None),
    ]


def test_spans_without_a_trace_id_are_left_out_and_counted() -> None:
    request = ExportTraceServiceRequest()
    add_span(request)
    for broken in (b"", bytes(16), b"short"):
        add_span(request, trace_id=broken)
    split = split_message(request.SerializeToString(), TOPIC, LIMITS)
    assert split.nameless == 3
    assert [chunk.items for chunk in split.chunks] == [1]


def test_log_records_are_cut_by_trace() -> None:
    request = ExportLogsServiceRequest()
    scoped = request.resource_logs.add().scope_logs.add()
    for trace in (TRACE, OTHER, TRACE):
        scoped.log_records.add(trace_id=trace, span_id=SPAN, event_name="gen_ai.user.message")
    parts = cut(request, LOGS)
    assert {trace: chunk.items for trace, chunk in parts.items()} == {TRACE.hex(): 2, OTHER.hex(): 1}
    assert len(decode_chunk(parts[TRACE.hex()], LIMITS, EVERYTHING).logs) == 2


@pytest.mark.parametrize("value", [b"\x0a\x7fcut off", b"{", b'{"resourceSpans": 3}', b'[{"zipkin": 1}]'])
def test_what_is_no_request_is_refused(value: bytes) -> None:
    with pytest.raises(DecodeError):
        split_message(value, TOPIC, LIMITS)


@pytest.mark.parametrize("form", ["protobuf", "json"])
def test_a_message_of_too_many_spans_is_refused(form: str) -> None:
    request = two_traces()
    value = request.SerializeToString() if form == "protobuf" else json.dumps(compliant_json(request)).encode()
    with pytest.raises(TooLargeError):
        split_message(value, TOPIC, Limits(max_spans=1))


def test_a_large_resource_above_thousands_of_traces_is_refused_before_it_is_copied_for_each() -> None:
    request = ExportTraceServiceRequest()
    block = request.resource_spans.add()
    block.resource.attributes.add(key="large").value.string_value = "x" * 50_000
    scoped = block.scope_spans.add()
    for number in range(2000):
        scoped.spans.add(trace_id=number.to_bytes(15, "big") + b"1", span_id=SPAN)
    value = request.SerializeToString()
    with pytest.raises(TooLargeError, match="smaller batches"):
        split_message(value, TOPIC, Limits(max_body_bytes=2 * len(value)))


def bodies(chunks: Sequence[Chunk], most: int) -> list[bytes]:
    return [chunk.body for chunk in joined(chunks, most)]


def test_parts_of_a_trace_are_published_as_one_request_as_far_as_it_may_be_large() -> None:
    parts = [Chunk("t", "spans", "traces", "otlp_proto", body, 1) for body in (b"aaaa", b"bbbb", b"cccccccccc", b"d")]
    assert bodies(parts, 8) == [b"aaaabbbb", b"cccccccccc", b"d"]


def test_json_and_protobuf_and_topics_stay_apart() -> None:
    parts = [
        Chunk("t", "spans", "traces", "otlp_json", b"{1}", 1),
        Chunk("t", "logs", "logs", "otlp_proto", b"log", 1),
        Chunk("t", "spans", "traces", "otlp_json", b"{2}", 1),
        Chunk("t", "spans", "traces", "otlp_proto", b"span", 1),
    ]
    assert bodies(parts, 100) == [b"log", b"{1}", b"{2}", b"span"]


# From a topic


@dataclass
class Record:
    """A message as it comes from a broker."""

    topic: str
    value: bytes | None
    partition: int = 0
    offset: int = 0
    timestamp: int = 0
    key: bytes | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()


def read(value: bytes | None) -> tuple[CutMessage, list[str]]:
    """What becomes of a message, and what is counted."""
    refused: list[str] = []
    settings = KafkaSettings(("nowhere:9092",), topics=(TOPIC,))
    source = CuttingSource(
        settings, LIMITS, Prefilter(["gen_ai."]), lambda *_: True, lambda cause, _: refused.append(cause)
    )
    batch = source._batch(Record(TOPIC.name, value))
    assert isinstance(batch, CutMessage)
    return batch, refused


@pytest.mark.parametrize(
    "value",
    [b"hello world", b"\xff" * 20, b"\n\xff broken", b"[1,2]", b'{"resourceSpans": 5}', b"\x1f\x8b\x08\x00", b"{"],
)
def test_what_nobody_can_read_is_passed_on_and_counted_whether_it_speaks_of_an_agent_or_not(value: bytes) -> None:
    for poison in (value, value + b" gen_ai.operation.name"):
        batch, refused = read(poison)
        assert batch.unreadable == poison
        assert len(refused) == 1


@pytest.mark.parametrize("value", [None, b"", b"{}", ExportTraceServiceRequest().SerializeToString()])
def test_what_holds_nothing_is_neither_passed_on_nor_counted(value: bytes | None) -> None:
    batch, refused = read(value)
    assert (batch.unreadable, list(batch.chunks), refused) == (None, [], [])


def test_other_traffic_is_neither_passed_on_nor_counted() -> None:
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add(trace_id=OTHER, span_id=b"12345678", name="GET /")
    span.attributes.add(key="http.request.method").value.string_value = "GET"
    for value in (request.SerializeToString(), json.dumps(compliant_json(request)).encode()):
        batch, refused = read(value)
        assert (batch.unreadable, list(batch.chunks), refused) == (None, [], [])
