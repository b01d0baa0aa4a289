"""Cases beside the verdicts of their recordings."""

from pathlib import Path
from typing import Any

import pytest

from aem_monitor.document import Document
from aem_monitor.golden.cases import Case, CaseFile
from aem_monitor.golden.recognise import Recognition
from aem_monitor.model.verdict import RunResult
from aem_monitor.regression.record import Target, record
from aem_monitor.regression.run import Outcome, Replayed, case_name, try_case, try_others
from tests.golden.builders import conversation, dialog, tool, user
from tests.store.results import failing, run, turn

SALES = dialog(user("Hello"), tool(1), name="sales-report")


def replayed(*results: RunResult) -> Replayed:
    """The conversation ``c``."""
    recognition = Recognition("recognised", SALES, "id") if results else Recognition("ambiguous", candidates=("a", "b"))
    return Replayed(conversation("Hello"), recognition, results)


def passed(play: int = 1, **changes: Any) -> RunResult:
    return run(f"run-{play}", turn(1), play=play, **changes)


def tried(recorded: list[Replayed], now: int = 1, **stated: Any) -> Outcome:
    case = Case.model_validate(
        {"case": "one", "dialog": "sales-report", "conversation": "c", "expect": {"test_pass": True}, **stated}
    )
    file = CaseFile(Path("golden/a.cases.yaml"), (case,), Document("golden/a.cases.yaml", {"cases": [case.value()]}))
    return try_case(case, file, 0, recorded, {"sales-report": now})


def differences(outcome: Outcome) -> list[str]:
    return [str(difference) for difference in outcome.differences]


def test_a_case_is_held_against_the_run_that_it_names() -> None:
    outcome = tried([replayed(passed(1), passed(2, test_pass=False))], play=2)
    assert outcome.result is not None
    assert outcome.result.play == 2
    assert differences(outcome) == ["test_pass: expected true, got false"]
    assert tried([replayed(passed(1), passed(2, test_pass=False))]).as_expected


@pytest.mark.parametrize(
    ("stated", "recorded", "difference"),
    [
        ({"conversation": "x"}, [replayed(passed())], "conversation: expected x, got c"),
        ({"conversation": "x"}, [], "conversation: expected x, got no conversation"),
        ({"play": 2}, [replayed(passed())], "play: expected 2, got 1 of sales-report in this conversation"),
        ({"dialog": "other"}, [replayed(passed())], "dialog: expected other, got sales-report"),
        ({}, [replayed()], "dialog: expected sales-report, got no run: recognition says ambiguous (a, b)"),
        ({"conversation": None}, [replayed()], "dialog: expected sales-report, got no run of it in these traces"),
        (
            {"conversation": None},
            [replayed(passed()), replayed(passed())],
            "conversation: expected one run, got 2; name the conversation: c, c",
        ),
    ],
)
def test_a_run_that_is_not_there_differs_and_never_passes(
    stated: dict[str, Any], recorded: list[Replayed], difference: str
) -> None:
    outcome = tried(recorded, **stated)
    assert differences(outcome) == [difference]
    assert outcome.result is None


def test_the_only_run_of_a_dialog_needs_no_name() -> None:
    assert tried([replayed(), replayed(passed())], conversation=None).as_expected


def test_another_version_of_the_dialog_is_remarked() -> None:
    recorded = [replayed(passed())]
    assert tried(recorded, now=4).remark is None
    assert tried(recorded, now=4, version=4).remark is None
    assert tried(recorded, now=4, version=3).remark == "recorded with version 3 of sales-report, which is now 4"


def test_runs_that_no_case_is_about_have_to_pass() -> None:
    recorded = [replayed(passed(1), passed(2, test_pass=False))]
    (other,) = try_others(recorded, [tried(recorded)])
    assert (other.case.case, other.file) == ("c play 2", None)
    assert differences(other) == ["test_pass: expected true, got false"]


@pytest.mark.parametrize(("conversation_id", "name"), [("c\n1", "c?1"), ("x" * 300, "x" * 150), ("\x00", "?")])
def test_a_case_is_named_for_its_conversation_whatever_that_is_called(conversation_id: str, name: str) -> None:
    assert case_name(conversation_id, 1) == name
    assert Case.model_validate({"case": name, "dialog": "d", "expect": {"test_pass": True}}).case == name


def test_recording_updates_what_differs_and_adds_what_no_case_is_about() -> None:
    broken = run("run-2", failing(1, fields=("metric",)), play=2, test_pass=False, dialog_version=5)
    recorded = [replayed(passed(1, test_pass=None), broken)]
    first = tried(recorded, note="mine", version=1)
    assert first.file is not None
    outcomes = [first, *try_others(recorded, [first])]
    target = Target(first.file.path, (Path("recordings/a.jsonl"),))
    out = record(outcomes, {first.file.path: first.file.cases}, lambda _: target)
    (cases,) = out.files.values()
    assert [case.value() for case in cases] == [
        {**first.case.value(), "expect": {"test_pass": None}},
        {
            "case": "c play 2",
            "dialog": "sales-report",
            "version": 5,
            "traces": ["../recordings/a.jsonl"],
            "conversation": "c",
            "play": 2,
            "expect": {
                "test_pass": False,
                "roots": [{"turn": 1, "reason": "inconsistent_parameter_values", "fields": ["metric"]}],
                "cascades": [],
                "not_scored": [],
            },
        },
    ]


def test_recording_leaves_alone_what_is_as_expected_and_what_was_not_found() -> None:
    out = record(
        [tried([replayed(passed())]), tried([], conversation="x")], {}, lambda _: Target(Path("a.cases.yaml"), ())
    )
    assert (out.files, out.settled) == ({}, [])


def test_a_new_case_takes_no_other_ones_name() -> None:
    recorded = [replayed(passed(1))]
    (other,) = try_others(recorded, [])
    path = Path("a.cases.yaml")
    taken = Case.model_validate({"case": "c", "dialog": "other", "expect": {"test_pass": True}})
    out = record([other], {path: (taken,)}, lambda _: Target(path, ()))
    assert [case.case for case in out.files[path]] == ["c", "c (2)"]
