"""What alerting keeps: who may decide and notify, what the detectors know, incidents, and notifications not sent yet.

One process at a time holds the lease. Clocks of machines are never compared: a holder counts up ``beat``, and who waits
takes over when, by its own clock that never jumps, the row has stayed as it is for the length of the lease (as the lock
client of Amazon DynamoDB does). Every write of the holder names its ``fence`` in the same transaction, so that one who
was thought dead changes nothing any more.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Select, and_, case, delete, func, insert, select, update

from aem_monitor.errors import LeaseLostError, StoreError
from aem_monitor.store import schema
from aem_monitor.store.codec import dump_json
from aem_monitor.store.outbox import ALERTING, oldest
from aem_monitor.store.records import RevisionKey, Waiting
from aem_monitor.store.transactions import Transactions

_LEASE: Final = schema.alert_lease
_OUTBOX: Final = schema.outbox
_INCIDENTS: Final = schema.incidents
_NOTIFICATIONS: Final = schema.notifications


@dataclass(frozen=True, slots=True)
class Lease:
    """Who may decide and notify (``holder`` is empty: nobody), by which right, and a count that shows that it lives."""

    holder: str
    fence: int
    beat: int


@dataclass(frozen=True, slots=True)
class Incident:
    """One thing that went wrong, the ``number``-th with its key. Times in seconds since the epoch; open while
    ``resolved_at`` is None. ``body`` is what was said of it last, as ``alerting.notification`` writes it."""

    dedup_key: str
    number: int
    agent: str
    opened_at: float
    resolved_at: float | None
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Notification:
    """What a receiver has to be told; ``event`` is ``triggered``, ``updated``, ``resolved``, ``change`` or ``test``."""

    receiver: str
    dedup_key: str
    event: str
    created_at: float
    body: Mapping[str, Any]
    position: int = -1
    """Its place in the queue of the receiver, given by the store."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What follows from some verdicts, stored whole or not at all."""

    taken: Sequence[RevisionKey] = ()
    states: Mapping[str, bytes] | None = None
    incidents: Sequence[Incident] = ()
    notifications: Sequence[Notification] = ()


class AlertStore(Transactions):
    """Methods that take a lease raise ``LeaseLostError`` when another process has it, and have then changed nothing."""

    # The lease

    def alert_lease(self) -> Lease | None:
        """As it is now; None when nobody ever had it."""

        def read(connection: Connection) -> Lease | None:
            row = connection.execute(select(_LEASE).where(_LEASE.c.name == ALERTING)).first()
            return None if row is None else Lease(row.holder, row.fence, row.beat)

        return self._read("look up the lease of alerting", read)

    def take_alert_lease(self, holder: str, seen: Lease | None) -> Lease | None:
        """Take the lease if it still is as it was ``seen``; None when it is not."""

        def write(connection: Connection) -> Lease | None:
            if seen is None:
                connection.execute(insert(_LEASE).values(name=ALERTING, holder=holder, fence=1, beat=0))
                return Lease(holder, 1, 0)
            same = and_(_LEASE.c.name == ALERTING, _LEASE.c.fence == seen.fence, _LEASE.c.beat == seen.beat)
            taken = update(_LEASE).where(same).values(holder=holder, fence=seen.fence + 1, beat=seen.beat + 1)
            if not connection.execute(taken).rowcount:
                return None
            return Lease(holder, seen.fence + 1, seen.beat + 1)

        try:
            return self._write("take the lease of alerting", write)
        except StoreError as error:
            if error.reason == "integrity":  # another was first
                return None
            raise

    def renew_alert_lease(self, lease: Lease) -> None:
        """Show that its holder lives."""
        self._write("renew the lease of alerting", lambda connection: _fenced(connection, lease))

    def release_alert_lease(self, lease: Lease) -> None:
        """Let another take it at once."""

        def write(connection: Connection) -> None:
            _fenced(connection, lease)
            connection.execute(update(_LEASE).where(_LEASE.c.name == ALERTING).values(holder=""))

        self._write("release the lease of alerting", write)

    # Verdicts and what follows from them

    def unobserved(self, limit: int) -> list[Waiting]:
        """The oldest final verdicts of all replicas that the detectors have not been told."""

        def read(connection: Connection) -> list[Waiting]:
            return oldest(connection, _OUTBOX.c.sink == ALERTING, limit)

        return self._read("look up what detectors wait for", read)

    def count_unobserved(self) -> int:
        """How many verdicts the detectors have not been told."""
        query = select(func.count()).where(_OUTBOX.c.sink == ALERTING)
        return self._read("count what detectors wait for", lambda connection: connection.execute(query).scalar_one())

    def alert_states(self) -> dict[str, bytes]:
        """What detectors know, by their names."""
        query = select(schema.alert_states)
        return self._read(
            "load the state of detectors",
            lambda connection: {row.name: bytes(row.state) for row in connection.execute(query)},
        )

    def decide(self, lease: Lease, decision: Decision) -> None:
        """Store what follows from some verdicts, in one transaction."""

        def write(connection: Connection) -> None:
            _fenced(connection, lease)
            for key in decision.taken:
                same = and_(
                    _OUTBOX.c.sink == ALERTING,
                    _OUTBOX.c.run_id == key.run_id,
                    _OUTBOX.c.dialog_version == key.dialog_version,
                    _OUTBOX.c.revision == key.revision,
                )
                connection.execute(delete(_OUTBOX).where(same))
            table = schema.alert_states
            for name, state in (decision.states or {}).items():
                if not connection.execute(update(table).where(table.c.name == name).values(state=state)).rowcount:
                    connection.execute(insert(table).values(name=name, state=state))
            for incident in decision.incidents:
                _put(connection, incident)
            for one in decision.notifications:
                _queue(connection, one)

        self._write("store what detectors found", write)

    # Incidents and notifications

    def open_incidents(self) -> list[Incident]:
        """Those that are not over, the oldest first."""
        return self._read("list incidents", lambda connection: _load(connection, still_open=True))

    def incidents(self, limit: int = 100) -> list[Incident]:
        """The newest, open or over."""
        return self._read("list incidents", lambda connection: _load(connection, still_open=False, limit=limit))

    def resolved_incidents(self, since: float, limit: int) -> list[Incident]:
        """Those that were over at ``since`` (seconds since the epoch) or later, the one that was over last first."""
        over = _INCIDENTS.c.resolved_at
        query = select(_INCIDENTS).where(over >= since).order_by(over.desc(), _INCIDENTS.c.dedup_key).limit(limit)
        return self._read("list incidents", lambda connection: _incidents(connection, query))

    def incident_number(self, dedup_key: str) -> int:
        """The highest number that an incident with this key has; 0: there was none."""
        query = select(func.max(_INCIDENTS.c.number)).where(_INCIDENTS.c.dedup_key == dedup_key)
        return self._read("look up an incident", lambda connection: connection.execute(query).scalar_one() or 0)

    def unsent(self, receiver: str, limit: int = 1) -> list[Notification]:
        """What a receiver has to be told next, in order; changes after all else, which pages somebody."""

        def read(connection: Connection) -> list[Notification]:
            query = (
                select(_NOTIFICATIONS)
                .where(_NOTIFICATIONS.c.receiver == receiver)
                .order_by(case((_NOTIFICATIONS.c.event == "change", 1), else_=0), _NOTIFICATIONS.c.position)
                .limit(limit)
            )
            return [
                Notification(row.receiver, row.dedup_key, row.event, row.created_at, json.loads(row.body), row.position)
                for row in connection.execute(query)
            ]

        return self._read("look up notifications", read)

    def count_unsent(self) -> dict[str, int]:
        """How many notifications wait, by receiver."""
        query = select(_NOTIFICATIONS.c.receiver, func.count()).group_by(_NOTIFICATIONS.c.receiver)
        return self._read(
            "count notifications", lambda connection: {row[0]: row[1] for row in connection.execute(query)}
        )

    def sent(self, lease: Lease, notification: Notification) -> None:
        """A receiver has been told, or never will be."""

        def write(connection: Connection) -> None:
            _fenced(connection, lease)
            same = and_(
                _NOTIFICATIONS.c.receiver == notification.receiver,
                _NOTIFICATIONS.c.position == notification.position,
            )
            connection.execute(delete(_NOTIFICATIONS).where(same))

        self._write("note a notification as sent", write)

    def drop_unsent(self, lease: Lease, receivers: Sequence[str]) -> None:
        """Forget what others than these receivers were to be told: they are no longer configured."""

        def write(connection: Connection) -> None:
            _fenced(connection, lease)
            connection.execute(delete(_NOTIFICATIONS).where(_NOTIFICATIONS.c.receiver.not_in(receivers)))

        self._write("forget notifications", write)


def _fenced(connection: Connection, lease: Lease) -> None:
    """Fail unless the lease is still held; count it as a sign of life. Locks the row until the transaction ends."""
    mine = and_(_LEASE.c.name == ALERTING, _LEASE.c.holder == lease.holder, _LEASE.c.fence == lease.fence)
    if not connection.execute(update(_LEASE).where(mine).values(beat=_LEASE.c.beat + 1)).rowcount:
        raise LeaseLostError("another process has taken over alerting")


def _put(connection: Connection, incident: Incident) -> None:
    same = and_(_INCIDENTS.c.dedup_key == incident.dedup_key, _INCIDENTS.c.number == incident.number)
    connection.execute(delete(_INCIDENTS).where(same))
    row = {
        "dedup_key": incident.dedup_key,
        "number": incident.number,
        "agent": json.dumps(incident.agent),
        "opened_at": incident.opened_at,
        "resolved_at": incident.resolved_at,
        "body": dump_json(incident.body),
    }
    connection.execute(insert(_INCIDENTS), row)


def _load(connection: Connection, *, still_open: bool, limit: int | None = None) -> list[Incident]:
    query = select(_INCIDENTS)
    if still_open:
        query = query.where(_INCIDENTS.c.resolved_at.is_(None)).order_by(_INCIDENTS.c.opened_at)
    else:
        query = query.order_by(_INCIDENTS.c.opened_at.desc())
    return _incidents(connection, query.limit(limit))


def _incidents(connection: Connection, query: Select[Any]) -> list[Incident]:
    return [
        Incident(row.dedup_key, row.number, json.loads(row.agent), row.opened_at, row.resolved_at, json.loads(row.body))
        for row in connection.execute(query)
    ]


def _queue(connection: Connection, one: Notification) -> None:
    """At the end of its receiver's queue. An update takes the place of one that waits behind it: only the last one
    tells something new."""
    receiver = _NOTIFICATIONS.c.receiver == one.receiver
    if one.event == "updated":
        older = and_(receiver, _NOTIFICATIONS.c.dedup_key == one.dedup_key, _NOTIFICATIONS.c.event == "updated")
        connection.execute(delete(_NOTIFICATIONS).where(older))
    # Only the holder of the lease, whose row is locked, gives places.
    last = connection.execute(select(func.max(_NOTIFICATIONS.c.position)).where(receiver)).scalar_one()
    row = {
        "receiver": one.receiver,
        "position": 0 if last is None else last + 1,
        "dedup_key": one.dedup_key,
        "event": one.event,
        "created_at": one.created_at,
        "body": dump_json(one.body),
    }
    connection.execute(insert(_NOTIFICATIONS), row)
