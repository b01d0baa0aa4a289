"""What is done from time to time, whatever goes wrong with it."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from aem_monitor.journal import keeper as keeper_module
from aem_monitor.journal.journal import SEAL_AFTER
from aem_monitor.journal.keeper import Keeper
from tests.journal.books import Book


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path / "journal")


def test_deleted_segments_are_told_until_it_is_taken_note_of(book: Book) -> None:
    told: list[list[int]] = []

    def gone(numbers: Sequence[int]) -> bool:
        told.append(list(numbers))
        return len(told) > 2

    keeper = Keeper(book.journal, lambda: None, gone)
    for _ in range(2):
        book.write()
        book.release_all()
        book.now += SEAL_AFTER
        keeper.look()
    keeper.look()
    keeper.look()
    assert told == [[1], [1, 2], [1, 2]]


def test_a_look_that_fails_is_logged_and_the_next_one_comes(
    book: Book, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(keeper_module, "_EVERY", 0.01)
    looked = threading.Semaphore(0)

    def needed() -> None:
        looked.release()
        raise ZeroDivisionError

    monkeypatch.setattr(book.journal, "keep", lambda _: needed())
    keeper = Keeper(book.journal, lambda: None, lambda _: True)
    keeper.start()
    assert looked.acquire(timeout=30)
    assert looked.acquire(timeout=30)
    keeper.stop(30)
    assert "this is a defect" in caplog.text
