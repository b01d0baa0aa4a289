"""What in golden dialogs cannot work, or is probably not what its author meant. Pure but for ``lint_files``.

``lintrules`` has the rules; here is what a finding is, how they are run and printed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from aem_monitor.document import KeyPath
from aem_monitor.golden.faults import Fault
from aem_monitor.golden.lintrules import DIALOG_RULES, SET_RULES, Hint, Mentions, Severity
from aem_monitor.golden.load import Dialogs, read_dialogs

__all__ = ["RULES", "Finding", "Mentions", "as_json", "as_text", "lint", "lint_files", "worst"]

RULES: Final[tuple[str, ...]] = ("invalid", *DIALOG_RULES, *SET_RULES)
"""The codes of all rules; ``invalid`` is a file that cannot be loaded."""

_RANK: Final[dict[Severity, int]] = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. ``dialog`` is None where the file gives none; ``line`` counts from 1; 0: the file as a whole."""

    code: str
    severity: Severity
    file: str
    line: int
    dialog: str | None
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.severity}: {self.message} [{self.code}]"


def lint(dialogs: Dialogs, mentions: Mentions | None = None) -> list[Finding]:
    """Findings by file and line.

    ``mentions(text, wanted)`` says whether ``wanted`` is said in ``text`` in any equivalent form; without it only
    mentions that are plain words are looked for in their reference texts.
    """
    found: list[Finding] = []

    def note(code: str, hint: Hint) -> None:
        source = dialogs.sources.get(hint.dialog)
        file, line = (source.document.name, source.line(*hint.path)) if source else (hint.dialog, 1)
        found.append(Finding(code, hint.severity, file, line, hint.dialog, hint.message))

    for dialog in dialogs:
        for code, rule in DIALOG_RULES.items():
            for hint in rule(dialog, mentions):
                note(code, hint)
            for place, variant in enumerate(dialog.variants):
                for hint in rule(variant, mentions):
                    # What is not about turns is said of the dialog already.
                    if hint.path[:1] == ("turns",):
                        note(code, replace(hint, path=("variants", place, *hint.path)))
    where = _places(dialogs)
    for code, set_rule in SET_RULES.items():
        for hint in set_rule(tuple(dialogs), where):
            note(code, hint)
    return sorted(found, key=lambda finding: (finding.file, finding.line, _RANK[finding.severity], finding.code))


def lint_files(paths: Sequence[Path], mentions: Mentions | None = None) -> list[Finding]:
    """Findings of files and directories; what keeps a file from being loaded is a finding, too."""
    dialogs, faults = read_dialogs(paths)
    broken = [_invalid(fault) for fault in faults]
    return sorted([*broken, *lint(dialogs, mentions)], key=lambda finding: (finding.file, finding.line))


def worst(findings: Iterable[Finding]) -> Severity | None:
    """The gravest severity, None where there is no finding."""
    return min((finding.severity for finding in findings), key=lambda severity: _RANK[severity], default=None)


def as_text(findings: Sequence[Finding]) -> str:
    """One line a finding and a line of counts."""
    counts = {severity: sum(finding.severity == severity for finding in findings) for severity in _RANK}
    total = ", ".join(_counted(count, severity) for severity, count in counts.items() if count)
    return "\n".join([*(str(finding) for finding in findings), total or "nothing found"])


def _counted(count: int, severity: Severity) -> str:
    return f"{count} {severity}" if count == 1 or severity == "info" else f"{count} {severity}s"


def as_json(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """JSON objects, one a finding."""
    return [
        {
            "code": finding.code,
            "severity": finding.severity,
            "file": finding.file,
            "line": finding.line,
            "dialog": finding.dialog,
            "message": finding.message,
        }
        for finding in findings
    ]


def _invalid(fault: Fault) -> Finding:
    return Finding("invalid", "error", fault.file, fault.line, None, fault.message)


def _places(dialogs: Dialogs) -> Callable[[str, KeyPath], str]:
    def place(name: str, path: KeyPath) -> str:
        source = dialogs.sources.get(name)
        return f"{source.document.name}:{source.line(*path)}" if source else name

    return place
