"""The store itself: one writer, any number of readers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Connection, and_, delete, func, insert, select, update

from aem_monitor.errors import StoreError
from aem_monitor.ingest.batch import Partition
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.increment import Increment, Total
from aem_monitor.model.verdict import RunResult
from aem_monitor.store import schema
from aem_monitor.store.alerts import AlertStore
from aem_monitor.store.claim import Claim
from aem_monitor.store.codec import dump_json, encode_run, encode_turn, same_result
from aem_monitor.store.conversations import Keeping, Packed, pack
from aem_monitor.store.outbox import Outbox
from aem_monitor.store.played import PlayedRuns
from aem_monitor.store.queries import (
    chunks,
    load_conversations,
    load_doubtful,
    load_history,
    load_latencies,
    load_plays,
    load_plays_of_traces,
    load_provisional,
    load_run_ids,
    load_runs,
)
from aem_monitor.store.records import (
    FINAL,
    KeptConversation,
    LatencyOfRun,
    ReleaseSeen,
    Review,
    RunFilter,
    StoredPlay,
    StoredRun,
)
from aem_monitor.store.retention import forget
from aem_monitor.store.reviews import load_reviews, write_review
from aem_monitor.store.rows import releases_of, run_row, text_column, turn_rows
from aem_monitor.store.summaries import Summaries
from aem_monitor.store.totals import total_of


class Store(Outbox, AlertStore, Summaries, PlayedRuns):
    """Verdicts, totals, positions and answers in one database.

    The engine's thread writes; other threads may read at any time. All methods raise ``StoreError`` with a ``reason``
    of ``database.REASONS``; a method that raised has changed nothing.
    """

    def __init__(self, url: str, replica: str = "default", keeping: Keeping | None = None) -> None:
        """Open the database, create or migrate its tables.

        Args:
            url: ``sqlite:///path`` (``sqlite:////absolute/path``), ``sqlite://`` for one in memory.
            replica: stable name under which this process keeps its totals and positions.
            keeping: which conversations are kept, what is taken out of all that is stored, and which sinks are fed.
        """
        self._keeping = keeping or Keeping()
        super().__init__(url, replica, self._keeping.sinks)
        self._claim: Claim | None = None

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
        conversation: Packed | None = None,
    ) -> bool:
        """Store a final verdict with all that follows from it, in one transaction; ``conversation`` is what it is of.

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
            self._insert_run(connection, self._keeping.redaction.result(result), FINAL, stored_at, stored_at)
            self._keep(connection, result.run_id, conversation, stored_at)
            for release, model in releases_of(result):
                self._see(connection, result.agent, release, model, stored_at)
            self._totals.add(connection, increments)
            return True

        return self._write("store a verdict", write)

    def record_provisional(self, result: RunResult, stored_at: float) -> None:
        """Show the verdict of a complete run whose grace has not passed; it counts nothing and is gone when final."""
        shown = self._keeping.redaction.result(result)

        def write(connection: Connection) -> None:
            table = schema.provisional_runs
            final = connection.execute(
                select(schema.runs.c.run_id).where(schema.runs.c.run_id == result.run_id).limit(1)
            )
            if final.first() is not None:
                return
            connection.execute(delete(table).where(table.c.run_id == result.run_id))
            turns = dump_json([encode_turn(turn) for turn in shown.turns])
            values = {"run_id": result.run_id, "stored_at": stored_at, "result": encode_run(shown), "turns": turns}
            connection.execute(insert(table), values)

        self._write("store a provisional verdict", write)

    def drop_provisional(self, run_ids: Iterable[str]) -> None:
        """Forget provisional verdicts of what has turned out to be no run of its own."""

        def write(connection: Connection) -> None:
            for chunk in chunks(run_ids):
                connection.execute(delete(schema.provisional_runs).where(schema.provisional_runs.c.run_id.in_(chunk)))

        self._write("forget provisional verdicts", write)

    def record_revision(
        self,
        result: RunResult,
        cause: str,
        stored_at: float,
        increments: Sequence[Increment] = (),
        conversation: Packed | None = None,
        based_on: int | None = None,
    ) -> int | None:
        """Store a later verdict of a run that is final; ``cause`` is bounded (``late_span``, ``rescore``).

        Returns the new revision's number (1 or more), or 0 when the verdict is the one already stored: then nothing
        is written. None when ``based_on`` is given and another revision has become the latest one since.
        ``increments`` are those of the revision counter, never the run's own. ``conversation`` takes the place of the
        one that was kept.

        Raises:
            StoreError: there is no final verdict of this run (reason ``integrity``).
        """

        def write(connection: Connection) -> int | None:
            # Writers of PostgreSQL wait for each other at the one row that stays; SQLite has one writer anyway.
            runs = schema.runs.c
            first = and_(runs.run_id == result.run_id, runs.revision == 0)
            latest = and_(runs.run_id == result.run_id, runs.latest.is_(True))
            connection.execute(select(runs.run_id).where(first).with_for_update()).all()
            found = load_runs(connection, RunFilter(limit=1), runs.run_id == result.run_id)
            if not found:
                message = f"run {result.run_id} has no final verdict to revise; record it as final first"
                raise StoreError(message, reason="integrity")
            stored = found[0]
            if based_on is not None and based_on != stored.result.revision:
                return None
            revised = self._keeping.redaction.result(replace(result, revision=stored.result.revision))
            if same_result(revised, stored.result):
                return 0
            revised = replace(revised, revision=stored.result.revision + 1)
            connection.execute(update(schema.runs).where(latest).values(latest=False))
            self._insert_run(connection, revised, cause, stored.final_at, stored_at)
            self._keep(connection, result.run_id, conversation, stored_at)
            self._totals.add(connection, increments)
            return revised.revision

        return self._write("store a revision", write)

    def pack(self, conversation: Conversation) -> Packed | None:
        """What will be stored of a conversation; None where none are kept."""
        return pack(conversation, self._keeping)

    def redacted(self, result: RunResult) -> RunResult:
        """What will be stored of a result."""
        return self._keeping.redaction.result(result)

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

    def retain(self, before: float, conversations_before: float | None = None) -> int:
        """Forget runs that became final before ``before`` (seconds), with their turns, traces and conversations, and
        answers, reviews and provisional verdicts of that age; conversations of other runs that were kept before
        ``conversations_before``. Totals, positions and releases stay. Returns how many runs were forgotten."""

        def write(connection: Connection) -> int:
            self._abandon(connection, before)
            return forget(connection, before, conversations_before)

        return self._write("apply retention", write)

    def record_review(self, review: Review) -> None:
        """Keep what a person said; a later answer about the same revision takes the place of the earlier one."""
        self._write("store an answer", lambda connection: write_review(connection, review))

    def check_writing(self) -> None:
        """Whether the store can be written now: writes what is there already."""
        table = schema.schema_versions
        self._write("be written", lambda connection: connection.execute(update(table).values(version=table.c.version)))

    # Reading

    def totals(self, replica: str | None = None, metric: str | None = None) -> list[Total]:
        """The totals of a replica, this one by default; of all metrics or one."""
        query = select(schema.totals).where(schema.totals.c.replica == (self.replica if replica is None else replica))
        if metric is not None:
            query = query.where(schema.totals.c.metric == metric)
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

    def latencies(self, since: float, limit: int) -> list[LatencyOfRun]:
        """Latency and success rate of the newest runs final at ``since`` (seconds) or later, drafts left out."""
        return self._read("load latencies", lambda connection: load_latencies(connection, since, limit))

    def runs(self, wanted: RunFilter | None = None) -> list[StoredRun]:
        """Runs in their latest revision, newest first, at most ``MAX_PAGE``."""
        return self._read("list runs", lambda connection: load_runs(connection, wanted or RunFilter()))

    def run(self, run_id: str) -> StoredRun | None:
        """One run in its latest revision."""
        same = schema.runs.c.run_id == text_column(run_id)
        found = self._read("load a run", lambda connection: load_runs(connection, RunFilter(limit=1), same))
        return found[0] if found else None

    def history(self, run_id: str) -> list[StoredRun]:
        """All revisions of a run, the first one first."""
        return self._read("load a run", lambda connection: load_history(connection, run_id))

    def run_ids(self, prefix: str, limit: int = 10) -> list[str]:
        """The final runs whose id begins so, at most ``limit``."""
        return self._read("look up a run", lambda connection: load_run_ids(connection, prefix, limit))

    def doubtful_runs(self, wanted: RunFilter) -> list[StoredRun]:
        """Runs that may hold a verdict for a person to decide, as ``runs``; which of their turns is for the caller."""
        return self._read("list doubtful verdicts", lambda connection: load_doubtful(connection, wanted))

    def conversations(self, run_ids: Iterable[str]) -> dict[str, KeptConversation]:
        """The conversations of final runs; those of which nothing was kept are missing."""
        return self._read("load conversations", lambda connection: load_conversations(connection, run_ids))

    def reviews(self, run_ids: Iterable[str] | None = None) -> list[Review]:
        """What people said, oldest first; of all runs by default."""
        return self._read("load answers of people", lambda connection: load_reviews(connection, run_ids))

    def check(self) -> None:
        """Whether the store can be read now; for readiness."""
        self._read("be read", lambda connection: connection.execute(select(schema.schema_versions)).all())

    def close(self) -> None:
        """Give up all connections. Idempotent."""
        with self._lock:
            super().close()
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
        self._offer(connection, result, stored_at)
        table = schema.run_traces
        known = set(connection.execute(select(table.c.trace_id).where(table.c.run_id == result.run_id)).scalars())
        traces = [
            {"trace_id": trace_id, "run_id": result.run_id, "stored_at": stored_at}
            for trace_id in dict.fromkeys(result.trace_ids)
            if trace_id not in known
        ]
        if traces:
            connection.execute(insert(table), traces)

    def _keep(self, connection: Connection, run_id: str, packed: Packed | None, stored_at: float) -> None:
        if packed is None:
            return
        table = schema.conversations
        connection.execute(delete(table).where(table.c.run_id == run_id))
        row = {"run_id": run_id, "stored_at": stored_at, "size": packed.size, "body": packed.body}
        connection.execute(insert(table), row)

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
