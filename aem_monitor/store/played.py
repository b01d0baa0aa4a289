"""The runs of a release as the canary gate wants them."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, and_, func, select

from aem_monitor.canary.pairs import Undecided
from aem_monitor.canary.played import Release, RootCause, played, share_correct
from aem_monitor.store import schema
from aem_monitor.store.queries import named
from aem_monitor.store.rows import text_column
from aem_monitor.store.transactions import Transactions

_RUNS = schema.runs.c
_TURNS = schema.turns.c
_COLUMNS: Final = (
    "run_id",
    "agent",
    "dialog",
    "dialog_version",
    "conversation_key",
    "outcome",
    "success_rate",
    "root_cause",
    "final_at",
    "result",
)
_KEYS: Final = ("run_id", "dialog_version", "revision")


class Mark(NamedTuple):
    """How many runs there are, revisions and drafts among them, and when the first and the last became final."""

    runs: int
    first: float | None
    last: float | None


class PlayedRuns(Transactions):
    """Runs over all replicas that share the database."""

    def played(self, agent: str | None, release: str, since: float | None = None) -> Release:
        """The final runs of reviewed dialogs under a release, in the order in which they became final, each in its
        latest revision; those of one agent or of all. Those that became final before ``since`` (seconds) are counted
        only."""
        conditions = [_RUNS.latest.is_(True), _RUNS.draft.is_(False), named(_RUNS.release, release)]
        if agent is not None:
            conditions.append(_RUNS.agent == text_column(agent))
        before = select(func.count()).where(*conditions, _RUNS.final_at < since) if since is not None else None
        if since is not None:
            conditions.append(_RUNS.final_at >= since)
        wanted = (_RUNS[name] for name in _COLUMNS)
        runs = select(*wanted).where(*conditions).order_by(_RUNS.final_at, _RUNS.run_id)
        roots = (
            select(_TURNS.run_id, _TURNS.turn_no, _TURNS.verdict)
            .select_from(schema.turns.join(schema.runs, and_(*(_TURNS[key] == _RUNS[key] for key in _KEYS))))
            .where(*conditions, _TURNS.root_cause.is_(True))
        )

        def read(connection: Connection) -> Release:
            causes_of: dict[str, list[RootCause]] = defaultdict(list)
            extra: Counter[str] = Counter()
            for run_id, number, verdict in connection.execute(roots):
                turn = json.loads(verdict)
                extra[run_id] += number is None
                causes_of[run_id].append(
                    RootCause(turn["failure_reason"], turn["tool"], turn["kind"], turn["chain_length"])
                )
            found = Release(before=0 if before is None else connection.execute(before).scalar_one(), timed=True)
            for run_id, of, dialog, version, key, outcome, rate, reason, order, result in connection.execute(runs):
                found.agents.add(of)
                conversation, body = f"{of}\0{key}", json.loads(result)
                if outcome == "undecided" or body["partial"]:
                    found.plays.append(Undecided(dialog, conversation, version=version, order=order))
                    continue
                found.plays.append(
                    played(
                        dialog,
                        conversation,
                        outcome == "pass",
                        _correct(rate, body, extra[run_id]),
                        reason,
                        causes_of.get(run_id, ()),
                        body["latency_seconds"],
                        version=version,
                        order=order,
                    )
                )
            return found

        return self._read("read the runs of a release", read)

    def mark(self, agent: str | None, release: str) -> Mark:
        """What is another after a run of the release came, was judged anew or passed its retention. Read from an index
        alone, a hundredth of the cost of ``played``."""
        query = select(func.count(), func.min(_RUNS.final_at), func.max(_RUNS.final_at)).where(
            named(_RUNS.release, release)
        )
        if agent is not None:
            query = query.where(_RUNS.agent == text_column(agent))

        def read(connection: Connection) -> Mark:
            return Mark(*connection.execute(query).one())

        return self._read("look at the runs of a release", read)


def _correct(rate: float, result: Mapping[str, Any], extra: int) -> float:
    """From the share of all entries that passed, which is one of whole numbers, without reading every turn. Calls that
    the dialog does not allow are entries that fail, and root causes."""
    failed = result["root_cause_count"] + result["cascading_count"]
    if not failed:
        return 1.0
    decided = round(failed / (1.0 - rate))
    return share_correct(failed - extra, decided - extra)
