"""Open conversations and the state of their runs."""

from dataclasses import dataclass, field

from aem_monitor.golden.play import Run
from aem_monitor.golden.recognise import Recognition
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.verdict import RunResult


@dataclass(slots=True)
class RunState:
    """One run from its first span to its last revision. Times are wall clock seconds.

    ``provisional`` is the verdict since the run is complete, None before; ``final`` the one that was counted.
    """

    run_id: str
    opened_at: float
    run: Run
    changed: bool = True
    provisional: RunResult | None = None
    final: RunResult | None = None
    final_at: float = 0.0

    @property
    def is_final(self) -> bool:
        """Whether the run has been counted."""
        return self.final is not None


@dataclass(slots=True)
class OpenConversation:
    """A conversation as last assembled, what was recognised in it, and its runs in time order."""

    conversation: Conversation
    recognition: Recognition
    runs: list[RunState] = field(default_factory=list)
