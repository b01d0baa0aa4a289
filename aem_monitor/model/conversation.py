"""Conversations: what user and agent exchanged, rebuilt from spans.

A value that was not captured is None (or ``NOT_CAPTURED`` where None is a value of its own); it is never an empty
string, an empty object or zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal, TypeAlias

from aem_monitor.model.jsonvalue import JSON, Attributes


class _NotCaptured(Enum):
    NOT_CAPTURED = "not captured"

    def __repr__(self) -> str:
        return "NOT_CAPTURED"


NOT_CAPTURED: Final = _NotCaptured.NOT_CAPTURED
"""Marks a tool result that the spans do not carry; a captured JSON ``null`` is None."""

Captured: TypeAlias = JSON | Literal[_NotCaptured.NOT_CAPTURED]


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the user said; starts an exchange. ``text`` is None when not captured."""

    text: str | None
    time_ns: int
    span_id: str | None = None
    trace_id: str | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, however many spans and messages reported it.

    ``tool`` and ``action`` are split by the configured rule; ``name`` is the whole name as the agent knows it.
    ``arguments`` is None when not captured. ``error`` is the failure text (possibly ``""``) or None when the call did
    not fail. Calls with the same ``round`` of one exchange were asked for by one model step. ``span_id`` is None when
    only a model output names the call (its own span is missing). ``nested`` calls belong to an agent that runs inside
    another tool call, ``handoff`` calls only pass control; neither is a turn.
    """

    name: str
    tool: str
    action: str | None
    arguments: Mapping[str, JSON] | None
    result: Captured
    error: str | None
    start_ns: int
    end_ns: int
    trace_id: str
    span_id: str | None
    call_id: str | None = None
    round: int = 0
    arguments_truncated: bool = False
    result_truncated: bool = False
    nested: bool = False
    handoff: bool = False
    agent_name: str | None = None
    release: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """The agent's reply that ends an exchange. ``error`` is not None when the reply failed."""

    text: str | None
    time_ns: int
    trace_id: str
    span_id: str | None = None
    error: str | None = None
    truncated: bool = False
    agent_name: str | None = None
    release: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One user message and everything up to the next one.

    ``response`` is None when no reply (and no root span that would have carried it) was seen. ``missing_parents``
    says that some span of the agent's own service names a parent that never came, ``root_seen`` that the outermost
    agent span arrived: together they tell whether an absent call may be called an omission. ``start_ns`` is the first
    agent span's start, ``end_ns`` the reply's end.
    """

    user: UserMessage
    calls: tuple[ToolCall, ...]
    response: Response | None
    start_ns: int
    end_ns: int
    trace_ids: tuple[str, ...]
    root_seen: bool = True
    missing_parents: bool = False

    @property
    def complete(self) -> bool:
        """Whether what is absent from this exchange really did not happen (design: not called)."""
        return (self.root_seen or self.response is not None) and not self.missing_parents

    @property
    def tool_turns(self) -> tuple[ToolCall, ...]:
        """The calls that are turns: neither nested nor hand-offs."""
        return tuple(call for call in self.calls if not call.nested and not call.handoff)


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A JSON Schema that spans state for the arguments of the tool called ``name`` (``ToolCall.name``), as canonical
    JSON text."""

    name: str
    schema: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """All exchanges that share a conversation id, in time order.

    ``key`` is unique and stable: the conversation id, else the trace id of the earliest span. ``aliases`` are further
    ids of the same conversation. ``agent`` is the service name of the agent's resource. ``release`` and ``model`` are
    those of its turns where equal, else ``"mixed"``, else None. ``dialog_ids`` are explicit golden dialog ids found on
    the spans, ``attributes`` the merged span and resource attributes that recognition may restrict by, ``ended``
    whether an explicit end marker was seen, ``last_ns`` the end of its latest span (event time). ``tool_schemas`` are
    those of its called tools, sorted; a tool may have several, where its spans do not agree.
    """

    key: str
    conversation_id: str | None
    agent: str
    release: str | None
    model: str | None
    exchanges: tuple[Exchange, ...]
    trace_ids: tuple[str, ...]
    first_ns: int
    last_ns: int
    aliases: tuple[str, ...] = ()
    dialog_ids: tuple[str, ...] = ()
    run_ids: tuple[str, ...] = ()
    attributes: Attributes = field(default_factory=dict)
    ended: bool = False
    partial: bool = False
    tool_schemas: tuple[ToolSchema, ...] = ()
