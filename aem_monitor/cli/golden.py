"""``aem-monitor golden``: one action a job."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from aem_monitor.cli import golden_bootstrap, golden_diff, golden_import, golden_test
from aem_monitor.cli.output import write_json, write_text
from aem_monitor.errors import UsageError
from aem_monitor.golden.lint import as_json, as_text, lint_files, worst
from aem_monitor.golden.schema import golden_schema_text
from aem_monitor.scoring.responses import mentions
from aem_monitor.scoring.scorers import EmbeddedScorer
from aem_monitor.scoring.values import ValueContext


def configure(parser: ArgumentParser) -> None:
    """Add the actions."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    lint = actions.add_parser(
        "lint",
        help="find what cannot work in golden dialogs, and what is probably not meant",
        description="Checks golden dialogs and prints a line (or JSON object) for each finding. Exit code 2 where a "
        "finding is an error: such a dialog cannot be used.",
    )
    lint.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="golden dialogs, or folders of them")
    lint.add_argument("--json", action="store_true", help="a JSON list of findings instead of lines")
    lint.set_defaults(handler=_lint)
    bootstrap = actions.add_parser(
        "bootstrap",
        help="draft a golden dialog from recorded conversations",
        description="Drafts a golden dialog from recorded conversations of good runs (OTLP files). Every proposal says "
        "what it rests on; a person has to confirm it.",
    )
    golden_bootstrap.configure(bootstrap)
    imports = actions.add_parser(
        "import",
        help="make golden dialogs of the files of public benchmarks",
        description="Makes golden dialogs (drafts) of the files of public benchmarks and of annotated dialogs.",
    )
    golden_import.configure(imports)
    difference = actions.add_parser(
        "diff",
        help="say what a new version of golden dialogs means for verdicts",
        description="Compares two versions of golden dialogs by their meaning. A change is stricter or looser, makes "
        "verdicts different, concerns recognition only, or changes nothing (none). Exit code 0: the same, 1: they "
        "differ, 2: one cannot be used.",
    )
    golden_diff.configure(difference)
    tests = actions.add_parser(
        "test",
        help="hold recorded conversations against the verdicts expected of them",
        description="Replays the recordings of regression cases and compares their verdicts with the expected ones. "
        "Exit code 0: all as expected, 1: some differ, 2: something cannot be used.",
    )
    golden_test.configure(tests)
    schema = actions.add_parser("schema", help="print the JSON Schema of golden dialogs, for editors")
    schema.set_defaults(handler=_schema)


def _lint(arguments: Namespace) -> int:
    for path in arguments.paths:
        if not path.exists():
            raise UsageError(f"{path}: no such file or folder")
    findings = lint_files(arguments.paths, _mentions)
    if arguments.json:
        write_json(as_json(findings))
    else:
        write_text(as_text(findings) + "\n")
    return 2 if worst(findings) == "error" else 0


def _mentions(text: str, wanted: str) -> bool:
    """Whether a reference text says what its turn must mention, by the rules that score runs."""
    return mentions(text, wanted, ValueContext(), EmbeddedScorer()).equivalent


def _schema(_: Namespace) -> int:
    write_text(golden_schema_text())
    return 0
