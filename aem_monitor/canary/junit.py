"""A result of the gate as a report of tests (JUnit XML), for CI systems that read nothing else."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal
from xml.etree import ElementTree as ET

from aem_monitor.canary.compare import Comparison
from aem_monitor.canary.endpoints import Endpoint, evidence_of_both, losses
from aem_monitor.canary.gate import State
from aem_monitor.canary.pairs import by_dialog, clustered
from aem_monitor.canary.render import change, facts, points, sentence
from aem_monitor.controls import visible

_Outcome = Literal["failure", "error", "skipped"]

_OF_STATE: Final[Mapping[State, _Outcome | None]] = {
    State.PASS: None,
    State.REGRESSION: "failure",
    # Not skipped: CI systems go on with what was skipped as with what passed.
    State.NOT_ENOUGH_EVIDENCE: "error",
}

_TYPES: Final[Mapping[_Outcome, str]] = {
    "failure": State.REGRESSION.value,
    "error": State.NOT_ENOUGH_EVIDENCE.value,
    "skipped": State.NOT_ENOUGH_EVIDENCE.value,
}


@dataclass(frozen=True, slots=True)
class _Case:
    """A test; ``outcome`` None: passed."""

    name: str
    outcome: _Outcome | None
    message: str


def junit(found: Comparison) -> str:
    """The gate as a test, and each dialog as one.

    Failures and errors are those of the state: a regression has failures, a lack of evidence errors, a pass neither, so
    that who reads this goes, stops or waits as who reads the exit code. A dialog passes or fails by evidence of its own
    runs, and is skipped where there is not enough. The form is that which Jenkins publishes a schema of (xunit plugin,
    junit-10.xsd).
    """
    gate = _Case("gate", _OF_STATE[found.result.state], sentence(found.result))
    root = ET.Element("testsuites", name="aem-monitor canary")
    suite = _suite(root, "canary", [gate])
    told = [f"{name}: {value}" for name, value in facts(found.names, found.releases, found.result)]
    told += [change(one) for one in found.result.changes]
    ET.SubElement(suite, "system-out").text = visible("\n".join(told))
    cases = list(_dialogs(found))
    _suite(root, "canary.dialogs", cases)
    for outcome, name in (("failure", "failures"), ("error", "errors")):
        root.set(name, str(sum(one.outcome == outcome for one in (gate, *cases))))
    root.set("tests", str(1 + len(cases)))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(root: ET.Element, name: str, cases: list[_Case]) -> ET.Element:
    counts = {
        plural: str(sum(one.outcome == outcome for one in cases))
        for outcome, plural in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped"))
    }
    attributes = {"name": name, "tests": str(len(cases)), "time": "0", **counts}
    suite = ET.SubElement(root, "testsuite", attributes)
    for one in cases:
        case = ET.SubElement(suite, "testcase", classname=name, name=visible(one.name), time="0")
        if one.outcome is None:
            ET.SubElement(case, "system-out").text = visible(one.message)
        else:
            ET.SubElement(case, one.outcome, type=_TYPES[one.outcome], message=visible(one.message))
    return suite


def _dialogs(found: Comparison) -> Iterator[_Case]:
    result, rules = found.result, found.rules
    worse = {one.name for one in result.changes if one.area == "dialog" and one.worse}
    short = {one.dialog: one for one in result.short}
    waited_for = short if result.state is State.NOT_ENOUGH_EVIDENCE else {}
    places = by_dialog(found.paired.pairs)
    values = losses(found.paired.pairs, rules.costs)
    for name in sorted({one.dialog for release in found.releases for one in release.plays} | short.keys()):
        own = places.get(name, [])
        told, evidence = "no pair of decided runs", -math.inf
        if own:
            seen = {of: clustered(one[own], found.paired.clusters[own]) for of, one in values.items()}
            evidence = evidence_of_both(seen, rules.tolerance)
            loss = points(float(seen[Endpoint.RUNS].mean()))
            told = f"{len(own)} pairs, a loss of {loss} points in runs that pass"
        if name in result.critical:
            yield _Case(name, "failure", f"a critical dialog is worse: {told}")
        elif name in worse and result.state is State.REGRESSION:
            yield _Case(name, "failure", f"worse: {told}")
        elif name in waited_for:
            one = waited_for[name]
            needed = f"{one.independent} of {one.needed} independent pairs that its test needs"
            yield _Case(name, "error", f"a critical dialog holds a pass back: {needed}")
        elif name in worse:
            yield _Case(name, "skipped", f"worse, and no part of the state, since it is not critical: {told}")
        elif evidence >= -math.log(rules.alpha):
            yield _Case(name, None, told)
        else:
            yield _Case(name, "skipped", f"not enough evidence about this dialog alone: {told}")
