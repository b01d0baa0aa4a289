"""Open conversations, and the state of their runs."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from aem_monitor.golden.play import Run
from aem_monitor.golden.recognise import Recognition
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.verdict import RunResult
from aem_monitor.store.records import StoredPlay


@dataclass(slots=True)
class RunState:
    """One run from its first span to its last revision. Times are wall clock seconds.

    ``run_id`` stays what it was when the run became final, whatever comes later. ``provisional`` is the verdict since
    the run is complete (``complete_since``), None before; ``final`` the one that was counted. ``changed``: spans came
    that the last verdict does not know. ``stored_before`` marks a run that was final before this process knew of it, of
    which only a part may have been read again: it is never judged anew. Nor is an ``expired`` one, cut at its greatest
    age. ``unsure``: storing failed, and may have succeeded all the same. ``asked_at`` is when an expert was first asked
    something that the verdict waits for, None when it waits for nothing. ``cell`` is the number of the cell in which it
    was last found.
    """

    run_id: str
    opened_at: float
    run: Run
    cell: int = 0
    changed: bool = True
    complete_since: float = math.inf
    provisional: RunResult | None = None
    final: RunResult | None = None
    final_at: float = 0.0
    stored_before: bool = False
    unsure: bool = False
    expired: bool = False
    asked_at: float | None = None
    partial: bool = False

    @property
    def is_final(self) -> bool:
        """Whether the run has been counted."""
        return self.stored_before or self.final is not None

    @property
    def may_be_revised(self) -> bool:
        """Whether all that belongs to the final run is held, and more of it counts."""
        return not self.stored_before and not self.expired

    @property
    def is_complete(self) -> bool:
        """Whether there is a verdict, which fixes the version of the dialog."""
        return self.is_final or self.provisional is not None


@dataclass(slots=True)
class OpenConversation:
    """A conversation as last assembled, what was recognised in it, and its runs in time order.

    ``fragment``: some of it is a late piece of a run that was stored before, and no run of its own.
    """

    conversation: Conversation
    recognition: Recognition
    runs: list[RunState] = field(default_factory=list)
    fragment: bool = False


class RunBook:
    """All runs whose traces are held, by id and by trace."""

    def __init__(self) -> None:
        self._by_id: dict[str, RunState] = {}
        self._traces: dict[str, set[str]] = {}
        self._by_trace: dict[str, set[str]] = {}

    def get(self, run_id: str) -> RunState | None:
        """The run, if it is held."""
        return self._by_id.get(run_id)

    def keep(self, state: RunState) -> None:
        """Hold the run while any of its traces is held."""
        self._by_id[state.run_id] = state
        known = self._traces.setdefault(state.run_id, set())
        for trace_id in state.run.trace_ids:
            if trace_id not in known:
                known.add(trace_id)
                self._by_trace.setdefault(trace_id, set()).add(state.run_id)

    def of_traces(self, trace_ids: Iterable[str]) -> list[RunState]:
        """The runs that have any of these traces, in order of opening."""
        ids = {run_id for trace_id in trace_ids for run_id in self._by_trace.get(trace_id, ())}
        return sorted((self._by_id[run_id] for run_id in ids), key=lambda state: (state.opened_at, state.run_id))

    def drop(self, state: RunState) -> None:
        """Forget one run."""
        self._by_id.pop(state.run_id, None)
        for trace_id in self._traces.pop(state.run_id, ()):
            self._unlink(trace_id, state.run_id)

    def forget_traces(self, trace_ids: Collection[str]) -> None:
        """The traces are no longer held; runs without any other are gone with them."""
        for trace_id in trace_ids:
            for run_id in list(self._by_trace.get(trace_id, ())):
                traces = self._traces[run_id]
                traces.discard(trace_id)
                self._unlink(trace_id, run_id)
                if not traces:
                    del self._traces[run_id]
                    del self._by_id[run_id]

    def _unlink(self, trace_id: str, run_id: str) -> None:
        ids = self._by_trace.get(trace_id)
        if ids is not None:
            ids.discard(run_id)
            if not ids:
                del self._by_trace[trace_id]

    def open_count(self) -> int:
        """Runs without a final verdict."""
        return sum(not state.is_final for state in self._by_id.values())

    def oldest_open(self) -> float:
        """When the oldest of them was opened; 0 without any."""
        return min((state.opened_at for state in self._by_id.values() if not state.is_final), default=0.0)


def same_play(run: Run, state: RunState) -> bool:
    """Whether a run, as it looks now, is the play that ``state`` stands for."""
    other = state.run
    return _same_conversation(
        run.conversation, other.conversation.agent, other.conversation.conversation_id
    ) and _overlap(run, other.first_ns, other.last_ns)


def same_stored_play(run: Run, play: StoredPlay) -> bool:
    """Whether a run is one that is stored. To be asked of plays that share a trace with the run."""
    return _same_conversation(run.conversation, play.agent, play.conversation_id) and _overlap(
        run, play.started_ns, play.ended_ns
    )


def _same_conversation(conversation: Conversation, agent: str, conversation_id: str | None) -> bool:
    """One trace of a test driver may hold many conversations: their ids tell them apart, else their agents."""
    if conversation.conversation_id is not None and conversation_id is not None:
        return conversation_id == conversation.conversation_id or conversation_id in conversation.aliases
    return conversation.agent == agent


def _overlap(run: Run, started_ns: int, ended_ns: int) -> bool:
    return run.first_ns == started_ns or max(run.first_ns, started_ns) < min(run.last_ns, ended_ns)
