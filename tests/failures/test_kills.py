"""kill -9 at every step between a message and its committed offset."""

import random
from pathlib import Path

import pytest

from tests.failures.doomed import POINTS
from tests.failures.kills import killed
from tests.failures.oracle import Quiet
from tests.failures.workload import Workload
from tests.services.kafka import KafkaBroker

pytestmark = pytest.mark.service

SEED = 1


@pytest.mark.parametrize("points", [list(POINTS)[::2], list(POINTS)[1::2]], ids=["even", "odd"])
def test_processes_that_are_killed_one_after_the_other_leave_what_one_would(
    points: list[str],
    kafka_broker: KafkaBroker,
    plays: Workload,
    undisturbed: Quiet,
    tmp_path: Path,
) -> None:
    *found, deaths = killed(kafka_broker, tmp_path, plays, points, random.Random(SEED))
    assert deaths >= 2
    assert tuple(found) == undisturbed
