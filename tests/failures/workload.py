"""Messages of many interleaved conversations, the same bytes for the same seed."""

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.end_to_end.sales import ASK, NOT_SHARED, PROFIT, RIGHT
from tests.services.agent import Turn, agent_spans

SECOND: Final = 10**9
START_NS: Final = 1_790_000_000 * SECOND
LATEST: Final = 3
"""Seconds of event time by which a message may come later than others; the grace of the daemons is longer."""

PLAYS: Final = {
    "right": RIGHT,
    "profit": PROFIT,
    "not_shared": NOT_SHARED,
    "broken_off": (ASK,),
}
"""Every kind of end: passed, a root cause with cascades, a missing call, one that is broken off and says so."""


@dataclass(frozen=True, slots=True)
class Message:
    """One export request. ``at`` is when it arrives, in seconds of event time after the start of the workload."""

    at: float
    partition: int
    value: bytes


@dataclass(frozen=True, slots=True)
class Workload:
    """Messages in the order of their arrival; all spans of a conversation are on one partition."""

    messages: tuple[Message, ...]
    runs: int


def workload(seed: int, plays: int = 24, partitions: int = 3) -> Workload:
    """So many plays of the example ``sales-report``, a new one about every two seconds, two traces each.

    A trace comes as one message or as one a span; some messages come late, some twice, some hold nothing of an agent.
    A play that breaks off is a run too.
    """
    chance = random.Random(seed)
    messages: list[Message] = []
    at = 0.0
    for number in range(plays):
        at += chance.uniform(0.5, 3.5)
        turns = PLAYS[chance.choice(list(PLAYS))]
        release = chance.choice(["1.0.0", "2.0.0"])
        for message in _play(f"{seed}-{number}", turns, release, at, number % partitions, chance):
            messages.append(message)
            if chance.random() < 0.1:
                messages.append(message)
        if chance.random() < 0.3:
            messages.append(Message(at, chance.randrange(partitions), _nothing_of_an_agent(seed, number, at)))
    return Workload(tuple(sorted(messages, key=lambda message: message.at)), plays)


def _play(
    name: str, turns: Sequence[Turn], release: str, at: float, partition: int, chance: random.Random
) -> Iterator[Message]:
    attributes = {"aem.dialog.id": "sales-report"}
    if len(turns) == 1:
        attributes["aem.run.end"] = "true"
    spans = agent_spans(f"conversation-{name}", turns, release, attributes=attributes)
    roots = [span for span in spans if span.parent is None]
    for number, root in enumerate(roots):
        begin = at + 5 * number
        trace = [span for span in spans if span.context.trace_id == root.context.trace_id]
        batches: list[Sequence[Any]] = [trace] if chance.random() < 0.5 else [[span] for span in trace]
        end = begin + len(trace)
        for batch in batches:
            request = encode_spans(batch)
            _place(request, f"{name}-{number}", begin, len(trace))
            late = chance.uniform(0, LATEST) if chance.random() < 0.2 else 0.0
            yield Message(end + late, partition, bytes(request.SerializeToString()))


def _place(request: Any, trace: str, begin: float, seconds: int) -> None:
    """Give the spans ids that depend on the workload alone, and times: the root lasts ``seconds``, calls one each."""
    for block in request.resource_spans:
        for scoped in block.scope_spans:
            for span in scoped.spans:
                call = next((one.value.string_value for one in span.attributes if one.key == "gen_ai.tool.call.id"), "")
                order = int(call.partition("-")[2] or 0) if call else -1
                start = begin if order < 0 else begin + 0.5 + order
                span.trace_id = _identifier(trace, 16)
                span.span_id = _identifier(f"{trace}/{call}", 8)
                span.parent_span_id = _identifier(f"{trace}/", 8) if call else b""
                span.start_time_unix_nano = START_NS + round(start * SECOND)
                length = seconds if order < 0 else 0.4
                span.end_time_unix_nano = START_NS + round((start + length) * SECOND)


def _nothing_of_an_agent(seed: int, number: int, at: float) -> bytes:
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add()
    span.name = "GET /basket"
    span.trace_id, span.span_id = _identifier(f"{seed}-{number}", 16), _identifier(f"{seed}-{number}", 8)
    span.start_time_unix_nano = span.end_time_unix_nano = START_NS + round(at * SECOND)
    return bytes(request.SerializeToString())


def _identifier(name: str, size: int) -> bytes:
    return hashlib.sha256(name.encode()).digest()[:size]
