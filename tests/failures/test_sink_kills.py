"""kill -9 between the store and a file: the lines without their repeats are what the store holds."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from aem_monitor.sinks.line import line
from aem_monitor.store import Store
from tests.failures.doomed import SINK_POINTS
from tests.failures.kills import quiet
from tests.failures.oracle import Outcome, Series
from tests.failures.running import Disturbed
from tests.failures.workload import Workload, workload
from tests.services.kafka import KafkaBroker
from tests.services.postgresql import PostgresqlServer

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


def stored(url: str, runs: list[str]) -> dict[tuple[str, int], Any]:
    """What a line has to be for each verdict in the store, revisions included."""
    with Store(url, "oracle") as store:
        return {
            (one.result.run_id, one.result.revision): json.loads(line(one))
            for run in runs
            for one in store.history(run)
        }


def test_no_verdict_is_missing_in_the_files_of_processes_that_were_killed(
    disturbed: Disturbed, load: Workload, undisturbed: tuple[Outcome, dict[Series, float]], tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    disturbed.produce(load.messages)
    deaths = sum(disturbed.die_at(name, chance.randint(1, point.most)) for name, point in SINK_POINTS.items())
    assert deaths >= 3
    outcome = disturbed.finish()
    assert outcome == undisturbed
    expected = stored(disturbed.url, list(outcome[0].runs))
    written = lines(tmp_path)
    assert len(expected) >= load.runs
    assert {(one["run_id"], one["revision"]): one for one in written} == expected
    assert all(one == expected[one["run_id"], one["revision"]] for one in written), "a repeat says the same"
    assert len(list(tmp_path.glob("*/verdicts.jsonl.[0-9]*"))) >= 2, "files made place meanwhile"
