"""Strands Agents (scope ``strands.telemetry.tracer``), from 0.2 on: GenAI names around Bedrock content blocks.

Legacy telemetry has one event a message with JSON text of Bedrock blocks in it (the root of 0.2.1 a plain text), and
``gen_ai.choice`` on the agent span is the reply as plain text with a newline behind it. The latest opt-in has
``gen_ai.client.inference.operation.details`` events, several a span, or attributes only. A loop cycle
(``execute_event_loop_cycle``, before 1.0 a span named ``Cycle <uuid>`` without an operation) repeats what its model and
tool spans say; only they count. Tool results are always Bedrock blocks. A graph or swarm of agents runs under
``invoke_graph`` / ``invoke_swarm``; ``Agent.structured_output`` has a span of its own in place of the agent's, whose
choice is the JSON text of the object. Redaction (``gen_ai_unredacted_attributes``) leaves ``[REDACTED]`` for contents.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aem_monitor.conventions.attributes import text
from aem_monitor.conventions.genai import kind_of, read_span
from aem_monitor.conventions.genai_events import CHOICE, events_of
from aem_monitor.conventions.messages import Message, Messages, Role, read_messages
from aem_monitor.conventions.parts import TextPart
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.model.jsonvalue import Attributes
from aem_monitor.model.span import LogRecord, Span

SCOPE: Final = "strands.telemetry.tracer"
_OLD_NAMES: Final[Mapping[str, SpanKind]] = {
    "Model invoke": SpanKind.MODEL,
    "Tool: ": SpanKind.TOOL,
    "Cycle ": SpanKind.STEP,
}
_STRUCTURED: Final = "execute_structured_output"
_MULTI_AGENT: Final = frozenset({"invoke_graph", "invoke_swarm"})


class Strands:
    """Spans of the Strands tracer."""

    name = "strands"
    markers: Sequence[str] = (SCOPE, "strands-agents")

    def detect(self, span: Span) -> bool:
        """By scope; an exporter that loses scopes leaves the system's name."""
        return span.scope.name == SCOPE or (
            text(span.attributes, "gen_ai.system", "gen_ai.provider.name") == "strands-agents"
        )

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says."""
        kind = _kind(span)
        reading = read_span(self.name, span, logs, kind, blocks=True)
        if kind is SpanKind.TOOL:
            return _with_status(reading, span.attributes)
        if kind is SpanKind.STEP:
            return replace(reading, evidence=reading.evidence + _cycle_results(span, logs))
        return replace(reading, output=_stripped(reading.output))


def _kind(span: Span) -> SpanKind:
    if "event_loop.cycle_id" in span.attributes:
        return SpanKind.STEP
    if "gen_ai.operation.name" not in span.attributes:
        for prefix, kind in _OLD_NAMES.items():
            if span.name.startswith(prefix):
                return kind
        if "gen_ai.agent.name" in span.attributes or "agent.name" in span.attributes:
            return SpanKind.AGENT
    operation = text(span.attributes, "gen_ai.operation.name")
    if operation in _MULTI_AGENT:
        return SpanKind.RUN
    if operation == _STRUCTURED:
        return SpanKind.AGENT
    return kind_of(span.attributes)


def _with_status(reading: SpanReading, attributes: Attributes) -> SpanReading:
    """The tool status is an attribute of its own; the reason is in the result's text."""
    failed = text(attributes, "gen_ai.tool.status", "tool.status") == "error"
    if not failed or reading.error is not None or reading.tool is None:
        return reading
    result = reading.tool.result
    return replace(reading, error=result if isinstance(result, str) else "")


def _cycle_results(span: Span, logs: Sequence[LogRecord]) -> Messages:
    """The tool results of a cycle stand beside its choice, in ``tool.result``."""
    found = Messages()
    for event in events_of(span, logs):
        if event.name == CHOICE and event.fields.get("tool.result") is not None:
            found += read_messages(event.fields["tool.result"], Role.USER)
    return found


def _stripped(messages: Messages) -> Messages:
    """Without the newline that the agent span's reply ends with: ``str(result)`` writes one after each text."""
    items = tuple(
        Message(
            message.role,
            tuple(
                TextPart(part.text.removesuffix("\n"), part.truncated)
                if isinstance(part, TextPart) and part.text is not None
                else part
                for part in message.parts
            ),
            message.finish_reason,
        )
        for message in messages.items
    )
    return Messages(items, messages.truncated)
