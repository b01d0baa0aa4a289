"""Disks that are full, broken or damaged: refused, counted, said, and over by itself."""

import errno
import logging
import os
from pathlib import Path

import pytest

from aem_monitor.errors import JournalError
from aem_monitor.journal import segment as segment_module
from tests.journal.books import Book, written
from tests.smallfiles import files_of_at_most


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path / "journal")


def recovers(book: Book) -> bool:
    """Whether a look finds that all is well again."""
    book.journal._probed_at = -100.0
    book.keep()
    return book.journal.problem() is None


# Writing


def test_a_record_that_does_not_fit_the_disk_is_refused_and_leaves_nothing_behind(book: Book) -> None:
    bodies = written(book, [b"x" * 100])
    size = book.segments()[0].stat().st_size
    with files_of_at_most(300), pytest.raises(JournalError) as caught:
        book.write(b"y" * 300)
    assert caught.value.reason == "disk_full"
    assert book.segments()[0].stat().st_size == size
    assert len(book.handed) == 1, "the engine has not seen it"
    assert book.count("errors", reason="disk_full") == 1
    bodies += written(book, [b"small"])
    assert book.restarted().bodies() == bodies


def test_a_full_disk_is_said_once_and_over_by_itself(
    book: Book, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    book.write()
    real = os.write

    def full(_file: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    for _ in range(3):
        with pytest.raises(JournalError, match="free space on its file system"):
            book.write()
    said = book.journal.problem()
    assert said is not None
    assert said.startswith("the OTLP journal cannot be written since 1970-01-01T00:16:40Z: disk_full")
    assert not recovers(book)
    monkeypatch.setattr(os, "write", real)
    assert recovers(book)
    assert [record.levelname for record in caplog.records] == ["ERROR", "INFO"]
    assert book.write() is not None
    assert len(book.restarted().read()) == 2


def test_a_file_that_is_removed_while_it_is_written_is_noticed(book: Book) -> None:
    book.write(b"first")
    book.segments()[0].unlink()
    book.keep()
    assert book.count("errors", reason="unavailable") == 1
    book.write(b"second")
    book.keep()
    assert book.count("errors", reason="unavailable") == 1
    assert book.restarted().bodies() == [b"second"]


def test_while_the_folder_is_gone_requests_are_refused(book: Book) -> None:
    book.write(b"first")
    elsewhere = book.path.rename(book.path.with_name("elsewhere"))
    book.keep()
    with pytest.raises(JournalError):
        book.write(b"refused")
    assert not recovers(book)
    elsewhere.rename(book.path)
    assert recovers(book)
    book.write(b"second")
    assert book.restarted().bodies() == [b"first", b"second"]


def test_what_may_not_be_flushed_is_refused_and_the_next_goes_to_another_file(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second flush of the same file would claim that all is well."""
    real = segment_module._sync
    failing = [True]

    def broken(file: int) -> None:
        if failing.pop() if failing else False:
            raise OSError(errno.EIO, "Input/output error")
        real(file)

    monkeypatch.setattr(segment_module, "_sync", broken)
    first = book.journal.append(b"", b"first", 0.0, lambda *_: True, 5.0)
    second = book.journal.append(b"", b"second", 0.0, lambda *_: True, 5.0)
    for ticket in (first, second):
        assert ticket is not None
        with pytest.raises(JournalError) as caught:
            book.journal.commit(ticket)
        assert caught.value.reason == "io"
    assert book.journal.problem() is not None
    assert book.write(b"third") is not None
    assert book.journal.problem() is None
    assert len(book.segments()) == 2
    assert b"third" in book.restarted().bodies()


def test_a_fault_when_a_segment_ends_is_told_to_who_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Book(tmp_path / "journal", settings={"segment_bytes": 10})
    waits = book.journal.append(b"", b"x" * 20, 0.0, lambda *_: True, 5.0)
    assert waits is not None

    def broken(_file: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(segment_module, "_sync", broken)
        other = book.journal.append(b"", b"other", 0.0, lambda *_: True, 5.0)
    assert other is not None
    with pytest.raises(JournalError):
        book.journal.commit(waits)
    book.journal.commit(other)


def test_with_an_interval_a_look_flushes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushes: list[int] = []
    monkeypatch.setattr(segment_module, "_sync", flushes.append)
    book = Book(tmp_path / "journal", settings={"fsync": "interval"})
    book.write()
    assert flushes == []
    book.keep()
    assert len(flushes) == 1
    book.keep()
    assert len(flushes) == 1


def test_a_folder_that_is_gone_is_a_fault_like_others(book: Book) -> None:
    for file in book.path.iterdir():
        file.unlink()
    book.path.rmdir()
    with pytest.raises(JournalError) as caught:
        book.write()
    assert caught.value.reason == "unavailable"
    book.path.mkdir()
    assert recovers(book)


def test_a_segment_that_cannot_be_deleted_is_tried_again(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    book.write()
    book.release_all()
    book.now += 60

    def refused(_path: Path, *, missing_ok: bool = False) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", refused)
        book.keep()
    assert len(book.segments()) == 1
    assert book.count("errors", reason="readonly") == 1
    assert book.journal.problem() is None, "it can be written"
    book.keep()
    assert book.segments() == []


# Reading


def test_a_torn_end_is_cut_and_counted_once(book: Book) -> None:
    bodies = written(book, [b"one", b"two"])
    whole = book.segments()[0].stat().st_size
    book.write(b"three")
    os.truncate(book.segments()[0], book.segments()[0].stat().st_size - 1)
    again = book.restarted()
    assert again.bodies() == bodies
    assert again.count("damage", kind="torn") == 1
    assert again.segments()[0].stat().st_size == whole
    third = again.restarted()
    assert third.bodies() == bodies
    assert third.count("damage", kind="torn") == 0


def test_a_damaged_record_is_passed_over_and_its_file_kept_aside(book: Book) -> None:
    written(book, [b"one", b"two", b"three"])
    (file,) = book.segments()
    data = file.read_bytes()
    file.write_bytes(data.replace(b"two", b"TWO"))
    again = book.restarted()
    assert again.bodies() == [b"one", b"three"]
    assert again.count("damage", kind="corrupt") == 1
    again.journal.release({1: 3})
    again.keep()
    assert again.segments() == []
    (aside,) = again.path.glob("*.damaged")
    assert b"TWO" in aside.read_bytes()
    assert again.restarted().bodies() == [], "it is not read again"


def test_what_is_kept_aside_is_bounded_in_number_and_age(book: Book) -> None:
    for number in range(6):
        (book.path / f"{number:010d}-{number:016x}.damaged").write_text("old")
        os.utime(book.path / f"{number:010d}-{number:016x}.damaged", (book.now, book.now))
    book.keep()
    assert sorted(path.name[9] for path in book.path.glob("*.damaged")) == ["2", "3", "4", "5"]
    book.now += 2 * 86400
    book.keep()
    assert list(book.path.glob("*.damaged")) == []


def test_a_file_that_cannot_be_read_keeps_no_other_from_it_and_is_read_by_the_next_process(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.write(b"one")
    again = book.restarted()
    again.write(b"two")
    third = again.restarted()
    real = Path.read_bytes

    def broken(path: Path) -> bytes:
        if path.name.startswith("0000000001"):
            raise OSError(errno.EIO, "Input/output error")
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", broken)
    assert third.bodies() == [b"two"]
    assert third.count("damage", kind="unreadable") == 1
    third.keep()
    assert len(third.segments()) == 2
    assert third.count("errors", reason="io") == 0
    monkeypatch.undo()
    assert third.restarted().bodies() == [b"one", b"two"]


def test_a_file_that_can_never_be_read_goes_when_it_is_too_old(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    book.write(b"one")
    again = book.restarted()

    def broken(path: Path) -> bytes:
        raise OSError(errno.EIO, "Input/output error", str(path))

    monkeypatch.setattr(Path, "read_bytes", broken)
    assert again.bodies() == []
    again.now += 2 * 86400
    again.keep()
    assert again.segments() == []
    assert again.count("evicted_segments", cause="age") == 1


def test_a_file_of_zeros_as_power_cuts_leave_them_is_a_torn_end(book: Book) -> None:
    bodies = written(book, [b"one"])
    with book.segments()[0].open("ab") as file:
        file.write(bytes(4096))
    again = book.restarted()
    assert again.bodies() == bodies
    assert again.count("damage", kind="torn") == 1
