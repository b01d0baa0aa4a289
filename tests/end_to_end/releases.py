"""Runs of an agent that fails as often, and in the same dialogs and ways, as a recorded release did.

The outcomes are those of ``tests/data/releases/runs.csv`` (gpt-4o on retail tasks of tau-bench, in four forms).
Each task is a golden dialog here, a copy of the example ``sales-report``, and each way to fail is a play of it.
"""

import csv
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final
from uuid import uuid4

import yaml
from opentelemetry.sdk.trace import ReadableSpan

from aem_monitor.examples import example_dialogs
from tests.end_to_end.sales import ANSWER, ASK, NOT_SHARED, PROFIT, RIGHT
from tests.services.agent import Call, Turn, agent_spans

_RUNS: Final = Path(__file__).parents[1] / "data" / "releases" / "runs.csv"

Play = tuple[Turn, ...]

WRONG_TOOL: Final[Play] = (
    ASK,
    Turn(
        user=ANSWER,
        calls=(
            Call("ledger.Query", {"metric": "revenue", "region": "EU"}, {"report": "R-19", "total": 0}),
            *(Call(one.tool, {**one.arguments, "report": "R-19"}, one.result) for one in RIGHT[1].calls[1:]),
        ),
        response="EU revenue last quarter was 0 EUR. I shared report R-19 with the board.",
    ),
)
"""Turn 2 asks another tool; turns 3 to 5 are built on what that returned."""

SILENT: Final[Play] = (ASK, Turn(user=ANSWER, calls=RIGHT[1].calls, response="I shared the report with the board."))
"""All calls are right, and the reply lacks the figures."""

_PLAYS: Final = {
    "wrong_tool": WRONG_TOOL,
    "missing_action": NOT_SHARED,
    "wrong_args": PROFIT,
    "missing_output": SILENT,
}
"""By how the recorded run departed from what was annotated, the plainest first."""


@dataclass(frozen=True, slots=True)
class Swap:
    """``release`` and ``model`` that the spans name. ``mismatches``: the share of tool mismatches, as a multiple of the
    recorded one."""

    release: str
    model: str
    mismatches: int = 1


class RecordedAgent:
    """Draws a task, and one of its recorded runs; the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._tasks = _recorded()
        self._names = sorted(self._tasks)
        plays = [play for each in self._tasks.values() for play in each]
        self._mismatching = sum(map(_mismatches, plays)) / len(plays)

    def write_golden(self, folder: Path) -> None:
        """A dialog for each task."""
        example = yaml.safe_load((example_dialogs() / "sales-report.yaml").read_text(encoding="utf-8"))
        del example["recognise"]
        for name in self._names:
            text = yaml.safe_dump({**example, "dialog": name})
            (folder / f"{name}.yaml").write_text(text, encoding="utf-8")

    def spans(self, count: int, swap: Swap) -> Iterator[list[ReadableSpan]]:
        """So many runs, some in a list each."""
        runs = (self._run(swap) for _ in range(count))
        while batch := list(islice(runs, 20)):
            yield [span for run in batch for span in run]

    def drawn(self, swap: Swap) -> tuple[str, Play]:
        """The dialog and how it is played.

        Of the runs without a tool mismatch so many get one that the share of those with one is as wanted, which spreads
        it over the tasks as a worse model would: over those too that never had one.
        """
        name = self._chance.choice(self._names)
        play = self._chance.choice(self._tasks[name])
        more = (swap.mismatches - 1) * self._mismatching / (1 - self._mismatching)
        if not _mismatches(play) and self._chance.random() < more:
            play = WRONG_TOOL
        return name, play

    def _run(self, swap: Swap) -> Sequence[ReadableSpan]:
        name, play = self.drawn(swap)
        attributes = {"aem.dialog.id": name, "gen_ai.request.model": swap.model}
        return agent_spans(uuid4().hex, play, swap.release, attributes=attributes)


def _recorded() -> dict[str, list[Play]]:
    """The plays of each task, by the name of its dialog."""
    tasks = defaultdict(list)
    with _RUNS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["domain"] == "retail" and row["model"] == "gpt-4o":
                kinds = () if float(row["reward"]) == 1 else row["divergence_kinds"].split("+")
                play = next((play for kind, play in _PLAYS.items() if kind in kinds), RIGHT)
                tasks[f"task-{row['task_id']}"].append(play)
    return dict(tasks)


def _mismatches(play: Play) -> bool:
    return play in (WRONG_TOOL, NOT_SHARED)
