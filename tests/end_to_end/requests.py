"""Recordings as export requests, and the encodings in which a request goes through a door."""

import base64
import copy
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

Request: TypeAlias = dict[str, Any]
"""One export request of traces or of logs as OTLP JSON."""

_NAMES: Final = {
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
}
IDS: Final = ("traceId", "spanId", "parentSpanId")


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded run: its trace requests in order of arrival, and its logs request if its contents are there."""

    path: Path
    traces: tuple[Request, ...]
    logs: tuple[Request, ...]

    @property
    def name(self) -> str:
        """``framework/file``."""
        return f"{self.path.parent.name}/{self.path.name}"

    @property
    def framework(self) -> str:
        """The folder."""
        return self.path.parent.name


def recording(path: Path) -> Recording:
    """Read a recording and the log records beside it."""
    beside = path.with_name(path.name.split(".json", 1)[0] + ".logs.json")
    logs = (json.loads(beside.read_text(encoding="utf-8")),) if beside.exists() else ()
    return Recording(path, tuple(_documents(path)), logs)


def _documents(path: Path) -> Iterator[Request]:
    text = path.read_text(encoding="utf-8")
    for document in text.splitlines() if path.suffix == ".jsonl" else [text]:
        if document.strip():
            yield json.loads(document)


def encoded_json(request: Request) -> bytes:
    """The request as OTLP JSON."""
    return json.dumps(request, ensure_ascii=False).encode()


def encoded_proto(request: Request) -> bytes:
    """The request as protobuf."""
    message: Message = ExportLogsServiceRequest() if "resourceLogs" in request else ExportTraceServiceRequest()
    ParseDict(with_base64_ids(request), message, ignore_unknown_fields=True)
    return message.SerializeToString()


def gzipped(body: bytes) -> bytes:
    """The body compressed."""
    return gzip.compress(body, 1, mtime=0)


def with_base64_ids(request: Request) -> Request:
    """The request as protobuf's own JSON printer writes its ids."""
    changed = copy.deepcopy(request)
    for item in objects_in(changed):
        for key in IDS:
            if isinstance(item.get(key), str):
                item[key] = base64.b64encode(bytes.fromhex(item[key])).decode()
    return changed


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a document, outermost first."""
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from objects_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from objects_in(item)


@dataclass(frozen=True, slots=True)
class Item:
    """One span or log record with the resource and scope around it."""

    signal: str
    resource: Any
    scope: Any
    item: dict[str, Any]

    @property
    def request(self) -> Request:
        """A request of a copy of this item alone."""
        blocks, scoped, items = _NAMES[self.signal]
        part = {"scope": self.scope, items: [self.item]}
        return copy.deepcopy({blocks: [{"resource": self.resource, scoped: [part]}]})


def items_of(requests: Sequence[Request]) -> list[Item]:
    """All spans and log records of the requests."""
    return [item for request in requests for item in _items(request)]


def _items(request: Request) -> Iterator[Item]:
    for signal, names in _NAMES.items():
        blocks, scoped, items = names
        for block in request.get(blocks, ()):
            for part in block.get(scoped, ()):
                for item in part.get(items, ()):
                    yield Item(signal, block.get("resource") or {}, part.get("scope") or {}, item)


def one_item_each(requests: Sequence[Request]) -> list[Request]:
    """The same spans or records, one a request."""
    return [item.request for item in items_of(requests)]
