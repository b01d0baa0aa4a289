"""What one trace says: the values that a live engine may keep a trace and join again cheaply."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aem_monitor.assembly.told import PartKind
from aem_monitor.model.conversation import Response, ToolCall, ToolSchema, UserMessage
from aem_monitor.model.jsonvalue import AttributeValue


@dataclass(frozen=True, slots=True)
class IdCandidate:
    """A conversation id found on a span; ``rank`` is the place of its attribute in the configured precedence."""

    rank: int
    value: str


@dataclass(frozen=True, slots=True)
class ExchangeReading:
    """What one trace says about one exchange (or a part of it, where each model call is a trace of its own).

    ``own_id`` is the best id on the exchange's own spans, without those above it. ``history`` are the user and
    assistant texts that came before the user's message, as the first model input repeats them; None when no input was
    captured. ``answers`` are call ids whose results stand behind the last user message of the first model input: they
    tell that this is the continuation of an exchange. ``user_uncertain``: the user's text comes from a cut history and
    may be an older one. ``agentless``: no agent or runner span, only model and tool calls. ``parent`` is the span that
    the outermost spans share. ``runs`` are the ids of the runs on a server that the exchange is, None when it runs on
    none. ``part``: all that this trace has are operations beside the run, see ``PartKind``; no exchange of its own.
    ``asked`` is what the user's own span above the agent says was said, where a driver of canaries left one.
    ``tool_schemas`` are those that any span of the trace states, by the names that it gives the tools.
    """

    trace_id: str
    span_id: str
    parent: str | None
    agent: str
    agent_name: str | None
    instance: str
    release: str | None
    model: str | None
    user: UserMessage
    calls: tuple[ToolCall, ...]
    response: Response | None
    start_ns: int
    end_ns: int
    root_seen: bool
    missing_parents: bool
    agentless: bool
    ids: tuple[IdCandidate, ...] = ()
    own_id: str | None = None
    history: tuple[tuple[str, str], ...] | None = None
    user_uncertain: bool = False
    answers: frozenset[str] = frozenset()
    response_ids: frozenset[str] = frozenset()
    previous_response_ids: frozenset[str] = frozenset()
    dialog_ids: tuple[str, ...] = ()
    run_ids: tuple[str, ...] = ()
    ended: bool = False
    runs: frozenset[str] | None = None
    part: PartKind | None = None
    asked: str | None = None
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    tool_schemas: tuple[ToolSchema, ...] = ()

    @property
    def key(self) -> str | None:
        """The conversation id of highest precedence, None without one."""
        return self.ids[0].value if self.ids else None

    @property
    def call_ids(self) -> frozenset[str]:
        """The ids of the exchange's calls."""
        return frozenset(call.call_id for call in self.calls if call.call_id)


@dataclass(frozen=True, slots=True)
class TraceReading:
    """All exchanges of one trace. ``spans`` counts its distinct spans, ``agent_spans`` those that a convention knows.

    ``first_ns`` and ``last_ns`` span the agent's spans. ``unread_tools`` counts, by cause, the spans of which some
    definition of a tool could not be read.
    """

    trace_id: str
    exchanges: tuple[ExchangeReading, ...]
    first_ns: int
    last_ns: int
    spans: int
    agent_spans: int
    unread_tools: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_turns(self) -> bool:
        """Whether the trace holds any part of a conversation."""
        return bool(self.exchanges)

    @property
    def conversation_key(self) -> str | None:
        """The id of the trace's first exchange that has one."""
        return next((exchange.key for exchange in self.exchanges if exchange.key), None)

    @property
    def conversation_ids(self) -> frozenset[str]:
        """Every id by which the trace's exchanges may be joined to others."""
        return frozenset(candidate.value for exchange in self.exchanges for candidate in exchange.ids)

    @property
    def dialog_ids(self) -> tuple[str, ...]:
        """Explicit golden dialog ids."""
        return tuple(dict.fromkeys(name for exchange in self.exchanges for name in exchange.dialog_ids))

    @property
    def user_texts(self) -> tuple[str | None, ...]:
        """What the user said, exchange by exchange."""
        return tuple(exchange.user.text for exchange in self.exchanges)
