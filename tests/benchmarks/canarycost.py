"""What asking the canary gate costs over many stored conversations, as a ratio to reading their bare rows."""

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from sqlalchemy import create_engine, insert, text

from aem_monitor.canary.compare import compare
from aem_monitor.canary.gate import Rules
from aem_monitor.canary.played import Release
from aem_monitor.model.verdict import FailureReason, RunResult
from aem_monitor.scoring.compose import summarise
from aem_monitor.store import Store, schema
from aem_monitor.store.rows import run_row, turn_rows
from tests.store.results import check, failing, run, turn

_RELEASES: Final = ("1.0.0", "1.1.0")
_DIALOGS: Final = 50
_TURNS: Final = 5
_ROUNDS: Final = 3
_DIFFERENT: Final = 200
_REASONS: Final = (
    FailureReason.TOOL_MISMATCH,
    FailureReason.INCONSISTENT_PARAMETER_VALUES,
    FailureReason.INCOMPLETE_RESPONSE,
)
_BARE: Final = (
    """SELECT run_id, agent, dialog, conversation_key, outcome, success_rate, root_cause, result FROM runs
    WHERE latest AND NOT draft AND release = ?""",
    """SELECT turns.run_id, turns.turn_no, turns.verdict FROM turns JOIN runs USING (run_id, dialog_version, revision)
    WHERE runs.latest AND NOT runs.draft AND runs.release = ? AND turns.root_cause""",
)

T = TypeVar("T")


def cost(conversations: int) -> str:
    """CPU time of the parts of ``canary check``, and its ratio to that of the bare rows, medians over rounds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "verdicts.db"
        _fill(path, conversations)
        bare, reading, deciding = [], [], []
        for _ in range(_ROUNDS):
            bare.append(_timed(partial(_bare, path))[0])
            with Store(f"sqlite:///{path}") as store:
                took, releases = _timed(partial(_read, store))
            reading.append(took)
            took, found = _timed(partial(compare, _RELEASES, releases, Rules()))
            deciding.append(took)
        assert found.result.pairs == conversations // 2
    rows, read, decided = (float(np.median(one)) for one in (bare, reading, deciding))
    return (
        f"canary check over {conversations} stored conversations of both releases, {_TURNS} turns each, {_DIALOGS} "
        f"dialogs, SQLite:\n{read + decided:.1f} s of CPU, {read:.1f} to read them, {decided:.1f} to decide; "
        f"{(read + decided) / rows:.1f} times that of the bare rows ({rows:.2f} s)\n"
    )


def _timed(of: Callable[[], T]) -> tuple[float, T]:
    began = time.process_time()
    found = of()
    return time.process_time() - began, found


def _read(store: Store) -> tuple[Release, Release]:
    return store.played(None, _RELEASES[0]), store.played(None, _RELEASES[1])


def _bare(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return sum(len(connection.execute(one, (release,)).fetchall()) for one in _BARE for release in _RELEASES)
    finally:
        connection.close()


def _fill(path: Path, conversations: int) -> None:
    """Some runs as they are stored, and as many copies as are wanted."""
    url = f"sqlite:///{path}"
    Store(url).close()
    kept = {"latest": True, "cause": "final", "replica": "default"}
    results = list(_runs(_DIFFERENT))
    runs = [
        {**run_row(one), **kept, "final_at": one.ended_ns / 1e9, "stored_at": one.ended_ns / 1e9} for one in results
    ]
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(insert(schema.runs), runs)
        connection.execute(insert(schema.turns), [row for one in results for row in turn_rows(one)])
        for table in (schema.runs, schema.turns):
            names = ", ".join(table.c.keys())
            copied = names.replace("run_id", "run_id || '-' || copy").replace(
                "conversation_key", "conversation_key || '-' || copy"
            )
            connection.execute(
                text(
                    "WITH RECURSIVE copies(copy) AS "
                    "(SELECT 1 UNION ALL SELECT copy + 1 FROM copies WHERE copy < :most) "
                    f"INSERT INTO {table.name} ({names}) SELECT {copied} FROM {table.name}, copies"
                ),
                {"most": conversations // _DIFFERENT - 1},
            )
    engine.dispose()


def _runs(count: int) -> Iterator[RunResult]:
    """Every fifth fails in a turn, by chance."""
    generator = np.random.default_rng(1)
    for number in range(count):
        turns = [turn(position, checks=(check(), check())) for position in range(1, _TURNS + 1)]
        if generator.random() < 0.2:
            wrong = int(generator.integers(_TURNS))
            turns[wrong] = failing(wrong + 1, _REASONS[number % 3], checks=(check(), check(passed=False)))
        yield run(
            f"run-{number}",
            *turns,
            **asdict(summarise(turns, complete=True, captured=True)),
            dialog=f"dialog {number // 2 % _DIALOGS}",
            release=_RELEASES[number % 2],
            ended_ns=1_764_500_000_000_000_000 + number * 10**9,
        )
