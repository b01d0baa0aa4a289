"""What a sink is."""

from collections.abc import Sequence
from typing import Protocol

from aem_monitor.store.records import StoredRun


class Sink(Protocol):
    """Takes final verdicts, at least once each. Its methods are called by one thread at a time."""

    @property
    def name(self) -> str:
        """Its key in the configuration, and its name in the outbox: never another one."""

    def open(self) -> None:
        """Make ready to take. Raises ``SinkError`` where that cannot be; ``take`` then tries it again."""

    def take(self, verdicts: Sequence[StoredRun]) -> None:
        """Take all of them for good: when this returns, neither a crash nor a power cut takes one back.

        Also called with none, about once a second, for what is due by time. Raises ``SinkError`` with how many were
        taken; the others are offered again. Raises ``RefusedVerdictError`` for one that is never to be offered again.
        """

    def close(self) -> None:
        """Let go of what is held. Idempotent."""
