"""kill -9 at any moment, with OTLP alone to send: nothing that was acknowledged is lost, nothing counts twice."""

from pathlib import Path

import pytest

from tests.failures.oracle import totals_of
from tests.failures.otlp_kills import in_peace, killed, requests_of, sent


@pytest.mark.parametrize("seed", [7])
def test_a_daemon_that_is_killed_again_and_again_comes_to_the_same(tmp_path: Path, seed: int) -> None:
    requests = requests_of(seed)
    quiet = sent(tmp_path / "quiet", requests, seed, in_peace)
    assert len(quiet[0].runs) == requests.runs
    assert quiet[0].totals == totals_of(quiet[0].runs.values())
    assert sent(tmp_path / "killed", requests, seed, killed) == quiet
