"""``aem-monitor replay``: the daemon's pipeline over files."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from aem_monitor.assembly.render import conversation_object
from aem_monitor.build import build_pipeline
from aem_monitor.cli.configured import add_config_argument, configured
from aem_monitor.cli.errormap import print_error_maps
from aem_monitor.cli.output import write_json_line
from aem_monitor.cli.report import print_report
from aem_monitor.errors import UsageError
from aem_monitor.golden.load import Dialogs, load_dialogs
from aem_monitor.model.render import result_object
from aem_monitor.pipeline import Collected, Pipeline, Replayed, score_conversations


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Reads OTLP files (.json, .jsonl, .pb, each also .gz; folders of them) as one stream of spans and scores the "
        "conversations in it. Prints a table, or one JSON object a line. The end of input completes every conversation."
    )
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="OTLP files or folders of them")
    parser.add_argument(
        "--golden",
        metavar="PATH",
        action="append",
        type=Path,
        default=[],
        help="golden dialogs, or folders of them; needed for everything but --conversations unless --config names them",
    )
    add_config_argument(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--conversations", action="store_true", help="print each conversation as rebuilt from the spans, as JSON lines"
    )
    form.add_argument("--verdicts", action="store_true", help="print each run's result object, as JSON lines")
    form.add_argument(
        "--error-maps",
        action="store_true",
        help="print each failing run turn by turn: which turns broke, and which only inherited the break from which",
    )
    parser.set_defaults(handler=replay)


def replay(arguments: Namespace) -> int:
    """Carry the command out."""
    chosen = configured(arguments.config)
    golden = arguments.golden or chosen.golden
    if not golden and not arguments.conversations:
        raise UsageError("replay: no golden dialogs; name them with --golden, or ask for --conversations")
    dialogs = load_dialogs(golden) if golden else Dialogs()
    pipeline = build_pipeline(dialogs, chosen.settings, chosen.registry)
    collected = Collected()
    for decoded in chosen.read(arguments.files, pipeline):
        collected.add(decoded)
    if arguments.conversations:
        return _conversations(collected, pipeline)
    replayed = score_conversations(pipeline, collected.conversations(pipeline))
    _say_what_was_left_out(collected, replayed)
    if arguments.error_maps:
        print_error_maps(replayed.results, sys.stdout)
        return 0
    if not arguments.verdicts:
        print_report(replayed.results, sys.stdout)
        return 0
    for result in replayed.results:
        write_json_line(result_object(result))
    return 0


def _conversations(collected: Collected, pipeline: Pipeline) -> int:
    for conversation in collected.conversations(pipeline):
        write_json_line(conversation_object(conversation))
    return 0


def _say_what_was_left_out(collected: Collected, replayed: Replayed) -> None:
    other = {outcome: n for outcome, n in sorted(replayed.outcomes.items()) if outcome != "recognised"}
    runs = len(replayed.results)
    parts = [f"{collected.seen_spans} spans", f"{runs} run{'' if runs == 1 else 's'}"]
    parts += [f"{n} spans skipped ({cause})" for cause, n in sorted(collected.skipped.items())]
    parts += [f"{n} conversations not scored ({outcome})" for outcome, n in other.items()]
    print("; ".join(parts), file=sys.stderr)
