"""SIGTERM and Ctrl-C for commands that wait."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

_PATIENCE: Final = 2.0
"""Seconds; a database that does not answer can hold up the way out."""


class StoppedError(BaseException):
    """The process was told to end, by signal ``number``. Nothing but who asked for it may catch this."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stopped_by_signals(message: str) -> Iterator[None]:
    """Let SIGTERM and Ctrl-C raise ``StoppedError``, and end the process all the same where that gets stuck.

    The first process of a container ignores SIGTERM if it does not handle it. ``message`` is the line for a process
    that is ended.
    """

    def end(number: int) -> None:
        with suppress(OSError):
            os.write(sys.stderr.fileno(), f"{message}\n".encode())
        os._exit(exit_code(number))

    timers: list[threading.Timer] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        last = threading.Timer(_PATIENCE, end, (number,))
        last.daemon = True
        last.start()
        timers.append(last)
        raise StoppedError(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    except StoppedError:
        print(message, file=sys.stderr)
        raise
    finally:
        for timer in timers:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_code(number: int) -> int:
    """What shells make of a process that a signal ended: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + number
