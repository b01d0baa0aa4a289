"""Many plays: at a time, at a rate, until all are played, too many exchanges failed, the deadline or an interrupt."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from math import floor
from typing import Final
from uuid import uuid4

from aem_monitor.player.exporter import Exporter
from aem_monitor.player.plan import Plan
from aem_monitor.player.play import Performer
from aem_monitor.player.record import Ended, PlayRecord, Record
from aem_monitor.player.script import NotPlayed, Script

_POLL: Final = 0.1
_ROUNDING: Final = 1e-9
"""A budget of 0.29 lets 29 of 100 fail, though the product is less by a hair."""


def by_chance(scripts: Sequence[Script]) -> Sequence[Script]:
    """All of them in another order. In one order time and again, the canary gate would meet the dialogs that became
    worse in a row, and call a release worse that is not so on average: 5 % instead of 2 % (tests/benchmarks/canary.py).
    """
    return random.sample(scripts, len(scripts))


class Player:
    """Plays every script ``repeats`` times, all once before any of them again: what ends early has played all alike.
    ``ordered`` says in which order, each time."""

    def __init__(
        self,
        plan: Plan,
        scripts: Sequence[Script],
        not_played: Sequence[NotPlayed],
        ordered: Callable[[Sequence[Script]], Sequence[Script]] = by_chance,
    ) -> None:
        self._plan = plan
        self._not_played = not_played
        repeats = plan.play.repeats
        self._planned = repeats * len(scripts)
        exchanges = repeats * sum(len(script.messages) for script in scripts)
        self._may_fail = floor(plan.play.error_budget * exchanges + _ROUNDING)
        self._performer = Performer(plan, Exporter(plan.otlp))
        self._lock = threading.Lock()
        rounds = ((script, repeat) for repeat in range(1, repeats + 1) for script in ordered(scripts))
        self._waiting = enumerate(rounds)
        self._plays: list[PlayRecord] = []
        self._failed = 0
        self._ended: Ended | None = None
        self._fault: BaseException | None = None
        self._stop = threading.Event()
        self._begun = 0.0

    def stop(self) -> None:
        """Let no exchange begin any more; those under way are waited for. May be called from a signal's handler."""
        self._stop.set()

    def run(self, report: Callable[[int, int], None], hurry: Callable[[], bool]) -> Record:
        """Play. ``report`` hears how many plays of how many have begun. ``hurry`` says whether to wait no longer for
        exchanges that are under way."""
        started, self._begun = time.time(), time.monotonic()
        workers = [
            threading.Thread(target=self._work, name=f"player-{number}", daemon=True)
            for number in range(min(self._plan.play.concurrency, self._planned))
        ]
        for worker in workers:
            worker.start()
        while any(worker.is_alive() for worker in workers) and not hurry():
            for worker in workers:
                worker.join(_POLL / len(workers))
            report(len(self._plays), self._planned)
        with self._lock:
            if self._fault is not None:
                raise self._fault
            left = any(worker.is_alive() for worker in workers)
            ended = self._ended or (Ended.INTERRUPTED if left else Ended.PLAYED)
            return Record(list(self._plays), self._planned, self._not_played, ended, started, time.time())

    def _work(self) -> None:
        try:
            while (play := self._next()) is not None:
                self._performer.perform(play, self._may_go_on, self._one_failed)
        except BaseException as fault:  # noqa: BLE001 - raised again where the run is waited for
            self._fault = fault
            self._stop.set()

    def _next(self) -> PlayRecord | None:
        with self._lock:
            found = next(self._waiting, None)
        if found is None:
            return None
        number, (script, repeat) = found
        rate = self._plan.play.rate
        if rate is not None:
            self._wait_until(self._begun + number * 60.0 / rate)
        if not self._may_go_on():
            return None
        play = PlayRecord(script, repeat, str(uuid4()))
        with self._lock:
            self._plays.append(play)
        return play

    def _wait_until(self, when: float) -> None:
        until = min(when, self._begun + self._plan.play.deadline)
        self._stop.wait(max(0.0, until - time.monotonic()))

    def _may_go_on(self) -> bool:
        if self._stop.is_set():
            self._end(Ended.INTERRUPTED)
            return False
        if time.monotonic() - self._begun >= self._plan.play.deadline:
            self._end(Ended.DEADLINE)
            return False
        return True

    def _one_failed(self) -> None:
        with self._lock:
            self._failed += 1
            used_up = self._failed > self._may_fail
        if used_up:
            self._end(Ended.ERROR_BUDGET)

    def _end(self, why: Ended) -> None:
        """Let no exchange begin any more; the first reason counts."""
        with self._lock:
            self._ended = self._ended or why
        self._stop.set()
