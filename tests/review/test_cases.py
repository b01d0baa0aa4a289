"""Which verdicts are for a person to decide, and what the person's word means."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aem_monitor.calibration.labels import read_labels
from aem_monitor.errors import UsageError
from aem_monitor.golden.cases import Case
from aem_monitor.model.verdict import Check, FailureReason, NotScored, RunResult, TurnKind, TurnVerdict
from aem_monitor.review.answers import answered, review_of
from aem_monitor.review.cases import Kind, ReviewCase, answer_to, cases_of, open_cases
from aem_monitor.review.regression import case_with
from aem_monitor.store import StoredRun
from aem_monitor.store.records import Review
from tests.playing import golden, tool, user
from tests.store.results import check, failing, run, turn

DIALOG = golden([user("Pay"), tool(1, "bank.Pay", {"to": "dana"})], reference_date="2026-11-02")


OPEN_TEXTS = ("It was paid.", "Done and dusted.")


def stored(*turns: TurnVerdict, **changes: Any) -> StoredRun:
    return StoredRun(run("0123456789abcdef", *turns, **changes), 100.0, 100.0, "final")


def doubt(passed: bool | None = True, **changes: Any) -> Check:
    plain: dict[str, Any] = {"field": "to", "expected": "dana", "actual": "Dana S.", "score": 0.52, "uncertain": True}
    return check(**{**plain, "passed": passed, **changes})


def unknown(submetric: str) -> Check:
    return Check(submetric, "reply", passed=None, cause=NotScored.UNDETERMINED, score=0.5, uncertain=True)


PASSING = turn(4, checks=(check(), doubt()))
FAILING = failing(4, checks=(doubt(False, reason=FailureReason("inconsistent_parameter_values")),))
OPEN = turn(
    5,
    kind=TurnKind.RESPONSE,
    success=None,
    not_scored=NotScored.UNDETERMINED,
    expected="It was paid.",
    actual="Done and dusted.",
    checks=(unknown("truthfulness"), unknown("completeness")),
)


def only(found: StoredRun) -> ReviewCase:
    (case,) = cases_of(found)
    return case


def word(case: ReviewCase, what: Any, label: bool | None = None, *numbers: int) -> tuple[Review, bool | None]:
    answer = answered(case, what, label, numbers)
    return review_of(answer, DIALOG, "dana", None, 200.0), answer.success


# Cases


def test_a_turn_is_a_case_where_a_check_is_near_its_threshold_or_open() -> None:
    cases = cases_of(stored(turn(1, checks=(check(),)), PASSING, OPEN, turn(None, checks=(doubt(),))))
    assert [(case.name, case.kind, len(case.checks)) for case in cases] == [
        ("0123456789ab:4", Kind.UNCERTAIN, 1),
        ("0123456789ab:5", Kind.UNDETERMINED, 2),
    ]


def test_a_run_is_a_case_where_it_reached_its_end_by_another_path() -> None:
    (case,) = cases_of(stored(failing(1), outcome=True, test_pass=False))
    assert (case.name, case.kind, case.turn) == ("0123456789ab:path", Kind.ANOTHER_PATH, None)
    assert cases_of(stored(outcome=True)) == ()
    assert cases_of(stored(failing(1), outcome=False, test_pass=False)) == ()


def test_an_answer_holds_until_the_verdict_is_another() -> None:
    before = only(stored(PASSING))
    review, _ = word(before, "accept")
    assert open_cases([before], []) == [before]
    assert open_cases([before], [review]) == []
    nearer = only(stored(replace(PASSING, checks=(check(), doubt(score=0.51))), dialog_version=2, revision=1))
    assert answer_to(nearer, [review]) == review, "the same decision about the same values"
    for other in (FAILING, replace(PASSING, checks=(check(), doubt(actual="Diana")))):
        assert open_cases([only(stored(other))], [review]) != []


def test_the_last_answer_counts() -> None:
    case = only(stored(PASSING))
    first, last = word(case, "accept")[0], replace(word(case, "reject")[0], revision=1)
    assert answer_to(case, [first, last]) == last


# What a word means


@pytest.mark.parametrize(
    ("verdict", "said", "label", "right"),
    [
        (PASSING, "accept", None, True),
        (PASSING, "reject", None, False),
        (PASSING, "accept", False, False),
        (FAILING, "accept", None, False),
        (FAILING, "reject", None, True),
        (FAILING, "accept", True, True),
    ],
)
def test_a_value_in_doubt_becomes_a_label_of_the_two_values(
    verdict: TurnVerdict, said: str, label: bool | None, right: bool
) -> None:
    review, success = word(only(stored(verdict)), said, label)
    assert success is right
    assert review.labels == (
        {
            "a": "Dana S.",
            "b": "dana",
            "equivalent": right,
            "reference_date": "2026-11-02",
            "group": "0123456789abcdef",
            "dialog": "sales-report",
            "turn_no": 4,
        },
    )


def test_an_open_reply_becomes_a_label_of_the_two_texts() -> None:
    review, success = word(only(stored(OPEN)), "accept", True)
    assert success is True
    assert [(label["reference"], label["response"]) for label in labels(review)] == [OPEN_TEXTS, OPEN_TEXTS]
    assert [(label.get("consistent"), label.get("complete")) for label in labels(review)] == [
        (True, None),
        (None, True),
    ]
    review, success = word(only(stored(OPEN)), "accept", False, 2)
    assert success is False
    assert [label.get("complete") for label in labels(review)] == [False]


def labels(review: Review) -> list[dict[str, Any]]:
    return [label for label in review.labels if isinstance(label, dict)]


def test_an_open_reply_that_nobody_can_decide_is_settled_without_a_label() -> None:
    case = only(stored(OPEN))
    review, success = word(case, "reject")
    assert (review.labels, success) == ((), None)
    assert open_cases([case], [review]) == []


@pytest.mark.parametrize("shown", [{"actual": "[redacted:email]"}, {"expected": "${2.result.owner}"}])
def test_of_values_that_are_not_there_the_score_of_the_day_is_labelled(shown: dict[str, Any]) -> None:
    review, _ = word(only(stored(turn(4, checks=(doubt(**shown),)))), "accept")
    (label,) = labels(review)
    assert {key: label[key] for key in ("submetric", "score", "label")} == {
        "submetric": "value",
        "score": 0.52,
        "label": True,
    }


def test_labels_are_rows_that_calibrate_reads(tmp_path: Path) -> None:
    rows = [
        *word(only(stored(PASSING)), "accept")[0].labels,
        *word(only(stored(OPEN)), "accept", True)[0].labels,
        *word(only(stored(turn(4, checks=(doubt(actual="[redacted:email]"),)))), "accept")[0].labels,
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert [type(row).__name__ for row in read_labels(path)] == ["ValueLabel", "ReplyLabel", "ReplyLabel", "ScoreLabel"]


def test_where_several_checks_are_in_doubt_the_wrong_one_is_named() -> None:
    case = only(stored(turn(4, checks=(doubt(), doubt(field="cc")))))
    with pytest.raises(UsageError, match="say with --check which is wrong"):
        word(case, "reject")
    review, success = word(case, "reject", None, 2)
    assert success is False
    assert [label["equivalent"] for label in labels(review)] == [False]
    assert len(word(case, "accept")[0].labels) == 2


def test_a_turn_with_a_fault_beyond_doubt_fails_whatever_is_said() -> None:
    certain = check(passed=False, reason=FailureReason("missing_parameters"))
    case = only(stored(failing(4, checks=(certain, doubt(False)))))
    assert word(case, "reject")[1] is False


def test_another_path_is_right_or_not() -> None:
    case = only(stored(failing(1), outcome=True, test_pass=False))
    assert word(case, "accept")[1] is True
    assert word(case, "reject")[1] is False
    assert word(case, "accept")[0].labels == ()


@pytest.mark.parametrize(
    ("found", "said", "label", "numbers", "message"),
    [
        (stored(OPEN), "accept", None, (), "--label pass or --label fail"),
        (stored(OPEN), "accept", False, (), "say with --check which fails"),
        (stored(PASSING), "reject", True, (), "accept --label"),
        (stored(PASSING), "accept", None, (2,), "no check 2.*from 1 to 1"),
        (stored(PASSING), "accept", None, (0,), "no check 0"),
        (stored(failing(1), outcome=True, test_pass=False), "accept", True, (), "leave out --label and --check"),
    ],
)
def test_a_word_that_decides_nothing_is_refused(
    found: StoredRun, said: Any, label: bool | None, numbers: tuple[int, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        answered(only(found), said, label, numbers)


# Regression cases


def added(
    found: StoredRun, said: Any, label: bool | None = None, present: tuple[Case, ...] = (), note: str | None = None
) -> Case:
    return case_with(present, answered(only(found), said, label, ()), "traces/x.jsonl", "c-1", note)


def test_a_case_pins_what_was_decided_and_no_more() -> None:
    right = added(stored(PASSING), "accept").value()
    assert right["expect"] == {"verdict": {"turns": [{"turn_no": 4, "success": True}]}}
    assert (right["dialog"], right["version"], right["traces"]) == ("sales-report", 1, ["traces/x.jsonl"])
    wrong = added(stored(FAILING), "accept").value()
    assert wrong["expect"]["verdict"]["turns"] == [
        {
            "turn_no": 4,
            "success": False,
            "failure_reason": "inconsistent_parameter_values",
            "root_cause": True,
        }
    ]
    assert added(stored(PASSING), "reject").value()["expect"]["verdict"]["turns"] == [{"turn_no": 4, "success": False}]
    path = stored(failing(1), outcome=True, test_pass=False)
    assert added(path, "accept").value()["expect"] == {"test_pass": True}


def test_answers_about_one_run_are_one_case() -> None:
    first = added(stored(PASSING), "accept", note="names are names")
    both = added(stored(OPEN), "accept", True, (first,))
    again = added(stored(PASSING), "reject", None, (both,), note="no, they are not")
    assert first.case == both.case == again.case
    assert again.value()["expect"]["verdict"]["turns"] == [
        {"turn_no": 4, "success": False},
        {"turn_no": 5, "success": True},
    ]
    assert again.note == "names are names; no, they are not"


def test_what_stays_open_is_no_case() -> None:
    with pytest.raises(UsageError, match="stays open"):
        added(stored(OPEN), "reject")


def test_the_result_of_the_run_is_not_changed_by_an_answer() -> None:
    found = stored(PASSING)
    before: RunResult = found.result
    word(only(found), "reject")
    assert found.result == before
