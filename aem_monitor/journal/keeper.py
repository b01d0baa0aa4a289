"""The thread that looks after a journal."""

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from typing import Final

from aem_monitor.journal.journal import Journal

_LOG = logging.getLogger(__name__)

_EVERY: Final = 1.0
"""Seconds between two looks; also how long a record may wait for its flush with ``fsync: interval``."""


class Keeper:
    """Calls ``Journal.keep`` every second.

    ``needed_by_runs`` is asked when the journal is nearly full; ``gone`` is told of deleted segments until it says that
    it has taken note.
    """

    def __init__(
        self,
        journal: Journal,
        needed_by_runs: Callable[[], Collection[int] | None],
        gone: Callable[[Sequence[int]], bool],
    ) -> None:
        self._journal = journal
        self._needed_by_runs = needed_by_runs
        self._gone = gone
        self._untold: list[int] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Look no more."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        while not self._stopping.wait(_EVERY):
            try:
                self.look()
            except Exception:  # noqa: BLE001 - logged; what it looks after must not go unattended
                _LOG.exception("The journal could not be looked after; this is a defect, please report it")

    def look(self) -> None:
        """One look."""
        self._journal.keep(self._needed_by_runs)
        self._untold += self._journal.take_gone()
        if self._untold and self._gone(self._untold):
            self._untold = []
