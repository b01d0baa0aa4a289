"""Spans of a small agent, made by the real OpenTelemetry SDK after the GenAI semantic conventions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of the agent."""

    tool: str
    arguments: Mapping[str, object]
    result: object


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user says, what the agent calls, what it answers."""

    user: str
    response: str
    calls: Sequence[Call] = field(default_factory=tuple)


GREETING = Turn(user="Hello", response="Hello, how may I help?")


def _messages(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def agent_spans(
    conversation: str = "c-1",
    turns: Sequence[Turn] = (GREETING,),
    release: str = "1.0.0",
    service: str = "shop",
    attributes: Mapping[str, str] | None = None,
) -> list[ReadableSpan]:
    """The finished spans of one conversation, one trace a turn, in the order in which the SDK exports them."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": service, "service.version": release}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("shop.agent", release)
    for turn in turns:
        with tracer.start_as_current_span(f"invoke_agent {service}") as root:
            root.set_attributes(
                {
                    "gen_ai.operation.name": "invoke_agent",
                    "gen_ai.agent.name": service,
                    "gen_ai.conversation.id": conversation,
                    "gen_ai.request.model": "model-of-tests",
                    "gen_ai.input.messages": _messages("user", turn.user),
                    "gen_ai.output.messages": _messages("assistant", turn.response),
                    **(attributes or {}),
                }
            )
            for number, call in enumerate(turn.calls):
                with tracer.start_as_current_span(f"execute_tool {call.tool}") as span:
                    span.set_attributes(
                        {
                            "gen_ai.operation.name": "execute_tool",
                            "gen_ai.tool.name": call.tool,
                            "gen_ai.tool.call.id": f"call-{number}",
                            "gen_ai.tool.call.arguments": json.dumps(call.arguments),
                            "gen_ai.tool.call.result": json.dumps(call.result),
                        }
                    )
    provider.shutdown()
    return list(exporter.get_finished_spans())
