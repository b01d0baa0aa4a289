"""Names of sinks, and why one cannot take a verdict, in bounded words."""

from pathlib import Path
from typing import Final

from aem_monitor.diskfaults import REASONS as DISK_REASONS
from aem_monitor.diskfaults import disk_fault
from aem_monitor.errors import SinkError

JSON_LINES: Final = "json_lines"

SINKS: Final = (JSON_LINES,)
"""All names of sinks: keys of ``sinks`` in the configuration, values of the label ``sink``."""

REASONS: Final = (*DISK_REASONS, "locked")
"""All reasons of a ``SinkError``."""

LOST: Final = ("retention", "corrupt")
"""Why a verdict that a sink waited for is no longer there."""


def file_error(path: Path, error: OSError, taken: int = 0) -> SinkError:
    """The error to raise for one of the system; says what could not be done, where, and what to do."""
    reason, message = disk_fault(f"verdicts could not be written to {path}", error)
    return SinkError(message, reason=reason, taken=taken)
