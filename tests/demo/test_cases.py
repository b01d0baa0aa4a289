"""The regression cases beside the example dialogs: each holds, and every recorded canary has one."""

import pytest

from aem_monitor.demo.recordings import recordings
from aem_monitor.examples import example_dialogs
from aem_monitor.golden.cases import Case, CaseFile, read_cases
from aem_monitor.golden.expectation import differences
from aem_monitor.golden.load import load_dialogs
from aem_monitor.model.verdict import RunResult
from tests.demo.verdicts import replayed

FILES = [read_cases(path) for path in sorted(example_dialogs().glob("*.cases.yaml"))]
CASES = [(file, case) for file in FILES for case in file.cases]


@pytest.fixture(scope="module")
def results() -> dict[str, RunResult]:
    return {str(result.conversation_id): result for result in replayed().results}


@pytest.mark.parametrize(("file", "case"), CASES, ids=[case.case for _, case in CASES])
def test_a_recorded_conversation_comes_to_what_its_case_expects(
    file: CaseFile, case: Case, results: dict[str, RunResult]
) -> None:
    result = results[str(case.conversation)]
    assert (result.dialog, result.dialog_version) == (case.dialog, case.version)
    assert [path.parent.name for path in file.traces_of(case)] == [result.release]
    assert all(path.exists() for path in file.traces_of(case))
    assert [str(difference) for difference in differences(case.expect, result)] == []


def test_every_recorded_canary_has_a_case_and_every_dialog_has_both_releases_and_a_regression() -> None:
    canaries = frozenset().union(*(recording.canaries for recording in recordings()))
    assert {case.conversation for _, case in CASES} == canaries
    for dialog in load_dialogs([example_dialogs()]):
        cases = [case for _, case in CASES if case.dialog == dialog.name]
        assert {path.split("/")[2] for case in cases for path in case.traces} == {"2026.11.1", "2026.11.2"}
        assert {case.expect.test_pass for case in cases} == {True, False}
