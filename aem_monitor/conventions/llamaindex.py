"""LlamaIndex's agent workflows in OpenInference: CHAIN spans whose values are reprs of workflow events.

The run (``FunctionAgent.run``) begins with an ``AgentWorkflowStartEvent``; what the user said is in the event that
``setup_agent`` is given, what the agent said in that of ``parse_agent_output``. A span's own output is cut after 200
characters.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Final

from aem_monitor.conventions.messages import NO_MESSAGES, Messages, Role, read_messages
from aem_monitor.conventions.observations import opened
from aem_monitor.conventions.reading import SpanKind
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.span import Span

_SCOPE: Final = "openinference.instrumentation.llama_index"
_LONGEST_REPR: Final = 200_000
_LITERAL: Final = r"""'(?:[^'\\]|\\.)*(?:'|\\?\Z)|"(?:[^"\\]|\\.)*(?:"|\\?\Z)"""
_TOKEN: Final = re.compile(
    rf"ChatMessage\(role=<MessageRole\.\w+: '(?P<role>\w+)'>|TextBlock\(block_type='text', text=(?P<text>{_LITERAL})"
    rf"|{_LITERAL}",
    re.DOTALL,
)


def read_workflow(span: Span) -> tuple[SpanKind, Messages, Messages] | None:
    """Kind, input and output of a workflow's run or of a step that tells what was said; None for any other span."""
    if span.scope.name != _SCOPE:
        return None
    given, _ = opened(span.attributes.get("input.value"))
    if not isinstance(given, Mapping):
        return None
    started = given.get("start_event")
    if isinstance(started, str) and started.startswith("AgentWorkflowStartEvent("):
        return SpanKind.AGENT, NO_MESSAGES, NO_MESSAGES
    event = given.get("ev")
    if not isinstance(event, str):
        return None
    if span.name.endswith(".setup_agent") and event.startswith("AgentInput("):
        return SpanKind.MODEL, _messages(event), NO_MESSAGES
    if span.name.endswith(".parse_agent_output") and event.startswith("AgentOutput(response=ChatMessage("):
        said = _messages(event).items[:1]
        return SpanKind.MODEL, NO_MESSAGES, Messages(said) if said and said[0].parts else NO_MESSAGES
    return None


def _messages(event: str) -> Messages:
    """The chat messages in an event's repr. Texts in it that look like a message are passed over with their quotes."""
    found: list[tuple[str, list[JSON]]] = []
    for token in _TOKEN.finditer(event[:_LONGEST_REPR]):
        if token["role"]:
            found.append((token["role"], []))
        elif token["text"] and found and (text := _unquoted(token["text"])):
            found[-1][1].append({"type": "text", "text": text})
    listed: Sequence[JSON] = [{"role": role, "content": blocks} for role, blocks in found]
    return read_messages(listed, Role.USER) if listed else NO_MESSAGES


def _unquoted(literal: str) -> str:
    """A Python string's value; nothing for one that was cut."""
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""
