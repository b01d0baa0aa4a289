"""``aem-monitor golden lint``: golden dialogs looked through, by themselves and beside recorded runs."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final, get_args

from aem_monitor.build import build_pipeline
from aem_monitor.cli.configured import add_config_argument, configured
from aem_monitor.cli.output import write_json, write_text
from aem_monitor.errors import UsageError
from aem_monitor.golden.cases import is_case_file, read_cases
from aem_monitor.golden.lint import (
    Recorded,
    Semantics,
    as_github,
    as_json,
    as_text,
    at_least,
    lint,
    with_faults,
)
from aem_monitor.golden.linting import Severity
from aem_monitor.golden.load import Dialogs, read_dialogs
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.pipeline import Collected
from aem_monitor.scoring.responses import facts, mentions
from aem_monitor.scoring.responses.evidence import Evidence, name_words, significant
from aem_monitor.scoring.responses.language import is_english
from aem_monitor.scoring.scorers import EmbeddedScorer
from aem_monitor.scoring.values import ValueContext, reads_as
from aem_monitor.scoring.values.forms import QuantityForm
from aem_monitor.scoring.values.identifiers import looks_opaque

_UNUSABLE: Final = 2

_MOST_VALUES: Final = 2000
"""Values of sources in which facts are looked for: each is read in every form, about 0.2 ms of work."""


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="golden dialogs, or folders of them")
    parser.add_argument(
        "--recording",
        metavar="FILE",
        action="append",
        type=Path,
        default=[],
        help="OTLP files of good runs, folders of them, or case files (*.cases.yaml), which name theirs: which golden "
        "calls fail, change nothing or never come there",
    )
    add_config_argument(parser)
    parser.add_argument(
        "--fail-on", choices=(*get_args(Severity), "never"), default="error", help="least severity for exit code 1"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format", choices=("text", "json", "github"), default="text", help="github: annotations of a pull request"
    )
    form.add_argument("--json", dest="format", action="store_const", const="json", help="the same as --format json")
    parser.set_defaults(handler=check)


def check(arguments: Namespace) -> int:
    """Carry the command out."""
    for path in (*arguments.paths, *arguments.recording):
        if not path.exists():
            raise UsageError(f"{path}: no such file or folder")
    dialogs, faults = read_dialogs(arguments.paths)
    recorded = None
    if arguments.recording:
        recorded = _recorded(_traces(arguments.recording), dialogs, arguments.config)
    findings = with_faults(lint(dialogs, _semantics(), recorded), faults)
    if arguments.format == "json":
        write_json(as_json(findings))
    elif arguments.format == "github":
        write_text(as_github(findings))
    else:
        write_text(as_text(findings) + "\n")
    if faults:
        return _UNUSABLE
    return int(arguments.fail_on != "never" and at_least(findings, arguments.fail_on))


def _traces(paths: Sequence[Path]) -> list[Path]:
    """The OTLP files and folders, each once; of case files those that their cases name."""
    found: list[Path] = []
    for path in paths:
        if is_case_file(path.name):
            file = read_cases(path)
            found += [traces for case in file.cases for traces in file.traces_of(case)]
        else:
            found.append(path)
    if not found:
        raise UsageError(f"{paths[0]}: its cases name no traces")
    return list({path.resolve(): path for path in found}.values())


def _recorded(paths: Sequence[Path], dialogs: Dialogs, config: Path | None) -> list[Recorded]:
    """The runs of the dialogs in recordings, judged."""
    chosen = configured(config)
    pipeline = build_pipeline(dialogs, chosen.settings, chosen.registry)
    collected = Collected()
    for decoded in chosen.read(paths, pipeline):
        collected.add(decoded)
    found = []
    for conversation in collected.conversations(pipeline):
        dialog = pipeline.recognise(conversation).dialog
        runs = pipeline.runs(conversation, dialog) if dialog is not None else []
        found += [Recorded(run, pipeline.judge_run(run).result) for run in runs]
    print(f"{len(found)} recorded run{'' if len(found) == 1 else 's'} of these dialogs", file=sys.stderr)
    return found


def _semantics() -> Semantics:
    """Words and values as scoring reads them by default."""
    scorer = EmbeddedScorer()
    return Semantics(
        mentions=lambda text, wanted: mentions(text, wanted, ValueContext(), scorer).equivalent,
        unsupported=_unsupported,
        reads_as=reads_as,
        identifier=lambda text: " " not in text and looks_opaque(text),
        similarity=lambda a, b: scorer.score([(a, b)])[0],
        today=datetime.now(UTC).date(),
    )


def _unsupported(text: str, sources: Sequence[JSON], reference_date: date | None) -> list[tuple[str, bool]]:
    """The facts of a text that no source says, by the rules that score replies, and whether each is an amount.

    None where the sources are too large to look through: lint runs on every change.
    """
    if not is_english(text):
        return []  # the rules know no names and numbers of other languages
    context = ValueContext(reference_date=reference_date)
    evidence = Evidence.read(sources, context)
    if len(evidence.found) > _MOST_VALUES:
        return []
    missing = []
    for fact in facts(text, context):
        words = name_words(fact)
        # "The first", "once", "half": in words such values are mostly turns of speech.
        if words is None and not any(char.isdigit() for char in fact.text):
            continue
        said = evidence.says(fact)
        if not said and words is not None:
            said = significant(words) <= evidence.covers(words)
        if not said:
            missing.append((fact.text, isinstance(fact.form, QuantityForm)))
    return missing
