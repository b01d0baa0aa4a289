"""kill -9 at every step between a message and its committed offset."""

import random
from functools import partial
from pathlib import Path

import pytest

from tests.failures.doomed import POINTS
from tests.failures.kills import killed
from tests.failures.oracle import Quiet
from tests.failures.running import together
from tests.failures.workload import Workload
from tests.services.kafka import KafkaBroker

pytestmark = pytest.mark.service

SEED = 1


def test_processes_that_are_killed_one_after_the_other_leave_what_one_would(
    kafka_broker: KafkaBroker, plays: Workload, undisturbed: Quiet, tmp_path: Path
) -> None:
    halves = {"even": list(POINTS)[::2], "odd": list(POINTS)[1::2]}
    scenarios = [
        partial(killed, kafka_broker, tmp_path / name, plays, points, random.Random(SEED))
        for name, points in halves.items()
    ]
    for name, (*found, deaths) in zip(halves, together(scenarios), strict=True):
        assert deaths >= 2, name
        assert tuple(found) == undisturbed, name
