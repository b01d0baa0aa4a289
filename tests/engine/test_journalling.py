"""A journal beside a running engine: what the engine needs stays, the rest goes, and neither side forgets to tell."""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from aem_monitor.engine.settings import EngineSettings
from aem_monitor.engine.worker import EngineThread
from aem_monitor.ingest.batch import JOURNAL, Partition
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_door import OtlpDoor
from aem_monitor.ingest.otlp_reply import ContentType
from aem_monitor.ingest.otlp_request import OtlpRequest
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.journal.settings import JournalSettings
from aem_monitor.journalling import Journalling
from tests.engine.bench import Bench
from tests.services.agent import GREETING, agent_spans
from tests.services.collector import otlp_proto

KEEP = Prefilter(["gen_ai."])


class Running:
    """An engine's thread with a journal of one request a segment, both on the clock on the wall."""

    def __init__(self, path: Path) -> None:
        self.bench = Bench(settings=EngineSettings(idle=0.2, grace=0.2, wall_idle=0.1))
        self.worker = EngineThread(self.bench.engine, self.bench.metrics, 16, self._release)
        chosen = JournalSettings(path, segment_bytes=1)
        self.journalling = Journalling(chosen, Limits(), KEEP, self.bench.engine, self.worker, self.bench.metrics)
        self.door = OtlpDoor(self.worker.submit, self.journalling.journal)
        self.worker.start()
        self.journalling.open()
        self.journalling.start()

    def _release(self, offsets: Mapping[Partition, int]) -> None:
        self.journalling.release(offsets)

    def take(self, conversation: str) -> None:
        body = otlp_proto(agent_spans(conversation, [GREETING]))
        request = OtlpRequest("otlp_http", "peer", "traces", ContentType.PROTOBUF, False, body)
        ticket = self.door.take(request, request.decode(Limits(), KEEP))
        assert ticket is not None
        self.door.keep(ticket)

    def end(self) -> None:
        self.journalling.stop(10)
        self.worker.stop(10)
        self.journalling.close(10)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    made = Running(tmp_path / "journal")
    yield made
    made.end()


def eventually(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_other_traffic_leaves_the_journal_and_the_engine_forgets_its_segments(running: Running) -> None:
    for number in range(4):
        running.take(f"c-{number}")
    offsets = running.bench.engine._held.offsets
    # The last one takes records for another minute.
    eventually(lambda: running.journalling.journal.figures.segments == 1)
    eventually(lambda: set(offsets._next) <= {(JOURNAL, 4)})
    assert offsets._held.get((JOURNAL, 1)) is None
