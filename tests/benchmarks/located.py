"""How near the reported root cause lies to the step that people named, on hand-labelled runs of tau-bench.

``python -m tests.benchmarks.located [DIRECTORY] [--labels]``

DIRECTORY, by default ``tests/data/dialogs/labelled``, holds ``attribution.jsonl.gz`` (of its rows those of labeller
``human`` whose source is tau-bench), the runs ``tau_bench_retail.jsonl.gz``, and ``tau_bench_tools_retail.json``. The
golden dialog of a run is its task, as ``golden import tau-bench`` takes it: the annotator's calls in any order, the
outputs to be said. A place is an index into the messages of the run; a reported place is that of the first root in time
that has one: of the call or the reply whose span it names, else the last reply. Beside it stand rules that know the
same golden calls.

With ``--labels`` each label is printed with what was reported.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aem_monitor.golden.load import dialog_from
from aem_monitor.imports.base import Calls, GoldCall, open_sheet
from aem_monitor.imports.taubench import FREE_ARGUMENTS, FREE_TOOLS
from aem_monitor.model.verdict import RunResult, TurnVerdict
from tests.benchmarks.faults.dialogs import BUNDLED, Call, Exchange, opened, rows
from tests.benchmarks.faults.spans import call_span, reply_span, requests, results
from tests.benchmarks.values import wilson

_START_NS: Final = 1_715_785_200 * 10**9
_WITHIN: Final = (0, 1, 3)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A run with the message that a person named. ``actor`` is who sent it."""

    name: str
    row: Mapping[str, Any]
    step: int
    actor: str
    why: str


@dataclass(frozen=True, slots=True)
class Played:
    """A run as exchanges, and the message of each span."""

    exchanges: tuple[Exchange, ...]
    message_of: Mapping[str, int]


def labelled(directory: Path) -> Iterator[Labelled]:
    """The hand-labelled runs."""
    runs = {(row["run"], row["task_id"], row["trial"]): row for row in rows(directory / "tau_bench_retail.jsonl.gz")}
    for label in rows(directory / "attribution.jsonl.gz"):
        if label["labeller"] != "human" or not label["source"].startswith("tau") or label["root_step"] is None:
            continue
        said = label["conversation"]
        row = runs.get((said["run"], said["task_id"], said["trial"]))
        if row is not None and "retail" in said["file"]:
            name = f"{row['run']}-{row['task_id']}-{row['trial']}"
            yield Labelled(
                name, row, label["root_step"], label["root_actor"], f"{label['category']}: {label['reason']}"
            )


def played(label: Labelled) -> Played:
    """The exchanges of a run, with every call, also those that failed."""
    messages = label.row["messages"]
    answers = {message.get("tool_call_id"): message["content"] for message in messages if message["role"] == "tool"}
    found: list[tuple[str, list[Call], str | None]] = []
    places: dict[str, int] = {}
    for at, message in enumerate(messages):
        if message["role"] == "user":
            found.append((message["content"] or "", [], None))
        elif message["role"] == "assistant" and found:
            user, calls, reply = found[-1]
            for asked in message.get("tool_calls") or ():
                answer = answers.get(asked["id"])
                failed = str(answer).lower().startswith(("error", "unknown"))
                args = json.loads(asked["function"]["arguments"])
                places[call_span(label.name, len(found) - 1, len(calls))] = at
                result = None if failed else opened(answer)
                calls.append(Call(asked["function"]["name"], args, result, str(answer) if failed else None))
            if not message.get("tool_calls") and message.get("content"):
                reply = message["content"]
                places[reply_span(label.name, len(found) - 1)] = at
            found[-1] = (user, calls, reply)
    exchanges = tuple(Exchange(user, tuple(calls), reply) for user, calls, reply in found)
    return Played(exchanges, places)


def golden_form(label: Labelled, optional: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The task of a run as an open dialog, reviewed. ``optional``: arguments by tool that may be left out."""
    gold = [
        GoldCall(
            action["name"],
            action["kwargs"],
            frozenset(arg for arg in action["kwargs"] if (action["name"], arg) in FREE_ARGUMENTS),
        )
        for action in label.row["gold_actions"]
    ]
    called = {call.name for exchange in played(label).exchanges for call in exchange.calls}
    form = open_sheet(label.name, "hand-labelled", [], Calls(gold, label.row["outputs"]), FREE_TOOLS).value()
    tools: dict[str, Any] = {**form.get("tools", {})}  # type: ignore[dict-item]
    for name in called:
        if name in FREE_TOOLS or name.startswith(("get_", "find_", "list_", "search_")):
            tools[name] = {"read_only": True}
        elif optional.get(name):
            tools[name] = {"optional_args": list(optional[name])}
    return {**form, "tools": tools, "review": {"status": "human"}}


def reported(result: RunResult, run: Played) -> int | None:
    """The message of the first root in time; None where nothing failed."""
    roots = [turn for turn in result.turns if turn.success is False and turn.root_cause]
    places = [place for turn in roots if (place := run.message_of.get(turn.span_id or "")) is not None]
    if places:
        return min(places)
    return max(run.message_of.values(), default=None) if roots else None


def _writes(label: Labelled) -> list[tuple[int, str, Mapping[str, Any]]]:
    found = []
    for at, message in enumerate(label.row["messages"]):
        for asked in message.get("tool_calls") or ():
            name = asked["function"]["name"]
            if name not in FREE_TOOLS and not name.startswith(("get_", "find_", "list_", "search_")):
                found.append((at, name, json.loads(asked["function"]["arguments"])))
    return found


def _last_reply(label: Labelled) -> int:
    return max(at for at, message in enumerate(label.row["messages"]) if message["role"] == "assistant")


def _first_write_not_in_gold(label: Labelled) -> int:
    gold = [(action["name"], action["kwargs"]) for action in label.row["gold_actions"]]
    return next((at for at, name, args in _writes(label) if (name, args) not in gold), _last_reply(label))


def _first_write(label: Labelled) -> int:
    return next((at for at, _, _ in _writes(label)), _last_reply(label))


RULES: Final[Mapping[str, Callable[[Labelled], int]]] = {
    "first write not in gold": _first_write_not_in_gold,
    "first write": _first_write,
    "last reply": _last_reply,
}


def judged(labels: Sequence[Labelled], runs: Mapping[str, Played], directory: Path) -> dict[str, RunResult]:
    """What the pipeline of ``replay`` says of each run, by its name."""
    definitions = json.loads((directory / "tau_bench_tools_retail.json").read_text(encoding="utf-8"))
    optional = {
        one["function"]["name"]: sorted(
            set(one["function"]["parameters"]["properties"]) - set(one["function"]["parameters"].get("required") or ())
        )
        for one in definitions
    }
    dialogs = [dialog_from(golden_form(label, optional), label.name) for label in labels]
    bodies = [body for name, run in runs.items() for body in requests(name, name, _START_NS, run.exchanges)]
    return results(dialogs, bodies)


def near(labels: Sequence[Labelled], places: Sequence[int | None], reach: int) -> int:
    """How many places are at most ``reach`` messages away from the label's."""
    pairs = zip(labels, places, strict=True)
    return sum(place is not None and abs(place - label.step) <= reach for label, place in pairs)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("directory", nargs="?", type=Path, default=BUNDLED / "labelled")
    parser.add_argument("--labels", action="store_true", help="print each label with what was reported")
    arguments = parser.parse_args()
    labels = list(labelled(arguments.directory))
    if not labels:
        print(f"no labelled runs in {arguments.directory}", file=sys.stderr)
        return 2
    runs = {label.name: played(label) for label in labels}
    found = judged(labels, runs, arguments.directory)
    if arguments.labels:
        for label in labels:
            _print(label, found[label.name], runs[label.name])
    places: dict[str, list[int | None]] = {
        "aem-monitor": [reported(found[label.name], runs[label.name]) for label in labels]
    }
    for name, rule in RULES.items():
        places[name] = [rule(label) for label in labels]
    print(f"{len(labels)} labels, of which {sum(label.actor == 'assistant' for label in labels)} name the agent")
    print(f"{'locator':<26}" + "".join(f"{f'within {reach}' if reach else 'exact':<20}" for reach in _WITHIN))
    for name, given in places.items():
        shares = (_share(near(labels, given, reach), len(labels)) for reach in _WITHIN)
        print(f"{name:<26}" + "".join(f"{share:<20}" for share in shares))
    return 0


def _print(label: Labelled, result: RunResult, run: Played) -> None:
    place = reported(result, run)
    print(f"{label.name}: named {label.step} ({label.actor}), reported {place}; {label.why}")
    for turn in result.turns:
        if turn.success is False:
            print(f"    {_said(turn)} at {run.message_of.get(turn.span_id or '')}")


def _said(turn: TurnVerdict) -> str:
    what = turn.tool if turn.tool is not None else "reply"
    return f"turn {turn.turn_no} {what}: {turn.failure_reason} {turn.detail or ''} {' '.join(turn.fields)}".rstrip()


def _share(hits: int, count: int) -> str:
    low, high = wilson(hits, count)
    return f"{hits:>2} [{low:.2f} {high:.2f}]"


if __name__ == "__main__":
    sys.exit(main())
