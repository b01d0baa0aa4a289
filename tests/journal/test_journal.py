"""What is acknowledged is on disk, is read again, and goes when nothing needs it."""

import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aem_monitor.errors import ConfigError, JournalError
from aem_monitor.journal import segment as segment_module
from aem_monitor.journal.journal import SEAL_AFTER
from tests.journal.books import Book, written


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


# Written and read again


@pytest.mark.parametrize("fsync", ["always", "interval", "off"])
def test_a_killed_process_leaves_what_it_took(path: Path, fsync: str) -> None:
    book = Book(path, settings={"fsync": fsync})
    bodies = written(book, [b"one", b"", b"three" * 1000])
    records = book.restarted().read()
    assert [record.body for record in records] == bodies
    assert {(record.head, record.received_at) for record in records} == {(b"head", 1000.0)}


def test_files_are_for_their_owner_only(path: Path) -> None:
    book = Book(path)
    book.write()
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.iterdir()} == {0o600}


def test_without_a_request_there_is_no_segment(path: Path) -> None:
    book = Book(path)
    book.keep()
    assert book.segments() == []
    assert book.journal.figures.oldest is None


def test_the_place_handed_on_is_the_place_read(path: Path) -> None:
    book = Book(path, settings={"segment_bytes": 90})
    written(book, [b"x" * 60] * 5)
    handed = book.handed
    assert len({segment for segment, _ in handed}) > 1
    entries = book.restarted().journal.replay()
    assert [(entry.segment, entry.record.index) for entry in entries] == handed


def test_what_nobody_took_is_not_kept(path: Path) -> None:
    book = Book(path)
    book.write(b"kept")
    book.takes = False
    assert book.write(b"refused") is None
    book.takes = True
    book.write(b"next")
    assert book.handed == [(1, 0), (1, 1)]
    assert book.restarted().bodies() == [b"kept", b"next"]


def test_a_new_process_never_writes_to_an_old_file(path: Path) -> None:
    book = Book(path)
    book.write(b"old")
    again = book.restarted()
    again.write(b"new")
    assert len(again.segments()) == 2
    assert again.handed == [(2, 0)]
    assert again.bodies() == [b"old"], "its own it holds in memory"
    assert again.restarted().bodies() == [b"old", b"new"]


def test_requests_share_flushes_and_none_is_acknowledged_before_its_own(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first flush is held up until all have written: one more is enough for all the others."""
    book = Book(path)
    all_written = threading.Event()
    flushes: list[int] = []

    def flush(file: int) -> None:
        assert all_written.wait(30)
        flushes.append(os.fstat(file).st_size)

    monkeypatch.setattr(segment_module, "_sync", flush)
    tickets = [book.journal.append(b"", b"%d" % number, 0.0, lambda *_: True, 5.0) for number in range(20)]
    size = book.segments()[0].stat().st_size
    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(book.journal.commit, ticket) for ticket in tickets if ticket is not None]
        assert not any(one.done() for one in waiting)
        all_written.set()
        for one in waiting:
            one.result(30)
    assert len(waiting) == 20
    assert flushes == [size]


def test_an_index_used_again_is_flushed_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that was taken back may have been flushed by another's request; its successor was not."""
    book = Book(path)
    kept = book.journal.append(b"", b"kept", 0.0, lambda *_: True, 5.0)
    assert kept is not None

    def flushed_meanwhile(_segment: int, _index: int) -> bool:
        book.journal.commit(kept)
        return False

    assert book.journal.append(b"", b"refused", 0.0, flushed_meanwhile, 5.0) is None
    flushes: list[int] = []
    monkeypatch.setattr(segment_module, "_sync", flushes.append)
    book.write(b"next")
    assert len(flushes) == 1


def test_writers_at_once_hand_on_in_the_order_of_the_file(path: Path) -> None:
    book = Book(path, settings={"segment_bytes": 500})
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: book.write(b"%03d" % number), range(100)))
    assert book.handed == sorted(book.handed)
    assert sorted(book.restarted().bodies()) == [b"%03d" % number for number in range(100)]


# One process, one folder


def test_two_processes_on_one_folder_are_refused(path: Path) -> None:
    book = Book(path)
    with pytest.raises(ConfigError, match=r"ingest\.otlp_journal\.path: .* is used by another daemon"):
        Book(path)
    book.journal.close()
    Book(path).journal.close()


def test_a_folder_that_cannot_be_made_is_said_with_its_key(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"ingest\.otlp_journal\.path: .*file/journal could not be opened"):
        Book(tmp_path / "file" / "journal")


def test_foreign_files_in_the_folder_are_left_alone(path: Path) -> None:
    path.mkdir()
    (path / "notes.txt").write_text("mine")
    (path / "1-zz.segment").write_text("not one")
    book = Book(path)
    assert book.bodies() == []
    book.now += 10**9
    book.keep()
    assert {"notes.txt", "1-zz.segment"} <= {file.name for file in path.iterdir()}


# Cutting


def test_a_segment_goes_when_it_is_closed_and_nothing_of_it_is_needed(path: Path) -> None:
    book = Book(path, settings={"segment_bytes": 90})
    written(book, [b"x" * 60] * 4)
    first, second, third, last = book.segments()
    book.journal.release({1: 1, 2: 0, 3: 1, 4: 1})
    book.keep()
    assert book.segments() == [second, last], "the last one still takes records"
    assert book.journal.take_gone() == [1, 3]
    assert book.journal.take_gone() == []
    assert not first.exists()
    assert not third.exists()


def test_a_quiet_journal_is_emptied_all_the_same(path: Path) -> None:
    book = Book(path)
    book.write()
    book.release_all()
    book.keep()
    assert len(book.segments()) == 1
    book.now += SEAL_AFTER
    book.keep()
    assert book.segments() == []
    book.write(b"later")
    assert book.restarted().bodies() == [b"later"]


def test_closing_deletes_what_is_free_and_leaves_what_is_not(path: Path) -> None:
    book = Book(path)
    book.write()
    book.release_all()
    book.journal.close()
    assert book.segments() == []
    again = Book(path)
    again.write(b"needed")
    again.journal.close()
    assert Book(path).bodies() == [b"needed"]


def test_after_closing_nothing_is_taken(path: Path) -> None:
    book = Book(path)
    book.journal.close()
    book.journal.close()
    with pytest.raises(JournalError) as caught:
        book.write()
    assert caught.value.reason == "closed"


def test_what_is_being_read_again_is_not_deleted_before_all_of_it_was_handed_on(path: Path) -> None:
    book = Book(path)
    written(book, [b"one", b"two"])
    again = book.restarted()
    entries = again.journal.replay()
    assert next(entries).record.body == b"one"
    again.journal.release({1: 1})
    again.keep()
    assert next(entries).record.body == b"two"
    assert list(entries) == []
    again.keep()
    assert len(again.segments()) == 1, "the second is needed until told otherwise"
    again.journal.release({1: 2})
    again.keep()
    assert again.segments() == []


def test_what_is_too_old_goes_whatever_needs_it(path: Path) -> None:
    book = Book(path, settings={"max_age": 3600.0})
    book.write()
    book.now += 3599
    book.keep()
    assert len(book.segments()) == 1
    book.now += 2
    book.keep()
    assert book.segments() == []
    assert book.count("evicted_segments", cause="age") == 1
    assert book.journal.take_gone() == [1]


@pytest.mark.parametrize("jump", [-(10**6), 10**6])
def test_a_wall_clock_that_jumps_makes_nothing_old(path: Path, jump: float) -> None:
    book = Book(path, settings={"max_age": 3600.0})
    book.write()
    book.ahead = jump
    book.now += SEAL_AFTER
    book.keep()
    book.write()
    assert len(book.segments()) == 2, "the first is closed after a minute, and kept"
    assert book.count("evicted_segments", cause="age") == 0
    book.now += 3601 - SEAL_AFTER
    book.keep()
    assert book.count("evicted_segments", cause="age") == 1, "an hour after it was written it is given up"


def test_what_grew_too_old_while_nothing_ran_is_never_read(path: Path) -> None:
    book = Book(path, settings={"max_age": 3600.0})
    book.write()
    os.utime(book.segments()[0], (1000, 1000))
    book.now += 3601
    again = book.restarted()
    assert again.bodies() == []
    assert again.count("evicted_segments", cause="age") == 1


def test_what_grows_too_old_while_it_is_read_is_read_to_its_end(path: Path) -> None:
    """The engine would hold on to a place that is gone."""
    book = Book(path, settings={"max_age": 3600.0})
    written(book, [b"one", b"two"])
    os.utime(book.segments()[0], (1000, 1000))
    again = book.restarted()
    again.write(b"own")
    third = again.restarted()
    entries = third.journal.replay()
    next(entries)
    third.now = 10**12
    third.keep()
    assert [path.name[9] for path in third.segments()] == ["1"]
    assert [entry.record.body for entry in entries] == [b"two"]
    third.keep()
    assert third.segments() == []
    assert third.count("evicted_segments", cause="age") == 2


# Bounds

SMALL = {"max_bytes": 1000, "segment_bytes": 90}


def test_a_nearly_full_journal_gives_up_the_oldest_that_no_run_needs(path: Path) -> None:
    book = Book(path, settings=SMALL)
    written(book, [b"x" * 60] * 10)
    assert book.journal.figures.size > 900
    kept = book.segments()
    book.keep({1, 3})
    assert book.segments() == [kept[0], kept[2], *kept[4:]]
    assert book.journal.figures.size <= 800
    assert book.count("evicted_segments", cause="full") == 2


def test_while_it_is_not_known_what_runs_need_nothing_is_given_up(path: Path) -> None:
    book = Book(path, settings=SMALL)
    written(book, [b"x" * 60] * 10)
    book.keep(None)
    assert len(book.segments()) == 10
    unread = book.restarted()
    unread.keep(())
    assert len(unread.segments()) == 10, "nobody knows yet what is in them"


def test_a_journal_that_runs_need_refuses_more_until_there_is_room(path: Path) -> None:
    book = Book(path, settings=SMALL)
    written(book, [b"x" * 60] * 10)
    with pytest.raises(JournalError) as caught:
        book.write(b"x" * 60)
    assert caught.value.reason == "full"
    assert book.journal.figures.size <= 1000
    assert book.count("errors", reason="full") == 1
    said = book.journal.problem()
    assert said is not None
    assert said.endswith("full")
    book.keep({number for number, _ in book.handed})
    assert book.journal.problem() is not None
    book.release_all()
    book.keep()
    book.journal._probed_at = -100.0
    book.keep()
    assert book.journal.problem() is None
    assert book.write(b"x" * 60) is not None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_happens_what_is_needed_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Requests, refusals, releases, looks, kills: read again is all that was not released, each once, in order."""
    path = tmp_path_factory.mktemp("any") / "journal"
    book = Book(path, settings={"segment_bytes": 150})
    held: dict[tuple[int, int], bytes] = {}
    steps = data.draw(st.lists(st.sampled_from(["write", "refuse", "free", "keep", "quiet", "kill"]), max_size=30))
    for number, step in enumerate(steps):
        if step in ("write", "refuse"):
            book.takes = step == "write"
            if book.write(b"%d" % number) is not None:
                held[book.handed[-1]] = b"%d" % number
        elif step == "free" and held:
            del held[data.draw(st.sampled_from(sorted(held)))]
        elif step == "keep":
            book.journal.release(_needed_from(book, held))
            book.keep()
        elif step == "quiet":
            book.now += SEAL_AFTER
        elif step == "kill":
            handed = book.handed
            book = book.restarted()
            found = {(one.segment, one.record.index): one.record.body for one in book.journal.replay()}
            assert held.items() <= found.items()
            assert list(found) == sorted(found)
            book.handed = [place for place in handed if place in found]
    assert (
        held.items()
        <= {(one.segment, one.record.index): one.record.body for one in book.restarted().journal.replay()}.items()
    )


def _needed_from(book: Book, held: dict[tuple[int, int], bytes]) -> dict[int, int]:
    """As the engine tells it: per segment the lowest place that is needed, else the one after the last."""
    needed: dict[int, int] = {}
    for segment, index in book.handed:
        needed[segment] = max(needed.get(segment, 0), index + 1)
    for segment, index in held:
        needed[segment] = min(needed[segment], index)
    return needed
