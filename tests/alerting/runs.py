"""Runs of an agent as the store has them, and detectors that already know what is usual."""

import itertools
from functools import cache
from typing import Any

from aem_monitor.alerting.deciding import pack_state
from aem_monitor.alerting.detect import Detectors, Settings
from aem_monitor.alerting.observed import Observed
from aem_monitor.model.verdict import FailureReason, MismatchDetail, RunResult
from aem_monitor.store import Store
from aem_monitor.store.alerts import Decision
from tests.store.results import check, failing, run

START = 1_790_000_000.0
SETTINGS = Settings(cool_down=60.0)
_NUMBERS = itertools.count()


@cache
def learnt() -> bytes:
    """The state of detectors after five hundred runs that passed."""
    detectors = Detectors(SETTINGS)
    for number in range(500):
        detectors.observe(Observed("reporting", "1.0.0", "small-1", "sales-report", START + number * 36.0, True))
    return detectors.state()


def teach(store: Store) -> None:
    """Have the store keep that state, and know the release."""
    lease = store.take_alert_lease("teacher", store.alert_lease())
    assert lease is not None
    store.decide(lease, Decision(states={"detectors": pack_state(learnt())}))
    store.release_alert_lease(lease)
    store.note_release("reporting", "1.0.0", "small-1", START)


class Agent:
    """Its runs become final one each 36 seconds."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.at = START + 500 * 36.0

    def passes(self, count: int) -> None:
        for _ in range(count):
            self._store(run(self._id()))

    def fails(self, count: int, **changes: Any) -> None:
        for _ in range(count):
            self._store(mismatch(self._id(), **changes))

    def _id(self) -> str:
        return f"{next(_NUMBERS):08x}"

    def _store(self, result: RunResult) -> None:
        self.at += 36.0
        assert self.store.record_final(result, [], self.at)


def mismatch(run_id: str = "run-1", **changes: Any) -> RunResult:
    """A run whose second turn called another tool, and whose third inherits that."""
    wrong = failing(
        2,
        "tool_mismatch",
        detail=MismatchDetail.WRONG_TOOL,
        tool="reports.FilterData",
        called="reports.SortData",
        trace_id="5b8efff798038103d269b633813fc60c",
        span_id="00f067aa0ba902b7",
        checks=(
            check(
                passed=False,
                subject="tool",
                field="region",
                reason=FailureReason.TOOL_MISMATCH,
                expected={"region": "EU"},
                actual={"region": "US"},
            ),
        ),
    )
    plain = {"test_pass": False, "root_cause": FailureReason.TOOL_MISMATCH, "root_cause_count": 1, "cascading_count": 2}
    return run(run_id, wrong, **{**plain, **changes})
