"""``aem-monitor golden bootstrap``: a draft of a golden dialog from recorded conversations."""

import json
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from aem_monitor.assembly import AssemblySettings
from aem_monitor.attribution.steps import Judge
from aem_monitor.bootstrap.check import Checked
from aem_monitor.bootstrap.definitions import ToolDefinition, definitions_in
from aem_monitor.bootstrap.draft import Drafter
from aem_monitor.bootstrap.existing import Existing
from aem_monitor.bootstrap.group import grouped, proposed_name, same_script
from aem_monitor.bootstrap.recorded import Recording, recording_of
from aem_monitor.bootstrap.rewrite import in_order
from aem_monitor.bootstrap.sheet import Sheet
from aem_monitor.build import PipelineSettings, build_pipeline, build_prefilter, build_registry
from aem_monitor.cli.output import write_text
from aem_monitor.cli.progress import progress_bar
from aem_monitor.errors import UsageError
from aem_monitor.golden.load import DialogFaultsError, parse_dialog
from aem_monitor.golden.write import write_yaml
from aem_monitor.ingest.files import read_files
from aem_monitor.ingest.limits import Limits
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.span import Span
from aem_monitor.pipeline import Collected
from aem_monitor.scoring.scorers import EmbeddedScorer

_SHOWN = 60


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="OTLP files or folders of them")
    parser.add_argument(
        "--conversation",
        metavar="ID",
        action="append",
        default=[],
        help="draft from this conversation only; several with the same user messages make one draft",
    )
    parser.add_argument("--name", help="name of the dialog; default: the dialog id of the spans, else the first words")
    parser.add_argument(
        "--into",
        metavar="DIALOG.yaml",
        type=Path,
        help="add the recordings to this dialog: a draft is replaced, a reviewed one is left and a new file written",
    )
    parser.add_argument("--force", action="store_true", help="replace a reviewed dialog, or a file that is there")
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="file to write, or a folder; default: standard output"
    )
    parser.set_defaults(handler=bootstrap)


def bootstrap(arguments: Namespace) -> int:
    """Carry the command out."""
    found = _read(arguments.files)
    existing = _existing(arguments.into, found) if arguments.into else None
    chosen = _chosen(found.conversations, arguments.conversation)
    recordings = [recording_of(conversation) for conversation in chosen]
    if existing is not None:
        recordings = _of_script(recordings, existing)
    groups = grouped(recordings)
    folder = arguments.output is not None and arguments.output.is_dir()
    if len(groups) > 1 and (not folder or arguments.name):
        raise UsageError(
            "golden bootstrap: the conversations have different user messages; choose with --conversation, or give "
            f"a folder with -o for one draft each:\n{_listed(groups)}"
        )
    written: set[str] = set()
    for group in groups:
        name = existing.dialog.name if existing else arguments.name or proposed_name(group)
        while name in written:
            name += "-2"
        written.add(name)
        sheet, checked = _draft(group, found.definitions(group), name, existing)
        target = _target(arguments, existing, name)
        text = _text(sheet, target, existing)
        if target is None:
            write_text(text)
        else:
            target.write_text(text, encoding="utf-8")
        _say(name, group, checked, target)
        for lost in existing.lost if existing is not None else ():
            print(f"  not kept: {lost}", file=sys.stderr)
    return 0


@dataclass(frozen=True, slots=True)
class _Found:
    conversations: Sequence[Conversation]
    spans: Mapping[str, Sequence[Span]]

    def definitions(self, group: Sequence[Recording]) -> Mapping[str, ToolDefinition]:
        """The tools of the agents in some recordings: those of other agents in the same files are none of theirs."""
        traces = (one for recording in group if recording.conversation for one in recording.conversation.trace_ids)
        return definitions_in(span for trace in traces for span in self.spans.get(trace, ()))


def _read(files: Sequence[Path]) -> _Found:
    conventions = build_registry()
    settings = PipelineSettings(assembly=AssemblySettings(), require_where=False)
    pipeline = build_pipeline((), settings, conventions)
    collected = Collected()
    keep = build_prefilter(conventions, settings.assembly)
    with progress_bar("reading") as report:
        for decoded in read_files(files, Limits(), keep, report):
            collected.add(decoded)
    conversations = [conversation for conversation in collected.conversations(pipeline) if conversation.exchanges]
    if not conversations:
        raise UsageError("golden bootstrap: no conversation in these files; `aem-monitor explain` says why")
    return _Found(conversations, collected.spans)


def _chosen(conversations: Sequence[Conversation], wanted: Sequence[str]) -> list[Conversation]:
    if not wanted:
        return list(conversations)
    chosen = []
    for name in wanted:
        same = [one for one in conversations if name in (one.conversation_id, one.key, *one.aliases)]
        if not same:
            known = ", ".join(sorted(one.conversation_id or one.key for one in conversations)[:20])
            raise UsageError(f"golden bootstrap: no conversation {name} in these files; there is {known}")
        chosen += same
    return chosen


def _existing(path: Path, found: _Found) -> Existing:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    parsed = parse_dialog(content, str(path))
    if not isinstance(parsed, tuple):
        raise DialogFaultsError(parsed)
    dialog, source = parsed
    day = recording_of(found.conversations[0]).day
    return Existing.of(dialog, cast("Mapping[str, Any]", source.document.value), day, content.decode("utf-8-sig"))


def _of_script(recordings: Sequence[Recording], existing: Existing) -> list[Recording]:
    fitting = [recording for recording in recordings if same_script(existing.recording, recording)]
    if not fitting:
        raise UsageError(
            f"golden bootstrap: in none of {len(recordings)} conversations does the user say what dialog "
            f"{existing.dialog.name} says:\n{_listed(grouped(recordings))}"
        )
    for recording in recordings:
        if recording not in fitting:
            print(f"left out: {recording.source}, whose user messages are others", file=sys.stderr)
    return fitting


def _draft(
    group: Sequence[Recording], definitions: Mapping[str, ToolDefinition], name: str, existing: Existing | None
) -> tuple[Sheet, Checked]:
    sources = ", ".join(recording.source for recording in group[:5]) + (", .." if len(group) > 5 else "")
    note = f"drafted from {len(group)} recorded conversation{'' if len(group) == 1 else 's'}: {sources}"
    if existing is not None and existing.dialog.review.note:
        known = existing.dialog.review.note
        note = known if note in known else f"{known}; {note}"
    scorer = EmbeddedScorer()
    drafter = Drafter(group, definitions, AssemblySettings().split_tool, scorer, name, note, existing)
    return drafter.draft(Judge(scorer))


def _text(sheet: Sheet, target: Path | None, existing: Existing | None) -> str:
    """The file's text; JSON has no place for comments. Raises where it would not load, such as for its size."""
    file = str(target) if target is not None else "the draft.yaml"
    if file.endswith(".json"):
        value = sheet.value()
        ordered = {name: value[name] for name in in_order(value, list(existing.value))} if existing else value
        text = json.dumps(ordered, indent=2, ensure_ascii=False) + "\n"
    elif existing is not None:
        text = existing.rewritten(sheet)
    else:
        text = write_yaml(sheet.value(), sheet.comments())
    parsed = parse_dialog(text.encode(), file)
    if not isinstance(parsed, tuple):
        raise DialogFaultsError(parsed)
    return text


def _target(arguments: Namespace, existing: Existing | None, name: str) -> Path | None:
    output: Path | None = arguments.output
    if output is not None and output.is_dir():
        output /= re.sub(r"[^\w.-]+", "-", name).strip("-.") + ".yaml"
    if output is None and existing is not None:
        output = arguments.into
    if output is None:
        return None
    if existing is not None and output.exists() and output.resolve() == arguments.into.resolve():
        if existing.dialog.draft or arguments.force:
            return output
        beside: Path = output.with_name(f"{output.stem}.draft.yaml")
        print(f"{output} is reviewed and stays as it is; --force replaces it", file=sys.stderr)
        output = beside
    if output.exists() and not arguments.force:
        raise UsageError(f"golden bootstrap: {output} is there already; --force replaces it")
    return output


def _say(name: str, group: Sequence[Recording], checked: Checked, target: Path | None) -> None:
    to = f"; written to {target}" if target is not None else ""
    print(f"{name}: drafted from {len(group)} conversation{'' if len(group) == 1 else 's'}{to}", file=sys.stderr)
    for line in checked.loosened:
        print(f"  loosened: {line}", file=sys.stderr)
    for line in checked.failing:
        print(f"  not passed by its own recording: {line}", file=sys.stderr)


def _listed(groups: Sequence[Sequence[Recording]]) -> str:
    lines = []
    for group in groups[:30]:
        said = group[0].script[0].replace("\n", " ")
        said = said if len(said) <= _SHOWN else f"{said[: _SHOWN - 3]}..."
        lines.append(f'  {", ".join(recording.source for recording in group[:4])}: "{said}"')
    return "\n".join(lines)
