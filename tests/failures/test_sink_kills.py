"""kill -9 between the store and a sink: what the sink has, without its repeats, is what the store holds."""

import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest

from aem_monitor.sinks.evaluation import request_of
from aem_monitor.sinks.line import line
from aem_monitor.store import Store
from aem_monitor.store.records import StoredRun
from tests.failures.doomed import KAFKA_SINK_POINTS, OTLP_SINK_POINTS, SINK_POINTS, Point
from tests.failures.kills import quiet
from tests.failures.oracle import Outcome, Quiet, Series
from tests.failures.running import Disturbed
from tests.failures.workload import Workload, workload
from tests.services.kafka import KafkaBroker
from tests.services.otlp_logs import Event, LogsServer, events_of
from tests.services.postgresql import PostgresqlServer
from tests.sinks.test_kafka import messages

pytestmark = pytest.mark.service

SEED = 5
SINKS: Final = {"json_lines": {"path": "verdicts.jsonl", "max_bytes": "16KiB", "max_files": 1000}}
"""Relative to each replica's own folder. A file takes about three verdicts."""


@pytest.fixture(scope="module")
def load() -> Workload:
    return workload(SEED)


@pytest.fixture(scope="module")
def undisturbed(
    kafka_broker: KafkaBroker, load: Workload, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Outcome, dict[Series, float]]:
    return quiet(kafka_broker, tmp_path_factory.mktemp("quiet"), load)


@pytest.fixture(params=["sqlite", "postgresql"])
def disturbed(request: pytest.FixtureRequest, kafka_broker: KafkaBroker, tmp_path: Path) -> Iterator[Disturbed]:
    if request.param == "sqlite":
        one = Disturbed(kafka_broker, tmp_path, sinks=SINKS)
        yield one
        one.close()
        return
    server: PostgresqlServer = request.getfixturevalue("postgresql_server")
    with server.database() as url:
        one = Disturbed(kafka_broker, tmp_path, url, replicas=2, sinks=SINKS)
        yield one
        one.close()


def lines(folder: Path) -> list[Any]:
    """All lines of all replicas."""
    return [json.loads(text) for file in folder.glob("*/verdicts.jsonl*") for text in file.read_bytes().splitlines()]


def stored(url: str, runs: list[str]) -> dict[tuple[str, int], StoredRun]:
    """Each verdict in the store, revisions included."""
    with Store(url, "oracle") as store:
        return {(one.result.run_id, one.result.revision): one for run in runs for one in store.history(run)}


def as_line(verdict: StoredRun) -> Any:
    """What a line, or a message, has to be."""
    return json.loads(line(verdict))


def test_no_verdict_is_missing_in_the_files_of_processes_that_were_killed(
    disturbed: Disturbed, load: Workload, undisturbed: tuple[Outcome, dict[Series, float]], tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    disturbed.produce(load.messages)
    deaths = sum(disturbed.die_at(name, chance.randint(1, point.most)) for name, point in SINK_POINTS.items())
    assert deaths >= 3
    outcome = disturbed.finish()
    assert outcome == undisturbed
    expected = {key: as_line(one) for key, one in stored(disturbed.url, list(outcome[0].runs)).items()}
    written = lines(tmp_path)
    assert len(expected) >= load.runs
    assert {(one["run_id"], one["revision"]): one for one in written} == expected
    assert all(one == expected[one["run_id"], one["revision"]] for one in written), "a repeat says the same"
    assert len(list(tmp_path.glob("*/verdicts.jsonl.[0-9]*"))) >= 2, "files made place meanwhile"


def killed(
    broker: KafkaBroker, folder: Path, load: Workload, sinks: dict[str, Any], points: Mapping[str, Point]
) -> tuple[Quiet, dict[tuple[str, int], StoredRun]]:
    """What is left of processes that died at each of the points, none of which the one before it leaves unreached."""
    chance = random.Random(SEED)
    disturbed = Disturbed(broker, folder, sinks=sinks)
    try:
        disturbed.produce(load.messages)
        for name, point in points.items():
            assert disturbed.die_at(name, chance.randint(1, point.most)), f"it never came to {name}"
        outcome = disturbed.finish()
    finally:
        disturbed.close()
    expected = stored(disturbed.url, list(outcome[0].runs))
    assert len(expected) >= load.runs
    return outcome, expected


def test_no_verdict_is_missing_in_the_topic_of_processes_that_were_killed(
    kafka_broker: KafkaBroker, load: Workload, undisturbed: Quiet, tmp_path: Path
) -> None:
    topic = f"verdicts.{uuid4().hex[:8]}"
    kafka_broker.create_topic(topic, partitions=3)
    sinks = {"kafka": {"bootstrap_servers": [kafka_broker.bootstrap], "topic": topic}}
    outcome, verdicts = killed(kafka_broker, tmp_path, load, sinks, KAFKA_SINK_POINTS)
    assert outcome == undisturbed
    expected = {key: as_line(one) for key, one in verdicts.items()}
    written = [json.loads(message.value) for message in messages(kafka_broker, topic)]
    assert {(one["run_id"], one["revision"]): one for one in written} == expected
    assert all(one == expected[one["run_id"], one["revision"]] for one in written), "a repeat says the same"


def test_no_event_is_missing_at_the_receiver_of_processes_that_were_killed(
    kafka_broker: KafkaBroker, load: Workload, undisturbed: Quiet, tmp_path: Path
) -> None:
    receiver = LogsServer().start()
    try:
        sinks = {"otlp": {"endpoint": receiver.url}}
        outcome, verdicts = killed(kafka_broker, tmp_path, load, sinks, OTLP_SINK_POINTS)
    finally:
        receiver.stop()
    assert outcome == undisturbed
    expected = by_uid([event for one in verdicts.values() for event in events_of(request_of(one))])
    assert by_uid(receiver.events) == expected
    assert all(event == expected[event.attributes["log.record.uid"]] for event in receiver.events)
    assert receiver.faults == []


def by_uid(events: list[Event]) -> dict[str, Event]:
    """Each once, by what tells repeats."""
    return {event.attributes["log.record.uid"]: event for event in events}
