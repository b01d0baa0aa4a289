"""How a database of an earlier version becomes one of this version, step by step.

A step names the tables as they were then, never those of ``schema``: what is written once must do the same for ever.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

from aem_monitor.store.schema import Migration

_V2: Final = MetaData()

Table(
    "conversations",
    _V2,
    Column("run_id", Text, primary_key=True),
    Column("stored_at", Double, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("body", LargeBinary),
    Index("conversations_age", "stored_at"),
)

Table(
    "reviews",
    _V2,
    Column("run_id", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("dialog", Text, nullable=False),
    Column("dialog_version", Integer, nullable=False),
    Column("turn_no", Integer),
    Column("kind", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("labels", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("note", Text),
    Column("answered_at", Double, nullable=False),
    Index("reviews_age", "answered_at"),
)

_V3: Final = MetaData()

Table(
    "outbox",
    _V3,
    Column("sink", Text, primary_key=True),
    Column("replica", Text, primary_key=True),
    Column("run_id", Text, primary_key=True),
    Column("dialog_version", Integer, primary_key=True, autoincrement=False),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("stored_at", Double, nullable=False),
    Index("outbox_oldest", "sink", "replica", "stored_at"),
)

_V4: Final = MetaData()

Table(
    "alert_lease",
    _V4,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("beat", BigInteger, nullable=False),
)

Table(
    "alert_states",
    _V4,
    Column("name", Text, primary_key=True),
    Column("state", LargeBinary, nullable=False),
)

Table(
    "incidents",
    _V4,
    Column("dedup_key", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("agent", Text, nullable=False),
    Column("opened_at", Double, nullable=False),
    Column("resolved_at", Double),
    Column("body", Text, nullable=False),
    Index("incidents_resolved", "resolved_at"),
)

Table(
    "notifications",
    _V4,
    Column("receiver", Text, primary_key=True),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("dedup_key", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("body", Text, nullable=False),
)


def _conversations_and_reviews(connection: Connection) -> None:
    _V2.create_all(connection)


def _outbox(connection: Connection) -> None:
    _V3.create_all(connection)


def _alerting(connection: Connection) -> None:
    _V4.create_all(connection)


MIGRATIONS: Final[tuple[Migration, ...]] = (
    Migration(2, "conversations of final runs, and people's answers about verdicts", _conversations_and_reviews),
    Migration(3, "verdicts that sinks have not taken yet", _outbox),
    Migration(4, "incidents, and what alerting has to tell", _alerting),
)
"""Steps from version 1 on. A new database is created from the tables of ``schema`` and needs none of them."""
