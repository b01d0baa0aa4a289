"""Why a journal cannot take or keep something, in bounded words."""

from enum import StrEnum
from pathlib import Path
from typing import Final

from aem_monitor.diskfaults import REASONS as DISK_REASONS
from aem_monitor.diskfaults import disk_fault
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


REASONS: Final = ("full", *DISK_REASONS, "closed")
"""All reasons of a ``JournalError``. ``full``: the bound ``max_bytes`` is reached, not the disk."""


def journal_error(action: str, path: Path, error: OSError) -> JournalError:
    """The error to raise for one of the system; says what could not be done, where, and what to do."""
    reason, message = disk_fault(f"the journal {path} could not {action}", error)
    return JournalError(message, reason=reason)
