"""Under which key a trace is published, so that all traces of a conversation get the same one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from aem_monitor.engine.remembered import Remembered
from aem_monitor.rekey.naming import Naming
from aem_monitor.rekey.settings import WithoutId

KeyedBy: TypeAlias = Literal["conversation_id", "agent", "trace_id"]


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a message, and what it is. ``shared``: an id of the trace was published under another key before."""

    value: str
    by: KeyedBy
    shared: bool = False


class Keys:
    """Chooses keys, and remembers under which one an id was published last.

    The key is the conversation id that the pipeline finds, the one of highest precedence: that needs no memory, so that
    all processes and all times agree. Only a trace whose best id was seen beside a better one before follows that one,
    as it does in assembly.
    """

    def __init__(self, without_id: WithoutId, remembered: int) -> None:
        self._without_id = without_id
        self._under: Remembered[str] = Remembered(remembered)

    def choose(self, trace_id: str, naming: Naming) -> Key:
        """The key of a trace, from what it says."""
        if naming.ids:
            return self._by_id(naming.ids)
        if naming.agent is not None and self._without_id == "agent":
            # As in the engine, where traces without an id can only be joined within one agent.
            return Key(naming.agent, "agent")
        return Key(trace_id, "trace_id")

    def agrees(self, key: str, naming: Naming) -> bool:
        """Whether what came late names no conversation, or one that has this key."""
        return not naming.ids or any(self._under.get(one) == key or one == key for one in naming.ids)

    def _by_id(self, ids: Sequence[str]) -> Key:
        best, *others = ids
        key = self._under.get(best) or best
        shared = False
        for one in others:
            known = self._under.get(one)
            shared = shared or (known is not None and known != key)
            # An id that was some conversation's best one stays with it.
            if known != one:
                self._under.put(one, key)
        self._under.put(best, key)
        return Key(key, "conversation_id", shared)
