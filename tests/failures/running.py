"""A topic with a workload, and daemons that read it while they are disturbed."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from aem_monitor.examples import example_dialogs
from aem_monitor.store import Store
from aem_monitor.store.conversations import Keeping
from tests.failures.oracle import Quiet, Series, outcome, scraped
from tests.failures.workload import Message
from tests.services.daemon import Daemon
from tests.services.kafka import KafkaBroker

T = TypeVar("T")

PARTITIONS = 3
ASSEMBLY = {"grace": "5s", "idle": "60s", "wall_idle": "3s"}
"""In event time a workload is some minutes long; by the clock it is read within seconds."""


def eventually(condition: Callable[[], object], what: Callable[[], str], seconds: float = 90.0) -> None:
    """Wait until it holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what()
        time.sleep(0.1)


def together(scenarios: Sequence[Callable[[], T]]) -> list[T]:
    """What becomes of scenarios that share nothing but servers, all at one time: most of each is waiting.

    Processes that one starts have to be ended in it: they die with the thread that has started them.
    """
    with ThreadPoolExecutor(len(scenarios)) as pool:
        return [future.result() for future in [pool.submit(scenario) for scenario in scenarios]]


class Disturbed:
    """One topic, one consumer group, one store: what a test does to the daemons that read, it does here.

    ``replicas`` daemons share the store at ``url``; a single one has a SQLite file where no ``url`` is given.
    """

    def __init__(
        self,
        broker: KafkaBroker,
        folder: Path,
        url: str | None = None,
        replicas: int = 1,
        dead_letters: Mapping[str, Any] | None = None,
        **configuration: Any,
    ) -> None:
        unique = uuid4().hex[:8]
        self.broker = broker
        self.topic, self.group = f"failures.{unique}", f"failures.{unique}"
        broker.create_topic(self.topic, partitions=PARTITIONS)
        self.partitions = PARTITIONS
        self.url = url or f"sqlite:///{folder / 'verdicts.db'}"
        kafka = {
            "bootstrap_servers": [broker.bootstrap],
            "group_id": self.group,
            "commit_interval": "100ms",
            # A killed member holds its partitions until then.
            "session_timeout": "1500ms",
            "heartbeat_interval": "300ms",
            # Partitions that are added are seen within this time.
            "metadata_max_age": "2s",
            "topics": [{"name": self.topic}],
            "dead_letters": dict(dead_letters or {}),
        }
        self._sinks = tuple(configuration.get("sinks", ()))
        self.names = [f"replica-{number}" for number in range(replicas)]
        self.daemons: list[Daemon] = []
        for name in self.names:
            own = folder / name
            own.mkdir(parents=True)
            document = {
                "ingest": {"otlp_http": {"enabled": False}, "kafka": kafka},
                "assembly": ASSEMBLY,
                "store": {"url": self.url, "replica": name},
                **configuration,
            }
            self.daemons.append(Daemon(own, example_dialogs() / "sales-report.yaml", document))

    @property
    def daemon(self) -> Daemon:
        """The first one."""
        return self.daemons[0]

    def produce(self, messages: Sequence[Message]) -> None:
        """Write messages, in their order on each partition."""
        for partition in range(self.partitions):
            values = [message.value for message in messages if message.partition == partition]
            if values:
                self.broker.produce(self.topic, *values, partition=partition)

    def add_partitions(self, total: int) -> None:
        """Give the topic more partitions."""
        admin = self.broker.admin()
        admin.create_partitions({self.topic: total})
        admin.close()
        self.partitions = total

    def die_at(self, point: str, nth: int) -> bool:
        """Run a daemon until it dies at a point of ``doomed``; False when it came to the end before that."""
        # It may be dead before it answers.
        with suppress(AssertionError):
            self.daemon.start("tests.failures.doomed", point, str(nth))
        eventually(lambda: not self.daemon.running or (self.done() and not self._sinks_wait()), self.state)
        if not self.daemon.running:
            return True
        self.daemon.close()
        return False

    def done(self) -> bool:
        """Whether nothing is left to read again: all that was written is committed."""
        return self.broker.committed(self.group) == {place: end for place, end in self._ends().items() if end}

    def _sinks_wait(self) -> bool:
        """Whether a sink of the first daemon has not taken all verdicts yet."""
        if not self._sinks:
            return False
        with Store(self.url, self.names[0], Keeping(sinks=self._sinks)) as store:
            return any(store.count_waiting(sink) for sink in self._sinks)

    def _ends(self) -> dict[tuple[str, int], int]:
        return {(self.topic, number): self.broker.end_offset(self.topic, number) for number in range(self.partitions)}

    def finish(self) -> Quiet:
        """Let daemons that nothing disturbs any more come to the end; what is stored then, and what they show."""
        for daemon in self.daemons:
            if not daemon.running:
                daemon.start()
        eventually(self.done, self.state)
        shown: Counter[Series] = Counter()
        for daemon in self.daemons:
            shown.update(scraped(daemon.scrape()))
        for daemon in self.daemons:
            assert daemon.stop() == 0
        return outcome(self.url, self.names), {series: round(value, 6) for series, value in shown.items()}

    def state(self) -> str:
        """How far it has come and what the daemons say, for messages of failures."""
        logs = "\n".join(daemon.log for daemon in self.daemons)
        return f"committed: {self.broker.committed(self.group)} of {self._ends()}; logs:\n{logs}"

    def close(self) -> None:
        """End what still runs."""
        for daemon in self.daemons:
            daemon.close()
