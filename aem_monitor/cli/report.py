"""Results as a table for people: what each release did, and where it broke first."""

from collections import Counter
from collections.abc import Sequence
from typing import TextIO

import orjson

from aem_monitor.cli.tables import Column, print_table
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import Check, RunResult, TurnVerdict

_WIDEST_VALUE = 70


def print_report(results: Sequence[RunResult], stream: TextIO) -> None:
    """Two tables: correctness by release, and each failing run with its first failing turn."""
    print_releases(results, stream)
    print_failures(results, stream)


def print_releases(results: Sequence[RunResult], stream: TextIO) -> None:
    """One row a release and model: turns, correctness, root causes by reason, cascades."""
    groups: dict[tuple[str, str], list[RunResult]] = {}
    for result in results:
        groups.setdefault((result.release or "unknown", result.model or "unknown"), []).append(result)
    print_table(
        (
            "release",
            "model",
            Column("runs", "right"),
            Column("turns", "right"),
            Column("correct", "right"),
            "root causes",
            Column("cascades", "right"),
            Column("not scored", "right"),
        ),
        [_release_row(release, model, runs) for (release, model), runs in groups.items()],
        stream,
        title="Correctness by release",
    )


def print_failures(results: Sequence[RunResult], stream: TextIO) -> None:
    """One row a failing run: the turn that broke first, with what was expected and what came."""
    failing = [(result, turn) for result in results if (turn := first_root(result)) is not None]
    if not failing:
        return
    print_table(
        (
            "release",
            "dialog",
            "conversation",
            Column("turn", "right"),
            "reason",
            "where",
            "expected",
            "got",
            Column("cascades", "right"),
        ),
        [_failure_row(result, turn) for result, turn in failing],
        stream,
        title="What broke first",
    )


def first_root(result: RunResult) -> TurnVerdict | None:
    """The first root cause in golden order."""
    return next((turn for turn in result.turns if turn.success is False and turn.root_cause), None)


def failing_check(turn: TurnVerdict) -> Check | None:
    """The check that gave a root cause its reason."""
    failed = [check for check in turn.checks if check.passed is False and not check.explained_by]
    return failed[0] if failed else None


def _release_row(release: str, model: str, runs: Sequence[RunResult]) -> Sequence[object]:
    turns = [turn for run in runs for turn in run.turns]
    scored = [turn for turn in turns if turn.success is not None]
    passed = sum(turn.success is True for turn in scored)
    roots = Counter(_reason(turn) for turn in scored if turn.root_cause)
    cascades = sum(turn.success is False and not turn.root_cause for turn in scored)
    share = f"{passed / len(scored):.0%} ({passed}/{len(scored)})" if scored else None
    named = ", ".join(f"{count} {reason}" for reason, count in roots.most_common()) or "none"
    return release, model, len(runs), len(turns), share, named, cascades, len(turns) - len(scored)


def _failure_row(result: RunResult, turn: TurnVerdict) -> Sequence[object]:
    check = failing_check(turn)
    expected: JSON = check.expected if check is not None else turn.expected
    actual: JSON = check.actual if check is not None else turn.actual
    where = turn.called or turn.tool or "reply"
    if turn.fields:
        where = f"{where}({', '.join(turn.fields)})"
    number = turn.turn_no if turn.turn_no is not None else "extra"
    return (
        result.release,
        result.dialog,
        result.conversation_id or result.conversation_key,
        number,
        _reason(turn),
        where,
        _value(expected),
        "not called" if check is not None and turn.called is None and turn.tool is not None else _value(actual),
        result.cascading_count,
    )


def _reason(turn: TurnVerdict) -> str:
    reason = turn.failure_reason.value if turn.failure_reason is not None else "unknown"
    return f"{reason} ({turn.detail.value})" if turn.detail is not None else reason


def _value(value: JSON) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else orjson.dumps(value, default=repr).decode()
    text = " ".join(text.split())
    return text if len(text) <= _WIDEST_VALUE else f"{text[: _WIDEST_VALUE - 1]}…"


__all__ = ["failing_check", "first_root", "print_failures", "print_releases", "print_report"]
