"""The gate as a report of tests."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import xmlschema

from aem_monitor.canary.compare import compare
from aem_monitor.canary.gate import Rules
from aem_monitor.canary.junit import junit
from aem_monitor.canary.pairs import Played
from aem_monitor.canary.played import Release
from tests.canary.test_gate import runs

SCHEMA = xmlschema.XMLSchema(Path(__file__).parents[1] / "data" / "junit" / "junit-10.xsd")


def report(baseline: list[Played], candidate: list[Played], rules: Rules | None = None) -> ET.Element:
    releases = (Release([*baseline], {"a"}), Release([*candidate], {"a"}))
    text = junit(compare(("1", "2"), releases, rules or Rules()))
    SCHEMA.validate(text)
    return ET.fromstring(text)


def outcomes(report: ET.Element) -> dict[str, str]:
    """Of each test case what became of it."""
    found: dict[str, str] = {}
    for case in report.iter("testcase"):
        kinds = [one.tag for one in case if one.tag != "system-out"]
        found[str(case.get("name"))] = kinds[0] if kinds else "passed"
    return found


def test_a_pass_has_neither_failures_nor_errors() -> None:
    found = report(runs("." * 100, "a"), runs("." * 100, "a"))
    assert outcomes(found) == {"gate": "passed", "a": "passed"}
    assert (found.get("tests"), found.get("failures"), found.get("errors")) == ("2", "0", "0")


def test_a_regression_fails_and_so_do_the_dialogs_that_are_found_worse() -> None:
    found = report(runs("." * 40, "a") + runs("." * 5, "b"), runs("x" * 40, "a") + runs("." * 5, "b"))
    assert outcomes(found) == {"gate": "failure", "a": "failure", "b": "skipped"}
    assert (found.get("failures"), found.get("errors")) == ("2", "0")
    failure = found.find(".//testcase[@name='a']/failure")
    assert failure is not None
    assert failure.get("message") == "worse: 40 pairs, a loss of +100.0 points in runs that pass"


@pytest.mark.parametrize("candidate", [runs("...", "a"), runs("." * 100, "b"), []])
def test_not_enough_evidence_is_an_error_and_never_a_pass(candidate: list[Played]) -> None:
    found = report(runs("...", "a"), candidate)
    assert outcomes(found)["gate"] == "error"
    assert (found.get("failures"), found.get("errors")) == ("0", "1")
    assert set(outcomes(found).values()) == {"error", "skipped"}


def test_a_dialog_that_is_worse_beside_a_pass_is_told_without_a_failure() -> None:
    others = runs("." * 1000, "b")
    rules = Rules(margin=0.05)
    found = report(others + runs("." * 20, "a"), others + runs("x" * 20, "a"), rules)
    assert outcomes(found) == {"gate": "passed", "a": "skipped", "b": "passed"}
    skipped = found.find(".//testcase[@name='a']/skipped")
    assert skipped is not None
    assert str(skipped.get("message")).startswith("worse, and no part of the state, since it is not critical: 20 pairs")


def test_a_critical_dialog_that_is_worse_fails() -> None:
    others = runs("." * 1000, "b")
    rules = Rules(critical=frozenset({"a"}))
    found = report(runs("." * 20, "a") + others, runs("x" * 20, "a") + others, rules)
    assert outcomes(found) == {"gate": "failure", "a": "failure", "b": "passed"}


def test_a_critical_dialog_that_holds_a_pass_back_is_an_error() -> None:
    others = runs("." * 1000, "b")
    rules = Rules(critical=frozenset({"a", "misspelt"}))
    found = report(runs("...", "a") + others, runs("...", "a") + others, rules)
    assert outcomes(found) == {"gate": "error", "a": "error", "b": "passed", "misspelt": "error"}
    error = found.find(".//testcase[@name='a']/error")
    assert error is not None
    assert str(error.get("message")).startswith("a critical dialog holds a pass back: 3 of ")


def test_names_are_text_and_what_no_xml_may_hold_is_escaped() -> None:
    name = '<b>&"\x00\x1b[2J\ud800\u202e\uffff'
    found = report(runs("...", name), runs("...", name))
    assert outcomes(found).keys() == {"gate", '<b>&"\\x00\\x1b[2J\\ud800\\u202e\\uffff'}
