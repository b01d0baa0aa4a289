"""Why a journal cannot take or keep something, in bounded words."""

import errno
from enum import StrEnum
from pathlib import Path
from typing import Final

from aem_monitor.errors import JournalError


class Damaged(StrEnum):
    """What is found wrong when a journal is read."""

    TORN = "torn"
    CORRUPT = "corrupt"
    UNREADABLE = "unreadable"
    UNDECODABLE = "undecodable"


class Evicted(StrEnum):
    """Why a segment was deleted although something open may need it."""

    AGE = "age"
    FULL = "full"


REASONS: Final = ("full", "disk_full", "io", "readonly", "unavailable", "closed", "other")
"""All reasons of a ``JournalError``. ``full``: the bound ``max_bytes`` is reached, not the disk."""

_REASONS: Final = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    # A limit on the size of files (RLIMIT_FSIZE) or the greatest one that the file system has.
    errno.EFBIG: "disk_full",
    errno.EIO: "io",
    errno.EROFS: "readonly",
    errno.EACCES: "readonly",
    errno.EPERM: "readonly",
    errno.ENOENT: "unavailable",
    errno.ENOTDIR: "unavailable",
    errno.EMFILE: "unavailable",
    errno.ENFILE: "unavailable",
}

_ADVICE: Final = {
    "disk_full": "free space on its file system",
    "io": "check the disk",
    "readonly": "let the user that runs aem-monitor write the folder",
    "unavailable": "check that the folder is there, and the limit of open files",
}


def journal_error(action: str, path: Path, error: OSError) -> JournalError:
    """The error to raise for one of the system; says what could not be done, where, and what to do."""
    reason = _REASONS.get(error.errno or 0, "other")
    advice = _ADVICE.get(reason)
    message = f"the journal {path} could not {action}: {error.strerror or error}"
    return JournalError(f"{message}; {advice}" if advice else message, reason=reason)
