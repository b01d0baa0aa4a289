"""``aem-monitor golden import``: golden dialogs from the files of public benchmarks."""

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path

from aem_monitor.cli.output import write_text
from aem_monitor.errors import UsageError
from aem_monitor.golden.load import parse_dialog
from aem_monitor.golden.write import write_yaml
from aem_monitor.imports.base import Imported
from aem_monitor.imports.formats import FORMATS


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("format", metavar="FORMAT", choices=sorted(FORMATS), help=", ".join(sorted(FORMATS)))
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="files of that format")
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", type=Path, help="where to write; one dialog alone may go to standard output"
    )
    parser.add_argument("--force", action="store_true", help="replace files that are there")
    parser.set_defaults(handler=import_dialogs)


def import_dialogs(arguments: Namespace) -> int:
    """Carry the command out. What cannot be imported is named on standard error, with the reason."""
    texts: dict[str, str] = {}
    left_out = 0
    in_part = 0
    for imported in FORMATS[arguments.format](arguments.files):
        name = _free(imported.name, texts)
        found = _text(imported, name)
        if found is None:
            left_out += 1
            continue
        for missing in imported.missing:
            print(f"{name}: not imported: {missing}", file=sys.stderr)
        in_part += bool(imported.missing)
        texts[name] = found
    if arguments.output is None:
        if len(texts) > 1:
            raise UsageError(f"golden import: {len(texts)} dialogs; give a folder with -o")
        for text in texts.values():
            write_text(text)
    else:
        _write(arguments.output, texts, replace=arguments.force)
    part = f"; {in_part} of them in part, as said above" if in_part else ""
    print(f"{len(texts)} dialogs imported, {left_out} left out{part}", file=sys.stderr)
    return 0


def _free(name: str, taken: Mapping[str, str]) -> str:
    """A name whose file is not taken: two dialogs of one name would refuse to load, two of one file be one."""
    files = {_file(known).casefold() for known in taken}
    names = (name, *(f"{name}-{number}" for number in range(2, len(files) + 3)))
    return next(one for one in names if _file(one).casefold() not in files)


def _file(name: str) -> str:
    return f"{re.sub(r'[^-.0-9A-Za-z_]+', '-', name)}.yaml"


def _text(imported: Imported, name: str) -> str | None:
    """The file's text, if it is a dialog that loads: what a benchmark holds need not be one."""
    if imported.sheet is None:
        print(f"left out: {imported.problem}", file=sys.stderr)
        return None
    imported.sheet.top["dialog"] = name
    text = write_yaml(imported.sheet.value(), imported.sheet.comments())
    parsed = parse_dialog(text.encode(), name)
    if isinstance(parsed, tuple):
        return text
    print(f"left out: {parsed[0]}", file=sys.stderr)
    return None


def _write(folder: Path, texts: dict[str, str], *, replace: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"golden import: {folder} is no folder")
    paths = {folder / _file(name): text for name, text in texts.items()}
    there = [path for path in paths if path.exists()]
    if there and not replace:
        raise UsageError(f"golden import: {there[0]} is there already; --force replaces it")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in paths.items():
        path.write_text(text, encoding="utf-8")
