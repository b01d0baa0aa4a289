"""Runs read back: the latest revision of each, with its turns."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, and_, or_, select

from aem_monitor.model.verdict import UNKNOWN, RunResult
from aem_monitor.store import schema
from aem_monitor.store.codec import decode_result
from aem_monitor.store.conversations import unpack
from aem_monitor.store.records import (
    MAX_PAGE,
    KeptConversation,
    LatencyOfRun,
    RevisionKey,
    RunFilter,
    StoredPlay,
    StoredRun,
)
from aem_monitor.store.rows import text_column

_CHUNK: Final = 400
"""Parameters of one IN list; SQLite's older default allows 999 in a statement."""


_PLAY_COLUMNS: Final = tuple(schema.runs.c[name] for name in StoredPlay.__slots__)


def chunks(values: Iterable[str]) -> Iterator[list[str]]:
    """The distinct values, as many at a time as one statement takes."""
    iterator = iter(dict.fromkeys(values))
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk


def load_provisional(
    connection: Connection, limit: int, *conditions: ColumnElement[bool]
) -> list[tuple[RunResult, float]]:
    """Provisional verdicts with the time at which they were made, newest first."""
    table = schema.provisional_runs
    query = (
        select(table)
        .where(*conditions)
        .order_by(table.c.stored_at.desc(), table.c.run_id)
        .limit(max(0, min(limit, MAX_PAGE)))
    )
    return [(decode_result(row.result, json.loads(row.turns)), row.stored_at) for row in connection.execute(query)]


def load_plays(connection: Connection, agent: str, conversation_key: str) -> list[StoredPlay]:
    """The final runs of one conversation, the last plays first, at most ``MAX_PAGE``."""
    runs = schema.runs.c
    query = (
        select(*_PLAY_COLUMNS)
        .where(
            runs.latest.is_(True),
            runs.agent == text_column(agent),
            runs.conversation_key == text_column(conversation_key),
        )
        .order_by(runs.play.desc())
        .limit(MAX_PAGE)
    )
    return [StoredPlay(*row) for row in connection.execute(query)]


def load_plays_of_traces(connection: Connection, trace_ids: Iterable[str]) -> dict[str, list[StoredPlay]]:
    """The final runs that each of the traces belongs to; traces without one are missing."""
    found: dict[str, list[StoredPlay]] = {}
    traces = schema.run_traces.c
    for chunk in chunks(trace_ids):
        query = (
            select(traces.trace_id, *_PLAY_COLUMNS)
            .join_from(schema.run_traces, schema.runs, traces.run_id == schema.runs.c.run_id)
            .where(schema.runs.c.latest.is_(True), traces.trace_id.in_(chunk))
        )
        for trace_id, *columns in connection.execute(query):
            found.setdefault(trace_id, []).append(StoredPlay(*columns))
    return found


def load_runs(connection: Connection, wanted: RunFilter, *conditions: ColumnElement[bool]) -> list[StoredRun]:
    """The latest revisions that meet the filter and the conditions, newest first, at most ``MAX_PAGE``."""
    query = (
        select(schema.runs)
        .where(schema.runs.c.latest.is_(True), *conditions, *_conditions(wanted))
        .order_by(schema.runs.c.final_at.desc(), schema.runs.c.run_id.desc())
        .limit(max(0, min(wanted.limit, MAX_PAGE)))
    )
    return _with_turns(connection, connection.execute(query).all())


def load_latencies(connection: Connection, since: float, limit: int) -> list[LatencyOfRun]:
    """Of the newest final runs of reviewed dialogs that have both: accumulated latency and success rate."""
    runs = schema.runs.c
    query = (
        select(runs.agent, runs.release, runs.success_rate, runs.result)
        .where(runs.latest.is_(True), runs.final_at >= since, runs.draft.is_(False), runs.success_rate.is_not(None))
        .order_by(runs.final_at.desc(), runs.run_id.desc())
        .limit(limit)
    )
    # The latency has no column of its own; a run's text without its turns is short.
    found = [(row, json.loads(row.result).get("latency_seconds")) for row in connection.execute(query)]
    return [
        LatencyOfRun(row.agent, row.release, float(latency), row.success_rate)
        for row, latency in found
        if isinstance(latency, int | float) and 0 <= latency < math.inf
    ]


def load_history(connection: Connection, run_id: str) -> list[StoredRun]:
    """All revisions of a run, the first one first."""
    same = schema.runs.c.run_id == text_column(run_id)
    query = select(schema.runs).where(same).order_by(schema.runs.c.revision, schema.runs.c.stored_at)
    return _with_turns(connection, connection.execute(query).all())


def load_revisions(connection: Connection, keys: Sequence[RevisionKey]) -> dict[RevisionKey, StoredRun]:
    """The verdicts under these keys; those that are not there are missing."""
    wanted = set(keys)
    found: dict[RevisionKey, StoredRun] = {}
    for chunk in chunks(key.run_id for key in keys):
        rows = connection.execute(select(schema.runs).where(schema.runs.c.run_id.in_(chunk))).all()
        named = {RevisionKey(row.run_id, row.dialog_version, row.revision): row for row in rows}
        kept = [key for key in named if key in wanted]
        found.update(zip(kept, _with_turns(connection, [named[key] for key in kept]), strict=True))
    return found


def load_run_ids(connection: Connection, prefix: str, limit: int) -> list[str]:
    """Runs whose id begins so."""
    runs = schema.runs.c
    same = runs.run_id.startswith(text_column(prefix), autoescape=True)
    query = select(runs.run_id).where(runs.latest.is_(True), same).order_by(runs.run_id).limit(limit)
    return list(connection.execute(query).scalars())


def load_doubtful(connection: Connection, wanted: RunFilter) -> list[StoredRun]:
    """Runs that may have something for a person to decide: more than there is, never less.

    Checks have no columns of their own, so their text is searched as ``codec`` writes it; quotation marks inside of
    captured texts are escaped there and match nothing.
    """
    turns, runs = schema.turns.c, schema.runs.c
    doubtful = (
        select(turns.run_id)
        .where(
            turns.run_id == runs.run_id,
            turns.revision == runs.revision,
            or_(turns.verdict.contains('"uncertain":true'), turns.verdict.contains('"undetermined"')),
        )
        .exists()
    )
    another_path = and_(runs.outcome == "fail", runs.result.contains('"outcome":true'))
    return load_runs(connection, wanted, or_(doubtful, another_path))


def load_conversations(connection: Connection, run_ids: Iterable[str]) -> dict[str, KeptConversation]:
    """The conversations of runs; those of which nothing is known are missing."""
    table = schema.conversations.c
    found: dict[str, KeptConversation] = {}
    for chunk in chunks(run_ids):
        for row in connection.execute(select(schema.conversations).where(table.run_id.in_(chunk))):
            found[row.run_id] = KeptConversation(row.size, None if row.body is None else unpack(bytes(row.body)))
    return found


def named(column: ColumnElement[str | None], value: str) -> ColumnElement[bool]:
    """Whether a column has the name; ``unknown``, as metrics call what spans do not carry, is met by nothing too."""
    same = column == text_column(value)
    return or_(same, column.is_(None)) if value == UNKNOWN else same


def _with_turns(connection: Connection, rows: Sequence[Row[Any]]) -> list[StoredRun]:
    verdicts: dict[tuple[str, int, int], list[str]] = {}
    turns = schema.turns
    for chunk in chunks(row.run_id for row in rows):
        ordered = select(turns).where(turns.c.run_id.in_(chunk)).order_by(turns.c.position)
        for turn in connection.execute(ordered):
            verdicts.setdefault((turn.run_id, turn.dialog_version, turn.revision), []).append(turn.verdict)
    return [
        StoredRun(
            decode_result(row.result, verdicts.get((row.run_id, row.dialog_version, row.revision), [])),
            final_at=row.final_at,
            stored_at=row.stored_at,
            cause=row.cause,
        )
        for row in rows
    ]


def _conditions(wanted: RunFilter) -> Iterator[ColumnElement[bool]]:
    columns = schema.runs.c
    for name, value in (("release", wanted.release), ("model", wanted.model)):
        if value is not None:
            yield named(columns[name], value)
    for name in ("agent", "dialog", "outcome", "conversation_id", "conversation_key"):
        value = getattr(wanted, name)
        if value is not None:
            yield columns[name] == text_column(value)
    if wanted.draft is not None:
        yield columns.draft.is_(wanted.draft)
    if wanted.since is not None:
        yield columns.final_at >= wanted.since
    if wanted.until is not None:
        yield columns.final_at < wanted.until
    if wanted.after is not None:
        at, run_id = wanted.after
        same_moment = and_(columns.final_at == at, columns.run_id < text_column(run_id))
        yield or_(columns.final_at < at, same_moment)
