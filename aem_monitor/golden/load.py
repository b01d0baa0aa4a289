"""Golden dialogs from files: ``*.yaml``, ``*.yml`` and ``*.json``, one dialog a file.

Regression cases (``*.cases.yaml``) are kept beside them and passed over.
Every fault of every file is collected and reported as ``file:line: field: what is wrong, what to do``.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from aem_monitor.document import Document
from aem_monitor.errors import DocumentError
from aem_monitor.golden.cases import is_case_file
from aem_monitor.golden.check import faults_of
from aem_monitor.golden.dialog import Dialog, dialog_of
from aem_monitor.golden.faults import DialogFaultsError, Fault, document_faults, fault_at, form_faults
from aem_monitor.golden.form import DialogForm
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.yamlfile import MAX_BYTES, parse_document

__all__ = [
    "DialogFaultsError",
    "DialogSource",
    "Dialogs",
    "Fault",
    "dialog_from",
    "load_dialogs",
    "parse_dialog",
    "read_dialogs",
]

SUFFIXES: Final = (".yaml", ".yml", ".json")
"""Names of golden dialog files; what else lies in a directory is left alone."""

_SPANS: Final = frozenset(("resourceSpans", "resource_spans", "resourceLogs", "resource_logs"))
"""Keys of OTLP exports, which may lie where dialogs are looked for."""

MAX_FILES: Final = 10_000
"""Most files that one call reads."""


@dataclass(frozen=True, slots=True)
class DialogSource:
    """The file of a dialog, for messages with a line. ``digest`` is the SHA-256 of its bytes."""

    document: Document
    digest: str

    def line(self, *path: str | int) -> int:
        """The line of a key, or of its nearest parent that the file has."""
        return self.document.line(path)


@dataclass(frozen=True, slots=True)
class Dialogs:
    """Golden dialogs by name, in the order of their files."""

    by_name: Mapping[str, Dialog] = field(default_factory=dict)
    sources: Mapping[str, DialogSource] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Dialog]:
        return iter(self.by_name.values())

    def __len__(self) -> int:
        return len(self.by_name)

    def __contains__(self, name: object) -> bool:
        return name in self.by_name

    def get(self, name: str) -> Dialog | None:
        """The dialog of that name, or None."""
        return self.by_name.get(name)

    @property
    def digest(self) -> str:
        """A hash of all names and contents, independent of paths and order: says whether two daemons run the same."""
        total = hashlib.sha256()
        for name in sorted(self.by_name):
            source = self.sources.get(name)
            total.update(f"{name}\0{source.digest if source else ''}\n".encode())
        return total.hexdigest()


def load_dialogs(paths: Sequence[Path]) -> Dialogs:
    """The golden dialogs of files and directories.

    Directories are walked recursively in order of name; what begins with a dot, and regression cases, are passed over.
    Raises ``DialogFaultsError`` with all faults of all files.
    """
    dialogs, faults = read_dialogs(paths)
    if faults:
        raise DialogFaultsError(faults)
    return dialogs


def read_dialogs(paths: Sequence[Path]) -> tuple[Dialogs, tuple[Fault, ...]]:
    """The usable dialogs and the faults of the others."""
    by_name: dict[str, Dialog] = {}
    sources: dict[str, DialogSource] = {}
    faults: list[Fault] = []
    for path in _files(paths, faults):
        if path.exists() and not path.is_file():
            faults.append(Fault(str(path), 0, "is no regular file"))
            continue
        try:
            content = _content(path)
        except OSError as error:
            faults.append(Fault(str(path), 0, f"cannot be read: {error.strerror or error}"))
            continue
        found = parse_dialog(content, str(path))
        if not isinstance(found, tuple):
            faults.extend(found)
            continue
        dialog, source = found
        other = sources.get(dialog.name)
        if other is not None:
            first = f"{other.document.name}:{other.line('dialog')}"
            message = f"dialog: {dialog.name} is also the name of {first}; rename one"
            faults.append(Fault(str(path), source.line("dialog"), message))
            continue
        by_name[dialog.name], sources[dialog.name] = dialog, source
    return Dialogs(by_name, sources), tuple(faults)


def parse_dialog(content: bytes, file: str) -> tuple[Dialog, DialogSource] | list[Fault]:
    """One file's dialog, or its faults. ``file`` names it in messages; JSON is known by its suffix."""
    if len(content) > MAX_BYTES:
        return [Fault(file, 0, f"larger than {MAX_BYTES} bytes; one file holds one dialog")]
    try:
        document = parse_document(content, file, json=file.endswith(".json"))
    except DocumentError as error:
        return document_faults(error, file)
    found = _dialog(document)
    if isinstance(found, Dialog):
        return found, DialogSource(document, hashlib.sha256(content).hexdigest())
    return found


def dialog_from(value: JSON, name: str = "dialog") -> Dialog:
    """The dialog of a JSON value, for callers that hold no file. Raises ``DialogFaultsError``."""
    found = _dialog(Document(name, value))
    if isinstance(found, Dialog):
        return found
    raise DialogFaultsError(found)


def _dialog(document: Document) -> Dialog | list[Fault]:
    if isinstance(document.value, Mapping) and not _SPANS.isdisjoint(document.value):
        message = "holds spans, no golden dialog; keep recordings elsewhere, or as .jsonl, .pb or compressed"
        return [fault_at(document, (), message)]
    try:
        form = DialogForm.model_validate(document.value)
    except ValidationError as error:
        return form_faults(error, document)
    problems = faults_of(form)
    if problems:
        return [fault_at(document, problem.path, problem.message) for problem in problems]
    return dialog_of(form)


def _content(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(MAX_BYTES + 1)


def _files(paths: Sequence[Path], faults: list[Fault]) -> Iterator[Path]:
    seen: set[Path] = set()
    for path in paths:
        found = sorted(_walk(path)) if path.is_dir() else [path]
        if not found:
            faults.append(Fault(str(path), 0, f"holds no golden dialogs ({', '.join('*' + s for s in SUFFIXES)})"))
        if not path.is_dir() and path.suffix not in SUFFIXES and path.exists():
            faults.append(Fault(str(path), 0, f"is no golden dialog; the name ends in {', '.join(SUFFIXES)}"))
            continue
        if not path.is_dir() and is_case_file(path.name):
            faults.append(Fault(str(path), 0, "is no golden dialog: it holds cases for `aem-monitor golden test`"))
            continue
        for file in found:
            real = file.resolve()
            if real in seen:
                continue
            if len(seen) == MAX_FILES:
                faults.append(
                    Fault(str(file), 0, f"more than {MAX_FILES} golden dialogs; this and the rest are not read")
                )
                return
            seen.add(real)
            yield file


def _walk(directory: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(directory):
        names[:] = [name for name in names if not name.startswith(".")]
        for name in files:
            if name.endswith(SUFFIXES) and not name.startswith(".") and not is_case_file(name):
                yield Path(folder) / name
