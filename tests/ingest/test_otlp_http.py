import gzip
import json
import logging
import socket
import threading
from collections.abc import Iterator

import httpx
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from aem_monitor.errors import ConfigError
from aem_monitor.ingest import otlp_request
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_http import OtlpHttpSource
from tests.ingest.receiver import PROTOBUF, Receiver
from tests.ingest.requests import AGENTS, SPAN, TRACE, add_span, agent_request, compliant_json

JSON = "application/json"
BODY = agent_request().SerializeToString()
JSON_BODY = json.dumps(compliant_json(agent_request())).encode()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    running = Receiver(Limits(max_body_bytes=2**20))
    yield running
    running.close()


def error(response: httpx.Response) -> tuple[int, str]:
    """Code and message of the google.rpc.Status in the response's own content type."""
    if response.headers["content-type"] == JSON:
        body = response.json()
        return body["code"], body["message"]
    assert response.headers["content-type"] == PROTOBUF
    status = Status.FromString(response.content)
    return status.code, status.message


def test_a_protobuf_request_is_answered_in_protobuf_without_partial_success(receiver: Receiver) -> None:
    response = receiver.post(BODY)
    assert (response.status_code, response.headers["content-type"], response.content) == (200, PROTOBUF, b"")
    assert not ExportTraceServiceResponse.FromString(response.content).HasField("partial_success")
    (batch,) = receiver.batches
    assert (batch.source, batch.sender, batch.position) == ("otlp_http", "127.0.0.1", None)
    assert [span.name for span in batch.decoded.spans] == ["chat"]
    assert batch.received_at > 1.7e9


@pytest.mark.parametrize("content_type", [JSON, "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"])
def test_a_json_request_is_answered_in_json(receiver: Receiver, content_type: str) -> None:
    response = receiver.post(JSON_BODY, content_type)
    assert (response.status_code, response.headers["content-type"], response.json()) == (200, JSON, {})
    assert len(receiver.batches[0].decoded.spans) == 1


@pytest.mark.parametrize(("body", "content_type"), [(BODY, PROTOBUF), (JSON_BODY, JSON)])
@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "identity"])
def test_bodies_may_be_compressed(receiver: Receiver, body: bytes, content_type: str, encoding: str) -> None:
    sent = body if encoding == "identity" else gzip.compress(body)
    assert receiver.post(sent, content_type, Content_Encoding=encoding).status_code == 200
    assert len(receiver.batches[0].decoded.spans) == 1


def test_a_chunked_body_is_taken(receiver: Receiver) -> None:
    assert receiver.post(iter([BODY[:5], BODY[5:]])).status_code == 200
    assert len(receiver.batches) == 1


@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
def test_logs_are_taken_on_their_own_path(receiver: Receiver, content_type: str) -> None:
    request = ExportLogsServiceRequest()
    request.resource_logs.add().scope_logs.add().log_records.add(
        trace_id=TRACE, span_id=SPAN, event_name="gen_ai.choice"
    )
    body = request.SerializeToString() if content_type == PROTOBUF else json.dumps(compliant_json(request)).encode()
    response = receiver.post(body, content_type, "/v1/logs")
    assert response.status_code == 200
    assert response.headers["content-type"] == content_type
    assert [log.event_name for log in receiver.batches[0].decoded.logs] == ["gen_ai.choice"]


@pytest.mark.parametrize(("body", "content_type"), [(b"", PROTOBUF), (b"{}", JSON), (b'{"resourceSpans":[]}', JSON)])
def test_an_empty_request_is_a_success_and_nothing_to_do(receiver: Receiver, body: bytes, content_type: str) -> None:
    assert receiver.post(body, content_type).status_code == 200
    assert receiver.batches == []


@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
def test_spans_with_invalid_ids_are_rejected_in_a_partial_success(receiver: Receiver, content_type: str) -> None:
    request = agent_request(trace_id=b"")
    add_span(request)
    body = request.SerializeToString() if content_type == PROTOBUF else json.dumps(compliant_json(request)).encode()
    response = receiver.post(body, content_type)
    assert response.status_code == 200
    message = "1 spans without a valid trace and span id"
    if content_type == JSON:
        assert response.json() == {"partialSuccess": {"rejectedSpans": "1", "errorMessage": message}}
    else:
        partial = ExportTraceServiceResponse.FromString(response.content).partial_success
        assert (partial.rejected_spans, partial.error_message) == (1, message)


def test_log_records_with_invalid_ids_are_rejected_in_a_partial_success(receiver: Receiver) -> None:
    request = ExportLogsServiceRequest()
    request.resource_logs.add().scope_logs.add().log_records.add(
        trace_id=b"x", span_id=SPAN, event_name="gen_ai.choice"
    )
    response = receiver.post(request.SerializeToString(), path="/v1/logs")
    assert ExportLogsServiceResponse.FromString(response.content).partial_success.rejected_log_records == 1


def test_spans_of_others_are_no_rejection(receiver: Receiver) -> None:
    request = agent_request()
    add_span(request, {"http.route": "/"}, trace_id=b"h" * 16)
    assert receiver.post(request.SerializeToString()).content == b""
    assert receiver.batches[0].decoded.skipped == {"no_agent_content": 1}


@pytest.mark.parametrize(("body", "content_type"), [(b"{}", PROTOBUF), (BODY, JSON), (b"", JSON), (b"[3]", JSON)])
def test_a_broken_body_is_a_bad_request_in_its_own_content_type(
    receiver: Receiver, body: bytes, content_type: str
) -> None:
    response = receiver.post(body, content_type)
    assert (response.status_code, response.headers["content-type"]) == (400, content_type)
    code, message = error(response)
    assert code == 3
    assert message
    assert receiver.counted == {"malformed": 1}


def test_a_broken_gzip_body_is_a_bad_request(receiver: Receiver) -> None:
    response = receiver.post(gzip.compress(BODY)[:-3], Content_Encoding="gzip")
    assert (response.status_code, error(response)[0]) == (400, 3)
    assert receiver.counted == {"malformed": 1}


@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs"])
def test_a_body_of_millions_of_unknown_fields_is_a_bad_request(receiver: Receiver, path: str) -> None:
    bomb = gzip.compress(b"\x1a\x09gen_ai.aa" + b"  " * 500_000)
    response = receiver.post(bomb, path=path, Content_Encoding="gzip")
    code, message = error(response)
    assert (response.status_code, code) == (400, 3)
    assert "fields hold no spans or log records, more than any exporter writes" in message
    assert receiver.counted == {"malformed": 1}


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-protobuf2", "", None])
def test_another_content_type_is_unsupported(receiver: Receiver, content_type: str | None) -> None:
    response = receiver.post(BODY, content_type)
    assert response.status_code == 415
    assert PROTOBUF in error(response)[1]
    assert receiver.counted == {"unsupported_type": 1}


@pytest.mark.parametrize("encoding", ["zstd", "br", "gzip, gzip"])
def test_another_content_encoding_is_unsupported(receiver: Receiver, encoding: str) -> None:
    response = receiver.post(BODY, Content_Encoding=encoding)
    assert (response.status_code, response.headers["accept-encoding"]) == (415, "gzip, identity")
    assert receiver.counted == {"unsupported_encoding": 1}


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_another_method_is_not_allowed(receiver: Receiver, method: str) -> None:
    response = receiver.client.request(method, "/v1/traces")
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert receiver.counted == {"wrong_method": 1}


@pytest.mark.parametrize("path", ["/", "/v1/metrics", "/v1/traces/", "/v1"])
def test_another_path_is_not_found(receiver: Receiver, path: str) -> None:
    response = receiver.post(BODY, path=path)
    assert (response.status_code, error(response)[0]) == (404, 5)
    assert receiver.counted == {"unknown_path": 1}


def test_a_body_over_the_limit_is_too_large(receiver: Receiver) -> None:
    response = receiver.post(bytes(2**20 + 1))
    assert (response.status_code, error(response)[0]) == (413, 8)
    assert receiver.counted == {"too_large": 1}


def test_a_chunked_body_over_the_limit_is_too_large(receiver: Receiver) -> None:
    response = receiver.post(bytes(2**16) for _ in range(20))
    assert (response.status_code, error(response)[0]) == (413, 8)


@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
def test_the_limit_counts_decompressed_bytes(receiver: Receiver, content_type: str) -> None:
    bomb = gzip.compress(b" " * 100 * 2**20, compresslevel=1)
    response = receiver.post(bomb, content_type, Content_Encoding="gzip")
    assert (response.status_code, response.headers["content-type"]) == (413, content_type)
    assert "after decompression" in error(response)[1]


def test_a_client_that_asks_before_it_sends_too_much_is_told_at_once(receiver: Receiver) -> None:
    with receiver.connect() as connection:
        head = (
            "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"
            f"Content-Length: {2**30}\r\nExpect: 100-continue\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


def test_a_full_queue_is_retryable(receiver: Receiver) -> None:
    receiver.room = False
    response = receiver.post(BODY)
    assert (response.status_code, response.headers["retry-after"], error(response)[0]) == (503, "5", 14)
    assert receiver.counted == {"overloaded": 1}
    receiver.room = True
    assert receiver.post(BODY).status_code == 200


def test_an_unforeseen_failure_is_answered_counted_and_survived(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def break_down(*_: object) -> None:
        raise RuntimeError("secret content")

    with monkeypatch.context() as patched, caplog.at_level(logging.CRITICAL + 1):
        patched.setattr(otlp_request, "gunzip", break_down)
        response = receiver.post(gzip.compress(BODY), Content_Encoding="gzip")
    assert (response.status_code, error(response)[0]) == (500, 13)
    assert "secret" not in error(response)[1]
    assert receiver.counted == {"internal": 1}
    assert receiver.post(BODY).status_code == 200


def test_a_client_that_stops_in_the_middle_blocks_nobody_and_is_counted(receiver: Receiver) -> None:
    head = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nContent-Length: 99\r\n\r\n"
    with receiver.connect() as connection:
        connection.sendall(head + b"half")
        assert receiver.post(BODY).status_code == 200
    receiver.close()
    assert receiver.counted == {"aborted": 1}
    assert len(receiver.batches) == 1


def test_a_body_that_does_not_arrive_in_time_is_given_up() -> None:
    receiver = Receiver(Limits(), body_seconds=0.2)
    head = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nContent-Length: 99\r\n\r\n"
    try:
        with receiver.connect() as connection:
            connection.sendall(head + b"half")
            assert connection.recv(100).startswith(b"HTTP/1.1 408 ")
        assert receiver.counted == {"slow_client": 1}
    finally:
        receiver.close()


@pytest.mark.parametrize("sent", [b"", b"POST /v1/tra", b"POST /v1/traces HTTP/1.1\r\nHost:"])
def test_a_connection_without_a_request_is_closed_in_time(sent: bytes) -> None:
    receiver = Receiver(Limits(), header_seconds=0.2)
    try:
        with receiver.connect() as connection:
            connection.sendall(sent)
            assert connection.recv(1) == b""
        assert receiver.post(BODY).status_code == 200
    finally:
        receiver.close()


@pytest.mark.parametrize(
    "garbage", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"nonsense\r\n\r\n", b"\x00" * 70_000]
)
def test_what_is_not_http_is_refused_and_survived(receiver: Receiver, garbage: bytes) -> None:
    with receiver.connect() as connection:
        connection.sendall(garbage)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(4096):
            pass
    assert receiver.post(BODY).status_code == 200


@pytest.mark.parametrize("host", ["[::1", "", "a b", "x" * 5000, "http://y/v1/logs?"])
def test_the_host_header_may_be_anything(receiver: Receiver, host: str) -> None:
    assert receiver.post(BODY, Host=host).status_code in (200, 400)
    assert not receiver.counted
    assert receiver.post(BODY).status_code == 200


def test_many_clients_at_once_lose_nothing(receiver: Receiver) -> None:
    def send() -> None:
        for _ in range(10):
            assert receiver.post(BODY).status_code == 200

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(receiver.batches) == 80
    assert not receiver.counted


def test_a_port_in_use_is_a_configuration_error_that_names_the_key(receiver: Receiver) -> None:
    host, port = receiver.source.address
    second = OtlpHttpSource(host, port, Limits(), AGENTS, lambda *_: True, lambda *_: None, key="ingest.otlp.listen")
    with pytest.raises(ConfigError) as caught:
        second.start()
    assert str(caught.value) == (
        f"ingest.otlp.listen: cannot listen on 127.0.0.1:{port}: Address already in use; "
        "stop the process that uses the port or configure another one"
    )
    assert not second.up
    second.stop(1)
    second.close(1)


def test_an_address_of_another_host_is_a_configuration_error() -> None:
    source = OtlpHttpSource("192.0.2.1", 0, Limits(), AGENTS, lambda *_: True, lambda *_: None)
    with pytest.raises(ConfigError, match="name an address of this host"):
        source.start()


def test_it_listens_on_ipv6() -> None:
    source = OtlpHttpSource("::1", 0, Limits(), AGENTS, lambda *_: True, lambda *_: None)
    try:
        source.start()
    except ConfigError:
        pytest.skip("this host has no IPv6 loopback")
    response = httpx.post(
        f"http://[::1]:{source.address[1]}/v1/traces", content=BODY, headers={"Content-Type": PROTOBUF}, trust_env=False
    )
    source.stop(5)
    assert response.status_code == 200


def test_it_is_up_from_start_to_stop_and_stopping_twice_is_fine(receiver: Receiver) -> None:
    assert receiver.post(BODY).status_code == 200
    up = [receiver.source.up]
    for _ in range(2):
        receiver.source.stop(5)
        up.append(receiver.source.up)
    assert up == [True, False, False]
    receiver.source.close(5)
    receiver.source.release({})
    with pytest.raises(httpx.TransportError):
        receiver.post(BODY)
    assert len(receiver.batches) == 1


def test_a_request_under_way_is_answered_when_stopping(receiver: Receiver) -> None:
    entered, leave = threading.Event(), threading.Event()

    def wait() -> None:
        entered.set()
        assert leave.wait(10)

    receiver.before = wait
    answers: list[int] = []
    client = threading.Thread(target=lambda: answers.append(receiver.post(BODY).status_code))
    client.start()
    assert entered.wait(10)
    stopping = threading.Thread(target=receiver.source.stop, args=(10,))
    stopping.start()
    leave.set()
    client.join(10)
    stopping.join(10)
    assert answers == [200]


@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip])
def test_the_opentelemetry_sdk_is_understood(receiver: Receiver, compression: Compression) -> None:
    host, port = receiver.source.address
    provider = TracerProvider(resource=Resource.create({"service.name": "shop", "service.version": "1.2.3"}))
    exporter = OTLPSpanExporter(endpoint=f"http://{host}:{port}/v1/traces", compression=compression)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("shop.agent", "0.9")
    with tracer.start_as_current_span("invoke_agent shop", attributes={"gen_ai.operation.name": "invoke_agent"}):
        with tracer.start_as_current_span("execute_tool lookup") as tool:
            tool.set_attributes({"gen_ai.tool.name": "lookup", "ids": [1, 2], "ok": True, "share": 0.5})
            tool.record_exception(ValueError("no such order"))
        with tracer.start_as_current_span("GET /orders"):
            pass
    assert provider.force_flush()
    provider.shutdown()
    spans = {span.name: span for batch in receiver.batches for span in batch.decoded.spans}
    assert spans.keys() == {"invoke_agent shop", "execute_tool lookup", "GET /orders"}
    root, tool_span = spans["invoke_agent shop"], spans["execute_tool lookup"]
    assert tool_span.parent_span_id == root.span_id
    assert tool_span.attributes == {"gen_ai.tool.name": "lookup", "ids": [1, 2], "ok": True, "share": 0.5}
    assert [event.name for event in tool_span.events] == ["exception"]
    assert root.resource.attributes["service.version"] == "1.2.3"
    assert root.start_ns <= tool_span.start_ns <= tool_span.end_ns <= root.end_ns
    assert spans["GET /orders"].attributes == {}
    assert not receiver.counted
