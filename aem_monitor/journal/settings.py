"""Where a journal is and what it may hold."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Fsync: TypeAlias = Literal["always", "interval", "off"]


@dataclass(frozen=True, slots=True)
class JournalSettings:
    """See ``deploy/docs/journal.md`` for what each of these means to an operator.

    ``max_bytes`` bounds all segments together, ``max_age`` (seconds) how long a record is kept at most,
    ``segment_bytes`` the length from which on a segment takes no more. With ``fsync`` ``always`` a record is on disk
    before it is acknowledged, with ``interval`` within a second, with ``off`` when the system pleases.
    """

    path: Path
    max_bytes: int = 2**30
    max_age: float = 86400.0
    fsync: Fsync = "always"
    segment_bytes: int = 8 * 2**20
