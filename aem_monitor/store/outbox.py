"""The outbox: which verdicts each sink has not taken yet.

An entry is written in the transaction of its verdict and deleted once the sink has it, so that a crash at any moment
leaves no verdict out. A position in time would: transactions of several writers end in another order than they began,
and clocks go back (microservices.io/patterns/data/transactional-outbox.html).
"""

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, or_, select

from aem_monitor.errors import StoreError
from aem_monitor.model.verdict import RunResult
from aem_monitor.store import schema
from aem_monitor.store.queries import load_revisions
from aem_monitor.store.records import RevisionKey, StoredRun, Waiting
from aem_monitor.store.transactions import Transactions

_TABLE: Final = schema.outbox
ALERTING: Final = "alerting"
"""The name under which verdicts wait for the detectors; unlike sinks, one of them has those of all replicas."""

_ABANDONED_AFTER: Final = 86400.0
"""Seconds by which entries that nobody asks for outlive their runs: a sink of another replica that is at work meets
its own before, and counts them."""


class Outbox(Transactions):
    """Verdicts that sinks wait for; each replica's sinks have the verdicts that this replica stored."""

    def __init__(self, url: str, replica: str, sinks: Sequence[str]) -> None:
        """``sinks``: names of those that are fed."""
        super().__init__(url, replica)
        self.replica = replica
        self._sinks = tuple(sinks)

    def waiting(self, sink: str, limit: int) -> list[Waiting]:
        """The oldest verdicts that a sink has not taken yet."""

        def read(connection: Connection) -> list[Waiting]:
            return oldest(connection, and_(_TABLE.c.sink == sink, _TABLE.c.replica == self.replica), limit)

        return self._read("look up what a sink waits for", read)

    def count_waiting(self, sink: str) -> int:
        """How many verdicts a sink has not taken yet."""
        query = select(func.count()).where(_TABLE.c.sink == sink, _TABLE.c.replica == self.replica)
        return self._read("count what a sink waits for", lambda connection: connection.execute(query).scalar_one())

    def taken(self, sink: str, keys: Iterable[RevisionKey]) -> None:
        """A sink has these, for good."""
        rows = list(keys)

        def write(connection: Connection) -> None:
            for key in rows:
                same = and_(
                    _TABLE.c.sink == sink,
                    _TABLE.c.replica == self.replica,
                    _TABLE.c.run_id == key.run_id,
                    _TABLE.c.dialog_version == key.dialog_version,
                    _TABLE.c.revision == key.revision,
                )
                connection.execute(delete(_TABLE).where(same))

        if rows:
            self._write("note what a sink has taken", write)

    def _offer(self, connection: Connection, result: RunResult, stored_at: float) -> None:
        """Have every sink wait for a verdict that is being stored."""
        entry = {
            "replica": self.replica,
            "run_id": result.run_id,
            "dialog_version": result.dialog_version,
            "revision": result.revision,
            "stored_at": stored_at,
        }
        # Detectors are told each run once, as it was when it became final.
        observed = result.revision == 0 and not result.draft
        rows = [{"sink": sink, **entry} for sink in self._sinks if sink != ALERTING or observed]
        if rows:
            connection.execute(insert(_TABLE), rows)

    def _abandon(self, connection: Connection, before: float) -> None:
        """Forget entries that no sink will ask for: of one that is off, or of a replica that is gone."""
        of_others = or_(_TABLE.c.replica != self.replica, _TABLE.c.sink.not_in(self._sinks))
        connection.execute(delete(_TABLE).where(of_others, _TABLE.c.stored_at < before - _ABANDONED_AFTER))


def oldest(connection: Connection, which: ColumnElement[bool], limit: int) -> list[Waiting]:
    """The oldest entries that meet a condition, with their verdicts."""
    query = select(_TABLE).where(which).order_by(_TABLE.c.stored_at, _TABLE.c.run_id, _TABLE.c.revision).limit(limit)
    entries = [
        (RevisionKey(row.run_id, row.dialog_version, row.revision), row.stored_at) for row in connection.execute(query)
    ]
    found = _readable(connection, [key for key, _ in entries])
    return [
        Waiting(key, stored_at, run if isinstance(run, StoredRun) else None, _lost(run))
        for key, stored_at in entries
        for run in [found.get(key)]
    ]


def _readable(connection: Connection, keys: Sequence[RevisionKey]) -> dict[RevisionKey, StoredRun | StoreError]:
    """What is stored under each key, or why it cannot be read: one damaged row must not hold up all that follow it."""
    try:
        return {**load_revisions(connection, keys)}
    except StoreError as error:
        if len(keys) == 1:
            return {keys[0]: error}
        found: dict[RevisionKey, StoredRun | StoreError] = {}
        for key in keys:
            found |= _readable(connection, [key])
        return found


def _lost(run: StoredRun | StoreError | None) -> str | None:
    """Why a sink will not get what it waits for; None: it will."""
    if run is None:
        return "retention"
    return "corrupt" if isinstance(run, StoreError) else None
