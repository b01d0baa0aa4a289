"""What an operator may configure about assembly. The defaults follow the attributes that instrumentations write."""

from dataclasses import dataclass

_APPLICATION_IDS = (
    *("session_id", "sessionId", "session.id", "thread_id", "threadId"),
    *("conversation_id", "conversationId", "chat_id", "chatId"),
)


@dataclass(frozen=True, slots=True)
class AssemblySettings:
    """Attribute lists in order of precedence, and rules for names and errors.

    ``conversation_id``: the first attribute that any span of the exchange carries wins. ``rejected_id_prefixes`` begin
    values that are no conversation: scrubbed ones, response ids that change with each call. ``release`` and ``agent``:
    attributes in order, ``resource:NAME`` is one of the agent's resource. ``tool_separators`` split a tool's name into
    tool and action, the first one found; ``tool_prefixes`` are removed before. ``error_prefixes`` begin the result text
    of a failed call. ``answer_tools`` are calls by which a framework answers. An ``end_marker`` counts unless false.

    ``thread.id`` is no conversation id: OpenTelemetry's Java agent writes the number of the operating system's thread
    there, on every span.
    """

    conversation_id: tuple[str, ...] = (
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
    rejected_id_prefixes: tuple[str, ...] = ("[scrubbed", "[redacted", "<redacted", "[filtered", "***", "resp_")
    release: tuple[str, ...] = (
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
    agent: tuple[str, ...] = ("resource:service.name", "gen_ai.agent.name")
    dialog_id: tuple[str, ...] = ("aem.dialog.id", "test.case.name")
    run_id: tuple[str, ...] = ("aem.run.id",)
    end_marker: tuple[str, ...] = ("aem.run.end",)
    error_prefixes: tuple[str, ...] = ("Error:",)
    tool_separators: tuple[str, ...] = (".", "__")
    tool_prefixes: tuple[str, ...] = ("functions.", "mcp__")
    answer_tools: tuple[str, ...] = ("final_answer", "final_result", "set_model_response")

    def split_tool(self, name: str) -> tuple[str, str | None]:
        """Tool and action of a whole name: ``reports.FilterData``, ``reports__FilterData``, ``mcp__server__tool``.

        A name without a separator, or with nothing on one side of it, is a tool without an action.
        """
        for prefix in self.tool_prefixes:
            if name.startswith(prefix) and len(name) > len(prefix):
                name = name[len(prefix) :]
                break
        for separator in self.tool_separators:
            tool, found, action = name.partition(separator)
            if found and tool and action:
                return tool, action
        return name, None

    @property
    def markers(self) -> tuple[str, ...]:
        """The attribute names that the prefilter must let pass, beside the conventions' own."""
        named = (*self.conversation_id, *self.dialog_id, *self.run_id, *self.end_marker)
        return tuple(dict.fromkeys(name for name in named if not name.startswith("resource:")))
