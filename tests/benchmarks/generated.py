"""Large protobuf files of plausible telemetry, the same bytes on every machine.

Conversations are the recorded ones of ``tests/data/traces``, each copy with ids of its own (trace, span, call, reply,
conversation) and at a later time. Around them is what else a system sends: a gateway's server span above every agent
trace, and traces of a web shop's services (an HTTP server span, three database calls, an HTTP client call).
"""

import base64
import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

TRACES: Final = Path(__file__).parents[1] / "data" / "traces"
RECORDINGS: Final = (
    "otel-genai/agno-flights.json",
    "otel-genai/langchain-refund.json",
    "otel-genai/openai-agents-refund.json",
    "otel-genai/openai-agents-with-client-sales.json",
    "otel-genai/openai-loop-ratelimit-flights.json",
    "otel-genai/openai-loop-sales.json",
    "strands/genai-batches-refund.jsonl",
    "strands/genai-sales.json",
    "strands/legacy-refund.json",
    "strands/v1.0.0-refund.json",
)
SPANS_PER_REQUEST: Final = 512
"""What the SDK's batch processor and the collector's send at most, by default."""

_ANY_ID: Final = re.compile(rb"(?:call|tooluse|chatcmpl)[-_][0-9a-f]{16,}")
_BETWEEN_NS: Final = 2 * 10**9
_START_NS: Final = 1_796_000_000 * 10**9


@dataclass(frozen=True, slots=True)
class Size:
    """What a generated file holds. ``requests`` are the lengths in bytes of the requests laid end to end."""

    spans: int
    agent_spans: int
    conversations: int
    attributes: int
    requests: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """The length of the file."""
        return sum(self.requests)


@dataclass(frozen=True, slots=True)
class _Recording:
    """A recorded conversation as one block a trace, and the ids in it that every copy replaces."""

    blocks: tuple[bytes, ...]
    trace_ids: tuple[bytes, ...]
    span_ids: tuple[bytes, ...]
    texts: tuple[bytes, ...]
    first_ns: int
    spans: int


def write_file(path: Path, spans: int, other_share: float, seed: int = 1) -> Size:
    """Write requests of about ``spans`` spans, of which ``other_share`` are of no agent."""
    chance = random.Random(seed)
    recordings = [_read(TRACES / name) for name in RECORDINGS]
    lengths: list[int] = []
    counts = {"spans": 0, "agent": 0, "attributes": 0, "conversations": 0}
    request = ExportTraceServiceRequest()
    waiting = 0
    with path.open("wb") as file:
        for number, blocks in enumerate(_conversations(recordings, other_share, chance)):
            if counts["spans"] + waiting >= spans:
                break
            counts["conversations"] = number + 1
            for block, of_agent in blocks:
                request.resource_spans.append(block)
                found = [span for scoped in block.scope_spans for span in scoped.spans]
                waiting += len(found)
                counts["agent"] += len(found) if of_agent else 0
                counts["attributes"] += sum(len(span.attributes) for span in found)
                if waiting >= SPANS_PER_REQUEST:
                    lengths.append(file.write(request.SerializeToString()))
                    counts["spans"] += waiting
                    request, waiting = ExportTraceServiceRequest(), 0
        lengths.append(file.write(request.SerializeToString()))
        counts["spans"] += waiting
    return Size(counts["spans"], counts["agent"], counts["conversations"], counts["attributes"], tuple(lengths))


def _conversations(
    recordings: Sequence[_Recording], other_share: float, chance: random.Random
) -> Iterator[list[tuple[ResourceSpans, bool]]]:
    """The blocks of one conversation after the other with what comes between; True marks an agent's block."""
    owed = 0.0
    number = 0
    while True:
        recording = recordings[number % len(recordings)]
        start = _START_NS + number * _BETWEEN_NS
        blocks: list[tuple[ResourceSpans, bool]] = []
        for block in _copied(recording, number, start):
            if other_share > 0:
                blocks.append((_gateway(block, chance), False))
                owed -= 1
            blocks.append((block, True))
        owed += recording.spans * other_share / (1 - other_share)
        while owed >= 1:
            shop = _shop(start, chance)
            owed -= sum(len(scoped.spans) for block in shop for scoped in block.scope_spans)
            blocks.extend((block, False) for block in shop)
        yield blocks
        number += 1


def _read(path: Path) -> _Recording:
    lines = path.read_text(encoding="utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_text("utf-8")]
    by_trace: dict[bytes, ResourceSpans] = {}
    for line in lines:
        for block in ParseDict(_with_base64_ids(json.loads(line)), ExportTraceServiceRequest()).resource_spans:
            for scoped in block.scope_spans:
                for span in scoped.spans:
                    home = by_trace.setdefault(span.trace_id, ResourceSpans(resource=block.resource))
                    same = [one for one in home.scope_spans if one.scope == scoped.scope]
                    target = same[0] if same else home.scope_spans.add(scope=scoped.scope)
                    target.spans.append(span)
    spans = [span for block in by_trace.values() for scoped in block.scope_spans for span in scoped.spans]
    blocks = tuple(block.SerializeToString() for block in by_trace.values())
    sidecar = json.loads(path.with_name(path.name.split(".json")[0] + ".expected.json").read_text(encoding="utf-8"))
    texts = {sidecar["conversation_id"].encode(), *(found for block in blocks for found in _ANY_ID.findall(block))}
    return _Recording(
        blocks=blocks,
        trace_ids=tuple(by_trace),
        span_ids=tuple(span.span_id for span in spans),
        texts=tuple(sorted(texts)),
        first_ns=min(span.start_time_unix_nano for span in spans),
        spans=len(spans),
    )


def _with_base64_ids(value: Any) -> Any:
    """OTLP JSON as protobuf's own JSON form, which wants ids in base64."""
    if isinstance(value, list):
        return [_with_base64_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64encode(bytes.fromhex(item)).decode()
        if key in ("traceId", "spanId", "parentSpanId")
        else _with_base64_ids(item)
        for key, item in value.items()
    }


def _copied(recording: _Recording, number: int, start: int) -> Iterator[ResourceSpans]:
    """The recording's blocks under new ids of the same lengths, so that the bytes around them stay valid."""
    new = {old: hashlib.sha256(b"%d %b" % (number, old)).digest()[:16] for old in recording.trace_ids}
    new |= {old: hashlib.sha256(b"%d %b" % (number, old)).digest()[:8] for old in recording.span_ids}
    new |= {old: old[:-8] + b"%08x" % number for old in recording.texts}
    for data in recording.blocks:
        changed = data
        for old, fresh in new.items():
            changed = changed.replace(old, fresh)
        block = ResourceSpans.FromString(changed)
        shift = start - recording.first_ns
        for scoped in block.scope_spans:
            for span in scoped.spans:
                span.start_time_unix_nano += shift
                span.end_time_unix_nano += shift
                for event in span.events:
                    event.time_unix_nano += shift
        yield block


def _gateway(agent: ResourceSpans, chance: random.Random) -> ResourceSpans:
    """The server span of the gateway that the user's message came through; the agent's roots become its children."""
    spans = [span for scoped in agent.scope_spans for span in scoped.spans]
    start = min(span.start_time_unix_nano for span in spans) - 2_000_000
    end = max(span.end_time_unix_nano for span in spans) + 1_000_000
    block = _block("chat-gateway", "io.opentelemetry.tomcat-10.0", chance)
    server = _span(block, spans[0].trace_id, chance.randbytes(8), b"", "POST /chat", 2, start, end)
    _http_server(server, "/chat", chance)
    for span in spans:
        if not span.parent_span_id:
            span.parent_span_id = server.span_id
    return block


def _shop(start: int, chance: random.Random) -> list[ResourceSpans]:
    """One trace of two services: a server span with three database calls, and the call to the other service."""
    trace = chance.randbytes(16)
    cart = _block("cart", "io.opentelemetry.spring-webmvc-6.0", chance)
    server = _span(cart, trace, chance.randbytes(8), b"", "GET /cart/{id}", 2, start, start + 40_000_000)
    _http_server(server, "/cart/{id}", chance)
    for place in range(3):
        began = start + 4_000_000 * (place + 1)
        query = _span(cart, trace, chance.randbytes(8), server.span_id, "SELECT items", 3, began, began + 2_000_000)
        _set(
            query,
            {
                "db.system.name": "postgresql",
                "db.namespace": "shop",
                "db.collection.name": "items",
                "db.operation.name": "SELECT",
                "db.query.text": "SELECT id, sku, quantity, price FROM items WHERE cart_id = $1 ORDER BY added_at",
                "server.address": "db.example",
                "server.port": 5432,
                "thread.id": chance.randrange(20, 90),
                "thread.name": f"http-nio-8080-exec-{chance.randrange(10)}",
            },
        )
    client_start = start + 20_000_000
    call = _span(cart, trace, chance.randbytes(8), server.span_id, "GET", 3, client_start, client_start + 9_000_000)
    url = f"http://stock.example:8080/stock/{chance.randrange(10**6)}"
    _set(
        call,
        {
            "http.request.method": "GET",
            "url.full": url,
            "server.address": "stock.example",
            "server.port": 8080,
            "network.protocol.version": "1.1",
            "http.response.status_code": 200,
        },
    )
    stock = _block("stock", "io.opentelemetry.spring-webmvc-6.0", chance)
    below = _span(stock, trace, chance.randbytes(8), call.span_id, "GET /stock/{id}", 2, client_start, client_start + 8)
    _http_server(below, "/stock/{id}", chance)
    return [cart, stock]


def _block(service: str, scope: str, chance: random.Random) -> ResourceSpans:
    block = ResourceSpans()
    _set(
        block.resource,
        {
            "service.name": service,
            "service.version": "4.18.2",
            "service.instance.id": f"{service}-7d9c6f5b8-{chance.randrange(4)}",
            "deployment.environment.name": "production",
            "k8s.namespace.name": "shop",
            "k8s.pod.name": f"{service}-7d9c6f5b8-{chance.randrange(4)}",
            "host.name": f"node-{chance.randrange(12)}",
            "telemetry.sdk.language": "java",
            "telemetry.sdk.name": "opentelemetry",
            "telemetry.sdk.version": "1.49.0",
        },
    )
    scoped = block.scope_spans.add()
    scoped.scope.name, scoped.scope.version = scope, "2.15.0-alpha"
    return block


def _span(
    block: ResourceSpans, trace: bytes, span_id: bytes, parent: bytes, name: str, kind: int, start: int, end: int
) -> Any:
    return block.scope_spans[0].spans.add(
        trace_id=trace,
        span_id=span_id,
        parent_span_id=parent,
        name=name,
        kind=kind,
        start_time_unix_nano=start,
        end_time_unix_nano=end,
    )


def _http_server(span: Any, route: str, chance: random.Random) -> None:
    _set(
        span,
        {
            "http.request.method": span.name.split()[0],
            "http.route": route,
            "url.path": route.replace("{id}", str(chance.randrange(10**6))),
            "url.scheme": "https",
            "http.response.status_code": 200,
            "server.address": "shop.example",
            "server.port": 443,
            "client.address": f"192.0.2.{chance.randrange(1, 255)}",
            "network.protocol.version": "1.1",
            "user_agent.original": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
            "thread.id": chance.randrange(20, 90),
            "thread.name": f"http-nio-8080-exec-{chance.randrange(10)}",
        },
    )


def _set(holder: Any, values: dict[str, str | int]) -> None:
    for key, value in values.items():
        added = holder.attributes.add(key=key).value
        if isinstance(value, int):
            added.int_value = value
        else:
            added.string_value = value
