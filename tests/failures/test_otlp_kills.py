"""kill -9 at any moment, with OTLP alone to send: nothing that was acknowledged is lost, nothing counts twice."""

from functools import partial
from pathlib import Path

from tests.failures.doomed import OTLP_POINTS
from tests.failures.otlp_kills import dying_at, in_peace, killed, requests_of, sent
from tests.failures.running import together

SEED = 7


def test_daemons_that_are_killed_again_and_again_come_to_the_same_as_one_in_peace(tmp_path: Path) -> None:
    requests = requests_of(SEED)
    disturbances = {
        "in peace": in_peace,
        "even points": dying_at(list(OTLP_POINTS)[::2]),
        "odd points": dying_at(list(OTLP_POINTS)[1::2]),
        "any moment": killed,
    }
    undisturbed, *others = together(
        [partial(sent, tmp_path / name, requests, SEED, disturb) for name, disturb in disturbances.items()]
    )
    assert len(undisturbed[0].runs) == requests.runs
    for name, found in zip(list(disturbances)[1:], others, strict=True):
        assert found == undisturbed, name
