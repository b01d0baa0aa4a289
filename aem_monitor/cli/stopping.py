"""Signals that end commands that wait."""

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, NamedTuple

_PATIENCE: Final = 2.0
"""Seconds; a database that does not answer can hold up the way out."""


class Ending(NamedTuple):
    """The line and the exit code of a process that is ended."""

    message: str
    code: int


class StoppedError(BaseException):
    """The process was told to end, with ``code``. Nothing but who asked for it may catch this."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@contextmanager
def stopped_by_signals(endings: Mapping[int, Ending]) -> Iterator[None]:
    """Let signals raise ``StoppedError``, and end the process all the same where that gets stuck.

    The first process of a container ignores SIGTERM if it does not handle it.
    """
    timers: list[threading.Timer] = []
    told: list[str] = []

    def end(ending: Ending) -> None:
        with suppress(OSError):
            os.write(sys.stderr.fileno(), f"{ending.message}\n".encode())
        os._exit(ending.code)

    def stop(number: int, _frame: FrameType | None) -> None:
        ending = endings[number]
        last = threading.Timer(_PATIENCE, end, (ending,))
        last.daemon = True
        last.start()
        timers.append(last)
        told.append(ending.message)
        raise StoppedError(ending.code)

    before = {number: signal.signal(number, stop) for number in endings}
    try:
        yield
    except StoppedError:
        print(told[-1], file=sys.stderr)
        raise
    finally:
        for timer in timers:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def alarm_after(seconds: float) -> Iterator[None]:
    """SIGALRM after so many seconds, unless the block has ended."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def exit_code(number: int) -> int:
    """What shells make of a process that a signal ended: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + number
