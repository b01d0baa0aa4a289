"""``aem-monitor review``: verdicts for people to decide, and what becomes of their answers."""

import json
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from aem_monitor.cli import review_answer
from aem_monitor.cli.output import write_json_line, write_text
from aem_monitor.cli.report import counted, shown_value, turn_word
from aem_monitor.cli.reviewed import add_case_argument, find_case
from aem_monitor.cli.since import since
from aem_monitor.cli.stored import add_store_argument, configuration, open_store
from aem_monitor.cli.tables import Column, print_table, shown
from aem_monitor.errors import UsageError
from aem_monitor.model.conversation import NOT_CAPTURED, Exchange
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.render import evidence_object, turn_object
from aem_monitor.model.verdict import Check
from aem_monitor.review.cases import Kind, ReviewCase, answer_to, cases_of
from aem_monitor.store.records import Review, RunFilter
from aem_monitor.store.store import Store

_PAGE = 100
_COLUMNS: Sequence[Column | str] = (
    *("case", "why", "dialog", "conversation", "verdict", "in doubt"),
    Column("score", "right"),
    "answer",
)
_KINDS = {
    Kind.UNCERTAIN: "score near its threshold",
    Kind.UNDETERMINED: "undetermined",
    Kind.ANOTHER_PATH: "another path",
}


def configure(parser: ArgumentParser) -> None:
    """Add the actions."""
    parser.description = (
        "Lists verdicts for a person to decide: turns whose score is near its threshold, turns that scoring could not "
        "decide, and runs that reached their end state on a path that the dialog does not list. `accept` says that the "
        "verdict is right (or, with --label, which one is), `reject` that it is wrong. Answers are kept in the store, "
        "change no verdict and no counter, and become labels for `calibrate` (`review export`), regression cases for "
        "`golden test` (--case) or a draft of the dialog's next version (--alternate)."
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="what is to be decided", description="Lists what nobody has decided yet.")
    add_store_argument(listing)
    listing.add_argument("--dialog", metavar="NAME", help="of runs of this dialog only")
    listing.add_argument("--kind", choices=[kind.value for kind in Kind], help="of this kind only")
    listing.add_argument("--since", metavar="TIME", help="of runs that became final since then: 7d (ago), or a date")
    listing.add_argument("--limit", metavar="N", type=int, default=50, help="at most so many, the newest (default: 50)")
    listing.add_argument("--all", action="store_true", help="also what is decided already")
    listing.add_argument("--format", choices=("table", "json"), default="table", help="json: one object a line")
    listing.set_defaults(handler=_list)
    show = actions.add_parser("show", help="one case with all that explains it", description="Shows one case.")
    add_store_argument(show)
    add_case_argument(show)
    show.add_argument("--format", choices=("text", "json"), default="text")
    show.set_defaults(handler=_show)
    review_answer.configure(actions)
    export = actions.add_parser(
        "export",
        help="all answers as labels for `calibrate`",
        description="Writes the labels that follow from all answers, as JSON lines that `aem-monitor calibrate` reads.",
    )
    add_store_argument(export)
    export.add_argument("--labels", metavar="FILE", type=Path, help="file to write; default: standard output")
    export.add_argument("--dialog", metavar="NAME", help="of this dialog only")
    export.set_defaults(handler=_export)


def _list(arguments: Namespace) -> int:
    if arguments.limit < 1:
        raise UsageError("--limit: must be 1 or more")
    wanted = RunFilter(dialog=arguments.dialog, since=since(arguments.since, time.time()), limit=_PAGE)
    with open_store(configuration(arguments)) as store:
        found = []
        for case, answer in _cases(store, wanted):
            if (answer is None or arguments.all) and arguments.kind in (None, case.kind):
                found.append((case, answer))
            if len(found) == arguments.limit:
                break
    if arguments.format == "json":
        for case, answer in found:
            write_json_line(_object(case, answer))
    elif found:
        columns = _COLUMNS if arguments.all else _COLUMNS[:-1]
        print_table(columns, [_row(*one)[: len(columns)] for one in found], sys.stdout)
    else:
        print("nothing is to be decided", file=sys.stderr)
    return 0


def _cases(store: Store, wanted: RunFilter) -> Iterator[tuple[ReviewCase, Review | None]]:
    while page := store.doubtful_runs(wanted):
        reviews = store.reviews(stored.result.run_id for stored in page)
        for stored in page:
            yield from ((case, answer_to(case, reviews)) for case in cases_of(stored))
        wanted = replace(wanted, after=page[-1].cursor)


def _row(case: ReviewCase, answer: Review | None) -> tuple[object, ...]:
    turn = case.turn
    scores = [check.score for check in case.checks if check.score is not None]
    return (
        case.name,
        _KINDS[case.kind],
        f"{case.result.dialog} (draft)" if case.result.draft else case.result.dialog,
        case.result.conversation_id or case.result.conversation_key,
        "fail, end state reached" if turn is None else turn_word(turn),
        "\n".join(_doubt(check) for check in case.checks) or None,
        min(scores) if scores else None,
        None if answer is None else f"{answer.answer} by {answer.who}",
    )


def _doubt(check: Check) -> str:
    expected, actual = shown_value(check.expected, 40), shown_value(check.actual, 40)
    name = check.field or f"{check.submetric} of the reply"
    return name if expected is None and actual is None else f"{name}: {expected} / {actual}"


def _object(case: ReviewCase, answer: Review | None) -> dict[str, JSON]:
    result = case.result
    return {
        "case": case.name,
        "kind": case.kind.value,
        "run_id": result.run_id,
        "conversation_id": result.conversation_id,
        "agent": result.agent,
        "release": result.release,
        "dialog": result.dialog,
        "dialog_version": result.dialog_version,
        "draft": result.draft,
        "revision": result.revision,
        "test_pass": result.test_pass,
        "final_at": case.stored.final_at,
        "turn": None if case.turn is None else turn_object(case.turn),
        "checks": [_check_object(number, check) for number, check in enumerate(case.checks, start=1)],
        "answer": None if answer is None else _answer_object(answer),
    }


def _check_object(number: int, check: Check) -> JSON:
    return {
        "check": number,
        "submetric": check.submetric,
        "subject": check.subject,
        "field": check.field,
        "passed": check.passed,
        "expected": check.expected,
        "actual": check.actual,
        "score": check.score,
        "rule": check.rule,
    }


def _answer_object(answer: Review) -> JSON:
    return {
        "answer": answer.answer,
        "who": answer.who,
        "note": answer.note,
        "answered_at": answer.answered_at,
        "dialog_version": answer.dialog_version,
        "revision": answer.revision,
        "labels": list(answer.labels),
    }


def _show(arguments: Namespace) -> int:
    with open_store(configuration(arguments)) as store:
        case = find_case(store, arguments.case, arguments.turn)
        run_id = case.result.run_id
        answer = answer_to(case, store.reviews([run_id]))
        history = store.history(run_id)
        kept = store.conversations([run_id]).get(run_id)
    conversation = None if kept is None else kept.conversation
    if arguments.format == "json":
        revisions: list[JSON] = [
            {
                "revision": one.result.revision,
                "dialog_version": one.result.dialog_version,
                "test_pass": one.result.test_pass,
                "cause": one.cause,
                "stored_at": one.stored_at,
            }
            for one in history
        ]
        write_json_line({**_object(case, answer), "run": evidence_object(case.result), "revisions": revisions})
        return 0
    result, turn = case.result, case.turn
    name = result.conversation_id or result.conversation_key
    lines = [
        f"{case.name}: {_KINDS[case.kind]}",
        f"dialog {result.dialog} version {result.dialog_version}, conversation {name}, release {result.release or '-'}",
    ]
    for one in history:
        passed = {True: "pass", False: "fail", None: "undecided"}[one.result.test_pass]
        version, when = one.result.dialog_version, _time(one.stored_at)
        lines.append(f"  revision {one.result.revision} ({one.cause}, {when}): version {version}, {passed}")
    lines.append("verdict: " + ("the end state was reached on an unlisted path" if turn is None else turn_word(turn)))
    for number, check in enumerate(case.checks, start=1):
        decided = {True: "passes", False: "fails", None: "open"}[check.passed]
        score = "" if check.score is None else f", score {check.score:.3f}"
        lines.append(f"  check {number}: {check.field or check.subject} ({check.submetric}) {decided}{score}")
        values = (turn.expected, turn.actual) if turn and check.subject == "reply" else (check.expected, check.actual)
        lines += [f"    expected {_value(values[0])}", f"    got      {_value(values[1])}"]
    if conversation is None:
        lines.append("the store does not have its conversation")
    else:
        numbers = {turn.exchange} if turn is not None else set(range(len(conversation.exchanges)))
        for number, exchange in enumerate(conversation.exchanges):
            if number in numbers or len(conversation.exchanges) == 1:
                lines += _said(exchange)
    if answer is not None:
        note = f": {answer.note}" if answer.note else ""
        lines.append(f"answered: {answer.answer} by {answer.who} on {_time(answer.answered_at)}{note}")
    write_text("\n".join(shown(line) for line in lines) + "\n")
    return 0


def _said(exchange: Exchange) -> Iterator[str]:
    yield f"  user: {_value(exchange.user.text)}"
    for call in exchange.tool_turns:
        result = "not captured" if call.result is NOT_CAPTURED else _value(call.result)
        ended = f"error {call.error}" if call.error is not None else result
        arguments = None if call.arguments is None else dict(call.arguments)
        yield f"  {call.name}({_value(arguments)}) -> {ended}"
    if exchange.response is not None:
        yield f"  agent: {_value(exchange.response.text)}"


def _value(value: JSON) -> str:
    return shown_value(value, 400) or "nothing"


def _time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%MZ}"


def _export(arguments: Namespace) -> int:
    with open_store(configuration(arguments)) as store:
        reviews = [one for one in store.reviews() if arguments.dialog in (None, one.dialog)]
    last = {(review.run_id, review.subject): review for review in reviews}
    rows = [
        {**label, "who": review.who, "answered_at": review.answered_at}
        for review in last.values()
        for label in review.labels
        if isinstance(label, dict)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if arguments.labels is None:
        write_text(text)
    else:
        try:
            arguments.labels.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{arguments.labels}: cannot be written: {error.strerror or error}") from error
    silent = sum(not review.labels for review in last.values())
    said = f"{counted(len(rows), 'label')} of {counted(len(last), 'answer')}"
    if silent:
        said += f"; {silent} without any: about a path, or a turn that nobody can decide"
    print(said, file=sys.stderr)
    return 0
