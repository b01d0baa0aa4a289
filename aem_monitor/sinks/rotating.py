"""A file of lines that only grows, and makes place for a new one in time."""

import json
import logging
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aem_monitor.errors import SinkError
from aem_monitor.sinks.faults import file_error

if os.name == "posix":
    import fcntl

_LOG = logging.getLogger(__name__)

_BLOCK: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Rotation:
    """When a file makes place, and how many there are.

    ``max_bytes`` bounds one file (a longer line has a file of its own), ``max_files`` how many there are with the one
    that is written, ``max_age`` (seconds) how old the first line of that one may be.
    """

    max_bytes: int
    max_files: int
    max_age: float


class RotatingFile:
    """``path`` takes the lines; ``path.1`` is the file before it, ``path.2`` the one before that.

    What is at the path always ends with a whole line: the rest of one that a crash or a full disk cut off is removed
    before the next is written. The file may be moved or removed by others at any time. Used by one thread at a time,
    and by one process: a lock on ``path.lock`` sees to it. All methods raise ``SinkError``.
    """

    def __init__(self, path: Path, rotation: Rotation, clock: Callable[[], float], beginning: bytes = b"") -> None:
        """``beginning``: what every line begins with. A file that begins with something else is somebody else's: it is
        refused and left as it is."""
        self.path = path
        self._beginning = beginning
        self._rotation = rotation
        self._clock = clock
        self._lock: int | None = None
        self._file: int | None = None
        self._size = 0
        # When the file that is written got its first line; None before that is known.
        self._since: float | None = None

    def check(self) -> None:
        """Look whether what is at the path is somebody else's, and change nothing."""
        if not self.path.is_file():
            return
        try:
            file = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise file_error(self.path, error) from error
        try:
            self._refuse_others(file)
        finally:
            os.close(file)

    def open(self) -> None:
        """Claim the path and open what is there. Idempotent."""
        try:
            if self._lock is None:
                self._lock = self._claimed()
            if self._file is None:
                self._file = self._opened()
        except OSError as error:
            raise file_error(self.path, error) from error

    def append(self, lines: Sequence[bytes]) -> None:
        """Write lines, each with its end, and return when they are on disk.

        ``taken`` of the error counts those that are; nothing is left of the others.
        """
        taken = 0
        try:
            if self._moved():
                self._let_go()
                self._since = None
            self.open()
            unsynced = 0
            for line in lines:
                if self._due(len(line)):
                    self._sync()
                    taken, unsynced = taken + unsynced, 0
                    self._rotate()
                try:
                    self._write(line)
                except OSError:
                    # What came before it is whole, and need not be written again while the disk is full.
                    self._sync()
                    taken += unsynced
                    raise
                unsynced += 1
            if unsynced:
                self._sync()
            elif self._due(0):
                self._rotate()
        except OSError as error:
            # What could not be flushed may be lost although the next flush succeeds: only a new descriptor can be
            # trusted, and what was not flushed is written again.
            self._let_go()
            raise file_error(self.path, error, taken) from error

    def close(self) -> None:
        """Close the file and let another process have the path. Idempotent."""
        self._let_go()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _let_go(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    # The file that is written

    def _claimed(self) -> int | None:
        """None where there are no such locks (Windows, some file systems)."""
        if os.name != "posix":
            return None
        lock = os.open(f"{self.path}.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(lock)
            message = f"{self.path} is written by another process; stop it, or give each its own path"
            raise SinkError(message, reason="locked") from error
        except OSError:
            os.close(lock)
            return None
        return lock

    def _opened(self) -> int:
        new = not self.path.exists()
        file = os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise SinkError(f"{self.path} is no file; name another path", reason="unavailable")
            self._refuse_others(file)
            if new:
                self._sync_folder()
            self._size = self._whole(file, found.st_size)
            if not self._size:
                self._since = self._clock()
            elif self._since is None:
                self._since = self._first_written(file)
        except BaseException:
            os.close(file)
            raise
        return file

    def _refuse_others(self, file: int) -> None:
        """Before anything of it is removed: a wrong path may lead to a database, or to what people wrote. The first
        line may have been cut off within its beginning."""
        found = os.pread(file, len(self._beginning), 0)
        if not self._beginning.startswith(found):
            message = f"{self.path} holds something else than verdicts, and is left as it is; name another path"
            raise SinkError(message, reason="unavailable")

    def _whole(self, file: int, size: int) -> int:
        """Remove what follows the last end of a line; the length that is left."""
        end = size
        while end:
            start = max(0, end - _BLOCK)
            at = os.pread(file, end - start, start).rfind(b"\n")
            if at >= 0:
                end = start + at + 1
                break
            end = start
        if end < size:
            _LOG.warning("%s ended in the middle of a line, which is removed and written again", self.path)
            os.ftruncate(file, end)
        return end

    def _first_written(self, file: int) -> float:
        """When a file of an earlier process got its first line: not before the verdict in it was stored, nor before
        the file that it follows got its last one. A long queue is written long after its verdicts were stored."""
        with os.fdopen(os.dup(file), "rb") as reader:
            reader.seek(0)
            try:
                stored_at = float(json.loads(reader.readline())["stored_at"])
            except (ValueError, TypeError, KeyError):
                stored_at = os.fstat(file).st_mtime
        before = self._numbered(1)
        return max(stored_at, before.stat().st_mtime) if before.exists() else stored_at

    def _moved(self) -> bool:
        """Whether the path no longer leads to the file that is open."""
        if self._file is None:
            return False
        try:
            return not os.path.samestat(self.path.stat(), os.fstat(self._file))
        except FileNotFoundError:
            return True

    def _write(self, line: bytes) -> None:
        assert self._file is not None
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size += len(line)

    def _sync(self) -> None:
        assert self._file is not None
        os.fsync(self._file)

    # Rotation

    def _due(self, coming: int) -> bool:
        if not self._size or self._since is None:
            return False
        if coming and self._size + coming > self._rotation.max_bytes:
            return True
        return self._clock() - self._since >= self._rotation.max_age

    def _rotate(self) -> None:
        """The oldest file goes, the others move on. A crash in between leaves a gap, which the next rotation fills."""
        self._let_go()
        last = self._rotation.max_files - 1
        free = 1
        while free < last and self._numbered(free).exists():
            free += 1
        for number in range(free, 1, -1):
            self._numbered(number - 1).replace(self._numbered(number))
        self.path.replace(self._numbered(1))
        beyond = last + 1
        while self._numbered(beyond).exists():
            self._numbered(beyond).unlink()
            beyond += 1
        self._since = None
        self._file = self._opened()

    def _numbered(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")

    def _sync_folder(self) -> None:
        """Have the names of new and moved files outlive a power cut, where folders can be flushed."""
        if os.name != "posix":
            return
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
