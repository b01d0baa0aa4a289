"""Configuration of how spans become conversations."""

from pydantic import Field

from aem_monitor.config.section import Section, Texts
from aem_monitor.config.units import Duration, Size


class ToolNames(Section):
    """How a tool name that holds an action is split: `reports.FilterData`, `mcp__server__tool`."""

    separators: Texts = Field(
        (".", "__"), description="Tried in this order; the first one found inside the name splits it, once."
    )
    drop_prefixes: Texts = Field(("mcp__",), description="Prefixes removed before the name is split.")


class Pending(Section):
    """Traces that may still become a run are kept within these bounds; one past them is dropped and counted."""

    max_age: Duration = Field(600.0, gt=0, description="Longest wait for the rest of a trace, in event time.")
    max_bytes: Size = Field(256 * 2**20, gt=0, description="Most bytes held; the oldest trace is dropped first.")
    max_traces: int = Field(50_000, gt=0, description="Most traces held.")


class Assembly(Section):
    """How traces are joined to conversations, and when a conversation is complete."""

    conversation_id: Texts = Field(
        (
            "gen_ai.conversation.id",
            "session.id",
            "conversation.id",
            "langfuse.session.id",
            "langsmith.trace.session_id",
            "traceloop.association.properties.session_id",
        ),
        min_length=1,
        description="Span or resource attributes that name the conversation, highest precedence first.",
    )
    release: Texts = Field(
        ("service.version",), min_length=1, description="Resource attributes that name the agent's release."
    )
    agent: Texts = Field(("service.name",), min_length=1, description="Resource attributes that name the agent.")
    dialog_id: Texts = Field(
        ("aem.dialog.id", "test.case.name"), description="Attributes that name the golden dialog being played."
    )
    error_prefixes: Texts = Field(
        ("Error:",), description="A tool result that is a text beginning so is a failed call."
    )
    tool_names: ToolNames = Field(default_factory=ToolNames)
    end_marker: str | None = Field(
        None, description="Attribute that, set to true on a span, ends the conversation at once (plus the grace)."
    )
    idle: Duration = Field(60.0, gt=0, description="A conversation without spans for this long in event time is over.")
    grace: Duration = Field(
        10.0, description="How long a complete run waits for late spans before its verdict is final, in event time."
    )
    play_gap: Duration = Field(
        1800.0, gt=0, description="A pause this long within one conversation separates two plays of a dialog."
    )
    wall_idle: Duration = Field(
        30.0,
        gt=0,
        description="A partition or OTLP sender that is silent for this long by the wall clock no longer holds event "
        "time back.",
    )
    late_window: Duration = Field(
        600.0, gt=0, description="How long a finished run is remembered, so that a late span revises it."
    )
    max_conversations: int = Field(
        10_000,
        gt=0,
        description="Most conversations held; beyond it the oldest is scored as far as it goes (`partial`).",
    )
    pending: Pending = Field(default_factory=Pending)
