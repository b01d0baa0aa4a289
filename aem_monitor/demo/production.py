"""Production in the demo: whatever release is deployed, canaries and customers talk to it without an end."""

import itertools
import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Final, Self

from aem_monitor.demo.http import export
from aem_monitor.demo.recordings import Recording, played_again
from aem_monitor.errors import AemMonitorError

_PAUSE: Final = 0.15
"""Seconds between two requests: a dozen canaries in some four seconds."""

_STOP_SECONDS: Final = 5.0


class Players:
    """Play recordings again, as of now, each time under new ids. Used by one thread at a time."""

    def __init__(self, traces_url: str) -> None:
        self._traces_url = traces_url
        self._plays = itertools.count(1)

    def play(self, recording: Recording) -> Iterator[bool]:
        """Send everything of a recording once; after each request, whether all conversations that began have ended.
        Raises ``AemMonitorError``."""
        play = next(self._plays)
        for part in recording.parts:
            by_ns = time.time_ns() - part.last_ns
            for number, request in enumerate(part.requests, 1):
                export(self._traces_url, played_again(request, play, by_ns))
                yield number == len(part.requests)


class Production:
    """A thread in which they play the release that is deployed, while the block runs."""

    def __init__(self, players: Players, first: Recording) -> None:
        self._players = players
        self._deployed = first
        self._stopping = threading.Event()
        self._failure: AemMonitorError | None = None
        self._thread = threading.Thread(target=self._run, name="production", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join(_STOP_SECONDS)

    def deploy(self, recording: Recording) -> None:
        """From the next conversation on; those that began end on the release on which they began."""
        self._deployed = recording

    def check(self) -> None:
        """Raises the ``AemMonitorError`` that has ended the traffic, if one has."""
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._play(self._deployed)
        except AemMonitorError as error:
            self._failure = error

    def _play(self, recording: Recording) -> None:
        for ended in self._players.play(recording):
            if ended and (self._stopping.is_set() or self._deployed is not recording):
                return
            self._stopping.wait(_PAUSE)
