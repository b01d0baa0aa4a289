"""Transactions: whole or not at all, one writer at a time, any number of readers."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from aem_monitor.errors import StoreError
from aem_monitor.store import schema
from aem_monitor.store.database import WRITE, DatabaseFile, connect, in_memory, store_error
from aem_monitor.store.migrations import MIGRATIONS
from aem_monitor.store.totals import TotalsWriter

T = TypeVar("T")


class Transactions:
    """An open database in the current version of the tables.

    All methods raise ``StoreError`` with a ``reason`` of ``database.REASONS``; one that raised has changed nothing.
    """

    def __init__(self, url: str, replica: str) -> None:
        """Open the database, create or migrate its tables."""
        self._engine = connect(url)
        self._file = DatabaseFile(self._engine)
        self._totals = TotalsWriter(replica)
        # SQLite in memory is one connection, which only one thread may use at a time; writers always take turns.
        self._lock = threading.RLock()
        self._read_lock = self._lock if in_memory(self._engine) else None
        self._closed = False
        try:
            current = self._read("be opened", schema.current_version)
            if current != schema.SCHEMA_VERSION:
                self._prepare(current)
        except StoreError:
            self._engine.dispose()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def in_memory(self) -> bool:
        """Whether everything is gone with the process."""
        return in_memory(self._engine)

    def close(self) -> None:
        """Give up all connections. Idempotent."""
        with self._lock:
            self._closed = True
            self._engine.dispose()

    def _prepare(self, _current: int | None) -> None:
        """Bring the database from a version (None: there is none) to the one of this program."""
        with self._writing("be prepared") as connection:
            schema.prepare(connection, schema.METADATA, schema.SCHEMA_VERSION, MIGRATIONS)

    def _write(self, action: str, work: Callable[[Connection], T]) -> T:
        with self._writing(action) as connection:
            return work(connection)

    @contextmanager
    def _writing(self, action: str) -> Iterator[Connection]:
        with self._lock:
            self._check_open(action)
            try:
                with self._engine.connect().execution_options(**{WRITE: True}) as connection, connection.begin():
                    yield connection
                    self._file.check(action)
            except SQLAlchemyError as error:
                self._totals.rolled_back()
                raise store_error(action, self._engine, error) from error
            except BaseException:
                self._totals.rolled_back()
                raise
            self._totals.committed()

    def _read(self, action: str, work: Callable[[Connection], T]) -> T:
        if self._read_lock is None:
            return self._read_unlocked(action, work)
        with self._read_lock:
            return self._read_unlocked(action, work)

    def _read_unlocked(self, action: str, work: Callable[[Connection], T]) -> T:
        self._check_open(action)
        try:
            with self._engine.connect() as connection, connection.begin():
                return work(connection)
        except SQLAlchemyError as error:
            raise store_error(action, self._engine, error) from error

    def _check_open(self, action: str) -> None:
        if self._closed:
            raise StoreError(f"the store was closed and could not {action}", reason="closed")
        self._file.check(action)
