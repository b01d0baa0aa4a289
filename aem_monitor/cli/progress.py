"""Progress on standard error of what takes long."""

import logging
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from aem_monitor.controls import visible

Report: TypeAlias = Callable[[int, int], None]
"""``report(done, total)`` in bytes, or whatever the bar counts; ``total`` may grow."""

_log = logging.getLogger(__name__)

LOGGED_EVERY = 60.0
"""Seconds between lines of the log."""

LONG = 8 * 2**20
"""Bytes below which an input is read before anybody looks for a bar."""


@contextmanager
def progress_bar(
    label: str, stream: TextIO | None = None, *, least: int = LONG, unit: str | None = None
) -> Iterator[Report]:
    """Yield a ``Report`` that draws on ``stream`` (standard error) while the block runs.

    Draws nothing where the stream is no terminal, so that logs of batch jobs stay readable, and nothing while the total
    is under ``least``. Counts bytes, or things named by ``unit``. The bar is removed at the end.
    """
    target = sys.stderr if stream is None else stream
    if not target.isatty():
        yield _silent
        return
    bar = _Bar(label, target, least, unit)
    try:
        yield bar.report
    finally:
        bar.stop()


@contextmanager
def status_line(text: str, stream: TextIO | None = None) -> Iterator[Callable[[str], None]]:
    """Show on ``stream`` (standard error) what is waited for, and yield what says it anew.

    The line is removed at the end. Where the stream is no terminal, what is said anew is logged, once a minute.
    """
    target = sys.stderr if stream is None else stream
    if not target.isatty():
        yield _NowAndThen(time.monotonic).report
        return
    with Console(file=target).status(Text(visible(text))) as status:
        yield lambda said: status.update(Text(visible(said)))


def _silent(_done: int, _total: int) -> None:
    return


class _NowAndThen:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._next = -math.inf

    def report(self, said: str) -> None:
        if self._clock() >= self._next:
            _log.info("%s", said)
            self._next = self._clock() + LOGGED_EVERY


class _Bar:
    def __init__(self, label: str, stream: TextIO, least: int, unit: str | None) -> None:
        self._least = least
        counted = (
            (DownloadColumn(binary_units=True), TimeRemainingColumn())
            if unit is None
            else (MofNCompleteColumn(), TextColumn(unit, markup=False))
        )
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            *counted,
            console=Console(file=stream),
            transient=True,
        )
        self._task = self._progress.add_task(label, total=None)
        self._started = False

    def report(self, done: int, total: int) -> None:
        if not self._started:
            if total < self._least:
                return
            self._progress.start()
            self._started = True
        self._progress.update(self._task, completed=done, total=total)

    def stop(self) -> None:
        if self._started:
            self._progress.stop()
