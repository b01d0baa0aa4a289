"""Connections: what differs between databases is kept in this module.

SQLite runs in WAL mode, so that the pages and the API read while the engine writes, and with ``synchronous=FULL``:
a Kafka offset is committed right after the verdict that needed its message, and with NORMAL a power cut could take
the verdict back while the broker keeps the offset (sqlite.org/pragma.html#pragma_synchronous: a WAL commit may roll
back). One flush a verdict is nothing beside the seconds that a conversation lasts.
"""

import os
import sqlite3
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    NoSuchModuleError,
    OperationalError,
    SQLAlchemyError,
)
from sqlalchemy.pool import StaticPool

from aem_monitor.errors import StoreError

BUSY_SECONDS: Final = 5.0
"""How long a writer waits for another process that holds the write lock."""

WRITE: Final = "aem_write"
"""Execution option of connections that will write: SQLite takes its write lock at once, so that two writers wait for
each other instead of one failing half way (sqlite.org/lang_transaction.html, DEFERRED against IMMEDIATE)."""

REASONS: Final = ("locked", "full", "corrupt", "readonly", "unavailable", "schema", "integrity", "closed", "other")
"""All reasons of a ``StoreError`` raised by the store."""

_SQLITE_REASONS: Final = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_CORRUPT: "corrupt",
    sqlite3.SQLITE_NOTADB: "corrupt",
    sqlite3.SQLITE_READONLY: "readonly",
    sqlite3.SQLITE_PERM: "readonly",
    sqlite3.SQLITE_CANTOPEN: "unavailable",
    sqlite3.SQLITE_IOERR: "unavailable",
}

_SQLSTATE_REASONS: Final = {
    "53100": "full",
    "25006": "readonly",
    "42501": "readonly",
    "55P03": "locked",
    "40P01": "locked",
    "40001": "locked",
    "XX001": "corrupt",
    "XX002": "corrupt",
}
"""PostgreSQL's condition codes (appendix A of its manual)."""

_ADVICE: Final = {
    "locked": "another process holds the database; stop it, or give each replica its own",
    "full": "free space on the file system; nothing was stored and the run will be offered again",
    "corrupt": "move the file away or restore a backup",
    "readonly": "let the user that runs aem-monitor write the database",
    "unavailable": "check that the folder exists and the disk is healthy, or that the server runs and can be reached",
}


def connect(url: str) -> Engine:
    """An engine for ``url`` (``sqlite:///path``, ``sqlite://`` for one in memory, or another database's URL).

    Raises:
        StoreError: the URL is not one, or its driver is not installed.
    """
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite":
            return _sqlite(parsed)
        return create_engine(parsed, pool_pre_ping=True)
    except ImportError as error:
        hint = (
            "; install the extra `postgresql`: pip install 'aem-monitor[postgresql]'" if "psycopg" in str(error) else ""
        )
        raise StoreError(f"store.url cannot be used: {error}{hint}", reason="unavailable") from error
    except (ArgumentError, NoSuchModuleError) as error:
        message = f"store.url cannot be used: {error}; expected for example sqlite:////var/lib/aem-monitor/store.db"
        raise StoreError(message, reason="unavailable") from error


def in_memory(engine: Engine) -> bool:
    """Whether all threads share the one connection that holds the data."""
    return isinstance(engine.pool, StaticPool)


class DatabaseFile:
    """The file of a SQLite database. A process that has it open does not notice when it is removed or replaced, and
    goes on writing into what nobody will ever read."""

    def __init__(self, engine: Engine) -> None:
        """``engine``: connected; of another database there is nothing to check."""
        is_file = engine.url.get_backend_name() == "sqlite" and not in_memory(engine)
        self._path = Path(str(engine.url.database)) if is_file else None
        self._identity = self._look()

    def check(self, action: str) -> None:
        """Raises ``StoreError`` (reason ``unavailable``) when it is not the file that was opened."""
        if self._path is not None and self._look() != self._identity:
            message = (
                f"the store {self._path} could not {action}: the file was removed or replaced while it was in use; "
                "restart aem-monitor, with a backup in its place where there is one: nothing is committed meanwhile"
            )
            raise StoreError(message, reason="unavailable")

    def _look(self) -> tuple[int, int] | None:
        if self._path is None:
            return None
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino


def store_error(action: str, engine: Engine, error: SQLAlchemyError) -> StoreError:
    """The error to raise for one of the driver; says what could not be done, where, and what to do."""
    reason = _reason(error)
    cause = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    advice = _ADVICE.get(reason)
    where = engine.url.render_as_string(hide_password=True)
    message = f"the store {where} could not {action}: {cause}"
    return StoreError(f"{message}; {advice}" if advice else message, reason=reason)


def _reason(error: SQLAlchemyError) -> str:
    if isinstance(error, IntegrityError):
        return "integrity"
    if not isinstance(error, DBAPIError):
        return "other"
    code = getattr(error.orig, "sqlite_errorcode", None)
    if isinstance(code, int):
        # The low byte is the primary result code (sqlite.org/rescode.html).
        return _SQLITE_REASONS.get(code & 0xFF, "other")
    state = getattr(error.orig, "sqlstate", None)
    if isinstance(state, str):
        return _SQLSTATE_REASONS.get(state, "other")
    return "unavailable" if isinstance(error, OperationalError) or error.connection_invalidated else "other"


def _sqlite(url: URL) -> Engine:
    memory = url.database in (None, "", ":memory:")
    if memory:
        engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    else:
        _create_private(Path(str(url.database)))
        engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: object) -> None:
        # The driver's own transaction handling would begin late and with the wrong kind of lock.
        connection.isolation_level = None
        cursor = connection.cursor()
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            cursor.execute("PRAGMA synchronous=FULL")
            cursor.execute("PRAGMA foreign_keys=ON")
        finally:
            cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        write = connection.get_execution_options().get(WRITE, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def _create_private(path: Path) -> None:
    """Create the file readable by its owner only: it holds what customers and agents said. SQLite gives its side
    files the same mode."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except PermissionError as error:
        raise StoreError(
            f"the store {path} cannot be opened: {error}; {_ADVICE['readonly']}", reason="readonly"
        ) from error
    except OSError as error:
        message = f"the store {path} cannot be opened: {error}; {_ADVICE['unavailable']}"
        raise StoreError(message, reason="unavailable") from error
