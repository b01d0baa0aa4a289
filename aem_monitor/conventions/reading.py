"""``SpanReading``: what one span says, in words that all conventions share.

A reading repeats what the span carries and decides nothing that needs a second span. A tool span without arguments, a
call that only a model output names, the same call as two nested spans, a history repeated in every model input: all of
it goes into readings as it is, and ``assembly`` makes one conversation of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from aem_monitor.conventions.messages import NO_MESSAGES, Message, Messages
from aem_monitor.conventions.tooldefinitions import NO_TOOLS, ToolDefinitions
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON


class SpanKind(StrEnum):
    """What a span stands for.

    RUN is a runner's entry point around agents (``invoke_workflow``, ``handle_conversation_turn``), AGENT one agent's
    invocation, MODEL one model call, TOOL one tool call. STEP lies between (a loop cycle, a chain): its messages are
    evidence for calls and results, never the start of a turn. OTHER is agent telemetry without any part in a turn
    (``create_agent``, embeddings, ``tools/list``); its ids still count. REPORT is an operation on a conversation that a
    server keeps: what it tells belongs to the run that it names, wherever the span stands.
    """

    RUN = "run"
    AGENT = "agent"
    MODEL = "model"
    TOOL = "tool"
    STEP = "step"
    OTHER = "other"
    REPORT = "report"


@dataclass(frozen=True, slots=True)
class ToolReading:
    """What a tool span says about its call.

    ``tool`` and ``action`` are an explicit pair (an MCP server and its tool), else None and split from ``name`` by
    rule. ``arguments`` None and ``result`` NOT_CAPTURED: not on this span, the model's messages may have them. ``bare``
    is an argument value that lost its key. ``result`` is free of the framework's wrapping. ``failed``: the result
    itself says so (``isError``). ``transport``: the span is a protocol's view of a call (an MCP client or server), the
    same call as a tool span above it. ``handoff``: control passes to another agent.
    """

    name: str
    call_id: str | None = None
    tool: str | None = None
    action: str | None = None
    arguments: Mapping[str, JSON] | None = None
    arguments_truncated: bool = False
    bare: Captured = NOT_CAPTURED
    result: Captured = NOT_CAPTURED
    result_truncated: bool = False
    failed: bool = False
    transport: bool = False
    handoff: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What an operation on a server's conversation tells: one message, or the calls of one step.

    ``run`` is None for what the user put in: it belongs to the next run. ``at`` is the server's time of the step as ISO
    text, None where not told. ``listed``: read from the server, perhaps long after and again and again.
    """

    message: Message
    run: str | None = None
    message_id: str | None = None
    at: str | None = None
    listed: bool = False


@dataclass(frozen=True, slots=True)
class SpanReading:
    """What one span says.

    ``input`` and ``output`` are the messages that went in and came out, histories included: assembly takes the last
    user text of an input, and of the output the last assistant text. For an AGENT or RUN span ``output`` may hold the
    whole run. ``evidence`` holds further messages (a loop step's) that name calls and results. ``run`` is the server's
    id of the run that the span is or asks about, ``reports`` what a REPORT tells. ``error`` is the failure text
    (possibly ``""``), None when the span does not say that it failed. ``derived`` holds attributes that are hidden
    in structured values (``metadata`` JSON) or have to be corrected; they go before the span's own of the same name,
    None hides one. ``blocks``: the emitter wraps all tool results in Bedrock blocks. ``nested`` repeats
    ``gen_ai.invocation.is_nested``. ``tools``: the definitions of the agent's tools, as far as the span has them.
    """

    convention: str
    kind: SpanKind
    input: Messages = NO_MESSAGES
    output: Messages = NO_MESSAGES
    evidence: Messages = NO_MESSAGES
    tool: ToolReading | None = None
    agent_name: str | None = None
    request_model: str | None = None
    response_model: str | None = None
    finish_reasons: tuple[str, ...] = ()
    response_id: str | None = None
    previous_response_id: str | None = None
    error: str | None = None
    nested: bool | None = None
    blocks: bool = False
    run: str | None = None
    reports: tuple[Report, ...] = ()
    derived: Mapping[str, str | None] = field(default_factory=dict)
    tools: ToolDefinitions = NO_TOOLS
