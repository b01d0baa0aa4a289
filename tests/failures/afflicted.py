"""``python -m tests.failures.afflicted WHAT run --config FILE``: the daemon on a machine that something is wrong with.

As in ``doomed``, the product knows nothing of it.
"""

import signal
import sys
import time
from types import FrameType
from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.engine import Engine

_HOUR: Final = 3600.0


def jumping_clock() -> None:
    """The wall clock goes forward by an hour at SIGUSR1, and back by two at the next one."""
    real = time.time
    jumps = [_HOUR, -_HOUR]
    ahead = 0.0

    def jump(number: int, frame: FrameType | None) -> None:
        nonlocal ahead
        ahead = jumps.pop(0) if jumps else 0.0

    signal.signal(signal.SIGUSR1, jump)
    time.time = lambda: real() + ahead


def full_disk() -> None:
    """SQLite finds no more space from SIGUSR1 on, until the next one."""
    full = False

    def toggle(number: int, frame: FrameType | None) -> None:
        nonlocal full
        full = not full

    signal.signal(signal.SIGUSR1, toggle)

    @event.listens_for(Engine, "begin")
    def limit(connection: Any) -> None:
        pages = connection.connection.dbapi_connection.execute("PRAGMA page_count").fetchone()[0]
        most = pages if full else 2**30
        connection.connection.dbapi_connection.execute(f"PRAGMA max_page_count = {most}")


def defective_engine() -> None:
    """The engine cannot take in what stands at offset 1 of any partition."""
    from aem_monitor.engine.engine import Engine as Monitor

    take_in = Monitor.ingest

    def ingest(self: Monitor, item: Any, now: float) -> None:
        position = getattr(item, "position", None)
        if position is not None and position.offset == 1:
            raise ZeroDivisionError
        take_in(self, item, now)

    Monitor.ingest = ingest  # type: ignore[method-assign]


AFFLICTIONS: Final = {
    "jumping_clock": jumping_clock,
    "full_disk": full_disk,
    "defective_engine": defective_engine,
}

if __name__ == "__main__":
    AFFLICTIONS[sys.argv[1]]()
    # Afterwards: clocks are taken as defaults of parameters when modules are read.
    from aem_monitor.cli.main import main

    sys.exit(main(sys.argv[2:]))
