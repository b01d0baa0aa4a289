"""Recordings added to a dialog that a person wrote."""

from datetime import date
from typing import Any

import pytest

from aem_monitor.bootstrap.existing import Existing
from aem_monitor.bootstrap.recorded import Recording
from aem_monitor.errors import UsageError
from aem_monitor.golden.load import dialog_from
from aem_monitor.model.jsonvalue import JSON
from tests.bootstrap.drafting import drafted, loaded, notes, passes, recorded, turn
from tests.playing import Call, agent, exchange, tool, user

DAY = date(2026, 11, 30)


def existing(turns: list[dict[str, Any]], **top: Any) -> Existing:
    value = {"dialog": "d", "version": 3, "review": {"status": "human"}, **top, "turns": turns}
    return Existing.of(dialog_from(value), value, DAY)


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


def test_what_the_author_wrote_stays_and_numbers_follow() -> None:
    recording = run(Call("notify", {"who": "ops"}, {"ok": True}))
    sheet, checked = drafted(recording, existing=existing(WRITTEN, forbidden=[{"tool_id": "cancel"}]))
    assert checked.failing == ()
    assert turn(sheet, 3)["gold_turn"] == {"tool_id": "refund", "args": {"amount": "${1.result.total}"}}
    assert turn(sheet, 3)["match"] == {"amount": {"exact": True}}
    assert turn(sheet, 4)["gold_turn"]["response"] == "Refund ${3.result.id} is open."
    assert turn(sheet, 4)["must_mention"] == ["${3.result.id}"]
    assert turn(sheet, 4)["depends_on"] == [3]
    dialog = loaded(sheet)
    assert (dialog.version, dialog.draft) == (4, True)
    assert dialog.forbids("cancel", None)
    assert passes(dialog, recording) == [True]


def test_a_call_that_only_the_recording_has_is_optional_and_what_it_lacks_too() -> None:
    sheet, _ = drafted(run(Call("notify", {"who": "ops"}, {"ok": True})), existing=existing(WRITTEN))
    assert turn(sheet, 2)["gold_turn"]["tool_id"] == "notify"
    assert turn(sheet, 2)["presence"] == "optional"
    lacking = recorded(
        exchange("Refund A-1042", [Call("get_order", {"id": "A-1042"}, {"total": 1})], "Refund R-1 is open.")
    )
    sheet, _ = drafted(lacking, existing=existing(WRITTEN))
    assert turn(sheet, 2)["presence"] == "optional"


def test_a_reference_of_the_authors_is_withdrawn_where_the_recording_contradicts_it() -> None:
    recording = run(amount=12.5)
    sheet, _ = drafted(recording, existing=existing([*WRITTEN[:2], {**WRITTEN[2], "match": {}}, WRITTEN[3]]))
    assert "${1.result.total}" not in str(turn(sheet, 2)["gold_turn"])
    assert "withdrawn: a recording does not bear it out" in notes(sheet, 2)
    assert passes(loaded(sheet), recording) == [True]


def test_what_the_author_demands_of_a_reply_stays_and_the_recording_that_fails_it_is_named() -> None:
    sheet, checked = drafted(run(reply="All done."), existing=existing(WRITTEN))
    assert turn(sheet, 3)["must_mention"] == ["${2.result.id}"]
    assert any("incomplete_response" in line for line in checked.failing)


def test_an_open_dialog_has_no_script_to_add_to() -> None:
    with pytest.raises(UsageError, match="is open"):
        existing([tool(1, "refund", {})])
