"""OTLP/gRPC: taken with the real exporters of the OpenTelemetry SDK, refused with the codes of the specification."""

from collections.abc import Iterator

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from aem_monitor.errors import ConfigError
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_grpc import OtlpGrpcSource
from tests.ingest.receiver import LOGS, GrpcReceiver
from tests.ingest.requests import AGENTS


@pytest.fixture
def receiver() -> Iterator[GrpcReceiver]:
    running = GrpcReceiver(Limits(max_body_bytes=2**20))
    yield running
    running.close()


def request(**attributes: str) -> ExportTraceServiceRequest:
    message = ExportTraceServiceRequest()
    span = message.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id, span.name = b"\x01" * 16, b"\x02" * 8, "chat"
    span.end_time_unix_nano = 5
    for key, value in {"gen_ai.operation.name": "chat", **attributes}.items():
        span.attributes.add(key=key).value.string_value = value
    return message


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_the_real_exporter_is_a_client(receiver: GrpcReceiver, compression: grpc.Compression) -> None:
    exporter = OTLPSpanExporter(f"http://{receiver.target}", insecure=True, compression=compression)
    provider = TracerProvider(resource=Resource({"service.name": "shop", "service.version": "1.0"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("agent").start_as_current_span("invoke_agent") as span:
        span.set_attribute("gen_ai.operation.name", "invoke_agent")
    provider.shutdown()
    (batch,) = receiver.batches
    (decoded,) = batch.decoded.spans
    assert decoded.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert decoded.resource.attributes["service.version"] == "1.0"
    assert (batch.source, batch.sender) == ("otlp_grpc", "127.0.0.1")
    assert batch.decoded.size > 0


def test_success_is_an_empty_response(receiver: GrpcReceiver) -> None:
    assert receiver.export(request().SerializeToString()) == b""
    assert receiver.export(b"") == b""
    assert receiver.export(b"", LOGS) == b""
    assert len(receiver.batches) == 1


def test_spans_without_ids_are_a_partial_success(receiver: GrpcReceiver) -> None:
    message = request()
    message.resource_spans[0].scope_spans[0].spans[0].trace_id = b""
    response = ExportTraceServiceResponse.FromString(receiver.export(message.SerializeToString()))
    assert response.partial_success.rejected_spans == 1
    assert "trace and span id" in response.partial_success.error_message


def test_a_full_queue_is_retryable_and_says_when(receiver: GrpcReceiver) -> None:
    receiver.room = False
    with pytest.raises(grpc.RpcError) as caught:
        receiver.export(request().SerializeToString())
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    (details,) = [entry.value for entry in caught.value.trailing_metadata() if entry.key == "grpc-status-details-bin"]
    assert isinstance(details, bytes)
    status, retry = Status.FromString(details), RetryInfo()
    assert status.details[0].Unpack(retry)
    assert retry.retry_delay.seconds > 0
    assert receiver.counted == {"overloaded": 1}


def test_broken_bytes_are_not_to_be_sent_again(receiver: GrpcReceiver) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        receiver.export(b"\x0a\xff\xff\xff")
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert receiver.counted == {"malformed": 1}


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_the_limit_counts_decompressed_bytes(receiver: GrpcReceiver, compression: grpc.Compression) -> None:
    large = request(text="x" * 2**21).SerializeToString()
    with pytest.raises(grpc.RpcError) as caught:
        receiver.export(large, compression=compression)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert receiver.batches == []


def test_after_stop_nothing_is_acknowledged(receiver: GrpcReceiver) -> None:
    receiver.source.stop(1)
    assert not receiver.source.up
    with pytest.raises(grpc.RpcError) as caught:
        receiver.export(request().SerializeToString())
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


def test_a_taken_port_names_the_setting(receiver: GrpcReceiver) -> None:
    host, port = receiver.source.address
    second = OtlpGrpcSource(host, port, Limits(), AGENTS, lambda *_: True, lambda *_: None)
    with pytest.raises(ConfigError, match=r"ingest\.otlp_grpc\.listen.*another port"):
        second.start()
