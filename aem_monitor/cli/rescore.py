"""``aem-monitor rescore``: stored conversations judged by the golden dialogs as they are now."""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from aem_monitor.cli.output import write_json_line
from aem_monitor.cli.report import counted, turn_word
from aem_monitor.cli.since import since
from aem_monitor.cli.stored import add_store_argument, configuration, judging, open_store
from aem_monitor.cli.tables import Column, print_table
from aem_monitor.errors import UsageError
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import TurnVerdict
from aem_monitor.review.rescore import Outcome, Rescored, Rescorer, TurnChange
from aem_monitor.store.records import RunFilter

_PAGE = 100
_COLUMNS = ("run", "conversation", "dialog", "version", "result", Column("revision", "right"), "turns that changed")
_RESULT = {True: "pass", False: "fail", None: "undecided"}
_LEFT = {
    Outcome.SAME: "as before",
    Outcome.NOT_KEPT: "without a conversation in the store",
    Outcome.TOO_LARGE: "whose conversation was too large to be kept",
    Outcome.NO_DIALOG: "of dialogs that are not loaded",
    Outcome.REDACTED: "left alone: redacted since, and of the same version",
    Outcome.OVERTAKEN: "that changed meanwhile; run rescore again",
}


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Judges the stored conversations of final runs by the golden dialogs and scoring rules of the configuration. "
        "Where the verdict or the version of the dialog is another, it becomes a new revision of the run: the earlier "
        'ones stay, and no run is counted again (aem_verdict_revisions_total{cause="rescore"} alone grows). Prints '
        "the runs that changed and how. May be used while the daemon runs, interrupted, and repeated: what is judged "
        "already stays as it is."
    )
    add_store_argument(parser)
    parser.add_argument("--dialog", metavar="NAME", help="runs of this dialog only")
    parser.add_argument(
        "--since", metavar="TIME", help="runs that became final since then: 7d (ago), or a date such as 2026-11-30"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would change, and change nothing")
    parser.add_argument(
        "--json", action="store_true", help="a JSON object for each run that changed, instead of a table"
    )
    parser.set_defaults(handler=rescore)


def rescore(arguments: Namespace) -> int:
    """Carry the command out."""
    config = configuration(arguments)
    rules = judging(config)
    if arguments.dialog is not None and arguments.dialog not in rules.dialogs:
        known = ", ".join(sorted(rules.dialogs.by_name)[:20])
        raise UsageError(f"--dialog: there is no golden dialog {arguments.dialog}; known: {known}")
    wanted = RunFilter(dialog=arguments.dialog, since=since(arguments.since, time.time()), limit=_PAGE)
    told = _Told(arguments.dry_run, arguments.json)
    with open_store(config) as store:
        rescorer = Rescorer(rules.pipeline, rules.dialogs, store, rules.expert)
        try:
            for looked_at in rescorer.look_at(wanted):
                told.add(looked_at if arguments.dry_run else rescorer.store(looked_at, time.time()))
        finally:
            # What is stored is stored, also where an interrupt or a fault ends the rest.
            told.end()
    return 0


@dataclass(slots=True)
class _Told:
    """What is said: each run that changed, at once as JSON or at the end as a table, and a line of figures."""

    dry_run: bool
    json: bool
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    rows: list[Sequence[object]] = field(default_factory=list)
    unanswered: int = 0

    def add(self, rescored: Rescored) -> None:
        self.outcomes[rescored.outcome] += 1
        self.unanswered += rescored.unanswered
        if rescored.outcome is not Outcome.CHANGED:
            return
        if self.json:
            write_json_line(_object(rescored))
        else:
            self.rows.append(_row(rescored))

    def end(self) -> None:
        if self.rows:
            print_table(_COLUMNS, self.rows, sys.stdout)
        word = "would change" if self.dry_run else "changed"
        parts = [f"{counted(self.outcomes.total(), 'run')}: {self.outcomes[Outcome.CHANGED]} {word}"]
        parts += [f"{self.outcomes[outcome]} {text}" for outcome, text in _LEFT.items() if self.outcomes[outcome]]
        if self.unanswered:
            open_questions = counted(self.unanswered, "question")
            parts.append(f"{open_questions} to an expert without an answer in the store (scorer_error)")
        print("; ".join(parts), file=sys.stderr)


def _object(rescored: Rescored) -> dict[str, JSON]:
    before, after = rescored.before.result, rescored.after
    assert after is not None
    return {
        "run_id": before.run_id,
        "conversation_id": before.conversation_id,
        "agent": before.agent,
        "release": before.release,
        "dialog": before.dialog,
        "dialog_version": {"from": before.dialog_version, "to": after.dialog_version},
        "revision": {"from": before.revision, "to": rescored.revision},
        "test_pass": {"from": before.test_pass, "to": after.test_pass},
        "success_rate": {"from": before.success_rate, "to": after.success_rate},
        "turns": [_change(change) for change in rescored.changes],
    }


def _change(change: TurnChange) -> JSON:
    turn = change.after or change.before
    assert turn is not None
    found: dict[str, JSON] = {"turn_no": turn.turn_no, "kind": turn.kind.value}
    if turn.turn_no is None:
        found["called"] = turn.called
    found |= {"from": _word(change.before), "to": _word(change.after)}
    if change.only_evidence:
        found["only_evidence"] = True
    return found


def _row(rescored: Rescored) -> tuple[object, ...]:
    before, after = rescored.before.result, rescored.after
    assert after is not None
    return (
        before.run_id[:12],
        before.conversation_id,
        before.dialog,
        _arrow(before.dialog_version, after.dialog_version),
        _arrow(_RESULT[before.test_pass], _RESULT[after.test_pass]),
        rescored.revision,
        "\n".join(_line(change) for change in rescored.changes) or "none",
    )


def _line(change: TurnChange) -> str:
    turn = change.after or change.before
    assert turn is not None
    place = f"{turn.turn_no}" if turn.turn_no is not None else f"extra call {turn.called or turn.tool}"
    if change.only_evidence:
        return f"{place}: {_word(change.after)}, for other reasons"
    return f"{place}: {_word(change.before)} -> {_word(change.after)}"


def _word(turn: TurnVerdict | None) -> str:
    return "not there" if turn is None else turn_word(turn)


def _arrow(before: object, after: object) -> str:
    return str(after) if before == after else f"{before} -> {after}"
