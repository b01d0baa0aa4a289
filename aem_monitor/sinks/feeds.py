"""All sinks of a daemon."""

import logging
import time
from collections.abc import Sequence
from typing import Final

from aem_monitor.errors import ConfigError, SinkError
from aem_monitor.metrics.registry import Metrics, Readings
from aem_monitor.sinks.base import Sink
from aem_monitor.sinks.feed import Feed
from aem_monitor.store.store import Store

_LOG = logging.getLogger(__name__)

_WRONG: Final = frozenset({"locked", "readonly", "unavailable"})
"""Reasons that a configuration has to answer for. A full disk is none: the daemon starts, and the sink catches up."""


class Feeds:
    """Started and stopped together."""

    def __init__(self, sinks: Sequence[Sink], store: Store, metrics: Metrics) -> None:
        self._sinks = tuple(sinks)
        self._feeds = tuple(Feed(sink, store, metrics) for sink in sinks)
        metrics.watch("aem_monitor_sink_behind_verdicts", self._behind)
        metrics.watch("aem_monitor_sink_oldest_timestamp_seconds", self._oldest)

    def start(self) -> None:
        """Open all sinks, then feed them. Raises ``ConfigError`` for one that cannot work as it is configured."""
        for sink in self._sinks:
            try:
                sink.open()
            except SinkError as error:
                if error.reason not in _WRONG:
                    continue
                for opened in self._sinks:
                    opened.close()
                raise ConfigError(f"sinks.{sink.name}: {error}") from error
        for feed in self._feeds:
            feed.start()

    def stop(self, seconds: float) -> None:
        """Feed what is left, for so long at most."""
        deadline = time.monotonic() + seconds
        for feed in self._feeds:
            feed.stop(max(0.1, deadline - time.monotonic()))
            if feed.behind:
                _LOG.warning(
                    "The sink %s has not taken %d verdicts; the next process offers them", feed.name, feed.behind
                )

    def _behind(self) -> Readings:
        return [((("sink", feed.name),), float(feed.behind)) for feed in self._feeds if feed.behind is not None]

    def _oldest(self) -> Readings:
        return [((("sink", feed.name),), feed.oldest) for feed in self._feeds if feed.oldest is not None]
