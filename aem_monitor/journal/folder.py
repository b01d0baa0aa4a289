"""The folder of a journal: one process in it, its segments by number, and what is kept aside."""

import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aem_monitor.errors import ConfigError, JournalError
from aem_monitor.journal.faults import journal_error
from aem_monitor.journal.record import MARKER_BYTES
from aem_monitor.journal.segment import Segment

if os.name == "posix":
    import fcntl

_NAME: Final = re.compile(rf"(\d{{10,}})-([0-9a-f]{{{2 * MARKER_BYTES}}})\.segment")
_ASIDE: Final = ".damaged"
_MAX_ASIDE: Final = 4
_PROBE_BYTES: Final = 2**16


@dataclass(slots=True)
class Sealed:
    """A segment that takes no more records. ``newest`` is the time of receipt of its last record on the wall clock;
    ``written_at`` is when that was written on a clock that does not jump.

    ``end`` is the number of its records; None while those of an earlier process have not all been handed on.
    ``damaged``: it is kept aside when it is done with.
    """

    path: Path
    number: int
    marker: bytes
    size: int
    newest: float
    written_at: float
    end: int | None = None
    damaged: bool = False


class Folder:
    """Creates, lists and removes the segments of a folder that belongs to this process alone, until closed."""

    def __init__(self, path: Path, *, flush: bool) -> None:
        """``flush``: names of new files are on disk before the files are used."""
        self.path = path
        self._flush = flush
        self._lock: int | None = None
        self._next = 1

    def open(self, wall: float, now: float) -> list[Sealed]:
        """Make the folder if it is not there, take it, and list its segments, oldest first.

        Segments are as old as the wall clock says, ``wall`` seconds since 1970 at ``now`` of the clock that does not
        jump; one that was written in the future is new.

        Raises ``ConfigError`` when the folder cannot be used, or another process has it.
        """
        try:
            # One that was there before may be a mounted volume, whose mode is its owner's business.
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = self._take(self.path / "lock")
            found = self._sealed(wall, now)
        except OSError as error:
            self.close()
            raise ConfigError(f"ingest.otlp_journal.path: {journal_error('be opened', self.path, error)}") from error
        self._next = max((segment.number for segment in found), default=0) + 1
        return found

    def _take(self, path: Path) -> int | None:
        """An exclusive lock that ends with the process, however it ends; None where there are no such locks."""
        if os.name != "posix":
            return None
        file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(file)
            message = (
                f"ingest.otlp_journal.path: the journal {self.path} is used by another daemon; stop it, or give each "
                "its own path"
            )
            raise ConfigError(message) from error
        except OSError:
            # A file system without such locks: then it is not noticed.
            os.close(file)
            return None
        return file

    def _sealed(self, wall: float, now: float) -> list[Sealed]:
        found = []
        for entry in os.scandir(self.path):
            name = _NAME.fullmatch(entry.name)
            if name is not None and entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                marker = bytes.fromhex(name[2])
                newest = status.st_mtime
                written_at = now - max(0.0, wall - newest)
                found.append(Sealed(Path(entry.path), int(name[1]), marker, status.st_size, newest, written_at))
        return sorted(found, key=lambda segment: segment.number)

    def create(self, wall: float, now: float) -> Segment:
        """A new segment. Raises ``OSError``."""
        marker = secrets.token_bytes(MARKER_BYTES)
        path = self.path / f"{self._next:010d}-{marker.hex()}.segment"
        segment = Segment(path, self._next, marker, wall, now)
        self._next += 1
        try:
            self._flush_names()
        except OSError:
            segment.close(flush=False)
            with suppress(OSError):
                path.unlink()
            raise
        return segment

    def cut(self, segment: Sealed, size: int) -> None:
        """Remove a torn end, so that it is found only once. Where that fails it stays and is found again."""
        with suppress(OSError):
            os.truncate(segment.path, size)
            segment.size = size

    def remove(self, segment: Sealed) -> None:
        """Delete a segment, or keep it aside for inspection if it is damaged. Raises ``OSError``."""
        if segment.damaged:
            segment.path.replace(segment.path.with_suffix(_ASIDE))
            self.prune(float("-inf"))
        else:
            segment.path.unlink(missing_ok=True)

    def prune(self, before: float) -> None:
        """Delete what was kept aside before a time, and all but the last few."""
        aside = sorted((path for path in self.path.glob(f"*{_ASIDE}")), key=lambda path: path.name, reverse=True)
        for rank, path in enumerate(aside):
            with suppress(OSError):
                if rank >= _MAX_ASIDE or path.stat().st_mtime < before:
                    path.unlink()

    def probe(self) -> None:
        """Find out whether something can be written. Raises ``JournalError`` if not."""
        path = self.path / "probe"
        try:
            file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
            try:
                if os.write(file, bytes(_PROBE_BYTES)) < _PROBE_BYTES:
                    raise JournalError(f"the journal {self.path} could not be written: disk full", reason="disk_full")
                os.fsync(file)
            finally:
                os.close(file)
                with suppress(OSError):
                    path.unlink()
        except OSError as error:
            raise journal_error("be written", self.path, error) from error

    def close(self) -> None:
        """Let another process have the folder. Idempotent."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _flush_names(self) -> None:
        if not self._flush or os.name != "posix":
            return
        directory = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
