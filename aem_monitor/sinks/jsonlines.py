"""Verdicts as lines of JSON in a file."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from aem_monitor.sinks.faults import JSON_LINES
from aem_monitor.sinks.line import BEGINNING, line
from aem_monitor.sinks.rotating import RotatingFile, Rotation
from aem_monitor.store.records import StoredRun


class JsonLines:
    """The sink ``json_lines``. Where a file has no end of its own, it makes place by size and age."""

    name: Final = JSON_LINES

    def __init__(self, path: Path, rotation: Rotation, clock: Callable[[], float] = time.time) -> None:
        """``clock`` gives seconds since the epoch."""
        self._file = RotatingFile(path, rotation, clock, BEGINNING)

    def check(self) -> None:
        """Look whether the path leads to something else than verdicts, and change nothing. Raises ``SinkError``."""
        self._file.check()

    def open(self) -> None:
        """Claim the path. Raises ``SinkError``."""
        self._file.open()

    def take(self, verdicts: Sequence[StoredRun]) -> None:
        """Return when all are on disk. Raises ``SinkError``."""
        self._file.append([line(verdict) for verdict in verdicts])

    def close(self) -> None:
        """Let another process have the path."""
        self._file.close()
