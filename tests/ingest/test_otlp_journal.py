"""OTLP with a journal: what is acknowledged is on disk, what is not acknowledged is not."""

import errno
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_request import OtlpRequest, journalled_request
from aem_monitor.journal import segment
from tests.ingest.receiver import LOGS, GrpcReceiver, Receiver
from tests.ingest.requests import add_span, agent_request, json_request, json_span
from tests.journal.books import Book

BODY = agent_request().SerializeToString()


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path / "journal")


@pytest.fixture
def receiver(book: Book) -> Iterator[Receiver]:
    made = Receiver(Limits(), journal=book.journal)
    yield made
    made.close()


@pytest.fixture
def grpc_receiver(book: Book) -> Iterator[GrpcReceiver]:
    made = GrpcReceiver(Limits(), journal=book.journal)
    yield made
    made.close()


def kept(book: Book) -> list[OtlpRequest]:
    """What the next process would read."""
    return [journalled_request(record.head, record.body) for record in book.restarted().read()]


def test_an_acknowledged_request_is_kept_as_it_came(book: Book, receiver: Receiver) -> None:
    text = json.dumps(json_request(json_span())).encode()
    assert receiver.post(BODY).status_code == 200
    assert receiver.post(gzip.compress(BODY), Content_Encoding="gzip").status_code == 200
    assert receiver.post(text, "application/json").status_code == 200
    expected = [batch.decoded for batch in receiver.batches]
    requests = kept(book)
    assert [request.body for request in requests] == [BODY, gzip.compress(BODY), text]
    assert {(request.source, request.peer) for request in requests} == {("otlp_http", "127.0.0.1")}
    assert [request.decode(Limits(), receiver.keep) for request in requests] == expected


def test_the_same_over_grpc(book: Book, grpc_receiver: GrpcReceiver) -> None:
    grpc_receiver.export(BODY, compression=grpc.Compression.Gzip)
    (request,) = kept(book)
    assert request == OtlpRequest("otlp_grpc", request.peer, "traces", request.content_type, False, BODY)
    assert request.decode(Limits(), grpc_receiver.keep) == grpc_receiver.batches[0].decoded


def test_the_engine_is_told_where_a_request_is_kept(book: Book, receiver: Receiver) -> None:
    for _ in range(3):
        receiver.post(BODY)
    assert [(one.position.partition, one.position.offset) for one in receiver.batches if one.position] == [
        (1, 0),
        (1, 1),
        (1, 2),
    ]
    assert len(book.restarted().read()) == 3


def test_what_cannot_become_a_run_is_counted_and_not_kept(
    book: Book, receiver: Receiver, grpc_receiver: GrpcReceiver
) -> None:
    request = ExportTraceServiceRequest()
    add_span(request, {"http.route": "/orders"})
    body = request.SerializeToString()
    assert receiver.post(body).status_code == 200
    grpc_receiver.export(body)
    grpc_receiver.export(b"", LOGS)
    (batch,) = receiver.batches
    assert batch.decoded.skipped == {"no_agent_content": 1}
    assert batch.position is None
    assert book.segments() == []


def test_what_the_engine_does_not_take_is_not_kept(book: Book, receiver: Receiver, grpc_receiver: GrpcReceiver) -> None:
    receiver.room = grpc_receiver.room = False
    assert receiver.post(BODY).status_code == 503
    with pytest.raises(grpc.RpcError) as caught:
        grpc_receiver.export(BODY)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert receiver.counted == grpc_receiver.counted == {"overloaded": 1}
    assert kept(book) == []


def test_what_cannot_be_written_is_to_be_sent_again(
    book: Book, receiver: Receiver, grpc_receiver: GrpcReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_file: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        answer = receiver.post(BODY)
        with pytest.raises(grpc.RpcError) as caught:
            grpc_receiver.export(BODY)
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "5"
    assert b"the journal cannot be written (disk_full)" in answer.content
    assert str(book.path).encode() not in answer.content, "a folder of this machine is nobody else's business"
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert "google.rpc.retryinfo-bin" in {one.key for one in caught.value.trailing_metadata()}
    assert receiver.counted == grpc_receiver.counted == {"journal": 1}
    assert receiver.batches == grpc_receiver.batches == [], "the engine has not seen it"
    assert receiver.post(BODY).status_code == 200
    assert len(kept(book)) == 1


def test_what_may_not_be_flushed_is_to_be_sent_again(
    receiver: Receiver, grpc_receiver: GrpcReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_file: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(segment, "_sync", broken)
    assert receiver.post(BODY).status_code == 503
    with pytest.raises(grpc.RpcError) as caught:
        grpc_receiver.export(BODY)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert receiver.counted == grpc_receiver.counted == {"journal": 1}
