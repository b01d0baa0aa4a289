"""A result of the gate for programs and for people."""

import math
from collections.abc import Iterator
from typing import Any

from aem_monitor.canary.gate import Change, Result, Rules, State
from aem_monitor.canary.played import Release
from aem_monitor.interval import wilson

SAID = {State.PASS: "pass", State.REGRESSION: "regression", State.NOT_ENOUGH_EVIDENCE: "not enough evidence"}


def result_object(
    names: tuple[str, str], releases: tuple[Release, Release], result: Result, rules: Rules
) -> dict[str, Any]:
    """The result as deploy/schemas/canary-result.schema.json describes it: a state, and numbers always."""
    found = result.difference
    return {
        "state": result.state.value,
        "baseline": _release(names[0], releases[0]),
        "candidate": _release(names[1], releases[1]),
        "pairs": result.pairs,
        "independent": result.independent,
        "difference": found.mean or 0.0,
        "difference_lower": found.lower,
        "difference_upper": found.upper,
        "log_evidence_regression": result.log_regression,
        "log_evidence_pass": result.log_pass,
        "log_threshold": result.log_threshold,
        "more_pairs": -1 if result.more is None else result.more,
        "margin": rules.margin,
        "tolerance": rules.tolerance,
        "alpha": rules.alpha,
        "critical": list(result.critical),
        "changes": [
            {
                "area": one.area,
                "name": one.name,
                "worse": one.worse,
                "difference": one.difference.mean,
                "difference_lower": one.difference.lower,
                "difference_upper": one.difference.upper,
                "log_evidence": one.log_evidence,
            }
            for one in result.changes
        ],
        "gained": dict(result.gained),
        "lost": dict(result.lost),
    }


def _release(name: str, release: Release) -> dict[str, Any]:
    runs = len(release.played)
    passed = sum(one.passed for one in release.played)
    lower, upper = wilson(passed, runs) if runs else (0.0, 1.0)
    return {
        "release": name,
        "runs": runs,
        "passed": passed,
        "undecided": release.undecided,
        "rate": passed / runs if runs else 0.0,
        "rate_lower": lower,
        "rate_upper": upper,
    }


def sentence(result: Result) -> str:
    """The state in a sentence: a pass beside changes for the worse is never one without comment."""
    said = SAID[result.state]
    if result.critical:
        said += f" of critical dialogs: {', '.join(result.critical)}"
    if result.state is State.NOT_ENOUGH_EVIDENCE:
        if not result.pairs:
            return f"{said}: no dialog ran on both releases"
        if result.more is None:
            return f"{said}; runs like those seen lead to no verdict, however many"
        return f"{said}: about {result.more} more pairs, if they are like those seen"
    worse = [one for one in result.changes if one.worse]
    if result.state is State.PASS and result.changes:
        said += ", but what fails has changed" if worse else "; some of it is better"
    return said


def change(one: Change) -> str:
    """A change in a line."""
    found = one.difference
    return (
        f"{one.area.replace('_', ' ')} {one.name}: {'worse' if one.worse else 'better'}, {_points(found.mean)} points "
        f"({_points(found.lower)} to {_points(found.upper)})"
    )


def facts(names: tuple[str, str], releases: tuple[Release, Release], result: Result) -> Iterator[tuple[str, str]]:
    """What the state rests on, name and value."""
    for role, name, release in zip(("baseline", "candidate"), names, releases, strict=True):
        one = _release(name, release)
        likely = f"{100 * one['rate_lower']:.0f} to {100 * one['rate_upper']:.0f} %"
        yield role, f"{name}: {one['passed']} of {one['runs']} pass ({likely}), {release.undecided} undecided"
    found = result.difference
    yield "pairs", f"{result.pairs}, {result.independent} independent"
    yield "loss", f"{_points(found.mean)} points ({_points(found.lower)} to {_points(found.upper)})"
    yield "evidence of a regression", _odds(result.log_regression, result.log_threshold)
    yield "evidence of a pass", _odds(result.log_pass, result.log_threshold)
    yield "dialogs", f"{len(result.gained)} gained, {len(result.lost)} lost"


def markdown(names: tuple[str, str], releases: tuple[Release, Release], result: Result) -> str:
    """For the comment of a pull request."""
    lines = [f"### Canary: {sentence(result)}", "", "| | |", "| --- | --- |"]
    lines += [f"| {_cell(name)} | {_cell(value)} |" for name, value in facts(names, releases, result)]
    if result.changes:
        lines += ["", "Changes:", *(f"- {_cell(change(one))}" for one in result.changes)]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Names come from agents: they are to be text here, neither markup nor the end of a cell."""
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{one}" if one in "\\`*_{}[]()#|!~@" else one for one in plain)


def _points(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:+.1f}"


def _odds(log: float, threshold: float) -> str:
    return f"{math.exp(min(log, 690.0)):.3g} (needs {math.exp(threshold):.3g})"
