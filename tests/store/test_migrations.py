"""A database of an earlier version keeps all that is in it, and can do what this version can."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psycopg
import pytest
from sqlalchemy import inspect, select

from aem_monitor.errors import StoreError
from aem_monitor.store import Store, schema
from aem_monitor.store.conversations import Keeping, Packed
from aem_monitor.store.database import connect
from aem_monitor.store.records import KeptConversation
from tests.services.postgresql import PostgresqlServer
from tests.store.results import run

DATA: Final = Path(__file__).with_name("data")


def failures_of_starting_at_once(url: str) -> list[StoreError]:
    together = threading.Barrier(4)
    failures: list[StoreError] = []

    def start() -> None:
        together.wait()
        try:
            Store(url).close()
        except StoreError as error:
            failures.append(error)

    daemons = [threading.Thread(target=start) for _ in range(4)]
    for daemon in daemons:
        daemon.start()
    for daemon in daemons:
        daemon.join()
    return failures


def versions(url: str) -> list[int]:
    engine = connect(url)
    try:
        with engine.connect() as connection:
            return list(connection.execute(select(schema.schema_versions.c.version).order_by("version")).scalars())
    finally:
        engine.dispose()


class EarlierDatabase:
    """What must hold on every database; ``url`` is one of version 1."""

    def test_all_that_is_in_it_is_there_afterwards(self, url: str) -> None:
        with Store(url, "monitor-0") as store:
            assert [(one.result.conversation_id, one.result.test_pass, one.cause) for one in store.runs()] == [
                ("c-3", False, "late_span"),
                ("c-2", False, "final"),
                ("c-1", True, "final"),
            ]
            (revised,) = [one.result for one in store.runs() if one.result.conversation_id == "c-3"]
            assert [(one.result.revision, one.result.test_pass) for one in store.history(revised.run_id)] == [
                (0, True),
                (1, False),
            ]
            assert [result.conversation_id for result, _ in store.provisional_runs()] == ["c-4"]
            assert store.positions() == {("otlp_spans", 0): 42}
            assert store.answers(["k1"], "judge:small") == {"k1": 0.25}
            counted = {dict(total.labels)["result"]: total.value for total in store.totals(metric="aem_runs_total")}
            assert counted == {"pass": 2.0, "fail": 1.0, "undecided": 0.0}
            assert store.record_final(revised, [], stored_at=2000.0) is False, "it is still known"

    def test_of_what_became_final_before_there_is_no_conversation(self, url: str) -> None:
        with Store(url) as store:
            known = [one.result.run_id for one in store.runs()]
            assert store.conversations(known) == {}
            assert store.reviews() == []
            store.record_final(run("new"), [], stored_at=2000.0, conversation=Packed(9, None))
            assert store.conversations([*known, "new"]) == {"new": KeptConversation(9, None)}

    def test_no_sink_waits_for_what_became_final_before(self, url: str) -> None:
        with Store(url, "monitor-0", Keeping(sinks=("json_lines",))) as store:
            assert store.waiting("json_lines", 10) == []
            store.record_final(run("new"), [], stored_at=2000.0)
            assert [one.key.run_id for one in store.waiting("json_lines", 10)] == ["new"]

    def test_it_has_the_tables_of_a_new_one(self, url: str) -> None:
        Store(url).close()
        migrated, new = connect(url), connect("sqlite://")
        try:
            schema.METADATA.create_all(new)
            for name in schema.METADATA.tables:
                columns = [
                    {one["name"]: one["nullable"] for one in inspect(engine).get_columns(name)}
                    for engine in (migrated, new)
                ]
                assert columns[0] == columns[1]
                indexes = [{one["name"] for one in inspect(engine).get_indexes(name)} for engine in (migrated, new)]
                assert indexes[0] == indexes[1]
        finally:
            migrated.dispose()
            new.dispose()

    def test_daemons_that_start_at_once_bring_it_up_to_date_once(self, url: str) -> None:
        assert failures_of_starting_at_once(url) == []
        assert versions(url) == [1, 2, 3, 4]


class TestSqlite(EarlierDatabase):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        path = tmp_path / "store.db"
        with sqlite3.connect(path) as connection:
            connection.executescript((DATA / "version-1.sqlite.sql").read_text(encoding="utf-8"))
        connection.close()
        return f"sqlite:///{path}"


@pytest.mark.service
class TestPostgresql(EarlierDatabase):
    @pytest.fixture
    def url(self, postgresql_server: PostgresqlServer) -> Iterator[str]:
        with postgresql_server.database() as url:
            with psycopg.connect(url.replace("postgresql+psycopg://", "postgresql://")) as connection:
                connection.execute((DATA / "version-1.postgresql.sql").read_bytes())
            yield url


@pytest.mark.service
def test_daemons_that_start_at_once_create_the_tables_once(postgresql_server: PostgresqlServer) -> None:
    with postgresql_server.database() as url:
        assert failures_of_starting_at_once(url) == []
        assert versions(url) == [schema.SCHEMA_VERSION]
