"""Releases side by side: dialog by dialog, what was right and what broke."""

from collections.abc import Sequence
from typing import TextIO

from aem_monitor.cli.errormap import fault, what
from aem_monitor.cli.report import counted, failing_check
from aem_monitor.cli.tables import print_table
from aem_monitor.model.verdict import RunResult, TurnVerdict


def print_side_by_side(results: Sequence[RunResult], stream: TextIO) -> None:
    """One row a dialog, one column a release: how many runs were right, and the root causes of the others."""
    cells: dict[str, dict[str, list[RunResult]]] = {}
    for result in results:
        cells.setdefault(result.dialog, {}).setdefault(_release(result), []).append(result)
    releases = list(dict.fromkeys(_release(result) for result in results))
    rows = [(dialog, *(_cell(runs.get(release, [])) for release in releases)) for dialog, runs in cells.items()]
    print_table(("dialog", *releases), rows, stream, title="Releases side by side")
    stream.write("\n")


def _release(result: RunResult) -> str:
    return result.release or "unknown"


def _cell(runs: Sequence[RunResult]) -> str | None:
    if not runs:
        return None
    right = sum(run.test_pass is True for run in runs)
    lines = [f"{right} of {len(runs)} right"]
    for run in runs:
        if run.test_pass is False:
            told = f"{counted(run.root_cause_count, 'root cause')}, {counted(run.cascading_count, 'cascade')}"
            lines.append(f"{run.conversation_id or run.conversation_key}: {told}")
            lines += [f"  {_root(turn)}" for turn in run.turns if turn.root_cause]
    return "\n".join(lines)


def _root(turn: TurnVerdict) -> str:
    number = f"turn {turn.turn_no}" if turn.turn_no is not None else "extra call"
    check = failing_check(turn)
    return f"{number}, {what(turn)}" + (f": {fault(check, turn)}" if check is not None else "")
