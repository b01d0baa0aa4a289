"""``aem-monitor score``: annotated dialogs in, result objects out."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from aem_monitor.attribution.annotated import read_annotated
from aem_monitor.attribution.article import score_dialog
from aem_monitor.cli.output import write_json_line
from aem_monitor.model.render import score_object
from aem_monitor.scoring.scorers import EmbeddedScorer
from aem_monitor.scoring.values import ValueContext


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Scores annotated dialogs: JSON lists of turns with gold_turn and predict_turn, as in the article on the Agent "
        "Evaluation Metric. Prints one result object a dialog, as JSON lines."
    )
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="annotated dialogs (JSON)")
    parser.add_argument(
        "--assume-chain",
        action="store_true",
        help="in dialogs without any depends_on, a failing turn after a failed one counts as inherited",
    )
    parser.set_defaults(handler=score)


def score(arguments: Namespace) -> int:
    """Carry the command out. All files are read before anything is printed."""
    forms = [form for path in arguments.files for form in read_annotated(path)]
    scorer = EmbeddedScorer()
    for form in forms:
        result = score_dialog(form, scorer, ValueContext(form.reference_date), arguments.assume_chain)
        write_json_line(score_object(result))
    return 0
