"""A stored conversation as spans again: OTLP JSON after the GenAI semantic conventions, as any exporter might write it.

One trace an exchange: the agent's invocation with what the user said and what was answered, a model call for each round
of calls, and a span for each call. What was not captured has no attribute. Calls of sub-agents and hand-offs, which are
no turns, are left out.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from aem_monitor.model.conversation import NOT_CAPTURED, Conversation, Exchange, Response, ToolCall
from aem_monitor.model.jsonvalue import JSON

_INTERNAL = 1
_CLIENT = 3
_ERROR = 2


def export_request(conversation: Conversation, dialog: str) -> dict[str, Any]:
    """One ``ExportTraceServiceRequest`` in JSON. ``dialog`` is named on the spans, so that it is recognised by that."""
    writer = _Writer(conversation, dialog)
    for exchange in conversation.exchanges:
        writer.exchange(exchange)
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(_resource(conversation, release))},
                "scopeSpans": [{"scope": {"name": "aem-monitor.review"}, "spans": spans}],
            }
            for release, spans in writer.spans.items()
        ]
    }


def conversation_name(conversation: Conversation) -> str:
    """The id under which the spans carry it."""
    return conversation.conversation_id or conversation.key


def _resource(conversation: Conversation, release: str | None) -> Mapping[str, str | None]:
    return {"service.name": conversation.agent, "service.version": release}


@dataclass(slots=True)
class _Writer:
    conversation: Conversation
    dialog: str
    spans: dict[str | None, list[dict[str, Any]]] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    release: str | None = None

    def exchange(self, exchange: Exchange) -> None:
        trace = self._fresh(exchange.trace_ids[0] if exchange.trace_ids else None, 32, "trace")
        response = exchange.response
        root = self._fresh(None if response is None else response.span_id, 16, "root")
        self.release = _release(exchange) or self.conversation.release
        calls = sorted(exchange.tool_turns, key=lambda call: call.round)
        rounds = [list(group) for _, group in groupby(calls, key=lambda call: call.round)]
        at = exchange.start_ns
        # Without the agent's own span the first model call is what tells the user's words.
        said = None if exchange.root_seen else exchange.user.text
        for asked in rounds:
            starts = min(call.start_ns for call in asked)
            at = min(max(at, exchange.start_ns), starts)
            self._model_call(trace, root, asked, (at, starts), said)
            said = None
            for call in asked:
                if _has_span(call):
                    self._call(trace, root, call)
            at = max(call.end_ns for call in asked)
        if exchange.root_seen:
            self._root(trace, root, exchange)

    def _root(self, trace: str, root: str, exchange: Exchange) -> None:
        response = exchange.response
        said = exchange.user.text
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": self.conversation.agent,
            "gen_ai.conversation.id": conversation_name(self.conversation),
            "gen_ai.response.model": None if response is None else response.model,
            "aem.dialog.id": self.dialog,
            "gen_ai.input.messages": None if said is None else _message("user", said),
            "gen_ai.output.messages": None,
        }
        if response is not None and response.text is not None:
            attributes["gen_ai.output.messages"] = _message("assistant", response.text)
        span = self._span(trace, root, "invoke_agent", exchange.start_ns, exchange.end_ns, attributes)
        if exchange.missing_parents:
            span["parentSpanId"] = self._fresh(None, 16, "missing")
        if response is not None and response.error is not None:
            _fail(span, response.error)
        self._add(span)

    def _model_call(
        self, trace: str, root: str, asked: list[ToolCall], times: tuple[int, int], said: str | None
    ) -> None:
        parts = [
            {"type": "tool_call", "id": self._call_id(call), "name": _name(call), "arguments": _arguments(call)}
            for call in asked
        ]
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.conversation.id": conversation_name(self.conversation),
            "gen_ai.response.model": asked[0].model,
            "gen_ai.input.messages": None if said is None else _message("user", said),
            "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts, "finish_reason": "tool_call"}]),
        }
        span = self._span(trace, self._fresh(None, 16, "chat"), "chat", *times, attributes)
        self._add({**span, "kind": _CLIENT, "parentSpanId": root})

    def _call(self, trace: str, root: str, call: ToolCall) -> None:
        arguments = _arguments(call)
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.conversation.id": conversation_name(self.conversation),
            "gen_ai.tool.name": _name(call),
            "gen_ai.tool.call.id": self._call_id(call),
            "gen_ai.tool.call.arguments": arguments if isinstance(arguments, str) else _text(arguments),
            "gen_ai.tool.call.result": None
            if call.result is NOT_CAPTURED
            else _written(call.result, cut=call.result_truncated),
        }
        name = f"execute_tool {_name(call)}"
        span = self._span(trace, self._fresh(call.span_id, 16, "tool"), name, call.start_ns, call.end_ns, attributes)
        if call.error is not None:
            _fail(span, call.error)
        self._add({**span, "parentSpanId": root})

    def _span(
        self, trace: str, span_id: str, name: str, start_ns: int, end_ns: int, attributes: Mapping[str, JSON]
    ) -> dict[str, Any]:
        return {
            "traceId": trace,
            "spanId": span_id,
            "name": name,
            "kind": _INTERNAL,
            "startTimeUnixNano": str(max(0, start_ns)),
            "endTimeUnixNano": str(max(0, start_ns, end_ns)),
            "attributes": _attributes(attributes),
        }

    def _add(self, span: dict[str, Any]) -> None:
        self.spans.setdefault(self.release, []).append(span)

    def _call_id(self, call: ToolCall) -> str:
        return call.call_id or f"call-{call.trace_id[-8:]}-{call.start_ns}-{call.name}"

    def _fresh(self, wanted: str | None, digits: int, what: str) -> str:
        """An id that no other span or trace here has: the one of the day where it is free."""
        found, number = wanted, 0
        while found is None or len(found) != digits or found in self.ids:
            number += 1
            seed = f"{self.conversation.key}\x1f{what}\x1f{len(self.ids)}\x1f{number}"
            found = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
        self.ids.add(found)
        return found


def _release(exchange: Exchange) -> str | None:
    """That of the exchange's turns: what an agent's spans carry counts for all of them."""
    acts: list[ToolCall | Response] = [*exchange.tool_turns, *((exchange.response,) if exchange.response else ())]
    return next((act.release for act in acts if act.release is not None), None)


def _has_span(call: ToolCall) -> bool:
    """Whether there was a span of its own, or anything that only such a span can tell here."""
    return call.span_id is not None or call.result is not NOT_CAPTURED or call.error is not None


def _name(call: ToolCall) -> str:
    """Tool and action in the form that every reader splits, whatever the convention of the day was."""
    return call.name if call.action is None else f"{call.tool}.{call.action}"


def _arguments(call: ToolCall) -> JSON:
    """The arguments as an object; as a text that ends too early where they were cut; nothing where not captured."""
    if call.arguments is None:
        return None
    return _cut(_text(dict(call.arguments)) or "") if call.arguments_truncated else dict(call.arguments)


def _written(value: JSON, *, cut: bool) -> JSON:
    """A result as exporters write it: objects and lists as JSON text, and a text that looks like one quoted."""
    if isinstance(value, str):
        return json.dumps(value) if value.lstrip()[:1] in ("{", "[", '"') else value
    if isinstance(value, bool | int | float):
        return value
    text = _text(value) or "null"
    return _cut(text) if cut else text


def _cut(text: str) -> str:
    return f"{text[:-1]}, " if len(text) > 2 else text[:-1]


def _text(value: JSON) -> str | None:
    return None if value is None else json.dumps(value)


def _message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def _fail(span: dict[str, Any], error: str) -> None:
    span["status"] = {"code": _ERROR, "message": error}
    span["attributes"] += _attributes({"error.type": "error"})


def _attributes(values: Mapping[str, JSON]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _any_value(value)} for key, value in values.items() if value is not None]


def _any_value(value: JSON) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
    return {"stringValue": value if isinstance(value, str) else json.dumps(value)}
