"""kill -9 at every step between a message and its committed offset."""

import random
from pathlib import Path
from typing import Any

import pytest

from tests.failures.doomed import POINTS
from tests.failures.kills import killed, quiet
from tests.failures.oracle import Outcome, totals_of
from tests.failures.workload import Workload, workload
from tests.services.kafka import KafkaBroker

pytestmark = pytest.mark.service

SEED = 1


@pytest.fixture(scope="module")
def load() -> Workload:
    return workload(SEED)


@pytest.fixture(scope="module")
def undisturbed(
    kafka_broker: KafkaBroker, load: Workload, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Outcome, dict[Any, float]]:
    outcome, shown = quiet(kafka_broker, tmp_path_factory.mktemp("quiet"), load)
    assert len(outcome.runs) == load.runs
    assert outcome.totals == totals_of(outcome.runs.values())
    return outcome, shown


@pytest.mark.parametrize("points", [list(POINTS)[::2], list(POINTS)[1::2]], ids=["even", "odd"])
def test_processes_that_are_killed_one_after_the_other_leave_what_one_would(
    points: list[str],
    kafka_broker: KafkaBroker,
    load: Workload,
    undisturbed: tuple[Outcome, dict[Any, float]],
    tmp_path: Path,
) -> None:
    *found, deaths = killed(kafka_broker, tmp_path, load, points, random.Random(SEED))
    assert deaths >= 2
    assert tuple(found) == undisturbed
