"""The runs of a release as the canary gate wants them."""

import json
from collections import defaultdict
from typing import Final, NamedTuple

from sqlalchemy import Connection, and_, func, select

from aem_monitor.canary.played import Release, RootCause, played
from aem_monitor.store import schema
from aem_monitor.store.queries import named
from aem_monitor.store.rows import text_column
from aem_monitor.store.transactions import Transactions

_RUNS = schema.runs.c
_TURNS = schema.turns.c
_COLUMNS: Final = ("run_id", "agent", "dialog", "conversation_key", "outcome", "root_cause", "result")
_KEYS: Final = ("run_id", "dialog_version", "revision")


class Mark(NamedTuple):
    """How many runs there are, revisions and drafts among them, and when the first and the last became final."""

    runs: int
    first: float | None
    last: float | None


class PlayedRuns(Transactions):
    """Runs over all replicas that share the database."""

    def played(self, agent: str | None, release: str) -> Release:
        """The final runs of reviewed dialogs under a release, in the order in which they became final, each in its
        latest revision; those of one agent or of all."""
        conditions = [_RUNS.latest.is_(True), _RUNS.draft.is_(False), named(_RUNS.release, release)]
        if agent is not None:
            conditions.append(_RUNS.agent == text_column(agent))
        wanted = (_RUNS[name] for name in _COLUMNS)
        runs = select(*wanted).where(*conditions).order_by(_RUNS.final_at, _RUNS.run_id)
        roots = (
            select(_TURNS.run_id, _TURNS.verdict)
            .select_from(schema.turns.join(schema.runs, and_(*(_TURNS[key] == _RUNS[key] for key in _KEYS))))
            .where(*conditions, _TURNS.root_cause.is_(True))
        )

        def read(connection: Connection) -> Release:
            causes: dict[str, list[RootCause]] = defaultdict(list)
            for run_id, verdict in connection.execute(roots):
                turn = json.loads(verdict)
                causes[run_id].append(
                    RootCause(turn["failure_reason"], turn["tool"], turn["kind"], turn["chain_length"])
                )
            found = Release()
            for run_id, of, dialog, conversation, outcome, reason, result in connection.execute(runs):
                found.agents.add(of)
                if outcome == "undecided":
                    found.undecided += 1
                    continue
                latency = json.loads(result)["latency_seconds"]
                where = f"{of}\0{conversation}"
                found.played.append(played(dialog, where, outcome == "pass", reason, causes.get(run_id, ()), latency))
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
