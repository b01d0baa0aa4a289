"""The tables, and how a database comes to have them; ``migrations`` has the steps from earlier versions.

Only types and constructs that SQLite and PostgreSQL share are used. Texts that a filter compares have their own
columns; the JSON texts beside them are the whole truth. ``labels`` are keyed by their digest because an index of
PostgreSQL holds at most 2.7 kB a row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    func,
    insert,
    inspect,
    select,
)

from aem_monitor.errors import StoreError

SCHEMA_VERSION: Final = 4

METADATA: Final = MetaData()

schema_versions = Table(
    "schema_versions",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("description", Text, nullable=False),
)

runs = Table(
    "runs",
    METADATA,
    Column("run_id", Text, primary_key=True),
    Column("dialog_version", Integer, primary_key=True, autoincrement=False),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("latest", Boolean, nullable=False),
    Column("cause", Text, nullable=False),
    Column("replica", Text, nullable=False),
    Column("dialog", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Column("release", Text),
    Column("model", Text),
    Column("conversation_key", Text, nullable=False),
    Column("conversation_id", Text),
    Column("play", Integer, nullable=False),
    Column("draft", Boolean, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("success_rate", Double),
    Column("root_cause", Text),
    Column("started_ns", BigInteger, nullable=False),
    Column("ended_ns", BigInteger, nullable=False),
    Column("final_at", Double, nullable=False),
    Column("stored_at", Double, nullable=False),
    Column("result", Text, nullable=False),
    Index("runs_newest", "latest", "final_at", "run_id"),
    Index("runs_dialog", "dialog", "ended_ns"),
    Index("runs_release", "agent", "release", "final_at"),
    Index("runs_conversation", "agent", "conversation_key"),
)

provisional_runs = Table(
    "provisional_runs",
    METADATA,
    Column("run_id", Text, primary_key=True),
    Column("stored_at", Double, nullable=False),
    Column("result", Text, nullable=False),
    Column("turns", Text, nullable=False),
)

turns = Table(
    "turns",
    METADATA,
    Column("run_id", Text, primary_key=True),
    Column("dialog_version", Integer, primary_key=True, autoincrement=False),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("turn_no", Integer),
    Column("kind", Text, nullable=False),
    Column("success", Boolean),
    Column("root_cause", Boolean, nullable=False),
    Column("failure_reason", Text),
    Column("detail", Text),
    Column("not_scored", Text),
    Column("tool", Text),
    Column("action", Text),
    Column("release", Text),
    Column("model", Text),
    Column("span_id", Text),
    Column("trace_id", Text),
    Column("verdict", Text, nullable=False),
    ForeignKeyConstraint(
        ["run_id", "dialog_version", "revision"],
        ["runs.run_id", "runs.dialog_version", "runs.revision"],
        ondelete="CASCADE",
    ),
)

run_traces = Table(
    "run_traces",
    METADATA,
    Column("trace_id", Text, primary_key=True),
    Column("run_id", Text, primary_key=True),
    Column("stored_at", Double, nullable=False),
    Index("run_traces_run", "run_id"),
)

totals = Table(
    "totals",
    METADATA,
    Column("replica", Text, primary_key=True),
    Column("metric", Text, primary_key=True),
    Column("labels_digest", Text, primary_key=True),
    Column("bucket", Text, primary_key=True),
    Column("labels", Text, nullable=False),
    Column("value", Double, nullable=False),
    Column("observations", BigInteger, nullable=False),
)

answers = Table(
    "answers",
    METADATA,
    Column("key", Text, primary_key=True),
    Column("scorer", Text, primary_key=True),
    Column("score", Double, nullable=False),
    Column("stored_at", Double, nullable=False),
)

positions = Table(
    "positions",
    METADATA,
    Column("replica", Text, primary_key=True),
    Column("topic", Text, primary_key=True),
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("offset", BigInteger, nullable=False),
)

releases_seen = Table(
    "releases_seen",
    METADATA,
    Column("agent", Text, primary_key=True),
    Column("release", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("first_seen", Double, nullable=False),
    Column("last_seen", Double, nullable=False),
)

conversations = Table(
    "conversations",
    METADATA,
    Column("run_id", Text, primary_key=True),
    Column("stored_at", Double, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("body", LargeBinary),
    Index("conversations_age", "stored_at"),
)

reviews = Table(
    "reviews",
    METADATA,
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

outbox = Table(
    "outbox",
    METADATA,
    Column("sink", Text, primary_key=True),
    Column("replica", Text, primary_key=True),
    Column("run_id", Text, primary_key=True),
    Column("dialog_version", Integer, primary_key=True, autoincrement=False),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("stored_at", Double, nullable=False),
    Index("outbox_oldest", "sink", "replica", "stored_at"),
)

alert_lease = Table(
    "alert_lease",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("beat", BigInteger, nullable=False),
)

alert_states = Table(
    "alert_states",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("state", LargeBinary, nullable=False),
)

incidents = Table(
    "incidents",
    METADATA,
    Column("dedup_key", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("agent", Text, nullable=False),
    Column("opened_at", Double, nullable=False),
    Column("resolved_at", Double),
    Column("body", Text, nullable=False),
    Index("incidents_resolved", "resolved_at"),
)

notifications = Table(
    "notifications",
    METADATA,
    Column("receiver", Text, primary_key=True),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("dedup_key", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("body", Text, nullable=False),
)

_PREPARING: Final = 0x61656D
"""PostgreSQL's advisory lock of those who prepare a database. SQLite's write lock does the same by itself."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from ``version - 1`` to ``version``; runs in the transaction that records it."""

    version: int
    description: str
    apply: Callable[[Connection], None]


def current_version(connection: Connection) -> int | None:
    """The version of the database, None if it has none. Reading it first lets a reader open a store that is in use
    without waiting for the write lock."""
    if not inspect(connection).has_table(schema_versions.name):
        return None
    return max(connection.execute(select(schema_versions.c.version)).scalars(), default=None)


def prepare(connection: Connection, metadata: MetaData, version: int, migrations: Sequence[Migration]) -> None:
    """Bring the database to ``version``, within the caller's transaction. Of several processes that start at once one
    does it, and the others find it done.

    Raises:
        StoreError: the database belongs to a later version, or a step is missing (reason ``schema``).
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_PREPARING)))
    current = current_version(connection)
    if current is None:
        if inspect(connection).has_table(runs.name):
            message = "the database has a table named runs but no schema version: it belongs to something else"
            raise StoreError(f"{message}; name another database in store.url", reason="schema")
        metadata.create_all(connection)
        connection.execute(insert(schema_versions).values(version=version, description="created"))
        return
    if current > version:
        message = f"the database has schema version {current}, this program knows {version}"
        raise StoreError(f"{message}; run the later program or restore the backup made before it", reason="schema")
    steps = {step.version: step for step in migrations}
    for number in range(current + 1, version + 1):
        step = steps.get(number)
        if step is None:
            raise StoreError(f"no way from schema version {number - 1} to {number}", reason="schema")
        step.apply(connection)
        connection.execute(insert(schema_versions).values(version=number, description=step.description))
