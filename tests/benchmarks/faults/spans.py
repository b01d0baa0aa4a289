"""Runs as spans of the GenAI convention, and the product's own way from spans to verdicts, in one process."""

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from aem_monitor.build import PipelineSettings, build_pipeline, build_prefilter, build_registry
from aem_monitor.golden.dialog import Dialog
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_json import decode_json
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.verdict import RunResult
from aem_monitor.pipeline import Collected, Pipeline, score_conversations
from tests.benchmarks.faults.dialogs import NOTHING, Call, Exchange

Delivery = Literal["in order", "shuffled", "twice"]

_SECOND: Final = 10**9
_REGISTRY: Final = build_registry()
_SETTINGS: Final = PipelineSettings(require_where=False)


def requests(
    run: str, dialog: str, day_ns: int, exchanges: Sequence[Exchange], delivery: Delivery = "in order"
) -> list[bytes]:
    """The export requests of one run: a trace an exchange, an agent's span with a child for each call.

    ``shuffled`` sends every span in a request of its own, in any order; ``twice`` sends everything again.
    """
    spans: list[dict[str, Any]] = []
    at = day_ns
    for number, exchange in enumerate(exchanges):
        trace, root, start = _hex(32, run, number), reply_span(run, number), at
        for index, call in enumerate(exchange.calls):
            at += _SECOND
            spans.append(_call(call, trace, root, call_span(run, number, index), at))
        at += _SECOND
        said = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "canary", "aem.dialog.id": dialog}
        said |= {"gen_ai.conversation.id": run, "gen_ai.request.model": "model-a"}
        said["gen_ai.input.messages"] = _message("user", exchange.user)
        if exchange.reply is not None:
            said["gen_ai.output.messages"] = _message("assistant", exchange.reply)
        spans.append(_span(trace, root, None, "invoke_agent canary", start, at, said))
        at += 20 * _SECOND
    if delivery == "shuffled":
        random.Random(run).shuffle(spans)
        return [_request([span]) for span in spans]
    return [_request(spans)] * (2 if delivery == "twice" else 1)


def reply_span(run: str, exchange: int) -> str:
    """The id of the agent's span of an exchange, which has its reply."""
    return _hex(16, run, exchange)


def call_span(run: str, exchange: int, call: int) -> str:
    """The id of the span of a call."""
    return _hex(16, run, exchange, call)


def conversations(bodies: Iterable[bytes]) -> list[Conversation]:
    """The conversations that are in these requests."""
    pipeline = build_pipeline((), _SETTINGS, _REGISTRY)
    return _collected(bodies, pipeline).conversations(pipeline)


def results(dialogs: Iterable[Dialog], bodies: Iterable[bytes]) -> dict[str, RunResult]:
    """What ``replay`` says of each conversation, by its id."""
    pipeline = build_pipeline(dialogs, _SETTINGS, _REGISTRY)
    replayed = score_conversations(pipeline, _collected(bodies, pipeline).conversations(pipeline))
    return {result.conversation_id or "": result for result in replayed.results}


def _collected(bodies: Iterable[bytes], pipeline: Pipeline) -> Collected:
    collected = Collected()
    keep = build_prefilter(_REGISTRY, _SETTINGS.assembly, pipeline.recogniser.attributes)
    for body in bodies:
        collected.add(decode_json(body, Limits(), keep))
    return collected


def _call(call: Call, trace: str, root: str, span: str, at: int) -> dict[str, Any]:
    said = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": f"call_{span}",
        "gen_ai.tool.call.arguments": json.dumps(call.args),
    }
    if call.error is not None:
        said["error.type"] = "tool_error"
    elif call.result is not NOTHING:
        said["gen_ai.tool.call.result"] = call.result if isinstance(call.result, str) else json.dumps(call.result)
    status = {"code": 2, "message": call.error} if call.error is not None else {}
    return _span(trace, span, root, f"execute_tool {call.name}", at, at + _SECOND // 2, said, status)


def _span(
    trace: str,
    span: str,
    parent: str | None,
    name: str,
    start: int,
    end: int,
    said: Mapping[str, str],
    status: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in said.items()]
    times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(end)}
    above = {"parentSpanId": parent} if parent else {}
    ids = {"traceId": trace, "spanId": span, **above}
    return {**ids, "name": name, "kind": 1, **times, "attributes": attributes, "status": status or {}}


def _request(spans: Sequence[Mapping[str, Any]]) -> bytes:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "canary"}}]}
    scope = {"scope": {"name": "canary.agent"}, "spans": spans}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}).encode()


def _message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def _hex(length: int, *parts: object) -> str:
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:length]
