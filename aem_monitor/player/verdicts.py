"""The monitor's verdicts on what was played, asked for over its API."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import orjson

from aem_monitor.player.client import Client
from aem_monitor.player.faults import ExchangeError, Outcome
from aem_monitor.player.record import PlayRecord

_log: Final = logging.getLogger(__name__)

_TAKEN: Final = (
    *("run_id", "agent", "release", "model", "test_pass", "success_rate", "first_failure_turn", "root_cause"),
    *("root_cause_count", "cascading_count"),
)
"""What is told of a run here; the rest is the monitor's to show."""

_EVERY: Final = 2.0


class Verdicts:
    """Final runs by conversation, from the admin listener at ``url``."""

    def __init__(self, url: str, client: Client) -> None:
        self._runs = f"{url.rstrip('/')}/api/v1/runs"
        self._client = client

    def check(self) -> None:
        """Raises ``ExchangeError`` unless the API answers there."""
        self._ask("limit=1")

    def wait(
        self, plays: Sequence[PlayRecord], seconds: float, report: Callable[[int, int], None], stop: Callable[[], bool]
    ) -> None:
        """Fill in ``run`` of each play, until all have one, ``seconds`` have passed or ``stop`` says so. Goes on while
        the monitor does not answer, and says so once."""
        until = time.monotonic() + seconds
        away = False
        while True:
            try:
                for play in plays:
                    if play.run is None and not stop():
                        play.run = self._run_of(play.conversation_id)
                away = False
            except ExchangeError as error:
                if not away:
                    _log.warning("The monitor is asked again: %s", error)
                away = True
            there = sum(play.run is not None for play in plays)
            report(there, len(plays))
            left = until - time.monotonic()
            if there == len(plays) or left <= 0 or stop():
                return
            _sleep(min(_EVERY, left), stop)

    def _run_of(self, conversation: str) -> Mapping[str, Any] | None:
        runs = self._ask(f"limit=1&conversation_id={quote(conversation, safe='')}")
        return {name: runs[0].get(name) for name in _TAKEN} if runs else None

    def _ask(self, query: str) -> Sequence[Mapping[str, Any]]:
        answer = self._client.get(f"{self._runs}?{query}")
        try:
            value = orjson.loads(answer.body)
        except orjson.JSONDecodeError:
            value = None
        runs = value.get("runs") if isinstance(value, dict) else None
        if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
            message = f"{self._runs} is not the API of a monitor; give the address of its admin listener"
            raise ExchangeError(Outcome.UNREADABLE, message, answer.status)
        return runs


def _sleep(seconds: float, stop: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while not stop() and (left := until - time.monotonic()) > 0:
        time.sleep(min(0.1, left))
