"""What attribution makes of faults that were put into good dialogs.

``python -m tests.benchmarks.faults [DIRECTORY] [--goldens references|values] [--dialogs N] [--seed N] [--errors KIND]``

DIRECTORY holds the files of ``tests/data/dialogs``, whole; without one the sample there is taken. Each dialog gets a
golden dialog, drafted by ``golden bootstrap`` from the good run itself; with ``--goldens values`` what it says of
dependencies (references, ``depends_on``) is taken out again, so that only equal values connect its turns. Into each
dialog every kind of fault is put once, where it applies, and the run is scored by the pipeline of ``replay``.

A row: ``roots`` is the share of runs in which exactly the true turns are root causes (extra calls included),
``cascades`` the same for cascades, ``reason`` the share of found roots with the right reason. Beside it the rules
"the first failing turn is the root, every later one a cascade", on the same failing turns, and "the root is always at
the same place", with the place that does best on that row. Of non-faults the share of runs in which anything fails is
given. Intervals are 95 % (Wilson).
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.load import dialog_from
from tests.benchmarks.faults.changing import Pools
from tests.benchmarks.faults.dialogs import BUNDLED, Call, GoodDialog, read_dialogs
from tests.benchmarks.faults.goldens import Golden, draft, start_ns, without_links
from tests.benchmarks.faults.harmless import HARMLESS
from tests.benchmarks.faults.kinds import FAULTS, Run, Workshop
from tests.benchmarks.faults.outcome import ALL, Case, Figures, Said, figures
from tests.benchmarks.faults.spans import requests, results
from tests.benchmarks.values import wilson

_BATCH = 200
"""Dialogs that are scored by one pipeline: what a pipeline has read is kept until it ends."""


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("directory", nargs="?", type=Path, default=BUNDLED)
    parser.add_argument("--goldens", choices=("references", "values"), default="references")
    parser.add_argument("--dialogs", type=int, default=0, help="at most so many of each source, by chance")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--errors", default="", metavar="KIND", help="print the runs of a kind, or all, that are wrong")
    arguments = parser.parse_args()
    dialogs = chosen(read_dialogs(arguments.directory), arguments.dialogs, arguments.seed)
    if not dialogs:
        print(f"no dialogs in {arguments.directory}", file=sys.stderr)
        return 2
    cases = list(measured(dialogs, arguments.goldens == "values", arguments.seed, arguments.errors))
    print(f"{len(dialogs)} dialogs, {len(cases)} runs, goldens with {arguments.goldens}, seed {arguments.seed}")
    print("\n".join(table(figures(cases))))
    return 0


def chosen(dialogs: Sequence[GoodDialog], most: int, seed: int) -> list[GoodDialog]:
    """At most so many of each source; 0 is all."""
    by_source: dict[str, list[GoodDialog]] = {}
    for dialog in dialogs:
        by_source.setdefault(dialog.source, []).append(dialog)
    picked = {
        source: random.Random(f"{seed} {source}").sample(known, most) if 0 < most < len(known) else known
        for source, known in by_source.items()
    }
    return [dialog for known in picked.values() for dialog in known]


def measured(dialogs: Sequence[GoodDialog], values_only: bool, seed: int, errors: str = "") -> Iterator[Case]:
    """Every kind of fault and non-fault in every dialog where it applies, scored."""
    pools = Pools.of(dialogs)
    tools: dict[str, dict[str, Call]] = {}
    for good in dialogs:
        for call in (call for exchange in good.exchanges for call in exchange.calls):
            tools.setdefault(good.source, {}).setdefault(call.name, call)
    known = {source: tuple(calls.values()) for source, calls in tools.items()}
    for at in range(0, len(dialogs), _BATCH):
        goldens = [golden for good in dialogs[at : at + _BATCH] if (golden := draft(good)) is not None]
        if values_only:
            goldens = [without_links(golden) for golden in goldens]
        made = [
            (golden, kind, run)
            for golden in goldens
            for kind, fault in {**FAULTS, **HARMLESS}.items()
            if (run := fault(golden, Workshop(pools, known, random.Random(f"{seed} {golden.good.name} {kind}"))))
        ]
        yield from _scored(made, errors)


def _scored(made: Sequence[tuple[Golden, str, Run]], errors: str) -> Iterator[Case]:
    goldens: dict[str, Dialog] = {}
    bodies: list[bytes] = []
    for golden, kind, run in made:
        name, conversation = golden.good.name, _conversation(golden, kind)
        if run.form is not None:
            name = conversation
        goldens[name] = golden.dialog if run.form is None else dialog_from({**run.form, "dialog": name}, name)
        bodies += requests(conversation, name, start_ns(golden.good), run.exchanges, run.delivery)
    found = results(goldens.values(), bodies)
    for golden, kind, run in made:
        result = found.get(_conversation(golden, kind))
        said = None if result is None else Said.of(result)
        turns = tuple(turn.turn_no for turn in golden.dialog.scored_turns)
        case = Case(golden.good.source, kind, golden.good.name, run.truth, turns, said)
        wrong = case.flagged if case.harmless else not (case.roots_right and case.cascades_right)
        if errors in (kind, ALL) and wrong:
            print(json.dumps(_shown(case, golden, run, result)), file=sys.stderr)
        yield case


def _shown(case: Case, golden: Golden, run: Run, result: Any) -> dict[str, Any]:
    said = [
        {
            "turn": turn.turn_no,
            "root": turn.root_cause,
            "reason": str(turn.failure_reason),
            "detail": str(turn.detail),
            "fields": turn.fields,
            "blames": turn.blames,
            "checks": [
                [str(check.reason), check.field, check.expected, check.actual, check.rule, check.explained_by]
                for check in turn.checks
                if check.passed is False
            ],
        }
        for turn in (result.turns if result is not None else ())
        if turn.success is False
    ]
    truth = {"roots": run.truth.roots, "cascades": sorted(run.truth.cascades), "extras": run.truth.extras}
    return {"kind": case.kind, "name": case.name, "truth": truth, "said": said}


def _conversation(golden: Golden, kind: str) -> str:
    return f"{golden.good.name}/{kind.replace(' ', '-')}"


def table(found: dict[tuple[str, str], Figures]) -> list[str]:
    """The rows for people."""
    sources = [ALL, *sorted({source for source, _ in found} - {ALL})]
    lines = [
        f"\n{'fault':<23}{'source':<11}{'runs':>6}  {'roots':<20}{'cascades':<20}{'reason':>7}{'first':>7}{'place':>7}"
    ]
    for kind in (ALL, *FAULTS):
        for source in sources:
            row = found.get((source, kind))
            if row is not None:
                reason = f"{row.reasons / row.found:.3f}" if row.found else "-"
                lines.append(
                    f"{kind:<23}{source:<11}{row.cases:>6}  {_share(row.roots, row.cases):<20}"
                    f"{_share(row.cascades, row.cases):<20}{reason:>7}{row.first / row.cases:>7.3f}"
                    f"{row.constant / row.cases:>7.3f}"
                )
    lines.append(f"\n{'non-fault':<23}{'source':<11}{'runs':>6}  flagged")
    for kind in HARMLESS:
        for source in sources:
            row = found.get((source, kind))
            if row is not None:
                lines.append(f"{kind:<23}{source:<11}{row.cases:>6}  {_share(row.flagged, row.cases)}")
    return lines


def _share(hits: int, count: int) -> str:
    low, high = wilson(hits, count)
    return f"{hits / count:.3f} [{low:.2f} {high:.2f}]"


if __name__ == "__main__":
    sys.exit(main())
