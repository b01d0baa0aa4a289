"""The store itself: one writer, any number of readers."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from sqlalchemy import Connection, and_, delete, func, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from aem_monitor.errors import StoreError
from aem_monitor.ingest.batch import Partition
from aem_monitor.model.increment import Increment, Total
from aem_monitor.model.verdict import RunResult
from aem_monitor.store import schema
from aem_monitor.store.claim import Claim
from aem_monitor.store.codec import dump_json, encode_run, encode_turn
from aem_monitor.store.database import WRITE, connect, in_memory, store_error
from aem_monitor.store.queries import chunks, load_plays, load_plays_of_traces, load_provisional, load_runs
from aem_monitor.store.records import FINAL, ReleaseSeen, RunFilter, StoredPlay, StoredRun
from aem_monitor.store.rows import releases_of, run_row, text_column, turn_rows
from aem_monitor.store.totals import TotalsWriter, total_of

T = TypeVar("T")


class Store:
    """Verdicts, totals, positions and answers in one database.

    The engine's thread writes; other threads may read at any time. All methods raise ``StoreError`` with a ``reason``
    of ``database.REASONS``; a method that raised has changed nothing.
    """

    def __init__(self, url: str, replica: str = "default") -> None:
        """Open the database, create or migrate its tables.

        Args:
            url: ``sqlite:///path`` (``sqlite:////absolute/path``), ``sqlite://`` for one in memory.
            replica: stable name under which this process keeps its totals and positions.
        """
        self.replica = replica
        self._engine = connect(url)
        self._totals = TotalsWriter(replica)
        # SQLite in memory is one connection, which only one thread may use at a time; writers always take turns.
        self._lock = threading.RLock()
        self._read_lock = self._lock if in_memory(self._engine) else None
        self._closed = False
        self._claim: Claim | None = None
        try:
            if self._read("be opened", schema.current_version) != schema.SCHEMA_VERSION:
                with self._writing("be prepared") as connection:
                    schema.prepare(connection, schema.METADATA, schema.SCHEMA_VERSION, schema.MIGRATIONS)
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

    def claim(self) -> None:
        """Be the only process that keeps totals under this replica name, until closed; others may still read.

        Only a SQLite file can tell. Raises ``StoreError`` (reason ``locked``) when another process has the name.
        """
        url = self._engine.url
        if url.get_backend_name() == "sqlite" and not self.in_memory and self._claim is None:
            self._claim = Claim(Path(str(url.database)), self.replica)

    # Writing

    def record_final(
        self,
        result: RunResult,
        increments: Sequence[Increment],
        stored_at: float,
        positions: Mapping[Partition, int] | None = None,
    ) -> bool:
        """Store a final verdict with all that follows from it, in one transaction.

        Returns False when this run was already stored as final, whatever the version of its dialog was then: the run
        completed once, and redelivered spans must not count it again. Totals are then left alone; positions, which
        only say how far the input was read, are stored all the same.
        """

        def write(connection: Connection) -> bool:
            self._move(connection, positions or {})
            known = connection.execute(
                select(schema.runs.c.run_id).where(schema.runs.c.run_id == result.run_id).limit(1)
            )
            if known.first() is not None:
                return False
            provisional = schema.provisional_runs
            connection.execute(delete(provisional).where(provisional.c.run_id == result.run_id))
            self._insert_run(connection, result, FINAL, stored_at, stored_at)
            for release, model in releases_of(result):
                self._see(connection, result.agent, release, model, stored_at)
            self._totals.add(connection, increments)
            return True

        return self._write("store a verdict", write)

    def record_provisional(self, result: RunResult, stored_at: float) -> None:
        """Show the verdict of a complete run whose grace has not passed; it counts nothing and is gone when final."""

        def write(connection: Connection) -> None:
            table = schema.provisional_runs
            final = connection.execute(
                select(schema.runs.c.run_id).where(schema.runs.c.run_id == result.run_id).limit(1)
            )
            if final.first() is not None:
                return
            connection.execute(delete(table).where(table.c.run_id == result.run_id))
            turns = dump_json([encode_turn(turn) for turn in result.turns])
            values = {"run_id": result.run_id, "stored_at": stored_at, "result": encode_run(result), "turns": turns}
            connection.execute(insert(table), values)

        self._write("store a provisional verdict", write)

    def drop_provisional(self, run_ids: Iterable[str]) -> None:
        """Forget provisional verdicts of what has turned out to be no run of its own."""

        def write(connection: Connection) -> None:
            for chunk in chunks(run_ids):
                connection.execute(delete(schema.provisional_runs).where(schema.provisional_runs.c.run_id.in_(chunk)))

        self._write("forget provisional verdicts", write)

    def record_revision(
        self, result: RunResult, cause: str, stored_at: float, increments: Sequence[Increment] = ()
    ) -> int:
        """Store a later verdict of a run that is final; ``cause`` is bounded (``late_span``, ``rescore``).

        Returns the new revision's number (1 or more), or 0 when the verdict is the one already stored: then nothing
        is written. ``increments`` are those of the revision counter, never the run's own.

        Raises:
            StoreError: there is no final verdict of this run (reason ``integrity``).
        """

        def write(connection: Connection) -> int:
            latest = load_runs(connection, RunFilter(limit=1), schema.runs.c.run_id == result.run_id)
            if not latest:
                message = f"run {result.run_id} has no final verdict to revise; record it as final first"
                raise StoreError(message, reason="integrity")
            stored = latest[0]
            if replace(result, revision=stored.result.revision) == stored.result:
                return 0
            revised = replace(result, revision=stored.result.revision + 1)
            connection.execute(update(schema.runs).where(schema.runs.c.run_id == result.run_id).values(latest=False))
            self._insert_run(connection, revised, cause, stored.final_at, stored_at)
            self._totals.add(connection, increments)
            return revised.revision

        return self._write("store a revision", write)

    def add_totals(self, increments: Sequence[Increment]) -> None:
        """Add to counters that no verdict carries; an increment of 0 creates its row."""

        self._write("add to the totals", lambda connection: self._totals.add(connection, increments))

    def note_release(self, agent: str, release: str, model: str, seen_at: float) -> bool:
        """Remember when a release of an agent was seen with a model, each ``unknown`` if the spans have none.

        Returns True when it is new.
        """
        return self._write("note a release", lambda connection: self._see(connection, agent, release, model, seen_at))

    def store_positions(self, positions: Mapping[Partition, int]) -> None:
        """Remember per partition the lowest offset that is still needed."""
        self._write("store positions", lambda connection: self._move(connection, positions))

    def store_answers(self, scorer: str, scores: Mapping[str, float], stored_at: float) -> None:
        """Keep answers of a scorer by content hash; an answer that is there already stays as it is."""

        def write(connection: Connection) -> None:
            known = self._answers(connection, scores, scorer)
            rows = [
                {"key": key, "scorer": scorer, "score": score, "stored_at": stored_at}
                for key, score in scores.items()
                if key not in known
            ]
            if rows:
                connection.execute(insert(schema.answers), rows)

        self._write("store answers", write)

    def retain(self, before: float) -> int:
        """Forget runs that became final before ``before`` (seconds), with their turns and traces, and answers and
        provisional verdicts of that age. Totals, positions and releases stay. Returns how many runs were forgotten."""

        def write(connection: Connection) -> int:
            old = select(schema.runs.c.run_id).where(schema.runs.c.final_at < before)
            count = connection.execute(
                select(func.count(func.distinct(schema.runs.c.run_id))).where(schema.runs.c.final_at < before)
            ).scalar_one()
            connection.execute(delete(schema.run_traces).where(schema.run_traces.c.run_id.in_(old)))
            connection.execute(delete(schema.turns).where(schema.turns.c.run_id.in_(old)))
            connection.execute(delete(schema.runs).where(schema.runs.c.final_at < before))
            connection.execute(delete(schema.answers).where(schema.answers.c.stored_at < before))
            connection.execute(delete(schema.provisional_runs).where(schema.provisional_runs.c.stored_at < before))
            return count

        return self._write("apply retention", write)

    def check_writing(self) -> None:
        """Whether the store can be written now: writes what is there already."""
        table = schema.schema_versions
        self._write("be written", lambda connection: connection.execute(update(table).values(version=table.c.version)))

    # Reading

    def totals(self, replica: str | None = None) -> list[Total]:
        """The totals of a replica, this one by default."""
        query = select(schema.totals).where(schema.totals.c.replica == (self.replica if replica is None else replica))
        return self._read("load the totals", lambda connection: [total_of(row) for row in connection.execute(query)])

    def plays_of_traces(self, trace_ids: Iterable[str]) -> dict[str, list[StoredPlay]]:
        """The final runs that each trace belongs to; traces without one are missing."""
        return self._read("look up traces", lambda connection: load_plays_of_traces(connection, trace_ids))

    def plays(self, agent: str, conversation_key: str) -> list[StoredPlay]:
        """The final runs of one conversation, the last plays first, at most ``MAX_PAGE``."""
        return self._read("look up plays", lambda connection: load_plays(connection, agent, conversation_key))

    def answers(self, keys: Iterable[str], scorer: str) -> dict[str, float]:
        """Stored scores by content hash; keys without an answer are missing."""
        return self._read("load answers", lambda connection: self._answers(connection, keys, scorer))

    def positions(self) -> dict[Partition, int]:
        """Per partition the offset that this replica stored last."""
        table = schema.positions
        query = select(table).where(table.c.replica == self.replica)
        return self._read(
            "load positions",
            lambda connection: {(row.topic, row.partition): row.offset for row in connection.execute(query)},
        )

    def releases(self) -> list[ReleaseSeen]:
        """All releases ever seen, oldest first."""
        table = schema.releases_seen
        query = select(table).order_by(table.c.first_seen, table.c.agent, table.c.release, table.c.model)
        return self._read(
            "load releases",
            lambda connection: [
                ReleaseSeen(row.agent, row.release, row.model, row.first_seen, row.last_seen)
                for row in connection.execute(query)
            ],
        )

    def provisional_runs(self, limit: int = 100) -> list[tuple[RunResult, float]]:
        """Verdicts that are not final yet, with the time at which they were made (seconds), newest first."""
        return self._read("list provisional verdicts", lambda connection: load_provisional(connection, limit))

    def provisional_run(self, run_id: str) -> tuple[RunResult, float] | None:
        """The verdict of one run that is not final yet, with the time at which it was made."""
        same = schema.provisional_runs.c.run_id == text_column(run_id)
        found = self._read("load a provisional verdict", lambda connection: load_provisional(connection, 1, same))
        return found[0] if found else None

    def last_seen(self) -> dict[str, float]:
        """When each release was last seen with any agent and model (seconds since the epoch)."""
        table = schema.releases_seen
        query = select(table.c.release, func.max(table.c.last_seen).label("last_seen")).group_by(table.c.release)
        return self._read(
            "load releases",
            lambda connection: {row.release: row.last_seen for row in connection.execute(query)},
        )

    def last_runs(self) -> dict[str, float]:
        """Per dialog the end of its latest run (event time, seconds), drafts included."""
        table = schema.runs
        query = select(table.c.dialog, func.max(table.c.ended_ns).label("ended_ns")).group_by(table.c.dialog)
        return self._read(
            "load the latest runs",
            lambda connection: {row.dialog: row.ended_ns / 1e9 for row in connection.execute(query)},
        )

    def runs(self, wanted: RunFilter | None = None) -> list[StoredRun]:
        """Runs in their latest revision, newest first, at most ``MAX_PAGE``."""
        return self._read("list runs", lambda connection: load_runs(connection, wanted or RunFilter()))

    def run(self, run_id: str) -> StoredRun | None:
        """One run in its latest revision."""
        same = schema.runs.c.run_id == text_column(run_id)
        found = self._read("load a run", lambda connection: load_runs(connection, RunFilter(limit=1), same))
        return found[0] if found else None

    def check(self) -> None:
        """Whether the store can be read now; for readiness."""
        self._read("be read", lambda connection: connection.execute(select(schema.schema_versions)).all())

    def close(self) -> None:
        """Give up all connections. Idempotent."""
        with self._lock:
            self._closed = True
            self._engine.dispose()
            if self._claim is not None:
                self._claim.release()

    # Within a transaction

    def _insert_run(
        self, connection: Connection, result: RunResult, cause: str, final_at: float, stored_at: float
    ) -> None:
        row = run_row(result)
        row.update(cause=cause, replica=self.replica, latest=True, final_at=final_at, stored_at=stored_at)
        connection.execute(insert(schema.runs), row)
        if result.turns:
            connection.execute(insert(schema.turns), turn_rows(result))
        table = schema.run_traces
        known = set(connection.execute(select(table.c.trace_id).where(table.c.run_id == result.run_id)).scalars())
        traces = [
            {"trace_id": trace_id, "run_id": result.run_id, "stored_at": stored_at}
            for trace_id in dict.fromkeys(result.trace_ids)
            if trace_id not in known
        ]
        if traces:
            connection.execute(insert(table), traces)

    def _see(self, connection: Connection, agent: str, release: str, model: str, seen_at: float) -> bool:
        table = schema.releases_seen
        key = {"agent": text_column(agent), "release": text_column(release), "model": text_column(model)}
        same = and_(*(table.c[name] == value for name, value in key.items()))
        if connection.execute(update(table).where(same).values(last_seen=seen_at)).rowcount:
            return False
        connection.execute(insert(table), {**key, "first_seen": seen_at, "last_seen": seen_at})
        return True

    def _move(self, connection: Connection, positions: Mapping[Partition, int]) -> None:
        table = schema.positions
        for (topic, partition), offset in positions.items():
            key = {"replica": self.replica, "topic": topic, "partition": partition}
            same = and_(*(table.c[name] == value for name, value in key.items()))
            if connection.execute(update(table).where(same).values(offset=offset)).rowcount == 0:
                connection.execute(insert(table), {**key, "offset": offset})

    def _answers(self, connection: Connection, keys: Iterable[str], scorer: str) -> dict[str, float]:
        table = schema.answers
        found: dict[str, float] = {}
        for chunk in chunks(keys):
            query = select(table.c.key, table.c.score).where(table.c.scorer == scorer, table.c.key.in_(chunk))
            found.update((row.key, row.score) for row in connection.execute(query))
        return found

    # Transactions

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
