"""One process for each replica name of a SQLite file."""

import hashlib
import os
from pathlib import Path

from aem_monitor.errors import StoreError

if os.name == "posix":
    import fcntl


class Claim:
    """Held by the process that keeps its totals under a name, until ``release`` or its end, however it ends.

    It is a lock on a file of its own beside the database, which stays there: SQLite's locks last for a transaction.
    Where there are no such locks (Windows), nobody is refused.
    """

    def __init__(self, database: Path, replica: str) -> None:
        """Raises ``StoreError`` (reason ``locked``) when another process holds it."""
        self._file: int | None = None
        if os.name != "posix":
            return
        name = hashlib.sha256(replica.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        path = database.resolve()
        try:
            file = os.open(path.with_name(f"{path.name}-{name}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise StoreError(f"the store {database} cannot be claimed: {error}", reason="unavailable") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(file)
            message = (
                f"the store {database} is used by another daemon with the replica name {replica!r}: both would count "
                "into the same totals; stop the other, or give each its own store.replica"
            )
            raise StoreError(message, reason="locked") from error
        except OSError:
            # A file system without such locks: then it is not noticed.
            os.close(file)
            return
        self._file = file

    def release(self) -> None:
        """Let another process have the name. Idempotent."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
