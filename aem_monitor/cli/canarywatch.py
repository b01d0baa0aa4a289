"""Looks at a rollout until there is a verdict."""

import logging
import time
from collections.abc import Callable

from aem_monitor.canary.compare import Comparison, compare
from aem_monitor.canary.gate import Rules, State
from aem_monitor.canary.render import sentence
from aem_monitor.cli.stored import open_store
from aem_monitor.config.root import Config
from aem_monitor.config.units import format_duration
from aem_monitor.errors import StoreError, UsageError

_log = logging.getLogger(__name__)


def store_look(config: Config, agent: str | None, names: tuple[str, str], rules: Rules) -> Callable[[], Comparison]:
    """What compares two releases as they are in the store now, and raises ``StoreError`` while that cannot be read.

    Opened for each look: a file that was replaced, or a server that came back, is met again.

    Raises:
        UsageError: there is no store that can be opened. A name that is wrong is told at once, not at the deadline.
    """
    try:
        open_store(config).close()
    except StoreError as error:
        raise UsageError(str(error)) from error

    def look() -> Comparison:
        try:
            store = open_store(config)
        except UsageError as error:
            # It was there before.
            raise StoreError(str(error), reason="unavailable") from error
        with store:
            releases = (store.played(agent, names[0]), store.played(agent, names[1]))
        return compare(names, releases, rules)

    return look


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
    return found


def _progress(found: Comparison | None, left: float) -> str:
    said = "the store cannot be read" if found is None else f"{found.result.pairs} pairs; {sentence(found.result)}"
    return f"canary: {said}; {format_duration(round(left))} left"
