"""Recordings added to a dialog that a person wrote."""

from datetime import date
from typing import Any

import pytest

from aem_monitor.bootstrap.existing import Existing
from aem_monitor.bootstrap.recorded import Recording
from aem_monitor.errors import UsageError
from aem_monitor.golden.load import dialog_from
from aem_monitor.golden.write import write_yaml
from aem_monitor.model.jsonvalue import JSON
from tests.bootstrap.drafting import drafted, loaded, notes, passes, recorded, turn
from tests.playing import Call, agent, exchange, tool, user

DAY = date(2026, 11, 30)


def existing(turns: list[dict[str, Any]], **top: Any) -> Existing:
    value = {"dialog": "d", "version": 3, "review": {"status": "human"}, **top, "turns": turns}
    return Existing.of(dialog_from(value), value, DAY, write_yaml(value))


WRITTEN = [
    user("Refund A-1042"),
    tool(2, "get_order", {"id": "A-1042"}, result={"total": 59.9}),
    tool(5, "refund", {"amount": "${2.result.total}"}, result={"id": "R-77"}, match={"amount": {"exact": True}}),
    agent(9, "Refund ${5.result.id} is open.", must_mention=["${5.result.id}"], depends_on=[5]),
]


def run(*between: Call, amount: JSON = 61.25, reply: str = "Refund R-90 is open.") -> Recording:
    calls = [
        Call("get_order", {"id": "A-1042"}, {"total": 61.25}),
        *between,
        Call("refund", {"amount": amount}, {"id": "R-90"}),
    ]
    return recorded(exchange("Refund A-1042", calls, reply))


NOTIFY = Call("notify", {"who": "ops"}, {"ok": True})


def test_what_the_author_wrote_stays_with_its_numbers() -> None:
    recording = run(NOTIFY)
    sheet, checked = drafted(recording, existing=existing(WRITTEN, forbidden=[{"tool_id": "cancel"}]))
    assert checked.failing == ()
    assert [one.number for one in sheet.turns] == [None, 2, 3, 5, 9]
    assert [one.form for one in sheet.turns if one.written] == WRITTEN
    dialog = loaded(sheet)
    assert (dialog.version, dialog.draft) == (4, True)
    assert dialog.forbids("cancel", None)
    assert passes(dialog, recording) == [True]


def test_a_turn_between_two_numbers_without_a_gap_renumbers_all_and_says_so() -> None:
    reply = {**WRITTEN[3], "gold_turn": {"response": "Refund ${3.result.id} is open."}}
    reply |= {"turn_no": 4, "must_mention": ["${3.result.id}"], "depends_on": [3]}
    known = existing([*WRITTEN[:2], {**WRITTEN[2], "turn_no": 3}, reply])
    recording = run(NOTIFY)
    sheet, checked = drafted(recording, existing=known)
    assert known.lost == ["turn numbers given anew, since none was free where a turn came in: 2 is 1"]
    assert [one.number for one in sheet.turns] == [None, 1, 2, 3, 4]
    assert turn(sheet, 3)["gold_turn"]["args"] == {"amount": "${1.result.total}"}
    assert turn(sheet, 4)["gold_turn"]["response"] == "Refund ${3.result.id} is open."
    assert turn(sheet, 4)["must_mention"] == ["${3.result.id}"]
    assert turn(sheet, 4)["depends_on"] == [3]
    assert checked.failing == ()
    assert passes(loaded(sheet), recording) == [True]


def test_a_reference_is_left_as_its_author_spelled_it() -> None:
    spelled = {**WRITTEN[2], "gold_turn": {"tool_id": "refund", "args": {"amount": '${2.result["total"]}'}}}
    sheet, _ = drafted(run(NOTIFY), existing=existing([*WRITTEN[:2], spelled, WRITTEN[3]]))
    assert turn(sheet, 5)["gold_turn"]["args"] == {"amount": '${2.result["total"]}'}


def test_a_call_that_only_the_recording_has_is_optional_and_what_it_lacks_too() -> None:
    sheet, _ = drafted(run(NOTIFY), existing=existing(WRITTEN))
    assert turn(sheet, 3)["gold_turn"]["tool_id"] == "notify"
    assert turn(sheet, 3)["presence"] == "optional"
    lacking = recorded(
        exchange("Refund A-1042", [Call("get_order", {"id": "A-1042"}, {"total": 1})], "Refund R-1 is open.")
    )
    sheet, _ = drafted(lacking, existing=existing(WRITTEN))
    assert turn(sheet, 5)["presence"] == "optional"


def test_a_reference_of_the_authors_is_withdrawn_where_the_recording_contradicts_it() -> None:
    recording = run(amount=12.5)
    sheet, _ = drafted(recording, existing=existing([*WRITTEN[:2], {**WRITTEN[2], "match": {}}, WRITTEN[3]]))
    assert "${2.result.total}" not in str(turn(sheet, 5)["gold_turn"])
    assert "withdrawn: a recording does not bear it out" in notes(sheet, 5)
    assert passes(loaded(sheet), recording) == [True]


def test_a_value_of_the_authors_gives_way_to_a_reference_only_where_a_recording_has_another() -> None:
    literal = {**WRITTEN[2], "gold_turn": {"tool_id": "refund", "args": {"amount": 59.9}}}
    same = recorded(
        exchange(
            "Refund A-1042",
            [Call("get_order", {"id": "A-1042"}, {"total": 59.9}), Call("refund", {"amount": 59.9}, {"id": "R-90"})],
            "Refund R-90 is open.",
        )
    )
    sheet, _ = drafted(same, existing=existing([*WRITTEN[:2], literal, WRITTEN[3]]))
    assert turn(sheet, 5)["gold_turn"]["args"] == {"amount": 59.9}
    sheet, _ = drafted(run(), existing=existing([*WRITTEN[:2], literal, WRITTEN[3]]))
    assert turn(sheet, 5)["gold_turn"]["args"] == {"amount": "${2.result.total}"}
    assert "2 recordings bear this reference out: confirm" in notes(sheet, 5)


def test_what_the_author_demands_of_a_reply_stays_and_the_recording_that_fails_it_is_named() -> None:
    sheet, checked = drafted(run(reply="All done."), existing=existing(WRITTEN))
    assert turn(sheet, 9)["must_mention"] == ["${5.result.id}"]
    assert any("incomplete_response" in line for line in checked.failing)


def test_keys_that_the_author_left_out_are_not_added() -> None:
    sheet, _ = drafted(run(), existing=existing(WRITTEN))
    assert set(sheet.value()) == {"dialog", "version", "review", "turns", "tools"}


def test_what_is_proposed_against_the_authors_own_words_is_not_said() -> None:
    sheet, _ = drafted(run(), existing=existing(WRITTEN))
    assert notes(sheet, 5) == ""


def test_an_open_dialog_has_no_script_to_add_to() -> None:
    with pytest.raises(UsageError, match="is open"):
        existing([tool(1, "refund", {})])
