"""The journal of a daemon, between its OTLP sources and its engine: opened, read again, looked after, closed."""

from collections.abc import Mapping, Sequence
from typing import Final

from aem_monitor.engine.engine import Engine
from aem_monitor.engine.worker import EngineThread
from aem_monitor.ingest.batch import JOURNAL, Partition, PartitionsDropped
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_replay import OtlpReplay
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.journal.journal import Journal
from aem_monitor.journal.keeper import Keeper
from aem_monitor.journal.settings import JournalSettings
from aem_monitor.metrics.registry import Metrics, Readings

_ASK_SECONDS: Final = 5.0


class Journalling:
    """``journal`` is for the sources. To be started before them and stopped after them."""

    def __init__(
        self,
        settings: JournalSettings,
        limits: Limits,
        keep: Prefilter,
        engine: Engine,
        worker: EngineThread,
        metrics: Metrics,
    ) -> None:
        self._engine = engine
        self._worker = worker
        self._metrics = metrics
        self.journal = Journal(settings, metrics)
        self._replay = OtlpReplay(self.journal, limits, keep, worker.submit, metrics)
        self._keeper = Keeper(self.journal, self._needed_by_runs, self._drop)

    def open(self) -> None:
        """Take the folder. Raises ``ConfigError`` when it cannot be used or another process has it."""
        self.journal.open()
        self._metrics.watch("aem_monitor_journal_bytes", lambda: [((), float(self.journal.figures.size))])
        self._metrics.watch("aem_monitor_journal_segments", lambda: [((), float(self.journal.figures.segments))])
        self._metrics.watch("aem_monitor_journal_oldest_timestamp_seconds", self._oldest)

    def start(self) -> None:
        """Begin to read what an earlier process has left. The engine's thread runs, no source does yet."""
        self._replay.start()
        self._keeper.start()

    def stop(self, timeout: float) -> None:
        """Read no more. To be called before the engine drains."""
        self._replay.stop(timeout)

    def close(self, timeout: float) -> None:
        """After the engine has drained: delete what nothing needs, let another process have the folder."""
        self._replay.stop(timeout)
        self._keeper.stop(timeout)
        self.journal.close()

    def release(self, offsets: Mapping[Partition, int]) -> None:
        """The engine needs nothing below these offsets any more; those of Kafka are ignored."""
        self.journal.release({number: offset for (topic, number), offset in offsets.items() if topic == JOURNAL})

    def _needed_by_runs(self) -> set[int] | None:
        needed: set[Partition] = set()
        if not self._worker.call(lambda: needed.update(self._engine.needed_by_runs()), _ASK_SECONDS):
            return None
        return {number for topic, number in needed if topic == JOURNAL}

    def _drop(self, numbers: Sequence[int]) -> bool:
        return self._worker.submit(PartitionsDropped(tuple((JOURNAL, number) for number in numbers)), 0.0)

    def _oldest(self) -> Readings:
        oldest = self.journal.figures.oldest
        return [] if oldest is None else [((), oldest)]
