"""Operations of the Azure AI Agents client as spans, written the way its instrumentor writes them."""

import json
from typing import Any

from aem_monitor.model.jsonvalue import AttributeValue
from aem_monitor.model.span import Span, SpanEvent
from tests.assembly.building import span

SCOPE = "azure.core.tracing.ext.opentelemetry_span"
THREAD = "thread_1"


def operation(name: str, span_id: str, *events: SpanEvent, parent: str | None = None, **more: Any) -> Span:
    """A span of the API; ``run`` and ``status`` are attributes, all else is the span's."""
    attributes: dict[str, AttributeValue] = {
        "gen_ai.system": "az.ai.agents",
        "gen_ai.operation.name": name,
        "gen_ai.thread.id": THREAD,
    }
    for key, attribute in (
        ("run", "gen_ai.thread.run.id"),
        ("status", "gen_ai.thread.run.status"),
        ("message_id", "gen_ai.message.id"),
        ("thread", "gen_ai.thread.id"),
    ):
        if key in more:
            attributes[attribute] = more.pop(key)
    return span(span_id, parent, scope=SCOPE, name=name, attributes=attributes, events=events, **more)


def event(name: str, content: Any = None, **attributes: AttributeValue) -> SpanEvent:
    """An event with its content as JSON text."""
    known: dict[str, AttributeValue] = {"gen_ai.thread.id": THREAD, **attributes}
    if content is not None:
        known["gen_ai.event.content"] = json.dumps(content)
    return SpanEvent(name, 0, known)


def asked(text: str | None) -> SpanEvent:
    """The user's message as created."""
    return event("gen_ai.user.message", {"role": "user"} if text is None else {"content": text, "role": "user"})


def listed(role: str, text: str, message_id: str, run: str | None = None) -> SpanEvent:
    """A message as listed."""
    more: dict[str, AttributeValue] = {"gen_ai.message.id": message_id}
    if run is not None:
        more["gen_ai.thread.run.id"] = run
    return event(f"gen_ai.{role}.message", {"content": {"text": {"value": text}}, "role": role}, **more)


def step(run: str, at: str, *calls: tuple[str, str | None, Any]) -> SpanEvent:
    """A step of a run that called tools: (call id, name, arguments); a name of None is not recorded."""
    content = []
    for call_id, name, arguments in calls:
        call: dict[str, Any] = {"id": call_id, "type": "function"}
        if name is not None:
            call["function"] = {"name": name, "arguments": arguments}
        content.append(call)
    more: dict[str, AttributeValue] = {"gen_ai.thread.run.id": run, "gen_ai.run_step.start.timestamp": at}
    return event("gen_ai.run_step.tool_calls", {"tool_calls": content}, **more)


def returned(call_id: str, value: str) -> SpanEvent:
    """A tool's result as submitted."""
    return SpanEvent("gen_ai.tool.message", 0, {"gen_ai.event.content": json.dumps({"content": value, "id": call_id})})
