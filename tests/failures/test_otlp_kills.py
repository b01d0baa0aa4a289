"""kill -9 at any moment, with OTLP alone to send: nothing that was acknowledged is lost, nothing counts twice."""

from pathlib import Path

import pytest

from tests.failures.doomed import OTLP_POINTS
from tests.failures.otlp_kills import Disturb, Found, Requests, dying_at, in_peace, killed, requests_of, sent

SEED = 7


@pytest.fixture(scope="module")
def requests() -> Requests:
    return requests_of(SEED)


@pytest.fixture(scope="module")
def undisturbed(requests: Requests, tmp_path_factory: pytest.TempPathFactory) -> Found:
    found = sent(tmp_path_factory.mktemp("otlp") / "quiet", requests, SEED, in_peace)
    assert len(found[0].runs) == requests.runs
    return found


@pytest.mark.parametrize(
    "disturb",
    [dying_at(list(OTLP_POINTS)[::2]), dying_at(list(OTLP_POINTS)[1::2]), killed],
    ids=["even points", "odd points", "any moment"],
)
def test_a_daemon_that_is_killed_again_and_again_comes_to_the_same(
    tmp_path: Path, requests: Requests, undisturbed: Found, disturb: Disturb
) -> None:
    assert sent(tmp_path / "killed", requests, SEED, disturb) == undisturbed
