"""What in golden dialogs cannot work, or is probably not what its author meant. Pure but for ``lint_files``.

``lintrules``, ``lintvalues``, ``lintpaths``, ``lintsets`` and ``lintrecording`` have the rules; here is what a finding
is, how the rules are run and findings printed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from aem_monitor.document import KeyPath
from aem_monitor.golden.faults import Fault
from aem_monitor.golden.linting import Remark, Rules, Semantics, Severity
from aem_monitor.golden.lintpaths import PATH_RULES
from aem_monitor.golden.lintrecording import RECORDING_RULES, Recorded, against_recordings
from aem_monitor.golden.lintrules import DIALOG_RULES
from aem_monitor.golden.lintsets import SET_RULES
from aem_monitor.golden.lintvalues import VALUE_RULES
from aem_monitor.golden.load import Dialogs, read_dialogs

__all__ = [
    "RULES",
    "Finding",
    "Recorded",
    "Semantics",
    "as_github",
    "as_json",
    "as_text",
    "at_least",
    "lint",
    "lint_files",
    "with_faults",
    "worst",
]

_ABOUT_ONE: Final[Rules] = {**DIALOG_RULES, **VALUE_RULES, **PATH_RULES}

RULES: Final[tuple[str, ...]] = ("invalid", *_ABOUT_ONE, *SET_RULES, *RECORDING_RULES)
"""The codes of all rules; ``invalid`` is a file that cannot be loaded."""

WORDS_ONLY: Final = Semantics()
"""Rules that look at words alone."""

_RANK: Final[dict[Severity, int]] = {"error": 0, "warning": 1, "hint": 2}


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


def lint(
    dialogs: Dialogs, semantics: Semantics = WORDS_ONLY, recorded: Sequence[Recorded] | None = None
) -> list[Finding]:
    """Findings by file and line. ``recorded`` are runs of these dialogs to hold them against."""
    found: list[Finding] = []

    def note(code: str, remark: Remark) -> None:
        source = dialogs.sources.get(remark.dialog)
        file, line = (source.document.name, source.line(*remark.path)) if source else (remark.dialog, 1)
        found.append(Finding(code, remark.severity, file, line, remark.dialog, remark.message))

    for dialog in dialogs:
        for code, rule in _ABOUT_ONE.items():
            for remark in rule(dialog, semantics):
                note(code, remark)
            for place, variant in enumerate(dialog.variants):
                for remark in rule(variant, semantics):
                    # What is not about turns is said of the dialog already.
                    if remark.path[:1] == ("turns",):
                        note(code, replace(remark, path=("variants", place, *remark.path)))
    where = _places(dialogs)
    for code, set_rule in SET_RULES.items():
        for remark in set_rule(tuple(dialogs), where, semantics):
            note(code, remark)
    if recorded is not None:
        for code, remark in against_recordings(dialogs, recorded):
            note(code, remark)
    return _sorted(found)


def lint_files(paths: Sequence[Path], semantics: Semantics = WORDS_ONLY) -> list[Finding]:
    """Findings of files and directories; what keeps a file from being loaded is a finding, too."""
    dialogs, faults = read_dialogs(paths)
    return with_faults(lint(dialogs, semantics), faults)


def with_faults(findings: Iterable[Finding], faults: Iterable[Fault]) -> list[Finding]:
    """The findings together with what keeps files from being loaded."""
    return _sorted([*(Finding("invalid", "error", one.file, one.line, None, one.message) for one in faults), *findings])


def _sorted(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: (finding.file, finding.line, _RANK[finding.severity], finding.code))


def worst(findings: Iterable[Finding]) -> Severity | None:
    """The gravest severity, None where there is no finding."""
    return min((finding.severity for finding in findings), key=lambda severity: _RANK[severity], default=None)


def at_least(findings: Iterable[Finding], severity: Severity) -> bool:
    """Whether a finding is as grave as ``severity`` or graver."""
    return any(_RANK[finding.severity] <= _RANK[severity] for finding in findings)


def as_github(findings: Sequence[Finding]) -> str:
    """Workflow commands of GitHub Actions, which shows them beside the lines of a pull request.

    Source: docs.github.com, "Workflow commands for GitHub Actions"; what would end a value is escaped.
    """
    commands = {"error": "error", "warning": "warning", "hint": "notice"}
    return "".join(
        f"::{commands[one.severity]} file={_property(one.file)},line={max(one.line, 1)},title={_property(one.code)}"
        f"::{_data(one.message)}\n"
        for one in findings
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def as_text(findings: Sequence[Finding]) -> str:
    """One line a finding and a line of counts."""
    counts = {severity: sum(finding.severity == severity for finding in findings) for severity in _RANK}
    total = ", ".join(_counted(count, severity) for severity, count in counts.items() if count)
    return "\n".join([*(str(finding) for finding in findings), total or "nothing found"])


def _counted(count: int, severity: Severity) -> str:
    return f"{count} {severity}{'' if count == 1 else 's'}"


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


def _places(dialogs: Dialogs) -> Callable[[str, KeyPath], str]:
    def place(name: str, path: KeyPath) -> str:
        source = dialogs.sources.get(name)
        return f"{source.document.name}:{source.line(*path)}" if source else name

    return place
