"""Configuration of how spans become conversations, and of how long and how much the engine holds."""

from typing import Final

from pydantic import Field

from aem_monitor.config.section import Section, Texts
from aem_monitor.config.units import Duration, Size

_APPLICATION_IDS: Final = (
    "session_id",
    "sessionId",
    "thread_id",
    "threadId",
    "conversation_id",
    "conversationId",
    "chat_id",
)
_CONVERSATION_IDS: Final = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "gen_ai.thread.id",
    "gcp.vertex.agent.session_id",
    "langsmith.metadata.thread_id",
    "langsmith.metadata.session_id",
    "langsmith.metadata.conversation_id",
    *(f"traceloop.association.properties.{name}" for name in _APPLICATION_IDS),
    *(f"ai.telemetry.metadata.{name}" for name in _APPLICATION_IDS),
    *(f"ai.settings.context.{name}" for name in _APPLICATION_IDS),
    "metadata.thread_id",
    "metadata.session_id",
    "metadata.conversation_id",
    "conversation.id",
)
_RELEASES: Final = (
    "resource:service.version",
    "gen_ai.agent.version",
    "langfuse.release",
    "release",
    "langsmith.metadata.release",
    "traceloop.association.properties.release",
    "ai.telemetry.metadata.release",
    "ai.settings.context.release",
    "metadata.release",
    "langfuse.version",
    "resource:vcs.ref.head.revision",
    "resource:k8s.deployment.name",
    "resource:container.image.tags",
)


class ToolNames(Section):
    """How a tool name that holds an action is split: `reports.FilterData`, `mcp__server__tool`."""

    separators: Texts = Field(
        (".", "__"),
        description="Tried in this order; the first one found inside the name splits it, once.",
    )
    drop_prefixes: Texts = Field(("functions.", "mcp__"), description="Prefixes removed before the name is split.")


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
        _CONVERSATION_IDS, min_length=1, description="Attributes that name the conversation."
    )
    rejected_id_prefixes: Texts = Field(
        ("[scrubbed", "[redacted", "<redacted", "[filtered", "***", "resp_"),
        description="A value that begins so names no conversation: scrubbed ones, ids that change with every call.",
    )
    release: Texts = Field(_RELEASES, min_length=1, description="Attributes that name the agent's release.")
    agent: Texts = Field(
        ("resource:service.name", "gen_ai.agent.name"), min_length=1, description="Attributes that name the agent."
    )
    dialog_id: Texts = Field(
        ("aem.dialog.id", "test.case.name"), description="Attributes that name the golden dialog that is being played."
    )
    run_id: Texts = Field(("aem.run.id",), description="Attributes that tell several plays of one dialog apart.")
    end_marker: Texts = Field(
        ("aem.run.end",), description="Attributes that end the conversation at once (the grace still follows)."
    )
    error_prefixes: Texts = Field(
        ("Error:",), description="A tool result that is a text beginning so is a failed call."
    )
    tool_names: ToolNames = Field(default_factory=ToolNames)
    answer_tools: Texts = Field(
        ("final_answer", "final_result"),
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
    remembered_traces: int = Field(
        200_000, gt=0, description="Finished traces remembered, so that repeated spans are known."
    )
    pending: Pending = Field(default_factory=Pending)
