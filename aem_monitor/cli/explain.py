"""``aem-monitor explain``: what each span of an input was taken for, and why."""

import sys
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path

from aem_monitor.assembly.explain import SpanNote, explain_trace
from aem_monitor.build import build_pipeline
from aem_monitor.cli.configured import add_config_argument, configured
from aem_monitor.cli.output import write_json_line, write_text
from aem_monitor.cli.tables import shown
from aem_monitor.golden.load import Dialogs
from aem_monitor.ingest.files import read_files
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.pipeline import Collected


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Prints every span of OTLP files as a tree: the convention and kind that it was taken for, what it says, and "
        "which turns of which conversation rest on it, or why none does."
    )
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="OTLP files or folders of them")
    parser.add_argument("--trace", metavar="ID", default="", help="only traces whose id begins so")
    parser.add_argument("--json", action="store_true", help="JSON lines, one object a span")
    add_config_argument(parser)
    parser.set_defaults(handler=explain)


def explain(arguments: Namespace) -> int:
    """Carry the command out. Every span is kept, also those that the daemon would skip undecoded."""
    chosen = configured(arguments.config)
    registry, settings = chosen.registry, chosen.settings.assembly
    pipeline = build_pipeline(Dialogs(), chosen.settings, registry)
    collected = Collected()
    for decoded in read_files(arguments.files, chosen.limits, Prefilter([""])):
        collected.add(decoded)
    conversations = collected.conversations(pipeline)
    for trace, spans in collected.spans.items():
        if not trace.startswith(arguments.trace.lower()):
            continue
        notes = explain_trace(spans, collected.logs.get(trace, ()), registry, settings, conversations)
        if arguments.json:
            for note in notes:
                write_json_line(_object(note))
        else:
            write_text(f"trace {trace}\n" + "".join(_lines(note) for note in notes) + "\n")
    for cause, count in sorted(collected.skipped.items()):
        print(f"{count} spans left out: {cause}", file=sys.stderr)
    return 0


def _lines(note: SpanNote) -> str:
    indent = "  " * (note.depth + 1)
    taken = f"{note.convention} {note.kind}" if note.convention else "no agent span"
    lines = [f"{indent}{note.span.name}  [{note.span.span_id}]  taken for: {taken}"]
    lines += [f"{indent}    {text}" for text in note.says]
    lines += [f"{indent}  -> {text}" for text in note.became]
    return "".join(f"{shown(line)}\n" for line in lines)


def _object(note: SpanNote) -> dict[str, object]:
    fields = {key: value for key, value in asdict(note).items() if key != "span"}
    span = note.span
    return {
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "name": span.name,
        "scope": span.scope.name,
        **fields,
    }
