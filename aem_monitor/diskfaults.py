"""What an error of the file system means to an operator, in bounded words."""

import errno
from typing import Final

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
    errno.EISDIR: "unavailable",
    errno.EMFILE: "unavailable",
    errno.ENFILE: "unavailable",
}

_ADVICE: Final = {
    "disk_full": "free space on its file system",
    "io": "check the disk",
    "readonly": "let the user that runs aem-monitor write the folder",
    "unavailable": "check that the folder is there, and the limit of open files",
}

REASONS: Final = (*_ADVICE, "other")


def disk_fault(what: str, error: OSError) -> tuple[str, str]:
    """One of ``REASONS``, and ``what`` (what could not be done, and where) with the cause and what to do."""
    reason = _REASONS.get(error.errno or 0, "other")
    advice = _ADVICE.get(reason)
    message = f"{what}: {error.strerror or error}"
    return reason, f"{message}; {advice}" if advice else message
