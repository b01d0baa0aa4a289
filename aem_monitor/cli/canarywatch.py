"""Looks at a rollout until there is a verdict."""

import logging
import time
from collections.abc import Callable

from aem_monitor.canary.compare import Comparison, compare
from aem_monitor.canary.gate import Rules, State
from aem_monitor.canary.render import sentence
from aem_monitor.cli.canaryinput import releases_of_store, tell_missing
from aem_monitor.cli.stored import open_store
from aem_monitor.config.root import Config
from aem_monitor.config.units import format_duration
from aem_monitor.errors import StoreError, UsageError
from aem_monitor.store import Store
from aem_monitor.store.played import Mark

_log = logging.getLogger(__name__)


class StoreLooks:
    """Compares two releases as they are in the store now; raises ``StoreError`` while that cannot be read.

    Opened for each look: a file that was replaced, or a server that came back, is met again.
    """

    def __init__(
        self, config: Config, agent: str | None, names: tuple[str, str], rules: Rules, since: float | None = None
    ) -> None:
        """Raises ``UsageError`` or ``StoreError``: there is no store that can be opened. What is wrong at first is
        told at once, not at the deadline."""
        self._config, self._agent, self._names, self._rules, self._since = config, agent, names, rules, since
        self._seen: tuple[tuple[Mark, Mark], Comparison] | None = None
        open_store(config).close()

    def __call__(self) -> Comparison:
        """Raises ``UsageError`` when it has become open which agent is meant."""
        with self._store() as store:
            marks = (store.mark(self._agent, self._names[0]), store.mark(self._agent, self._names[1]))
            if self._seen is not None and self._seen[0] == marks:
                return self._seen[1]
            releases = releases_of_store(store, self._agent, self._names, self._since)
            if self._seen is None:
                tell_missing(store, releases, self._agent, self._names)
        found = compare(self._names, releases, self._rules)
        self._seen = (marks, found)
        return found

    def _store(self) -> Store:
        try:
            return open_store(self._config)
        except UsageError as error:
            # It was there before.
            raise StoreError(str(error), reason="unavailable") from error


def follow(
    look: Callable[[], Comparison],
    report: Callable[[str], None],
    deadline: float,
    every: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Comparison:
    """The comparison that has a verdict, or the last one before the deadline. Looks at once, then ``every`` seconds,
    and a last time at the ``deadline`` (seconds from now); ``report`` is told of each look.

    Raises:
        UsageError: the store could not be read at any look, so that nothing is known.
    """
    end = clock() + deadline
    found: Comparison | None = None
    away: StoreError | None = None
    while True:
        try:
            found = look()
            if away is not None:
                _log.info("canary: the store can be read again")
            away = None
        except StoreError as error:
            if away is None:
                _log.warning("canary: the store cannot be read, it is tried until the deadline: %s", error)
            away = error
        if found is not None and found.result.state is not State.NOT_ENOUGH_EVIDENCE:
            return found
        left = end - clock()
        if left <= 0:
            break
        report(_progress(None if away else found, left))
        sleep(min(every, left))
    if found is None:
        raise UsageError(f"canary: nothing is known at the deadline: {away}")
    if away is not None:
        _log.warning("canary: the answer is that of the last look at which the store could be read")
    return found


def _progress(found: Comparison | None, left: float) -> str:
    said = "the store cannot be read" if found is None else f"{found.result.pairs} pairs; {sentence(found.result)}"
    return f"canary: {said}; {format_duration(round(left))} left"
