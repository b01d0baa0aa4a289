"""Bodies of OTLP/HTTP responses, in the content type of the request.

Source: OTLP specification 1.11, "OTLP/HTTP Response": success is the Export*ServiceResponse of the signal with
``partial_success`` unset, failure a ``google.rpc.Status``.
"""

import json
from enum import IntEnum, StrEnum
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from aem_monitor.ingest.wire import LENGTH, VARINT, write_varint


class ContentType(StrEnum):
    """The two encodings of OTLP/HTTP."""

    PROTOBUF = "application/x-protobuf"
    JSON = "application/json"


class RpcCode(IntEnum):
    """The codes of ``google.rpc.Code`` that are used."""

    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    RESOURCE_EXHAUSTED = 8
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14


def status_body(code: RpcCode, message: str, content_type: ContentType) -> bytes:
    """A ``google.rpc.Status`` (code = 1, message = 2), without its optional details."""
    if content_type is ContentType.JSON:
        return json.dumps({"code": int(code), "message": message}).encode()
    text = message.encode()
    return b"".join(
        (
            write_varint(1 << 3 | VARINT),
            write_varint(code),
            write_varint(2 << 3 | LENGTH),
            write_varint(len(text)),
            text,
        )
    )


def trace_success(rejected: int, reason: str, content_type: ContentType) -> bytes:
    """The response to a trace request of which ``rejected`` spans were not taken."""
    if content_type is ContentType.JSON:
        return _json_success("rejectedSpans", rejected, reason)
    response = ExportTraceServiceResponse()
    if rejected:
        response.partial_success.rejected_spans = rejected
        response.partial_success.error_message = reason
    return bytes(response.SerializeToString())


def logs_success(rejected: int, reason: str, content_type: ContentType) -> bytes:
    """The response to a logs request of which ``rejected`` records were not taken."""
    if content_type is ContentType.JSON:
        return _json_success("rejectedLogRecords", rejected, reason)
    response = ExportLogsServiceResponse()
    if rejected:
        response.partial_success.rejected_log_records = rejected
        response.partial_success.error_message = reason
    return bytes(response.SerializeToString())


def _json_success(field: str, rejected: int, reason: str) -> bytes:
    body: dict[str, Any] = {}
    if rejected:
        # int64 is a decimal string in JSON protobuf.
        body = {"partialSuccess": {field: str(rejected), "errorMessage": reason}}
    return json.dumps(body).encode()
