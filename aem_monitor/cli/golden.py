"""``aem-monitor golden``: one action a job."""

from argparse import ArgumentParser, Namespace

from aem_monitor.cli import golden_bootstrap, golden_diff, golden_import, golden_lint, golden_test
from aem_monitor.cli.output import write_text
from aem_monitor.golden.schema import cases_schema, golden_schema, schema_text


def configure(parser: ArgumentParser) -> None:
    """Add the actions."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    lint = actions.add_parser(
        "lint",
        help="find what cannot work in golden dialogs, and what is probably not meant",
        description="Checks golden dialogs, by themselves and against recorded runs of them. Exit code 0: nothing as "
        "grave as --fail-on, 1: something is, 2: a file cannot be loaded.",
    )
    golden_lint.configure(lint)
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
    schema.add_argument("--cases", action="store_true", help="of regression cases (*.cases.yaml) instead")
    schema.set_defaults(handler=_schema)


def _schema(arguments: Namespace) -> int:
    write_text(schema_text(cases_schema() if arguments.cases else golden_schema()))
    return 0
