"""Recorded conversations in few lines, as OTLP JSON in the OpenTelemetry GenAI convention."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

Said: TypeAlias = tuple[str, Sequence[tuple[str, Mapping[str, Any], Any]], str]
"""What the user says, the calls (name, arguments, result), and the reply."""


def write_traces(path: Path, **conversations: Sequence[Said]) -> Path:
    """Write conversations by id, one request a line; each exchange is a trace of its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps(request(name.replace("_", "-"), place, exchange))
        for number, (name, exchanges) in enumerate(conversations.items())
        for place, exchange in enumerate(exchanges, start=1000 * number + 1)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def request(conversation: str, number: int, exchange: Said) -> dict[str, Any]:
    """The spans of one exchange; ``number`` makes its ids and its minute."""
    user, calls, reply = exchange
    trace, root = f"{number:032x}", f"{number:012x}0000"
    start = 1_764_500_000_000_000_000 + number * 60 * 10**9
    spans = [
        _span(trace, root, None, f"invoke_agent {number}", start, start + 30 * 10**9)
        | _attributes(
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.conversation.id": conversation,
                "gen_ai.input.messages": _message("user", user),
                "gen_ai.output.messages": _message("assistant", reply),
            }
        )
    ]
    for place, (name, arguments, result) in enumerate(calls, start=1):
        at = start + place * 10**9
        spans.append(
            _span(trace, f"{number:012x}{place:04x}", root, f"execute_tool {name}", at, at + 10**8)
            | _attributes(
                {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": name,
                    "gen_ai.tool.call.arguments": json.dumps(arguments),
                    "gen_ai.tool.call.result": json.dumps(result),
                }
            )
        )
    resource = _attributes({"service.name": "shop", "service.version": "1.0.0"})
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "shop"}, "spans": spans}]}]}


def _span(trace: str, span: str, parent: str | None, name: str, start: int, end: int) -> dict[str, Any]:
    return {
        "traceId": trace,
        "spanId": span,
        **({"parentSpanId": parent} if parent else {}),
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(end),
    }


def _attributes(values: Mapping[str, str]) -> dict[str, Any]:
    return {"attributes": [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]}


def _message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])
