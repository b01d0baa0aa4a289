"""Regression cases: what the verdict of a recorded conversation has to be, kept in files beside the golden dialogs.

A case file (``NAME.cases.yaml``, also ``.yml`` and ``.json``) holds a list of cases; the loader of golden dialogs
passes it over. ``aem-monitor golden test`` replays the traces of each case and compares the verdict with ``expect``:

    cases:
      - case: profit instead of revenue          # name, unique in the file
        dialog: sales-report
        version: 3                               # of the dialog when this was recorded; said where the verdict differs
        traces: [recordings/profit.jsonl]        # OTLP files, relative to the case file
        conversation: c-7                        # its id, or its trace id where it has none
        expect:
          test_pass: false
          roots: [{turn: 2, reason: inconsistent_parameter_values, fields: [metric]}]
          cascades: [3, 4, 5]
          not_scored: []

Only the keys that ``expect`` states are compared, so that a case pins what its author cares for and no more.
``read_cases`` and ``write_cases`` are the reader and the writer, ``with_case`` adds or replaces one case, and
``expectation.expectation_of`` makes the expectation of a result.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from aem_monitor.document import Document, KeyPath, key_path
from aem_monitor.errors import DocumentError
from aem_monitor.golden.form import Name, Texts, TurnNo
from aem_monitor.golden.write import write_yaml
from aem_monitor.model.verdict import FailureReason, MismatchDetail, NotScored
from aem_monitor.validation import explain
from aem_monitor.yamlfile import read_yaml

__all__ = [
    "CASE_SUFFIXES",
    "Case",
    "CaseFile",
    "CasesForm",
    "Expectation",
    "ExpectedGap",
    "ExpectedRoot",
    "beside",
    "is_case_file",
    "read_cases",
    "with_case",
    "write_cases",
]

CASE_SUFFIXES: Final = (".cases.yaml", ".cases.yml", ".cases.json")
"""How the name of a case file ends; what ends so is no golden dialog."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ExpectedRoot(_Form):
    """A root cause: of the turn with this number, or of an extra call by its name (``tool.action``).

    ``detail`` and ``fields`` are compared where they are stated.
    """

    turn: TurnNo | None = None
    call: str | None = None
    reason: Annotated[FailureReason, Field(strict=False)]
    detail: Annotated[MismatchDetail, Field(strict=False)] | None = None
    fields: Texts | None = None

    @model_validator(mode="after")
    def _names_one(self) -> "ExpectedRoot":
        if (self.turn is None) == (self.call is None):
            raise ValueError("a root cause names its turn, or the extra call: write turn or call")
        if self.reason is FailureReason.PRIOR_ACTION_FAILED:
            raise ValueError("prior_action_failed is the reason of a cascade; list the turn under cascades")
        return self


class ExpectedGap(_Form):
    """A turn that is not scored, and why."""

    turn: TurnNo
    cause: Annotated[NotScored, Field(strict=False)]


class Expectation(_Form):
    """What is expected of a run's result; a key that is not stated is not compared.

    ``roots``, ``cascades`` and ``not_scored`` are whole lists: ``[]`` says that there is none. ``verdict`` is a result
    object as ``replay --verdicts`` prints it, or any part of one; its ``turns`` may be some of the run's.
    """

    test_pass: bool | None = None
    roots: Annotated[tuple[ExpectedRoot, ...], Field(strict=False)] = ()
    cascades: Annotated[tuple[TurnNo, ...], Field(strict=False)] = ()
    not_scored: Annotated[tuple[ExpectedGap, ...], Field(strict=False)] = ()
    variant: str | None = None
    another_path: bool = False
    verdict: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _says_something(self) -> "Expectation":
        if not self.model_fields_set:
            raise ValueError("expects nothing; write test_pass, roots, cascades, not_scored or verdict")
        turns = self.verdict.get("turns", [])
        if not isinstance(turns, list) or not all(isinstance(turn, dict) and "turn_no" in turn for turn in turns):
            raise ValueError("verdict: turns is a list of entries, each with its turn_no (null: an extra call)")
        return self


class Case(_Form):
    """One recorded run and its expected result.

    ``traces`` are paths relative to the case file; without any the conversation is looked for in what the caller
    brings. ``conversation`` may be left out where the traces hold one run of the dialog only. ``play`` counts the runs
    of the dialog in the conversation from 1. ``version`` is the dialog's when the expectation was recorded.
    """

    case: Name
    dialog: Name
    version: Annotated[int, Field(ge=0)] | None = None
    traces: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(strict=False)] = ()
    conversation: Annotated[str, Field(min_length=1)] | None = None
    play: Annotated[int, Field(ge=1)] = 1
    note: str | None = None
    expect: Expectation

    def value(self) -> dict[str, Any]:
        """The case as a file holds it: the stated keys only."""
        stated: dict[str, Any] = self.model_dump(mode="json", exclude_unset=True)
        return stated


class CasesForm(_Form):
    """Recorded runs of golden dialogs and the verdicts that are expected of them."""

    cases: Annotated[tuple[Case, ...], Field(strict=False)]


@dataclass(frozen=True, slots=True)
class CaseFile:
    """The cases of one file, and the file for messages with a line."""

    path: Path
    cases: tuple[Case, ...]
    document: Document

    def where(self, index: int, *path: str | int) -> str:
        """``file:line`` of the case in that place, or of a key of it."""
        return self.document.where(("cases", index, *path))

    def traces_of(self, case: Case) -> tuple[Path, ...]:
        """The case's trace files, from the working directory."""
        return tuple(self.path.parent / Path(name) for name in case.traces)


Problem: TypeAlias = tuple[KeyPath, str]


def is_case_file(name: str) -> bool:
    """Whether a file of this name holds cases."""
    return name.endswith(CASE_SUFFIXES)


def beside(dialog_file: Path) -> Path:
    """Where the cases of a dialog are kept: ``sales-report.cases.yaml`` beside ``sales-report.yaml``."""
    return dialog_file.with_name(f"{dialog_file.stem}.cases.yaml")


def read_cases(path: Path) -> CaseFile:
    """Read a case file. Raises ``DocumentError`` with every fault as ``file:line: key: what is wrong, what to do``."""
    if not is_case_file(path.name):
        raise DocumentError([f"{path}: is no case file; its name ends in {', '.join(CASE_SUFFIXES)}"])
    document = read_yaml(path)
    try:
        form = CasesForm.model_validate(document.value)
    except ValidationError as error:
        raise DocumentError(explain(error, document, CasesForm)) from error
    problems = list(_problems(form.cases))
    if problems:
        raise DocumentError([f"{document.where(at)}: {key_path(at)}: {message}" for at, message in problems])
    return CaseFile(path, form.cases, document)


def write_cases(path: Path, cases: Sequence[Case]) -> None:
    """Write a case file, whole or not at all. Raises ``OSError``.

    Of a file that is there the comments at its head are kept, others are lost; a case's ``note`` is the place for them.
    """
    value = {"cases": [case.value() for case in cases]}
    if path.suffix == ".json":
        text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    else:
        text = _head(path) + write_yaml(value)
    # A link to the file stays one.
    target = path.resolve()
    partial = target.with_name(f".{target.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _head(path: Path) -> str:
    if not path.exists():
        return ""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    return "".join(takewhile(lambda line: line.startswith("#") or not line.strip(), lines))


def with_case(cases: Sequence[Case], case: Case) -> tuple[Case, ...]:
    """The cases with one more, or with it in the place of the one of its name."""
    if any(other.case == case.case for other in cases):
        return tuple(case if other.case == case.case else other for other in cases)
    return (*cases, case)


def _problems(cases: Sequence[Case]) -> Iterator[Problem]:
    names: dict[str, int] = {}
    runs: dict[tuple[object, ...], str] = {}
    for index, case in enumerate(cases):
        if case.case in names:
            yield ("cases", index, "case"), f"{case.case} is taken; give every case its own name"
        names.setdefault(case.case, index)
        run = (case.traces, case.conversation, case.dialog, case.play)
        other = runs.setdefault(run, case.case)
        if other != case.case:
            yield ("cases", index), f"is about the same run as {other}; keep one"
