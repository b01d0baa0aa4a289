"""What sinks wait for, whatever database is under it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import update

from aem_monitor.store import Store, schema
from aem_monitor.store.conversations import Keeping
from aem_monitor.store.records import RevisionKey
from aem_monitor.store.redaction import Redaction
from tests.services.postgresql import PostgresqlServer
from tests.store.contract import BROKEN
from tests.store.results import failing, run, turn

SINK = "json_lines"
FED = Keeping(sinks=(SINK,))
DAY = 86400.0


class OutboxContract:
    @pytest.fixture
    def store(self, url: str) -> Iterator[Store]:
        with Store(url, "a", FED) as store:
            yield store

    def names(self, store: Store, sink: str = SINK) -> list[tuple[str, int, int]]:
        keys = [one.key for one in store.waiting(sink, 100)]
        return [(key.run_id, key.dialog_version, key.revision) for key in keys]

    def test_a_sink_waits_for_every_final_verdict_the_oldest_first(self, store: Store) -> None:
        store.record_provisional(run("run-0"), stored_at=1.0)
        store.record_final(run("run-2", turn(1), failing(2)), [], stored_at=20.0)
        store.record_final(run("run-1"), [], stored_at=10.0)
        store.record_final(run("run-1"), [], stored_at=30.0)
        first, second = store.waiting(SINK, 10)
        assert (first.run, second.run) == (store.run("run-1"), store.run("run-2"))
        assert (first.stored_at, first.lost) == (10.0, None)
        assert store.count_waiting(SINK) == 2
        assert [one.key.run_id for one in store.waiting(SINK, 1)] == ["run-1"]

    def test_a_revision_is_waited_for_beside_the_verdict_before_it(self, store: Store) -> None:
        store.record_final(run(), [], stored_at=10.0)
        store.record_revision(run("run-1", failing(1), dialog_version=2), "rescore", stored_at=20.0)
        store.record_revision(run("run-1", failing(1), dialog_version=2), "rescore", stored_at=30.0)
        assert self.names(store) == [("run-1", 1, 0), ("run-1", 2, 1)]
        stored = [one.run for one in store.waiting(SINK, 10)]
        assert stored == store.history("run-1")

    def test_a_verdict_that_was_not_stored_is_not_waited_for(self, store: Store) -> None:
        with pytest.raises(Exception, match="store a verdict"):
            store.record_final(run(), [BROKEN], stored_at=10.0)
        assert store.waiting(SINK, 10) == []

    def test_what_was_taken_is_waited_for_no_more(self, store: Store) -> None:
        for number in (1, 2, 3):
            store.record_final(run(f"run-{number}"), [], stored_at=float(number))
        store.taken(SINK, [RevisionKey("run-1", 1, 0), RevisionKey("run-3", 1, 0), RevisionKey("run-2", 1, 9)])
        store.taken(SINK, [])
        assert self.names(store) == [("run-2", 1, 0)]

    def test_each_sink_of_each_replica_has_entries_of_its_own(self, url: str) -> None:
        both = Keeping(sinks=(SINK, "another"))
        with Store(url, "a", both) as a:
            a.record_final(run("run-1"), [], stored_at=10.0)
            a.taken(SINK, [RevisionKey("run-1", 1, 0)])
            assert (self.names(a), self.names(a, "another")) == ([], [("run-1", 1, 0)])
            if a.in_memory:
                return
            with Store(url, "b", both) as b:
                assert self.names(b, "another") == []
                b.record_final(run("run-2"), [], stored_at=10.0)
                b.taken("another", [RevisionKey("run-1", 1, 0)])
            assert (self.names(a), self.names(a, "another")) == ([], [("run-1", 1, 0)])

    def test_without_a_sink_nothing_is_kept_for_one(self, url: str) -> None:
        with Store(url, "a") as store:
            store.record_final(run(), [], stored_at=10.0)
            assert store.count_waiting(SINK) == 0

    def test_what_a_sink_gets_is_redacted(self, url: str) -> None:
        with Store(url, "a", Keeping(redaction=Redaction.of(["card"]), sinks=(SINK,))) as store:
            store.record_final(run("run-1", turn(1, actual={"card": "4111"})), [], stored_at=10.0)
            (waiting,) = store.waiting(SINK, 10)
            assert waiting.run is not None
            assert waiting.run.result.turns[0].actual == {"card": "[redacted:string]"}

    def test_a_verdict_that_is_forgotten_before_it_was_taken_is_told_as_lost(self, store: Store) -> None:
        store.record_final(run("old"), [], stored_at=10.0)
        store.record_final(run("new"), [], stored_at=10 * DAY)
        store.retain(before=9 * DAY)
        assert [(one.key.run_id, one.run is None, one.lost) for one in store.waiting(SINK, 10)] == [
            ("old", True, "retention"),
            ("new", False, None),
        ]

    def test_a_damaged_verdict_does_not_hide_the_others(self, store: Store) -> None:
        for number in (1, 2, 3):
            store.record_final(run(f"run-{number}"), [], stored_at=float(number))
        with store._engine.begin() as connection:
            damaged = update(schema.turns).where(schema.turns.c.run_id == "run-2")
            connection.execute(damaged.values(verdict='{"kind": "dance"}'))
        assert [(one.run is None, one.lost) for one in store.waiting(SINK, 10)] == [
            (False, None),
            (True, "corrupt"),
            (False, None),
        ]

    def test_what_no_sink_will_ask_for_is_forgotten_a_day_after_its_run(self, url: str) -> None:
        with Store(url, "a", Keeping(sinks=("given up",))) as store:
            store.record_final(run("run-1"), [], stored_at=10 * DAY)
            store._sinks = (SINK,)
            store.record_final(run("run-2"), [], stored_at=10 * DAY)
            store.retain(before=10.5 * DAY)
            assert store.count_waiting("given up") == 1
            store.retain(before=11.5 * DAY)
            assert store.count_waiting("given up") == 0
            assert store.count_waiting(SINK) == 1, "its own sink has still to say that it is lost"


class TestInMemory(OutboxContract):
    @pytest.fixture
    def url(self) -> str:
        return "sqlite://"


class TestSqliteFile(OutboxContract):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.mark.service
class TestPostgresql(OutboxContract):
    @pytest.fixture
    def url(self, postgresql_server: PostgresqlServer) -> Iterator[str]:
        with postgresql_server.database() as url:
            yield url
