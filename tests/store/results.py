"""Run results for tests: a plain one, and any that hypothesis can think of."""

from typing import Any

from hypothesis import strategies as st

from aem_monitor.model.verdict import (
    Basis,
    Check,
    FailureReason,
    MismatchDetail,
    NotScored,
    RunResult,
    SubMetric,
    TurnKind,
    TurnVerdict,
)
from aem_monitor.store.records import Review


def check(**changes: Any) -> Check:
    """A check that passed."""
    return Check(**{"submetric": SubMetric.TRUTHFULNESS.value, "subject": "value", "passed": True, **changes})


def turn(turn_no: int | None = 1, **changes: Any) -> TurnVerdict:
    """An action turn that passed."""
    plain: dict[str, Any] = {
        "kind": TurnKind.TOOL,
        "exchange": 0,
        "chain_length": 1,
        "success": True,
        "tool": "reports",
    }
    return TurnVerdict(turn_no, **{**plain, **changes})


def failing(turn_no: int | None = 1, reason: str = "inconsistent_parameter_values", **changes: Any) -> TurnVerdict:
    """An action turn that is a root cause."""
    return turn(turn_no, **{"success": False, "failure_reason": FailureReason(reason), "root_cause": True, **changes})


def run(run_id: str = "run-1", *turns: TurnVerdict, **changes: Any) -> RunResult:
    """A run that passed."""
    plain: dict[str, Any] = {
        "run_id": run_id,
        "conversation_key": f"key of {run_id}",
        "conversation_id": f"id of {run_id}",
        "agent": "reporting",
        "dialog": "sales-report",
        "dialog_version": 1,
        "play": 0,
        "release": "1.0.0",
        "model": "small-1",
        "draft": False,
        "turns": turns or (turn(),),
        "success_rate": 1.0,
        "test_pass": True,
        "score": 1.0,
        "first_failure_turn": None,
        "first_failure_extra": False,
        "root_cause": None,
        "root_cause_count": 0,
        "cascading_count": 0,
        "complete": True,
        "partial": False,
        "started_ns": 1_764_500_000_000_000_000,
        "ended_ns": 1_764_500_003_000_000_000,
        "latency_seconds": 3.0,
        "trace_ids": (f"trace of {run_id}",),
    }
    return RunResult(**{**plain, **changes})


def review(run_id: str = "run-1", **changes: Any) -> Review:
    """A person has rejected the verdict of turn 1."""
    plain: dict[str, Any] = {
        "run_id": run_id,
        "subject": "1",
        "revision": 0,
        "dialog": "sales-report",
        "dialog_version": 1,
        "turn_no": 1,
        "kind": "uncertain",
        "answer": "reject",
        "verdict": "0123abcd",
        "labels": (),
        "who": "dana",
        "note": None,
        "answered_at": 100.0,
    }
    return Review(**{**plain, **changes})


_texts = st.text(st.characters(), max_size=12)
_optional_text = st.none() | _texts
_numbers = st.integers() | st.floats(allow_nan=False)
_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | _numbers | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=6,
)
_share = st.none() | st.floats(0, 1)
_turn_numbers = st.lists(st.integers(0, 99), max_size=3).map(tuple)

checks = st.builds(
    Check,
    submetric=_texts,
    subject=_texts,
    passed=st.none() | st.booleans(),
    field=_optional_text,
    reason=st.none() | st.sampled_from(FailureReason),
    cause=st.none() | st.sampled_from(NotScored),
    expected=_json,
    actual=_json,
    score=_share,
    uncertain=st.booleans(),
    rule=_optional_text,
    explained_by=_turn_numbers,
    basis=st.sampled_from(Basis),
)

turns = st.builds(
    TurnVerdict,
    turn_no=st.none() | st.integers(0, 99),
    kind=st.sampled_from(TurnKind),
    exchange=st.integers(0, 9),
    chain_length=st.integers(0, 9),
    success=st.none() | st.booleans(),
    checks=st.lists(checks, max_size=3).map(tuple),
    failure_reason=st.none() | st.sampled_from(FailureReason),
    detail=st.none() | st.sampled_from(MismatchDetail),
    root_cause=st.booleans(),
    basis=st.sampled_from(Basis),
    blames=_turn_numbers,
    fields=st.lists(_texts, max_size=3).map(tuple),
    not_scored=st.none() | st.sampled_from(NotScored),
    required=st.booleans(),
    tool=_optional_text,
    action=_optional_text,
    called=_optional_text,
    expected=_json,
    actual=_json,
    span_id=st.none() | st.just("00f067aa0ba902b7"),
    trace_id=st.none() | st.just("5b8efff798038103d269b633813fc60c"),
    release=_optional_text,
    model=_optional_text,
    latency_seconds=st.none() | st.floats(0, 1e6),
    attempts=st.integers(0, 9),
    recovered=st.booleans(),
).filter(lambda turn: not (turn.root_cause and turn.failure_reason is FailureReason.PRIOR_ACTION_FAILED))
"""Any, but that a root cause has a reason of its own."""

results = st.builds(
    RunResult,
    run_id=st.text("0123456789abcdef", min_size=8, max_size=16),
    conversation_key=_texts,
    conversation_id=_optional_text,
    agent=_texts,
    dialog=_texts,
    dialog_version=st.integers(0, 99),
    play=st.integers(0, 9),
    release=_optional_text,
    model=_optional_text,
    draft=st.booleans(),
    turns=st.lists(turns, max_size=3).map(tuple),
    success_rate=_share,
    test_pass=st.none() | st.booleans(),
    score=_share,
    first_failure_turn=st.none() | st.integers(0, 99),
    first_failure_extra=st.booleans(),
    root_cause=st.none() | st.sampled_from(FailureReason),
    root_cause_count=st.integers(0, 9),
    cascading_count=st.integers(0, 9),
    complete=st.booleans(),
    partial=st.booleans(),
    started_ns=st.integers(0, 2**64 - 1),
    ended_ns=st.integers(0, 2**64 - 1),
    latency_seconds=st.none() | st.floats(0, 1e6),
    trace_ids=st.lists(st.text("0123456789abcdef", min_size=32, max_size=32), max_size=3).map(tuple),
    recognised_by=_texts,
    variant=_optional_text,
    revision=st.just(0),
)
