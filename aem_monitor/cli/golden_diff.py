"""``aem-monitor golden diff``: what a new version of golden dialogs means for verdicts."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from aem_monitor.cli.output import write_json, write_text
from aem_monitor.cli.tables import shown
from aem_monitor.errors import UsageError
from aem_monitor.golden.diff import Change, DialogDiff, VersionFault, compare_sets
from aem_monitor.golden.diffmatch import Effect
from aem_monitor.golden.load import Dialogs, load_dialogs

_EFFECTS: Final[tuple[Effect, ...]] = ("stricter", "looser", "different", "recognition", "none")

_FAULTS: Final[dict[VersionFault, tuple[str, str]]] = {
    "not_raised": ("error", "verdicts change, but the version is still {new}; raise it to {next}"),
    "went_back": ("error", "the version went back from {old} to {new}; raise it to {next}"),
    "raised_for_nothing": ("note", "the version was raised from {old} to {new}, though no verdict changes"),
}
"""How grave a fault of the version is, and what is said of it."""


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("old", metavar="OLD", type=Path, help="a golden dialog, or a folder of them")
    parser.add_argument("new", metavar="NEW", type=Path, help="its new version; of folders dialogs are paired by name")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.set_defaults(handler=diff)


def diff(arguments: Namespace) -> int:
    """Carry the command out."""
    old, new = _loaded(arguments.old), _loaded(arguments.new)
    found = [one for one in compare_sets(old, new) if not one.same]
    if arguments.format == "json":
        write_json([_object(one, old, new) for one in found])
    else:
        write_text("".join(f"{line}\n" for one in found for line in _lines(one, old, new)))
    return int(bool(found))


def _loaded(path: Path) -> Dialogs:
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder")
    return load_dialogs([path])


def _lines(found: DialogDiff, old: Dialogs, new: Dialogs) -> Iterator[str]:
    """One line a change, with the place in the file for editors, and one line that sums up."""
    if found.old is None or found.new is None:
        dialogs, word = (new, "added") if found.old is None else (old, "removed")
        yield f"{_place(dialogs, found.name, ())}: {word}: dialog {shown(found.name)}"
        return
    for change in found.changes:
        yield f"{_where(found, change, old, new)}: {change.effect}: {shown(' '.join(change.message.split()))}"
    fault = found.version_fault
    if fault is not None:
        yield f"{_place(new, found.new.name, ('version',))}: {_FAULTS[fault][0]}: {_version_message(found, fault)}"
    counts = [f"{found.counts[effect]} {effect}" for effect in _EFFECTS if found.counts[effect]]
    versions = f"version {found.old.version}"
    if found.new.version != found.old.version:
        versions += f" to {found.new.version}"
    yield f"{shown(found.new.name)}, {versions}: {', '.join(counts) or 'nothing else'}"


def _object(found: DialogDiff, old: Dialogs, new: Dialogs) -> dict[str, Any]:
    fault = found.version_fault
    return {
        "dialog": found.name,
        "status": "added" if found.old is None else "removed" if found.new is None else "changed",
        "old_version": found.old.version if found.old else None,
        "new_version": found.new.version if found.new else None,
        "verdicts_change": found.verdicts_change,
        "version_fault": fault,
        "version_message": _version_message(found, fault) if fault else None,
        "changes": [_change_object(found, change, old, new) for change in found.changes],
    }


def _change_object(found: DialogDiff, change: Change, old: Dialogs, new: Dialogs) -> dict[str, Any]:
    file, _, line = _where(found, change, old, new).rpartition(":")
    return {"effect": change.effect, "message": change.message, "file": file, "line": int(line)}


def _version_message(found: DialogDiff, fault: VersionFault) -> str:
    was, now = (dialog.version if dialog else 0 for dialog in (found.old, found.new))
    return _FAULTS[fault][1].format(old=was, new=now, next=was + 1)


def _where(found: DialogDiff, change: Change, old: Dialogs, new: Dialogs) -> str:
    dialog = found.old if change.removed else found.new
    return _place(old if change.removed else new, dialog.name if dialog else found.name, change.path)


def _place(dialogs: Dialogs, name: str, path: Sequence[str | int]) -> str:
    source = dialogs.sources[name]
    return f"{source.document.name}:{source.line(*path)}"
