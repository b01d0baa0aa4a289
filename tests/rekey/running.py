"""``aem-monitor rekey`` as a process, between a topic that is keyed otherwise and the topic of some daemons."""

import json
import sys
import urllib.request
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from aem_monitor.ingest.limits import Limits
from tests.failures.workload import Message
from tests.services.kafka import KafkaBroker
from tests.services.process import ServerProcess, free_port

PARTITIONS = 6
LIMITS = Limits()


class Rekey:
    """One topic of six partitions, and processes of one group that publish it again, keyed, to ``target``."""

    def __init__(self, broker: KafkaBroker, folder: Path, target: str, **section: Any) -> None:
        unique = uuid4().hex[:8]
        self.broker = broker
        self.topic, self.group = f"rekey.{unique}", f"rekey.{unique}"
        self.target = target
        self._folder = folder
        self._section = section
        self._processes: dict[str, ServerProcess] = {}
        self._metrics: dict[str, str] = {}
        broker.create_topic(self.topic, partitions=PARTITIONS)

    def produce_by_trace(self, messages: Sequence[Message]) -> None:
        """Write messages as an exporter does that keys by trace. Each is of one trace."""
        self._produce([(zlib.crc32(trace_of(one.value)) % PARTITIONS, one.value) for one in messages])

    def produce_without_key(self, messages: Sequence[Message], batch: int = 5) -> None:
        """Write batches of several traces each, in turn to all partitions."""
        values = [one.value for one in messages]
        batches = [b"".join(values[at : at + batch]) for at in range(0, len(values), batch)]
        self._produce([(number % PARTITIONS, value) for number, value in enumerate(batches)])

    def _produce(self, placed: Sequence[tuple[int, bytes]]) -> None:
        for partition in range(PARTITIONS):
            values = [value for place, value in placed if place == partition]
            if values:
                self.broker.produce(self.topic, *values, partition=partition)

    def start(self, name: str = "one", wait: bool = True, **section: Any) -> ServerProcess:
        """Start a process of the group, and wait until it has partitions."""
        address = f"127.0.0.1:{free_port()}"
        kafka = {
            "bootstrap_servers": [self.broker.bootstrap],
            "commit_interval": "100ms",
            "session_timeout": "1500ms",
            "heartbeat_interval": "300ms",
            "metadata_max_age": "2s",
        }
        document = {
            "ingest": {"kafka": kafka},
            "rekey": {
                "listen": address,
                "group_id": self.group,
                "topics": [{"name": self.topic, "to": self.target}],
                "wait": "1s",
                "wait_without_id": "5s",
                **self._section,
                **section,
            },
        }
        config = self._folder / f"{name}.yaml"
        config.write_text(json.dumps(document))
        command = [sys.executable, "-m", "aem_monitor", "rekey", "--config", str(config)]
        process = ServerProcess("aem-monitor rekey", command, self._folder / f"{name}.log")
        self._processes[name], self._metrics[name] = process, address
        if wait:
            process.wait_until(lambda: 'source_up{source="kafka"} 1.0' in self.scrape(name), 60.0)
        return process

    def scrape(self, name: str = "one") -> str:
        """What Prometheus would read; empty while nobody listens."""
        try:
            with urllib.request.urlopen(f"http://{self._metrics[name]}/metrics", timeout=5) as answer:
                text: str = answer.read().decode()
                return text
        except OSError:
            return ""

    def done(self) -> bool:
        """Whether all that was written is published, and committed."""
        ends = {(self.topic, number): self.broker.end_offset(self.topic, number) for number in range(PARTITIONS)}
        return self.broker.committed(self.group) == {place: end for place, end in ends.items() if end}

    def state(self) -> str:
        """How far it has come, for messages of failures."""
        logs = "\n".join(path.read_text(errors="replace") for path in sorted(self._folder.glob("*.log")))
        return f"committed of {self.topic}: {self.broker.committed(self.group)}; logs:\n{logs}"

    def close(self) -> None:
        """End what still runs."""
        for process in self._processes.values():
            if process.returncode is None:
                process.kill()


def trace_of(value: bytes) -> bytes:
    """The trace of a message of one trace."""
    request = ExportTraceServiceRequest.FromString(value)
    (trace_id,) = {span.trace_id for block in request.resource_spans for one in block.scope_spans for span in one.spans}
    return bytes(trace_id)
