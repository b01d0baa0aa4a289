"""``aem-monitor golden test``: recorded conversations still get the verdicts that are expected of them."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aem_monitor.build import build_pipeline
from aem_monitor.cli.configured import Configured, add_config_argument, configured
from aem_monitor.cli.golden_test_report import junit_xml, outcome_objects, print_outcomes
from aem_monitor.cli.output import write_json
from aem_monitor.errors import DocumentError, UsageError
from aem_monitor.golden.cases import CASE_SUFFIXES, CaseFile, beside, is_case_file, read_cases, write_cases
from aem_monitor.golden.load import SUFFIXES as DIALOG_SUFFIXES
from aem_monitor.golden.load import Dialogs, load_dialogs
from aem_monitor.ingest.files import SUFFIXES as TRACE_SUFFIXES
from aem_monitor.model.verdict import RunResult
from aem_monitor.pipeline import Collected, Pipeline
from aem_monitor.regression.record import Recorded, Target, record
from aem_monitor.regression.run import Outcome, Replayed, replay, try_case, try_others

_LOOKED_AT: Final = 65536
"""Bytes of a JSON file that tell an export of spans from a golden dialog."""

_SPANS: Final = (b'"resourceSpans"', b'"resource_spans"', b'"resourceLogs"', b'"resource_logs"')


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        type=Path,
        help="golden dialogs and folders of them, with the cases beside them (*.cases.yaml); OTLP files: every run in "
        "them that no case is about has to pass",
    )
    add_config_argument(parser)
    parser.add_argument(
        "--record",
        action="store_true",
        help="expect the present verdicts from now on: update cases that differ, and add one for each run in the OTLP "
        "files that no case is about, beside its dialog",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument("--junit-xml", metavar="FILE", type=Path, help="also write the outcome as JUnit XML")
    parser.set_defaults(handler=test)


def test(arguments: Namespace) -> int:
    """Carry the command out."""
    inputs = _sorted_out(arguments.paths)
    chosen = configured(arguments.config)
    if not inputs.dialogs:
        named = _sorted_out(chosen.golden)
        inputs = _Inputs(named.dialogs, [*named.cases, *inputs.cases], inputs.traces)
    dialogs = load_dialogs(inputs.dialogs)
    files = _case_files(inputs.cases, dialogs)
    recordings = _Recordings(build_pipeline(dialogs, chosen.settings, chosen.registry), chosen)
    outcomes = _tried(files, inputs.traces, dialogs, recordings)
    if not outcomes:
        raise UsageError(
            "golden test: nothing to test: no case beside these dialogs, and no run of them in OTLP files; record "
            "cases with `aem-monitor golden test DIALOG.. TRACES.. --record`"
        )
    recorded = Recorded()
    if arguments.record:
        recorded = record(
            outcomes,
            {file.path: file.cases for file in files},
            lambda result: Target(_case_file(dialogs, result, files), recordings.holding(result, inputs.traces)),
        )
        _write(recorded)
    if arguments.format == "json":
        write_json(outcome_objects(outcomes, recorded.settled))
    else:
        print_outcomes(outcomes, recorded.settled, sys.stdout)
    if arguments.junit_xml is not None:
        _write_bytes(arguments.junit_xml, junit_xml(outcomes))
    settled = {id(outcome.result) for outcome in recorded.settled}
    return int(any(not one.as_expected and id(one.result) not in settled for one in outcomes))


@dataclass(slots=True)
class _Inputs:
    dialogs: list[Path] = field(default_factory=list)
    cases: list[Path] = field(default_factory=list)
    traces: list[Path] = field(default_factory=list)


def _sorted_out(paths: Sequence[Path]) -> _Inputs:
    """What each path is for, by its name; a ``.json`` file and a folder also by what is in it."""
    out = _Inputs()
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: no such file or folder")
        if path.is_dir():
            cases = sorted(found for found in path.rglob("*.cases.*") if _is_cases(found, path))
            holds_dialogs = any(_is_dialog(found) for found in _files_in(path))
            if holds_dialogs or cases:
                out.cases += cases
                out.dialogs += [path] if holds_dialogs else []
            else:
                out.traces.append(path)
        elif is_case_file(path.name):
            out.cases.append(path)
            out.dialogs += _dialogs_beside(path)
        elif _is_traces(path):
            out.traces.append(path)
        else:
            out.dialogs.append(path)
            out.cases += [found for suffix in CASE_SUFFIXES if (found := path.with_name(path.stem + suffix)).is_file()]
    return out


def _is_cases(path: Path, folder: Path) -> bool:
    return is_case_file(path.name) and not any(part.startswith(".") for part in path.relative_to(folder).parts)


def _files_in(folder: Path) -> list[Path]:
    return [Path(inside, name) for inside, _, names in os.walk(folder) for name in names if not name.startswith(".")]


def _is_dialog(path: Path) -> bool:
    return path.name.endswith(DIALOG_SUFFIXES) and not is_case_file(path.name) and not _is_traces(path)


def _is_traces(path: Path) -> bool:
    if path.suffix != ".json":
        return path.name.endswith(TRACE_SUFFIXES)
    try:
        with path.open("rb") as stream:
            beginning = stream.read(_LOOKED_AT)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    return any(key in beginning for key in _SPANS)


def _dialogs_beside(cases: Path) -> list[Path]:
    stem = next(cases.name.removesuffix(suffix) for suffix in CASE_SUFFIXES if cases.name.endswith(suffix))
    return [found for suffix in DIALOG_SUFFIXES if (found := cases.with_name(stem + suffix)).is_file()]


def _case_files(paths: Sequence[Path], dialogs: Dialogs) -> list[CaseFile]:
    """The case files, each once. Raises ``DocumentError`` with the faults of all of them."""
    files: list[CaseFile] = []
    faults: list[str] = []
    for path in dict.fromkeys(path.resolve() for path in paths):
        try:
            file = read_cases(next(named for named in paths if named.resolve() == path))
        except DocumentError as error:
            faults += error.faults
            continue
        files.append(file)
        faults += [
            f"{file.where(index, 'dialog')}: {case.dialog} is none of the golden dialogs given: "
            f"{', '.join(sorted(dialogs.by_name)[:20]) or 'there is none'}"
            for index, case in enumerate(file.cases)
            if case.dialog not in dialogs
        ]
    if faults:
        raise DocumentError(faults)
    return files


def _tried(
    files: Sequence[CaseFile], traces: Sequence[Path], dialogs: Dialogs, recordings: "_Recordings"
) -> list[Outcome]:
    versions = {dialog.name: dialog.version for dialog in dialogs}
    outcomes = []
    for file in files:
        for index, case in enumerate(file.cases):
            named = file.traces_of(case) or tuple(traces)
            if not named:
                raise UsageError(
                    f"{file.where(index)}: {case.case} names no traces, and none are given; add traces: [FILE]"
                )
            missing = [path for path in named if not path.exists()]
            if missing:
                raise UsageError(f"{file.where(index, 'traces')}: {missing[0]}: no such file or folder")
            outcomes.append(try_case(case, file, index, recordings.read(named), versions))
    others = list(try_others(recordings.read(tuple(traces)), outcomes)) if traces else []
    return outcomes + others


class _Recordings:
    """Conversations of OTLP files, read and judged once for each set of files."""

    def __init__(self, pipeline: Pipeline, chosen: Configured) -> None:
        self._pipeline = pipeline
        self._chosen = chosen
        self._known: dict[tuple[Path, ...], list[Replayed]] = {}
        self._traces: dict[Path, set[str]] = {}

    def read(self, paths: tuple[Path, ...]) -> list[Replayed]:
        """All conversations of these files together."""
        key = tuple(sorted(path.resolve() for path in paths))
        if key not in self._known:
            collected = Collected()
            for path in paths:
                held = self._traces.setdefault(path.resolve(), set())
                for decoded in self._chosen.read([path], self._pipeline):
                    collected.add(decoded)
                    held.update(span.trace_id for span in decoded.spans)
            self._known[key] = replay(self._pipeline, collected.conversations(self._pipeline))
        return self._known[key]

    def holding(self, result: RunResult, paths: Sequence[Path]) -> tuple[Path, ...]:
        """Those of the files that hold spans of a run."""
        return tuple(path for path in paths if not self._traces[path.resolve()].isdisjoint(result.trace_ids))


def _case_file(dialogs: Dialogs, result: RunResult, files: Sequence[CaseFile]) -> Path:
    """The file beside the dialog, in the form that it has already."""
    wanted = beside(Path(dialogs.sources[result.dialog].document.name))
    stem = wanted.name.removesuffix(CASE_SUFFIXES[0])
    there = (file.path for file in files if file.path.name in {stem + suffix for suffix in CASE_SUFFIXES})
    return next((path for path in there if path.resolve().parent == wanted.resolve().parent), wanted)


def _write(recorded: Recorded) -> None:
    for path, cases in recorded.files.items():
        try:
            write_cases(path, cases)
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error
    for outcome in recorded.settled:
        changed = "; ".join(map(str, outcome.differences)) if outcome.file is not None else "new"
        print(f"recorded {outcome.case.case}: {changed}", file=sys.stderr)


def _write_bytes(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error
