"""Microsoft Agent Framework (scope ``agent_framework``; .NET ``Experimental.Microsoft.Agents.AI``): GenAI names.

With the OpenAI Responses API ``gen_ai.conversation.id`` is the id of the *previous response*, another value on each
call: it chains model calls and is no conversation. Workflows run their agents under ``workflow.run``, between plain
spans for executors, edges and messages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aem_monitor.conventions.attributes import failure, text
from aem_monitor.conventions.genai import kind_of, read_span
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.model.span import LogRecord, Span

_SCOPES: Final = ("agent_framework", "Experimental.Microsoft.Agents.AI", "Microsoft.Agents.AI")
_PROVIDER: Final = "microsoft.agent_framework"
_CONVERSATION: Final = "gen_ai.conversation.id"
_RESPONSE_PREFIX: Final = "resp_"
_WORKFLOW_RUN: Final = "workflow.run"


class AgentFramework:
    """Spans of Agent Framework's agents, clients, tools and workflows."""

    name = "agent-framework"
    markers: Sequence[str] = (*_SCOPES, "gen_ai.")

    def detect(self, span: Span) -> bool:
        """By scope, or by the provider's name."""
        provider = text(span.attributes, "gen_ai.provider.name", "gen_ai.system")
        return span.scope.name.startswith(_SCOPES) or provider == _PROVIDER

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says."""
        if "gen_ai.operation.name" not in span.attributes and "gen_ai.tool.name" not in span.attributes:
            return _workflow(self.name, span)
        reading = read_span(self.name, span, logs, kind_of(span.attributes))
        chained = text(span.attributes, _CONVERSATION)
        if chained is None or not chained.startswith(_RESPONSE_PREFIX):
            return reading
        derived: Mapping[str, str | None] = {**reading.derived, _CONVERSATION: None}
        previous = reading.previous_response_id or chained
        return replace(reading, derived=derived, previous_response_id=previous)


def _workflow(convention: str, span: Span) -> SpanReading:
    """A workflow's run is a turn's runner; building it and passing messages within it is no part of the turn."""
    if span.name.split(" ")[0] == _WORKFLOW_RUN:
        return SpanReading(
            convention, SpanKind.RUN, agent_name=text(span.attributes, "workflow.name"), error=failure(span)
        )
    return SpanReading(convention, SpanKind.OTHER)
