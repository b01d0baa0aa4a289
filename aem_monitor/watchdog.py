"""Finds threads that are stuck, and says where."""

import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from aem_monitor.metrics.registry import Metrics

_LOG: Final = logging.getLogger(__name__)

_EVERY: Final = 5.0
STUCK_AFTER: Final = 60.0
"""Seconds. The threads come by several times a second; what they wait for (brokers, the store) is bounded below it."""

Pulse: TypeAlias = Callable[[], float | None]
"""When a thread last came by (monotonic seconds); None while it does not run, or need not."""


class Watchdog:
    """Watches threads, by their names.

    What is wrong outside (brokers, a full disk) shows elsewhere. This is for what goes on inside of the process and
    ends by a restart alone: a call that does not return, a lock that is never freed. The log gets the stack once.
    """

    def __init__(
        self, pulses: Mapping[str, Pulse], metrics: Metrics, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._pulses = pulses
        self._metrics = metrics
        self._clock = clock
        self._stuck: set[str] = set()
        self._stopping = threading.Event()
        for name in pulses:
            metrics.gauge("aem_monitor_stalled", thread=name).set(0)

    def start(self) -> None:
        """Look every few seconds, on a thread of its own."""
        threading.Thread(target=self._run, name="watchdog", daemon=True).start()

    def stop(self) -> None:
        """Look no more."""
        self._stopping.set()

    def problems(self) -> Sequence[str]:
        """A sentence for each thread that is stuck."""
        return [
            f"thread {name} has been stuck in one step for {silent:.0f} seconds; its stack is in the log"
            for name, silent in self._silent().items()
        ]

    def look(self) -> None:
        """Count and say what has got stuck since the last time, or goes on again."""
        silent = self._silent()
        for name in silent.keys() - self._stuck:
            self._metrics.counter("aem_monitor_stalls_total", thread=name).inc()
            _LOG.error(
                "Thread %s has been stuck in one step for %.0f seconds; please report this:\n%s",
                name,
                silent[name],
                _stack(name),
            )
        for name in self._stuck - silent.keys():
            _LOG.warning("Thread %s goes on", name)
        self._stuck = set(silent)
        for name in self._pulses:
            self._metrics.gauge("aem_monitor_stalled", thread=name).set(name in silent)

    def _silent(self) -> dict[str, float]:
        now = self._clock()
        came_by = {name: pulse() for name, pulse in self._pulses.items()}
        return {name: now - at for name, at in came_by.items() if at is not None and now - at > STUCK_AFTER}

    def _run(self) -> None:
        while not self._stopping.wait(_EVERY):
            self.look()


def _stack(name: str) -> str:
    thread = next((one for one in threading.enumerate() if one.name == name), None)
    frame = None if thread is None or thread.ident is None else sys._current_frames().get(thread.ident)  # noqa: SLF001
    return "its stack is not known" if frame is None else "".join(traceback.format_stack(frame))
