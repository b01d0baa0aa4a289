"""The segment that a journal writes: a file that only grows."""

import errno
import os
import threading
from pathlib import Path
from typing import Final

from aem_monitor.journal.record import Record, encode

_sync: Final = getattr(os, "fdatasync", os.fsync)
"""``fdatasync`` also writes the file's length, without which its data could not be read (POSIX)."""


class Segment:
    """Appends by one thread at a time; ``sync`` may be called by any number at once.

    ``end`` is the number of records, ``size`` their bytes, ``newest`` the time of receipt of the last one on the wall
    clock, ``written_at`` when it was written on a clock that does not jump, as ``created_at`` is.
    ``failed``: the file is not what it should be, and takes nothing more. All methods raise ``OSError``.
    """

    def __init__(self, path: Path, number: int, marker: bytes, newest: float, created_at: float) -> None:
        """Create the file, which must not exist."""
        self.path = path
        self.number = number
        self.marker = marker
        self.created_at = created_at
        self.newest = newest
        self.written_at = created_at
        self.size = 0
        self.end = 0
        self.failed = False
        self._before_last = (0, 0)
        self._synced = 0
        self._syncing = threading.Lock()
        self._file: int | None = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o600)

    def append(self, received_at: float, head: bytes, body: bytes, now: float) -> int:
        """Write a record; returns its index. One that does not fit the disk leaves nothing behind."""
        assert self._file is not None
        data = encode(Record(self.end, received_at, head, body), self.marker)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            self._cut(self.size)
            raise
        self._before_last = (self.size, self.end)
        self.size += len(data)
        self.end += 1
        self.newest = received_at
        self.written_at = now
        return self.end - 1

    def take_back(self) -> None:
        """Remove the last record, which nobody wants."""
        with self._syncing:
            self.size, self.end = self._before_last
            # The next record has its index, and must not pass for flushed with it.
            self._synced = min(self._synced, self.end)
            self._cut(self.size)

    def _cut(self, size: int) -> None:
        assert self._file is not None
        try:
            os.ftruncate(self._file, size)
        except OSError:
            # Then the rest of it stays at the end, where reading expects it.
            self.failed = True

    @property
    def unsynced(self) -> bool:
        """Whether something was written that may not be on disk."""
        return self._synced < self.end

    def check_place(self) -> None:
        """Find out whether the file is still where it can be read again: one that was removed goes on taking writes.

        Raises ``OSError``; then it takes nothing more.
        """
        if self._file is None:
            return
        try:
            there, own = self.path.stat(), os.fstat(self._file)
        except FileNotFoundError:
            self.failed = True
            raise
        if not os.path.samestat(there, own):
            self.failed = True
            raise FileNotFoundError(errno.ENOENT, "the file was replaced", str(self.path))

    def sync(self, index: int) -> None:
        """Return when the record is on disk.

        Who waits for a flush under way finds the own record written by the next one, together with all others that
        came meanwhile: many requests share two flushes, and none waits for company.
        """
        with self._syncing:
            if self._synced <= index:
                self._flush()

    def close(self, *, flush: bool) -> None:
        """No record follows. Idempotent."""
        with self._syncing:
            if self._file is None:
                return
            try:
                if flush and self._synced < self.end:
                    self._flush()
            finally:
                os.close(self._file)
                self._file = None

    def _flush(self) -> None:
        # Once a flush has failed, the system may have dropped what it could not write, and the next flush says that
        # all is well (the "fsyncgate" of PostgreSQL, 2018): only a new file can be trusted.
        if self.failed or self._file is None:
            raise OSError(errno.EIO, "an earlier flush of the file failed")
        end = self.end
        try:
            _sync(self._file)
        except OSError:
            self.failed = True
            raise
        self._synced = max(self._synced, end)
