"""``aem-monitor review accept`` and ``reject``: a person decides a case."""

import getpass
import json
import re
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from aem_monitor.build import build_prefilter
from aem_monitor.cli.output import write_text
from aem_monitor.cli.report import counted, turn_word
from aem_monitor.cli.reviewed import add_case_argument, find_case
from aem_monitor.cli.stored import Judging, add_store_argument, configuration, judging, open_store
from aem_monitor.errors import UsageError
from aem_monitor.golden.cases import read_cases, with_case, write_cases
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.load import DialogFaultsError, parse_dialog
from aem_monitor.golden.write import write_yaml
from aem_monitor.ingest.files import read_files
from aem_monitor.ingest.limits import Limits
from aem_monitor.model.conversation import Conversation
from aem_monitor.pipeline import Collected
from aem_monitor.review.alternate import next_version
from aem_monitor.review.answers import Answer, Word, answered, review_of
from aem_monitor.review.cases import SHORT_ID
from aem_monitor.review.regression import case_with
from aem_monitor.review.rescore import turn_changes
from aem_monitor.review.spans import conversation_name, export_request
from aem_monitor.scoring.scorers import EmbeddedScorer
from aem_monitor.store.redaction import as_captured
from aem_monitor.store.store import Store

_LABELS = {"pass": True, "fail": False, None: None}


def configure(actions: Any) -> None:
    """Add both actions."""
    accept: ArgumentParser = actions.add_parser(
        "accept",
        help="the verdict is right, or --label says which one is",
        description="Says that a verdict is right. An undetermined turn has none: --label says what is right. Of "
        "another path: the path is a right one. What the dialog did not know can become a draft of its next version.",
    )
    _arguments(accept, "accept")
    accept.add_argument("--label", choices=("pass", "fail"), help="what is right: the checks in doubt pass, or fail")
    accept.add_argument(
        "--alternate",
        action="store_true",
        help="write a draft of the dialog's next version that takes what was right: an alternate of the turn, or the "
        "path as a variant",
    )
    accept.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="with --alternate: file to write; default: standard output"
    )
    accept.add_argument("--force", action="store_true", help="with -o: replace a file that is there")
    reject: ArgumentParser = actions.add_parser(
        "reject",
        help="the verdict is wrong; an undetermined one cannot be decided",
        description="Says that a verdict is wrong: what passed should have failed, what failed should have passed. Of "
        "another path: the run rightly failed. Of an undetermined turn: nobody can decide it, so that it is not "
        "listed again.",
    )
    _arguments(reject, "reject")
    reject.set_defaults(label=None, alternate=False, output=None, force=False)


def _arguments(parser: ArgumentParser, word: Word) -> None:
    add_store_argument(parser)
    add_case_argument(parser)
    parser.add_argument(
        "--check",
        metavar="N",
        type=int,
        action="append",
        default=[],
        help="the check that the answer is about, as `review show` numbers them; default: all that are in doubt",
    )
    parser.add_argument("--note", metavar="TEXT", help="why")
    parser.add_argument("--by", metavar="NAME", help="who says so; default: the user's name")
    parser.add_argument(
        "--case",
        metavar="FOLDER",
        dest="folder",
        type=Path,
        help="add a regression case for `golden test` there: the conversation as OTLP JSON, and what is expected",
    )
    parser.set_defaults(handler=_answer, word=word)


def _answer(arguments: Namespace) -> int:
    if arguments.output is not None and not arguments.alternate:
        raise UsageError("-o: is the file of --alternate")
    config = configuration(arguments)
    with open_store(config) as store:
        case = find_case(store, arguments.case, arguments.turn)
        answer = answered(case, arguments.word, _LABELS[arguments.label], arguments.check)
        needs_rules = arguments.folder is not None or arguments.alternate
        rules = judging(config) if needs_rules else None
        conversation = _conversation(store, answer) if needs_rules else None
        if rules is not None and conversation is not None:
            # Files first: an answer whose case could not be written is not given.
            if arguments.folder is not None:
                _write_case(arguments.folder, answer, conversation, rules, arguments.note)
            if arguments.alternate:
                _write_alternate(arguments, answer, conversation, rules)
        dialog = None if rules is None else rules.dialogs.get(case.result.dialog)
        review = review_of(answer, dialog, arguments.by or _user(), arguments.note, time.time())
        store.record_review(review)
    labels = counted(len(review.labels), "label")
    print(f"{case.name}: {arguments.word}ed by {review.who}, {labels}", file=sys.stderr)
    return 0


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        # A container's user may have no name.
        return "unknown"


def _conversation(store: Store, answer: Answer) -> Conversation:
    run_id = answer.case.result.run_id
    kept = store.conversations([run_id]).get(run_id)
    if kept is None or kept.conversation is None:
        raise UsageError(
            f"{answer.case.name}: the store does not have its conversation; answer without --case and --alternate"
        )
    return as_captured(kept.conversation)


def _dialog(answer: Answer, rules: Judging) -> Dialog:
    dialog = rules.dialogs.get(answer.case.result.dialog)
    if dialog is None:
        raise UsageError(f"{answer.case.name}: its dialog {answer.case.result.dialog} is not loaded; see golden.paths")
    return dialog


# A regression case


def _write_case(folder: Path, answer: Answer, conversation: Conversation, rules: Judging, note: str | None) -> None:
    result = answer.case.result
    dialog = _dialog(answer, rules)
    name = _file_name(dialog.name)
    # As JSON lines: the loader of golden dialogs reads every .json of its folders.
    traces = folder / "traces" / f"{name}-{result.run_id[:SHORT_ID]}.jsonl"
    cases = folder / f"{name}.cases.yaml"
    present = read_cases(cases).cases if cases.exists() else ()
    relative = traces.relative_to(folder).as_posix()
    case = case_with(present, answer, relative, conversation_name(conversation), note)
    text = json.dumps(export_request(conversation, dialog.name)) + "\n"
    try:
        traces.parent.mkdir(parents=True, exist_ok=True)
        before = traces.read_bytes() if traces.exists() else None
        traces.write_text(text, encoding="utf-8")
        try:
            _require_same(traces, answer, conversation, dialog, rules)
        except UsageError:
            if before is None:
                traces.unlink()
            else:
                traces.write_bytes(before)
            raise
        write_cases(cases, with_case(present, case))
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror or error}") from error
    print(f"{cases}: {case.case}, traces in {traces}", file=sys.stderr)


def _require_same(traces: Path, answer: Answer, conversation: Conversation, dialog: Dialog, rules: Judging) -> None:
    """A test has to judge what the monitor judged: read the spans and compare."""
    pipeline = rules.pipeline
    collected = Collected()
    keep = build_prefilter(pipeline.registry, pipeline.assembly, pipeline.recogniser.attributes)
    for decoded in read_files([traces], Limits(), keep):
        collected.add(decoded)
    stored = pipeline.judge_run(pipeline.run_again(conversation, dialog, 1)).result
    read = collected.conversations(pipeline)
    runs = [run for one in read for run in pipeline.runs(one, dialog)]
    found = [pipeline.judge_run(run).result for run in runs]
    differences = [change for change in turn_changes(stored, found[0]) if not change.only_evidence] if found else []
    if len(found) == 1 and not differences:
        return
    why = f"they hold {len(found)} runs"
    if differences:
        turn = differences[0].before or differences[0].after
        was, now = (None if one is None else turn_word(one) for one in (differences[0].before, differences[0].after))
        why = f"turn {turn.turn_no if turn else '?'} is {now} instead of {was}"
    raise UsageError(f"{answer.case.name}: its conversation cannot be written as spans that are read alike: {why}")


def _file_name(dialog: str) -> str:
    return re.sub(r"[^\w.-]+", "-", dialog).strip("-.") or "dialog"


# A draft


def _write_alternate(arguments: Namespace, answer: Answer, conversation: Conversation, rules: Judging) -> None:
    dialog = _dialog(answer, rules)
    source = rules.dialogs.sources[dialog.name].document
    target: Path | None = arguments.output
    if target is not None and target.exists() and not arguments.force:
        raise UsageError(f"{target}: is there already; --force replaces it")
    value = cast("Mapping[str, Any]", source.value)
    new = next_version(value, answer, conversation, EmbeddedScorer(), arguments.note)
    text = json.dumps(new, indent=2, ensure_ascii=False) + "\n"
    if target is None or target.suffix != ".json":
        text = write_yaml(new)
    parsed = parse_dialog(text.encode(), str(target or "the draft.yaml"))
    if not isinstance(parsed, tuple):
        raise DialogFaultsError(parsed)
    result = rules.pipeline.judge_run(rules.pipeline.run_again(conversation, parsed[0], 1)).result
    if target is None:
        write_text(text)
    else:
        try:
            target.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{target}: cannot be written: {error.strerror or error}") from error
    passed = {True: "passes", False: "still fails", None: "is undecided"}[result.test_pass]
    where = "" if target is None else f"{target}: "
    print(f"{where}a draft of version {parsed[0].version} of {source.name}; the run {passed} with it", file=sys.stderr)
