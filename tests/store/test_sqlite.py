"""The store in a SQLite file keeps the contract, and reports what files do wrong."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from aem_monitor.errors import StoreError
from aem_monitor.model.increment import Increment, Total
from aem_monitor.store import Store, database
from tests.store.contract import PASSED, StoreContract
from tests.store.results import run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


class TestSqliteFile(StoreContract):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path / 'store.db'}"


def pragma(path: Path, name: str) -> object:
    with sqlite3.connect(path) as connection:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_everything_is_there_after_a_restart(url: str) -> None:
    with Store(url) as store:
        store.record_final(run(), [PASSED], stored_at=100.0, positions={("spans", 0): 7})
        store.note_release("reporting", "2.0.0", "small-1", seen_at=50.0)
    with Store(url) as store:
        assert [stored.result for stored in store.runs()] == [run()]
        assert store.totals() == [Total(PASSED.metric, PASSED.labels, 1.0)]
        assert store.positions() == {("spans", 0): 7}
        assert [seen.release for seen in store.releases()] == ["2.0.0", "1.0.0"]
        assert store.record_final(run(), [PASSED], stored_at=200.0) is False


def test_the_file_is_written_ahead_and_readable_by_its_owner_only(url: str, path: Path) -> None:
    with Store(url) as store:
        store.record_final(run(), [], stored_at=100.0)
        assert pragma(path, "journal_mode") == "wal"
        files = list(path.parent.iterdir())
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert len(files) > 1


def test_a_killed_writer_leaves_verdicts_and_totals_that_agree(url: str) -> None:
    program = f"""
import itertools
from aem_monitor.store import Store
from tests.store.contract import PASSED
from tests.store.results import run
store = Store({url!r})
for number in itertools.count():
    store.record_final(run(f"run-{{number}}"), [PASSED], stored_at=float(number))
    print(number, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        confirmed = -1
        while confirmed < 20:
            confirmed = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        confirmed += len(writer.stdout.read().split())
    with Store(url) as store:
        (total,) = store.totals()
        found = sum(1 for number in range(confirmed + 5) if store.run(f"run-{number}") is not None)
        assert total.value == found
        assert found >= confirmed + 1


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)


@pytest.mark.usefixtures("impatient")
def test_a_locked_database_is_reported_and_readers_go_on(url: str, path: Path) -> None:
    with Store(url) as store:
        store.record_final(run("run-1"), [PASSED], stored_at=100.0)
        holder = sqlite3.connect(path, isolation_level=None)
        try:
            holder.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="another process holds the database") as caught:
                store.record_final(run("run-2"), [PASSED], stored_at=101.0)
            assert caught.value.reason == "locked"
            assert [stored.result.run_id for stored in store.runs()] == ["run-1"]
        finally:
            holder.close()
        assert store.record_final(run("run-2"), [PASSED], stored_at=101.0) is True


def test_a_store_in_use_can_be_opened_and_read(url: str, path: Path) -> None:
    with Store(url) as store:
        store.record_final(run("run-1"), [PASSED], stored_at=100.0)
        holder = sqlite3.connect(path, isolation_level=None)
        try:
            holder.execute("BEGIN IMMEDIATE")
            with Store(url, replica="reader") as reader:
                assert [stored.result.run_id for stored in reader.runs()] == ["run-1"]
        finally:
            holder.close()


def test_a_second_process_under_the_same_replica_name_counts_nothing_twice(url: str) -> None:
    with Store(url) as first, Store(url) as second:
        first.add_totals([])
        second.record_final(run("run-1"), [PASSED], stored_at=100.0)
        first.record_final(run("run-2"), [PASSED], stored_at=100.0)
        assert first.record_final(run("run-1"), [PASSED], stored_at=101.0) is False
        assert [total.value for total in first.totals()] == [2.0]
        other = Increment("aem_tool_errors_total", (("tool", "t"),))
        second.add_totals([other])
        with pytest.raises(StoreError) as caught:
            first.add_totals([other])
        assert caught.value.reason == "integrity"
        first.add_totals([other])
        assert {total.metric: total.value for total in first.totals()} == {PASSED.metric: 2.0, other.metric: 2.0}


def test_a_full_database_is_reported_and_keeps_what_it_has(url: str) -> None:
    with Store(url) as store:
        store.record_final(run("run-1"), [PASSED], stored_at=100.0)
        with store._engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

        def fill() -> None:
            for number in range(2, 500):
                store.record_final(run(f"run-{number}"), [PASSED], stored_at=100.0)

        with pytest.raises(StoreError, match="free space") as caught:
            fill()
        assert caught.value.reason == "full"
        (total,) = store.totals()
        assert total.value == len(store.runs())


@pytest.fixture
def broken(path: Path) -> Path:
    path.write_bytes(b"This is no database at all. " * 200)
    return path


def test_a_file_that_is_no_database_is_reported_and_left_alone(url: str, broken: Path) -> None:
    before = broken.read_bytes()
    with pytest.raises(StoreError, match=r"store\.db.*restore a backup") as caught:
        Store(url)
    assert caught.value.reason == "corrupt"
    assert broken.read_bytes() == before


def test_a_damaged_result_is_reported(url: str, path: Path) -> None:
    with Store(url) as store:
        store.record_final(run(), [], stored_at=100.0)
        with sqlite3.connect(path) as connection:
            connection.execute('UPDATE turns SET verdict = \'{"kind": "dance"}\'')
        with pytest.raises(StoreError, match="cannot be read") as caught:
            store.runs()
        assert caught.value.reason == "corrupt"


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_taken_away_is_noticed_before_anything_is_lost(url: str, path: Path, replaced: bool) -> None:
    with Store(url) as store:
        store.record_final(run("run-1"), [], stored_at=100.0)
        elsewhere = path.rename(path.with_name("elsewhere.db"))
        if replaced:
            path.write_bytes(elsewhere.read_bytes())
        for use in (store.check, store.check_writing, lambda: store.record_final(run("run-2"), [], stored_at=101.0)):
            with pytest.raises(StoreError, match="removed or replaced while it was in use") as caught:
                use()
            assert caught.value.reason == "unavailable"
        elsewhere.rename(path)
        assert store.record_final(run("run-2"), [], stored_at=102.0)
        assert len(store.runs()) == 2


def test_a_folder_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="check that the folder exists") as caught:
        Store(f"sqlite:///{tmp_path}/nowhere/store.db")
    assert caught.value.reason == "unavailable"


@pytest.mark.parametrize("url", ["no url", "oracle9000://host/db", ""])
def test_a_url_that_is_none_is_reported(url: str) -> None:
    with pytest.raises(StoreError, match=r"store\.url") as caught:
        Store(url)
    assert caught.value.reason == "unavailable"


def test_labels_of_any_text_are_kept(url: str) -> None:
    labels = (("tool", 'quote " backslash \\ line\nbreak NUL\x00 é 漢 \ud800'),)
    with Store(url) as store:
        store.add_totals([Increment("aem_tool_errors_total", labels), Increment("aem_tool_errors_total", labels)])
        assert store.totals() == [Total("aem_tool_errors_total", labels, 2.0)]


def test_whether_it_can_be_written_is_found_out_by_writing(url: str, tmp_path: Path) -> None:
    """A disk that is full lets everything be read and every transaction begin."""
    with Store(url) as store:
        wal = tmp_path / "store.db-wal"
        before = wal.stat().st_size
        store.check_writing()
        assert wal.stat().st_size > before


def test_a_replica_name_has_one_process_and_any_number_of_readers(url: str) -> None:
    with Store(url, "a") as first:
        first.claim()
        with Store(url, "a") as second:
            assert second.totals() == [], "it may read"
            with pytest.raises(StoreError, match=r"replica name 'a'.*store\.replica") as caught:
                second.claim()
            assert caught.value.reason == "locked"
        with Store(url, "b/../b") as other:
            other.claim()
    with Store(url, "a") as next_one:
        next_one.claim()


def test_a_store_in_memory_can_be_claimed_by_all() -> None:
    with Store("sqlite://", "a") as first, Store("sqlite:///:memory:", "a") as second:
        first.claim()
        second.claim()
        assert first.in_memory
        assert second.in_memory
