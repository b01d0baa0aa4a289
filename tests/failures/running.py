"""A topic with a workload, and a daemon that reads it while it is disturbed."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from aem_monitor.examples import example_dialogs
from tests.failures.oracle import Outcome, outcome, scraped
from tests.failures.workload import Message
from tests.services.daemon import Daemon
from tests.services.kafka import KafkaBroker

PARTITIONS = 3
ASSEMBLY = {"grace": "5s", "idle": "9s", "wall_idle": "3s"}
"""In event time a workload is some minutes long; by the clock it is read within seconds."""


def eventually(condition: Callable[[], object], what: Callable[[], str], seconds: float = 90.0) -> None:
    """Wait until it holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what()
        time.sleep(0.1)


class Disturbed:
    """One topic, one consumer group, one store: what a test does to the daemon that reads, it does here."""

    def __init__(self, broker: KafkaBroker, folder: Path, **configuration: Any) -> None:
        unique = uuid4().hex[:8]
        self.broker = broker
        self.topic, self.group = f"failures.{unique}", f"failures.{unique}"
        broker.create_topic(self.topic, partitions=PARTITIONS)
        folder.mkdir(exist_ok=True)
        self.url = f"sqlite:///{folder / 'verdicts.db'}"
        kafka = {
            "bootstrap_servers": [broker.bootstrap],
            "group_id": self.group,
            "commit_interval": "100ms",
            # A killed member holds its partitions until then.
            "session_timeout": "1500ms",
            "heartbeat_interval": "300ms",
            "topics": [{"name": self.topic}],
        }
        self.daemon = Daemon(
            folder,
            example_dialogs() / "sales-report.yaml",
            {"ingest": {"otlp_http": {"enabled": False}, "kafka": kafka}, "assembly": ASSEMBLY, **configuration},
        )

    def produce(self, messages: Sequence[Message]) -> None:
        """Write messages, in their order on each partition."""
        for partition in range(PARTITIONS):
            values = [message.value for message in messages if message.partition == partition]
            if values:
                self.broker.produce(self.topic, *values, partition=partition)

    def die_at(self, point: str, nth: int) -> bool:
        """Run a daemon until it dies at a point of ``doomed``; False when it came to the end before that."""
        self.daemon.start("tests.failures.doomed", point, str(nth))
        while self.daemon.running:
            if self.done():
                self.daemon.close()
                return False
            time.sleep(0.1)
        return True

    def done(self) -> bool:
        """Whether nothing is left to read again: all that was written is committed."""
        ends = {(self.topic, number): self.broker.end_offset(self.topic, number) for number in range(PARTITIONS)}
        return self.broker.committed(self.group) == {place: end for place, end in ends.items() if end}

    def finish(self) -> tuple[Outcome, dict[Any, float]]:
        """Let a daemon that nothing disturbs any more come to the end; what is stored then, and what it shows."""
        self.daemon.start()
        eventually(self.done, lambda: f"not all is committed: {self.broker.committed(self.group)}")
        shown = scraped(self.daemon.scrape())
        assert self.daemon.stop() == 0
        return outcome(self.url, ["tests"]), shown
