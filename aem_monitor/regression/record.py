"""Present verdicts as what cases expect from now on. Pure: gives the cases that files should hold."""

import os.path
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from aem_monitor.golden.cases import Case, with_case
from aem_monitor.golden.expectation import expectation_of, updated
from aem_monitor.model.verdict import RunResult
from aem_monitor.regression.run import Outcome


@dataclass(slots=True)
class Recorded:
    """The cases of each file that changes, and the outcomes that are settled by it."""

    files: dict[Path, tuple[Case, ...]] = field(default_factory=dict)
    settled: list[Outcome] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a run that no case is about is recorded: the case file of its dialog, and the traces that hold it."""

    file: Path
    traces: tuple[Path, ...]


def record(
    outcomes: Iterable[Outcome], present: Mapping[Path, tuple[Case, ...]], target: Callable[[RunResult], Target]
) -> Recorded:
    """Update the cases that differ and add one for each run that no case is about.

    ``present`` has the cases of the files that are there. What a case leaves open stays open. A case whose run was not
    found stays as it is.
    """
    out = Recorded()
    for outcome in outcomes:
        result = outcome.result
        if result is None or (outcome.file is not None and outcome.as_expected):
            continue
        if outcome.file is not None:
            path, case = outcome.file.path, _brought_up(outcome.case, result)
        else:
            where = target(result)
            path, case = where.file, _new(outcome.case, result, where)
        held = out.files.get(path, present.get(path, ()))
        if outcome.file is None:
            case = _of_its_own_name(case, held)
        out.files[path] = with_case(held, case)
        out.settled.append(replace(outcome, case=case))
    return out


def _brought_up(case: Case, result: RunResult) -> Case:
    stated = case.value() | {"expect": updated(case.expect, result)}
    if case.version is not None:
        stated["version"] = result.dialog_version
    return Case.model_validate(stated)


def _new(case: Case, result: RunResult, where: Target) -> Case:
    traces = [Path(os.path.relpath(path, where.file.parent)).as_posix() for path in where.traces]
    stated = {
        "case": case.case,
        "dialog": case.dialog,
        "version": result.dialog_version,
        "traces": traces,
        "conversation": case.conversation,
    }
    if case.play > 1:
        stated["play"] = case.play
    return Case.model_validate({**stated, "expect": expectation_of(result)})


def _of_its_own_name(case: Case, held: Iterable[Case]) -> Case:
    taken = {other.case for other in held}
    name, number = case.case, 1
    while name in taken:
        number += 1
        name = f"{case.case} ({number})"
    return case.model_copy(update={"case": name})
