"""Configuration of how spans become conversations, and of how long and how much the engine holds."""

from typing import Final

from pydantic import Field

from aem_monitor.assembly.settings import AssemblySettings
from aem_monitor.config.section import Section, Texts
from aem_monitor.config.units import Duration, Size

_DEFAULT: Final = AssemblySettings()


class ToolNames(Section):
    """How a tool name that holds an action is split: `reports.FilterData`, `mcp__server__tool`."""

    separators: Texts = Field(
        _DEFAULT.tool_separators,
        description="Tried in this order; the first one found inside the name splits it, once.",
    )
    drop_prefixes: Texts = Field(_DEFAULT.tool_prefixes, description="Prefixes removed before the name is split.")


class Pending(Section):
    """Traces that may still become a run are kept within these bounds; one past them is dropped and counted."""

    max_age: Duration = Field(600.0, gt=0, description="Longest wait for the rest of a trace, in event time.")
    max_bytes: Size = Field(256 * 2**20, gt=0, description="Most bytes held; the oldest trace is dropped first.")


class Assembly(Section):
    """How traces are joined to conversations, and when a conversation is complete.

    Attributes are named with the most telling one first. `resource:NAME` is an attribute of the resource, `NAME` one
    of the span.
    """

    conversation_id: Texts = Field(
        _DEFAULT.conversation_id, min_length=1, description="Attributes that name the conversation."
    )
    rejected_id_prefixes: Texts = Field(
        _DEFAULT.rejected_id_prefixes,
        description="A value that begins so names no conversation: scrubbed ones, ids that change with every call.",
    )
    release: Texts = Field(_DEFAULT.release, min_length=1, description="Attributes that name the agent's release.")
    agent: Texts = Field(_DEFAULT.agent, min_length=1, description="Attributes that name the agent.")
    dialog_id: Texts = Field(
        _DEFAULT.dialog_id, description="Attributes that name the golden dialog that is being played."
    )
    run_id: Texts = Field(_DEFAULT.run_id, description="Attributes that tell several plays of one dialog apart.")
    end_marker: Texts = Field(
        _DEFAULT.end_marker, description="Attributes that end the conversation at once (the grace still follows)."
    )
    error_prefixes: Texts = Field(
        _DEFAULT.error_prefixes, description="A tool result that is a text beginning so is a failed call."
    )
    tool_names: ToolNames = Field(default_factory=ToolNames)
    answer_tools: Texts = Field(
        _DEFAULT.answer_tools,
        description="Tools by which a framework answers; their calls are the reply, not a turn.",
    )
    idle: Duration = Field(60.0, gt=0, description="A conversation without spans for this long in event time is over.")
    grace: Duration = Field(
        10.0,
        description="How long a complete run waits for late spans before its verdict is final, in event time.",
    )
    play_gap: Duration = Field(
        1800.0, gt=0, description="A pause this long in one conversation separates two plays of a dialog."
    )
    wall_idle: Duration = Field(
        30.0,
        gt=0,
        description="A partition or OTLP sender that is silent for this long by the wall clock no longer holds event "
        "time back.",
    )
    late_window: Duration = Field(
        600.0, gt=0, description="How long a finished run is kept, so that a late span revises it."
    )
    max_run_age: Duration = Field(
        6 * 3600.0, gt=0, description="Oldest run that is held; beyond it it is scored as far as it goes."
    )
    max_conversations: int = Field(
        10_000,
        gt=0,
        description="Most conversations held; beyond it the oldest is scored as far as it goes (`partial`).",
    )
    max_traces: int = Field(100_000, gt=0, description="Most traces held, pending ones included.")
    max_uncommitted: int = Field(
        10_000_000,
        gt=0,
        description="Most offsets of a Kafka partition received since the one that its oldest unfinished run needs: "
        "what is read again after a crash. Beyond it, that run is scored as far as it goes.",
    )
    remembered_traces: int = Field(
        200_000, gt=0, description="Finished traces remembered, so that repeated spans are known."
    )
    pending: Pending = Field(default_factory=Pending)
