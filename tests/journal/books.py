"""Journals as the tests use them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from aem_monitor.journal.journal import Journal, Ticket
from aem_monitor.journal.record import Record
from aem_monitor.journal.settings import JournalSettings
from aem_monitor.metrics.registry import Metrics


@dataclass
class Book:
    """One process' life of a journal, under clocks that the test moves. ``handed`` is what it handed on.

    ``ahead`` is by how much the wall clock differs from the time that passes.
    """

    path: Path
    now: float = 1000.0
    settings: dict[str, Any] = field(default_factory=dict)
    takes: bool = True
    ahead: float = 0.0
    handed: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.metrics = Metrics(CollectorRegistry())
        settings = JournalSettings(self.path, **self.settings)
        self.journal = Journal(settings, self.metrics, lambda: self.now + self.ahead, lambda: self.now)
        self.journal.open()

    def write(self, body: bytes = b"body", head: bytes = b"head") -> Ticket | None:
        """Append, hand on, flush."""
        ticket = self.journal.append(head, body, self.now, self._deliver, 5.0)
        if ticket is not None:
            self.journal.commit(ticket)
        return ticket

    def _deliver(self, segment: int, index: int) -> bool:
        if self.takes:
            self.handed.append((segment, index))
        return self.takes

    def read(self) -> list[Record]:
        """What an earlier process has left."""
        return [entry.record for entry in self.journal.replay()]

    def bodies(self) -> list[bytes]:
        return [record.body for record in self.read()]

    def release_all(self) -> None:
        """Nothing that was handed on is needed."""
        ends: dict[int, int] = {}
        for segment, index in self.handed:
            ends[segment] = max(ends.get(segment, 0), index + 1)
        self.journal.release(ends)

    def keep(self, needed: Collection[int] | None = ()) -> None:
        self.journal.keep(lambda: needed)

    def segments(self) -> list[Path]:
        return sorted(self.path.glob("*.segment"))

    def count(self, name: str, **labels: str) -> float:
        return self.metrics.counter(f"aem_monitor_journal_{name}_total", **labels).value

    def killed(self) -> None:
        """The process is gone without having closed anything, and its lock with it."""
        self.journal._folder.close()

    def restarted(self, **settings: Any) -> "Book":
        """The next process."""
        self.killed()
        return Book(self.path, self.now, settings or self.settings)


def written(book: Book, bodies: Iterable[bytes]) -> list[bytes]:
    kept = list(bodies)
    for body in kept:
        assert book.write(body) is not None
    return kept
