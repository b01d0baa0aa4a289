"""A receiver of OTLP/HTTP log records that takes nothing that the specification does not allow.

Not a backend: it keeps what it has accepted, and answers what it is told to, the way the OTLP specification says
("OTLP/HTTP Response"). Its checks are those of the protobuf's comments and of the general rules for attributes.
"""

import gzip
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsPartialSuccess,
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)

from tests.services.posted import PostServer

PATH = "/v1/logs"


@dataclass(frozen=True, slots=True)
class Event:
    """One log record, attributes as plain values."""

    name: str
    trace_id: str
    span_id: str
    time_ns: int
    attributes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request is answered."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    rejected: int = 0
    message: str = ""


class LogsServer(PostServer):
    """``answer`` decides on each request."""

    def __init__(self) -> None:
        super().__init__()
        self.url = f"http://127.0.0.1:{self.port}{PATH}"
        self.answer: Callable[[list[Event]], Answer] = lambda events: Answer()
        self.requests: list[list[Event]] = []
        self.headers: list[dict[str, str]] = []
        self.faults: list[str] = []

    @property
    def events(self) -> list[Event]:
        """All that were accepted."""
        return [event for request in list(self.requests) for event in request]

    def _posted(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        found, answer = self._judge(handler, body)
        if 200 <= answer.status < 300 and not answer.rejected:
            self.requests.append(found)
            self.headers.append(dict(handler.headers))
        partly = ExportLogsPartialSuccess(rejected_log_records=answer.rejected, error_message=answer.message)
        told = ExportLogsServiceResponse()
        if answer.rejected or answer.message:
            told.partial_success.CopyFrom(partly)
        text = told.SerializeToString()
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Type", "application/x-protobuf")
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    def _judge(self, handler: BaseHTTPRequestHandler, body: bytes) -> tuple[list[Event], Answer]:
        if handler.path != PATH:
            return [], Answer(404)
        if handler.headers["Content-Type"] != "application/x-protobuf":
            return [], Answer(415)
        try:
            if handler.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            found = events_of(ExportLogsServiceRequest.FromString(body))
        except (AssertionError, OSError, ValueError, DecodeError) as error:
            self.faults.append(repr(error))
            return [], Answer(400)
        return found, self.answer(found)


def events_of(request: ExportLogsServiceRequest) -> list[Event]:
    """All records of a request. ``AssertionError`` for what the specification does not allow."""
    found = []
    for resource_logs in request.resource_logs:
        assert _attributes(resource_logs.resource.attributes)["service.name"], "required of every resource"
        for scope_logs in resource_logs.scope_logs:
            assert scope_logs.scope.name
            found += [_event(record) for record in scope_logs.log_records]
    assert found, "a request without records is not worth one"
    return found


def _event(record: Any) -> Event:
    assert len(record.trace_id) in (0, 16)
    assert any(record.trace_id) or not record.trace_id
    assert len(record.span_id) in (0, 8)
    assert any(record.span_id) or not record.span_id
    assert record.trace_id or not record.span_id, "a span id without a trace id"
    assert record.observed_time_unix_nano
    assert 1 <= record.severity_number <= 24
    attributes = _attributes(record.attributes)
    return Event(record.event_name, record.trace_id.hex(), record.span_id.hex(), record.time_unix_nano, attributes)


def _attributes(pairs: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        assert pair.key, "an attribute without a key"
        assert pair.key not in found, f"{pair.key} is there twice"
        kind = pair.value.WhichOneof("value")
        assert kind, f"{pair.key} has no value"
        found[pair.key] = getattr(pair.value, kind)
    return found
