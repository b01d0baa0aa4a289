"""The ``console`` blocks of the documents: commands with their output, which a reader can paste.

A command stands behind ``$ `` and goes on where its line ends in a backslash; what follows it up to the next one is its
standard output. A block is run where all its commands begin with ``.venv/bin/``; others are about files of a reader.
``python -m tests.docs.console`` runs all of them and writes their output anew; read the difference.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = sorted([ROOT / "README.md", *(ROOT / "deploy" / "docs").rglob("*.md")])

_BLOCK: Final = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PROMPT: Final = "$ "
_INSTALLED: Final = ".venv/bin/"
_SECONDS: Final = 120


@dataclass(frozen=True, slots=True)
class Shown:
    """A command of a page, and what the page says that it prints."""

    page: Path
    line: int
    command: str
    output: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def commands_of(page: Path) -> list[Shown]:
    """The commands of a page that can be run as they stand."""
    text = page.read_text(encoding="utf-8")
    return [
        Shown(page, text.count("\n", 0, block.start(1)) + 1 + at, command, output)
        for block in _BLOCK.finditer(text)
        for at, command, output in _runnable(block[1])
    ]


def run(command: str, folder: Path) -> str:
    """What a command prints in a folder that ``prepared`` made. Raises ``CalledProcessError`` where it fails."""
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=True
    )
    return _trimmed(done.stdout)


def prepared(folder: Path) -> Path:
    """Make ``folder`` look like the project after ``make demo``, with the interpreter that runs this."""
    programs = folder / _INSTALLED
    programs.mkdir(parents=True)
    for name, words in (("aem-monitor", '-m aem_monitor "$@"'), ("python", '"$@"')):
        program = programs / name
        program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" {words}\n', encoding="utf-8")
        program.chmod(0o755)
    for name in ("aem_monitor", "deploy"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def rewritten(text: str, folder: Path) -> str:
    """A page with the output of its commands as they print it now."""

    def block(found: re.Match[str]) -> str:
        shown = _runnable(found[1])
        if not shown:
            return found[0]
        lines = [line for _, command, _ in shown for line in (_PROMPT + command, run(command, folder)) if line]
        return "```console\n" + "\n".join(lines) + "\n```"

    return _BLOCK.sub(block, text)


def _runnable(block: str) -> list[tuple[int, str, str]]:
    """Line number within the block, command and output of each command; none where one is not to be run."""
    found = list(_commands(block.splitlines()))
    return found if found and all(command.startswith(_INSTALLED) for _, command, _ in found) else []


def _commands(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    at = 0
    while at < len(lines):
        start = at
        command = [lines[at].removeprefix(_PROMPT)]
        while command[-1].endswith("\\"):
            at += 1
            command.append(lines[at])
        at += 1
        begin = at
        while at < len(lines) and not lines[at].startswith(_PROMPT):
            at += 1
        yield start, "\n".join(command), _trimmed("\n".join(lines[begin:at]))


def _trimmed(text: str) -> str:
    """Without blanks at the ends of lines, which editors drop, and without blank lines at the end."""
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip("\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        place = prepared(Path(name))
        for page in PAGES:
            if commands_of(page):
                page.write_text(rewritten(page.read_text(encoding="utf-8"), place), encoding="utf-8")
