"""``python -m tests.failures.doomed POINT NTH run --config FILE``: the daemon, which dies when it comes to a point.

The product knows nothing of this: its functions are wrapped from outside, and the process kills itself (SIGKILL:
nothing is tidied up) the NTH time that one of them is about to run or has just run.
"""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from aem_monitor.alerting.receivers import PagerDuty
from aem_monitor.cli.main import main
from aem_monitor.deadletters.writer import DeadLetters
from aem_monitor.engine.engine import Engine
from aem_monitor.engine.worker import EngineThread
from aem_monitor.ingest.kafka import KafkaSource
from aem_monitor.ingest.kafka_connection import KafkaConnection
from aem_monitor.ingest.kafka_progress import PartitionProgress
from aem_monitor.ingest.kafka_publisher import Publisher
from aem_monitor.ingest.otlp_replay import OtlpReplay
from aem_monitor.journal.folder import Folder
from aem_monitor.journal.journal import Journal
from aem_monitor.journal.segment import Segment
from aem_monitor.sinks.otlp_http import LogsReceiver
from aem_monitor.sinks.rotating import RotatingFile
from aem_monitor.store.store import Store


@dataclass(frozen=True, slots=True)
class Point:
    """A method, and whether death comes after it. ``most``: how often a process comes by in a small workload."""

    owner: type[Any]
    method: str
    after: bool
    most: int


POINTS: Final = {
    "taken_in": Point(Engine, "ingest", True, 15),
    "provisional_stored": Point(Store, "record_provisional", True, 2),
    "before_transaction": Point(Store, "record_final", False, 2),
    "inside_transaction": Point(Store, "_insert_run", True, 2),
    "verdict_stored": Point(Store, "record_final", True, 2),
    "offsets_released": Point(KafkaSource, "release", True, 2),
    "before_commit": Point(KafkaConnection, "commit", False, 1),
    "offsets_committed": Point(KafkaConnection, "commit", True, 1),
}
"""Where a process may die, in the order in which a message comes by."""

OTLP_POINTS: Final = {
    "segment_made": Point(Folder, "create", True, 3),
    "before_write": Point(Segment, "append", False, 4),
    "written": Point(Segment, "append", True, 4),
    "handed_on": Point(EngineThread, "submit", True, 6),
    "before_flush": Point(Segment, "sync", False, 4),
    "flushed": Point(Journal, "commit", True, 4),
    "read_again": Point(OtlpReplay, "_batch", True, 4),
    "verdict_stored": POINTS["verdict_stored"],
    "journal_told": Point(Journal, "release", True, 4),
    "before_cut": Point(Folder, "remove", False, 2),
    "cut": Point(Folder, "remove", True, 2),
}
"""The same for a request over OTLP."""


LETTER_POINTS: Final = {
    "poison_held": Point(DeadLetters, "take", False, 4),
    "letter_taken": Point(DeadLetters, "take", True, 4),
    "letter_put": Point(Publisher, "put", True, 4),
    "letter_confirmed": Point(PartitionProgress, "let_go", False, 4),
    "letter_settled": Point(PartitionProgress, "let_go", True, 4),
}
"""The same for a message that cannot be used, up to the commits of ``POINTS``."""

SINK_POINTS: Final = {
    "before_line": Point(RotatingFile, "_write", False, 2),
    "line_written": Point(RotatingFile, "_write", True, 2),
    "file_moved": Point(RotatingFile, "_let_go", True, 1),
    "lines_flushed": Point(RotatingFile, "_sync", True, 2),
    "before_noted": Point(Store, "taken", False, 1),
    "noted": Point(Store, "taken", True, 1),
}
"""The same for a verdict on its way from the store to a file."""

KAFKA_SINK_POINTS: Final = {
    "before_put": Point(Publisher, "put", False, 20),
    "put": Point(Publisher, "put", True, 20),
    "confirmed": Point(Publisher, "flush", True, 1),
    "before_noted": SINK_POINTS["before_noted"],
    "noted": SINK_POINTS["noted"],
}
"""The same for one on its way to a topic."""

OTLP_SINK_POINTS: Final = {
    "before_sent": Point(LogsReceiver, "send", False, 20),
    "sent": Point(LogsReceiver, "send", True, 20),
    "before_noted": SINK_POINTS["before_noted"],
    "noted": SINK_POINTS["noted"],
}
"""The same for one on its way to a receiver of events."""


ALERT_POINTS: Final = {
    "decided": Point(Store, "decide", True, 1),
    "told": Point(PagerDuty, "send", True, 1),
    "removed": Point(Store, "sent", True, 1),
}
"""The same for an incident on its way from verdicts in the store to PagerDuty."""


def doom(point: str, nth: int) -> None:
    """Have this process die the ``nth`` time that it comes to the point."""
    sinks = {**SINK_POINTS, **KAFKA_SINK_POINTS, **OTLP_SINK_POINTS, **ALERT_POINTS}
    at = {**POINTS, **OTLP_POINTS, **LETTER_POINTS, **sinks}[point]
    method: Callable[..., Any] = getattr(at.owner, at.method)
    calls = 0

    def wrapped(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        last = calls == nth
        if last and not at.after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = method(*arguments, **named)
        if last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(at.owner, at.method, wrapped)


if __name__ == "__main__":
    doom(sys.argv[1], int(sys.argv[2]))
    sys.exit(main(sys.argv[3:]))
