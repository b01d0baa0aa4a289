"""One look at everything that is open, which may be taken in slices."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from aem_monitor.engine.cells import Cell
from aem_monitor.engine.timing import Moment

Spent: TypeAlias = Callable[[], bool]
"""Whether enough time was taken for now."""


def never() -> bool:
    """Take all the time it needs."""
    return False


@dataclass(slots=True)
class Round:
    """What is left to do of one look at everything.

    All of it is judged as of one ``moment``, as if it had taken no time: what is taken in between two slices came after
    it. ``traces`` are to be read before any cell is looked at, since a run must not be closed while a part of it lies
    there unread; ``cells`` are known when they have been.
    """

    moment: Moment
    traces: deque[str]
    cells: deque[Cell] | None = None
