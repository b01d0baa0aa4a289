"""Names of sinks, and why one cannot take a verdict, in bounded words."""

from pathlib import Path
from typing import Final

from aem_monitor.diskfaults import REASONS as DISK_REASONS
from aem_monitor.diskfaults import disk_fault
from aem_monitor.errors import SinkError

JSON_LINES: Final = "json_lines"
KAFKA: Final = "kafka"
OTLP: Final = "otlp"

SINKS: Final = (JSON_LINES, KAFKA, OTLP)
"""All names of sinks: keys of ``sinks`` in the configuration, values of the label ``sink``."""

REASONS: Final = (
    *DISK_REASONS,
    "locked",
    "not_confirmed",
    "unreachable",
    "overloaded",
    "unauthorized",
    "refused",
)
"""All reasons of a ``SinkError``."""

LOST: Final = ("retention", "corrupt", "too_large", "rejected")
"""Why a sink never gets a verdict: it is no longer there, or the receiver will not have it."""


def file_error(path: Path, error: OSError, taken: int = 0) -> SinkError:
    """The error to raise for one of the system; says what could not be done, where, and what to do."""
    reason, message = disk_fault(f"verdicts could not be written to {path}", error)
    return SinkError(message, reason=reason, taken=taken)
