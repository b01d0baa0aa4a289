"""Results as a table for people: what each release did, and where it broke first."""

from collections import Counter
from collections.abc import Sequence
from typing import TextIO

from aem_monitor.cli.tables import Column, print_table
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import Check, RunResult, TurnKind, TurnVerdict
from aem_monitor.strictjson import json_bytes

_WIDEST_VALUE = 70
_NO_CALL = "no call"


def print_report(results: Sequence[RunResult], stream: TextIO) -> None:
    """Tables: correctness by release, and each failing run with its first failing turn."""
    if not results:
        stream.write("No run of a golden dialog was found.\n")
        return
    print_releases(results, stream)
    print_failures(results, stream)


def print_releases(results: Sequence[RunResult], stream: TextIO) -> None:
    """One row a release and model: turns, correctness, root causes by reason, cascades, if need be turns not scored."""
    groups: dict[tuple[str, str], list[RunResult]] = {}
    for result in results:
        groups.setdefault((result.release or "unknown", result.model or "unknown"), []).append(result)
    columns: list[Column | str] = [
        "release",
        "model",
        Column("runs", "right"),
        Column("turns", "right"),
        Column("correct", "right"),
        "root causes",
        Column("cascades", "right"),
        Column("not scored", "right"),
    ]
    rows = [_release_row(release, model, runs) for (release, model), runs in groups.items()]
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    print_table(columns, rows, stream, title="Correctness by release")
    stream.write("\n")


def print_failures(results: Sequence[RunResult], stream: TextIO) -> None:
    """A table for each release that failed, one row a failing run: the turn that broke first, and what came of it."""
    groups: dict[str, list[tuple[RunResult, TurnVerdict]]] = {}
    for result in results:
        turn = first_root(result)
        if turn is not None:
            groups.setdefault(result.release or "unknown", []).append((result, turn))
    for release, failing in groups.items():
        print_table(
            ("dialog", Column("turn", "right"), "reason", "expected", "got", Column("cascades", "right")),
            [_failure_row(result, turn) for result, turn in failing],
            stream,
            title=f"What broke first in release {release}",
        )
        stream.write("\n")


def story(result: RunResult) -> str:
    """A failing run in a sentence: where it broke first, and what only followed from that."""
    turn = first_root(result)
    if turn is None:
        return ""
    expected, got = (_quoted(value) for value in _expected_and_got(turn))
    number = f"turn {turn.turn_no}" if turn.turn_no is not None else f"a call after turn {result.first_failure_turn}"
    where = f"{place} " if (place := _where(turn)) else ""
    text = f"Release {result.release or 'unknown'} broke first in {number} of {result.dialog}: {where}"
    text += f"expected {expected}, got {got}"
    inherited = result.cascading_count
    if inherited:
        text += f"; {counted(inherited, 'later turn')} only inherited it"
    more = result.root_cause_count - 1
    if more > 0:
        text += f"; {more} more broke by {'itself' if more == 1 else 'themselves'}"
    return f"{text}."


def first_root(result: RunResult) -> TurnVerdict | None:
    """The first root cause in golden order."""
    return next((turn for turn in result.turns if turn.success is False and turn.root_cause), None)


def failing_check(turn: TurnVerdict) -> Check | None:
    """The check that gave a root cause its reason."""
    failed = [check for check in turn.checks if check.passed is False and not check.explained_by]
    return failed[0] if failed else None


def turn_word(turn: TurnVerdict) -> str:
    """A verdict in a few words: pass, root cause with its reason, cascade with the roots it blames, or not scored."""
    if turn.success is None:
        return f"not scored ({turn.not_scored.value})" if turn.not_scored is not None else "not scored"
    if turn.success:
        return "pass after a failed attempt" if turn.recovered else "pass"
    blamed = f"turn {', '.join(map(str, turn.blames))}"
    if turn.root_cause:
        return f"ROOT CAUSE {_reason(turn)}" + (f", inherits from {blamed}" if turn.blames else "")
    return f"cascade of {blamed} ({turn.basis.value})" if turn.blames else "cascade"


def counted(number: int, what: str) -> str:
    """A number with its noun."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def shown_value(value: JSON, widest: int = _WIDEST_VALUE) -> str | None:
    """A value on one line, cut to ``widest`` characters; None for null."""
    if value is None:
        return None
    text = value if isinstance(value, str) else json_bytes(value).decode()
    text = " ".join(text.split())
    return text if len(text) <= widest else f"{text[: widest - 1]}…"


def _release_row(release: str, model: str, runs: Sequence[RunResult]) -> Sequence[object]:
    turns = [turn for run in runs for turn in run.turns]
    scored = [turn for turn in turns if turn.success is not None]
    passed = sum(turn.success is True for turn in scored)
    roots = Counter(_reason(turn) for turn in scored if turn.root_cause)
    cascades = sum(turn.success is False and not turn.root_cause for turn in scored)
    share = f"{passed / len(scored):.1%}" if scored else None
    named = "\n".join(f"{count} {reason}" for reason, count in sorted(roots.items())) or "none"
    return release, model, len(runs), len(turns), share, named, cascades, len(turns) - len(scored)


def _failure_row(result: RunResult, turn: TurnVerdict) -> Sequence[object]:
    expected, got = _expected_and_got(turn)
    where = _where(turn)
    return (
        f"{result.dialog}\n{result.conversation_id or result.conversation_key}",
        turn.turn_no if turn.turn_no is not None else "extra",
        f"{_reason(turn)}\nin {where}" if where else _reason(turn),
        expected,
        got,
        result.cascading_count,
    )


def _expected_and_got(turn: TurnVerdict) -> tuple[str | None, str | None]:
    check = failing_check(turn)
    expected: JSON = check.expected if check is not None else turn.expected
    actual: JSON = check.actual if check is not None else turn.actual
    missing = check is not None and turn.called is None and turn.tool is not None
    return shown_value(expected), _NO_CALL if missing else shown_value(actual)


def _quoted(value: str | None) -> str:
    """A value inside a sentence; what has blanks in it needs its ends marked."""
    if value is None:
        return "nothing"
    return f"“{value}”" if " " in value and value != _NO_CALL else value


def _where(turn: TurnVerdict) -> str | None:
    """The fields at fault and whose they are; None where expected and got are the names of calls themselves."""
    if turn.fields:
        return f"{turn.called or turn.tool or 'reply'}({', '.join(turn.fields)})"
    return None if turn.kind is TurnKind.TOOL else "the reply"


def _reason(turn: TurnVerdict) -> str:
    reason = turn.failure_reason.value if turn.failure_reason is not None else "unknown"
    return f"{reason} ({turn.detail.value})" if turn.detail is not None else reason


__all__ = [
    "counted",
    "failing_check",
    "first_root",
    "print_failures",
    "print_releases",
    "print_report",
    "shown_value",
    "story",
    "turn_word",
]
