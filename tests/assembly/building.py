"""Spans for tests, written the way GenAI instrumentations write them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aem_monitor.model.jsonvalue import AttributeValue
from aem_monitor.model.span import Resource, Scope, Span, SpanEvent, StatusCode

SECOND = 1_000_000_000
T0 = 1_796_000_000 * SECOND


def span(
    span_id: str,
    parent: str | None = None,
    *,
    trace: str = "a" * 32,
    start: float = 0,
    end: float | None = None,
    service: str = "shop",
    release: str | None = "1.0",
    name: str = "span",
    scope: str = "test",
    error: str | None = None,
    events: Sequence[SpanEvent] = (),
    attributes: Mapping[str, AttributeValue] | None = None,
) -> Span:
    """A span; times are seconds after T0."""
    resource: dict[str, AttributeValue] = {"service.name": service}
    if release is not None:
        resource["service.version"] = release
    return Span(
        trace_id=trace,
        span_id=span_id,
        parent_span_id=parent,
        name=name,
        kind=1,
        start_ns=T0 + int(start * SECOND),
        end_ns=T0 + int((start + 1 if end is None else end) * SECOND),
        attributes=dict(attributes or {}),
        events=tuple(events),
        status_code=StatusCode.UNSET if error is None else StatusCode.ERROR,
        status_message=error or "",
        resource=Resource(resource),
        scope=Scope(scope),
    )


def text(role: str, content: str) -> dict[str, Any]:
    """A GenAI message with one text part."""
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def call(name: str, arguments: Any = None, call_id: str | None = None) -> dict[str, Any]:
    """An assistant message that asks for one call."""
    return {"role": "assistant", "parts": [call_part(name, arguments, call_id)]}


def call_part(name: str, arguments: Any = None, call_id: str | None = None) -> dict[str, Any]:
    """The part of an assistant message that asks for a call."""
    part = {"type": "tool_call", "name": name, "arguments": {} if arguments is None else arguments}
    return part if call_id is None else {**part, "id": call_id}


def result(value: Any, call_id: str | None = None) -> dict[str, Any]:
    """A tool message with one result."""
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": value}]}


def agent(
    span_id: str,
    parent: str | None = None,
    *,
    user: str | None = None,
    reply: str | None = None,
    conversation: str | None = "c-1",
    agent_name: str = "shop",
    operation: str = "invoke_agent",
    more: Mapping[str, AttributeValue] | None = None,
    **rest: Any,
) -> Span:
    """An agent's invocation."""
    attributes: dict[str, AttributeValue] = {"gen_ai.operation.name": operation, "gen_ai.agent.name": agent_name}
    if conversation is not None:
        attributes["gen_ai.conversation.id"] = conversation
    if user is not None:
        attributes["gen_ai.input.messages"] = json.dumps([text("user", user)])
    if reply is not None:
        attributes["gen_ai.output.messages"] = json.dumps([text("assistant", reply)])
    return span(span_id, parent, attributes={**attributes, **(more or {})}, **rest)


def chat(
    span_id: str,
    parent: str | None = None,
    *,
    input: Sequence[Mapping[str, Any]] | None = None,  # noqa: A002
    output: Sequence[Mapping[str, Any]] | None = None,
    more: Mapping[str, AttributeValue] | None = None,
    **rest: Any,
) -> Span:
    """A model call."""
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "m-1",
    }
    if input is not None:
        attributes["gen_ai.input.messages"] = json.dumps(list(input))
    if output is not None:
        attributes["gen_ai.output.messages"] = json.dumps(list(output))
    return span(span_id, parent, attributes={**attributes, **(more or {})}, **rest)


def tool(
    span_id: str,
    parent: str | None,
    name: str,
    *,
    arguments: Any = None,
    result: Any = None,
    call_id: str | None = None,
    more: Mapping[str, AttributeValue] | None = None,
    **rest: Any,
) -> Span:
    """A tool call's span."""
    attributes: dict[str, AttributeValue] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    if arguments is not None:
        attributes["gen_ai.tool.call.arguments"] = json.dumps(arguments)
    if result is not None:
        attributes["gen_ai.tool.call.result"] = result if isinstance(result, str) else json.dumps(result)
    if call_id is not None:
        attributes["gen_ai.tool.call.id"] = call_id
    return span(span_id, parent, attributes={**attributes, **(more or {})}, **rest)
