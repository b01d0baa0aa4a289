"""What pages tell of many runs at once: counted by the database, so that no run is read back for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, func, select

from aem_monitor.model.verdict import UNKNOWN
from aem_monitor.store import schema
from aem_monitor.store.queries import named
from aem_monitor.store.records import MAX_PAGE
from aem_monitor.store.rows import text_column
from aem_monitor.store.transactions import Transactions

_RUNS = schema.runs.c


@dataclass(frozen=True, slots=True)
class Tally:
    """Final runs in their latest revision, by their outcome."""

    passed: int = 0
    failed: int = 0
    undecided: int = 0

    @property
    def decided(self) -> int:
        """Runs with a verdict: what a rate is of."""
        return self.passed + self.failed

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.passed + other.passed, self.failed + other.failed, self.undecided + other.undecided)


@dataclass(frozen=True, slots=True)
class ReleaseTally:
    """The runs of reviewed dialogs under one release of an agent; ``first_at`` and ``last_at`` are when the first and
    last of them became final (seconds since the epoch)."""

    agent: str
    release: str | None
    tally: Tally
    first_at: float
    last_at: float


@dataclass(frozen=True, slots=True)
class DialogTally:
    """The runs of a dialog, drafts in ``drafts`` and nowhere else. ``version`` is the latest one that ran, ``last_at``
    the end of the latest run (event time, seconds since the epoch)."""

    dialog: str
    tally: Tally
    drafts: int
    version: int
    last_at: float


@dataclass(frozen=True, slots=True)
class DialogOfRelease:
    """The runs of a reviewed dialog under one release. ``reasons`` counts the failed ones by the reason of their first
    root cause; runs without one are missing there."""

    dialog: str
    tally: Tally
    reasons: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Play:
    """One run in a row of its dialog's runs; ``outcome`` is ``pass``, ``fail`` or ``undecided``."""

    run_id: str
    agent: str
    release: str | None
    model: str | None
    dialog_version: int
    draft: bool
    outcome: str
    root_cause: str | None
    final_at: float


class Summaries(Transactions):
    """Counts over all replicas that share the database."""

    def release_tallies(self, since: float) -> list[ReleaseTally]:
        """Per agent and release the runs final at ``since`` (seconds) or later, the latest release first, at most
        ``MAX_PAGE``."""
        last = func.max(_RUNS.final_at)
        query = (
            select(_RUNS.agent, _RUNS.release, *_counts(), func.min(_RUNS.final_at), last)
            .where(*_reviewed(), _RUNS.final_at >= since)
            .group_by(_RUNS.agent, _RUNS.release)
            .order_by(last.desc(), _RUNS.agent, _RUNS.release)
            .limit(MAX_PAGE)
        )
        return self._read(
            "count the runs of releases",
            lambda connection: [
                ReleaseTally(agent, release, Tally(*counts), first_at, last_at)
                for agent, release, *counts, first_at, last_at in connection.execute(query)
            ],
        )

    def dialog_tallies(self, since: float) -> list[DialogTally]:
        """Per dialog the runs final at ``since`` (seconds) or later, by name, at most ``MAX_PAGE``."""
        reviewed = _RUNS.draft.is_(False)
        query = (
            select(
                _RUNS.dialog,
                *_counts(reviewed),
                func.sum(case((_RUNS.draft.is_(True), 1), else_=0)),
                func.max(_RUNS.dialog_version),
                func.max(_RUNS.ended_ns),
            )
            .where(_RUNS.latest.is_(True), _RUNS.final_at >= since)
            .group_by(_RUNS.dialog)
            .order_by(_RUNS.dialog)
            .limit(MAX_PAGE)
        )
        return self._read(
            "count the runs of dialogs",
            lambda connection: [
                DialogTally(dialog, Tally(*counts), drafts, version, ended_ns / 1e9)
                for dialog, *counts, drafts, version, ended_ns in connection.execute(query)
            ],
        )

    def dialogs_of_release(self, agent: str | None, release: str) -> list[DialogOfRelease]:
        """The runs of a release by dialog, those of one agent or of all."""
        conditions = [*_reviewed(), named(_RUNS.release, release)]
        if agent is not None:
            conditions.append(_RUNS.agent == text_column(agent))
        counted = select(_RUNS.dialog, *_counts()).where(*conditions).group_by(_RUNS.dialog).order_by(_RUNS.dialog)
        reasons = (
            select(_RUNS.dialog, _RUNS.root_cause, func.count())
            .where(*conditions, _RUNS.outcome == "fail", _RUNS.root_cause.is_not(None))
            .group_by(_RUNS.dialog, _RUNS.root_cause)
            .order_by(_RUNS.root_cause)
        )
        return self._read("compare releases", lambda connection: _by_dialog(connection, counted, reasons))

    def release_starts(self, agent: str | None) -> dict[str, float]:
        """When the earliest stored run of each release of one agent, or of all, began (event time, seconds since the
        epoch); runs whose spans carry no release are those of ``unknown``."""
        conditions = [*_reviewed()]
        if agent is not None:
            conditions.append(_RUNS.agent == text_column(agent))
        query = select(_RUNS.release, func.min(_RUNS.started_ns)).where(*conditions).group_by(_RUNS.release)
        return self._read(
            "look up when releases began",
            lambda connection: {
                release or UNKNOWN: started_ns / 1e9 for release, started_ns in connection.execute(query)
            },
        )

    def plays_of_dialog(self, dialog: str, limit: int) -> list[Play]:
        """The newest runs of a dialog, the newest first."""
        query = (
            select(*(_RUNS[name] for name in Play.__slots__))
            .where(_RUNS.latest.is_(True), _RUNS.dialog == text_column(dialog))
            .order_by(_RUNS.final_at.desc(), _RUNS.run_id.desc())
            .limit(limit)
        )
        return self._read(
            "list the runs of a dialog", lambda connection: [Play(*row) for row in connection.execute(query)]
        )


def _reviewed() -> Sequence[ColumnElement[bool]]:
    return _RUNS.latest.is_(True), _RUNS.draft.is_(False)


def _counts(*conditions: ColumnElement[bool]) -> list[ColumnElement[int]]:
    """The columns of a ``Tally``."""
    counts: list[ColumnElement[int]] = []
    for outcome in ("pass", "fail", "undecided"):
        matching = _RUNS.outcome == outcome
        for condition in conditions:
            matching = matching & condition
        counts.append(func.sum(case((matching, 1), else_=0)))
    return counts


def _by_dialog(connection: Connection, counted: Select[Any], reasons: Select[Any]) -> list[DialogOfRelease]:
    found: dict[str, list[tuple[str, int]]] = {}
    for dialog, reason, count in connection.execute(reasons):
        found.setdefault(dialog, []).append((reason, count))
    return [
        DialogOfRelease(dialog, Tally(*counts), tuple(found.get(dialog, ())))
        for dialog, *counts in connection.execute(counted)
    ]
