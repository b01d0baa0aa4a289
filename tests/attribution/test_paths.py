"""More than one way to be right: alternates, variants, and an end state reached by a way that nobody listed."""

from typing import Any

import pytest

from aem_monitor.metrics.increments import increments
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.render import result_object, turn_object
from aem_monitor.model.verdict import RunResult
from tests.playing import Call, agent, conversation, entry, exchange, golden, judged, runs, tool, user, words

ASK = "Refund my order A-1042, please."
REPLY = "Order A-1042 has been refunded."
LISTED = [
    user(ASK),
    tool(1, "orders.Get", {"order_id": "A-1042"}, result={"total": 59.9, "customer": "C-7"}),
    tool(
        2,
        "refunds.Create",
        {"order_id": "A-1042", "amount": "${1.result.total}"},
        result={"refund_id": "R-1"},
        alternates=[
            {"tool_id": "vouchers", "action": "Create", "args": {"customer": "${1.result.customer}"}},
            {"tool_id": "refunds", "action": "CreateFull", "args": {"order_id": "A-1042"}},
        ],
    ),
    agent(3, REPLY, depends_on=[2]),
]
BY_CUSTOMER = {
    "name": "by-customer",
    "turns": [
        user(ASK),
        tool(1, "customers.Find", {"order_id": "A-1042"}, result={"customer": "C-7"}),
        tool(2, "orders.List", {"customer": "${1.result.customer}"}, result={"total": 59.9}),
        tool(3, "refunds.Create", {"order_id": "A-1042", "amount": 59.9}, depends_on=[2]),
        agent(4, REPLY, depends_on=[3]),
    ],
}
REFUNDED = {"tool_id": "refunds", "action": "Create", "args": {"order_id": "A-1042"}, "result": {"status": "created"}}

GET = Call("orders.Get", {"order_id": "A-1042"}, {"total": 59.9, "customer": "C-7"})
REFUND = Call("refunds.Create", {"order_id": "A-1042", "amount": 59.9}, {"refund_id": "R-5", "status": "created"})
FULL = Call("refunds.CreateFull", {"order_id": "A-1042"}, {"refund_id": "R-6", "status": "created"})


def run(*calls: Call, reply: str = REPLY, **top: Any) -> RunResult:
    return judged(golden(LISTED, **top), exchange(ASK, calls, reply))


def test_the_listed_turn_passes_without_any_alternate() -> None:
    result = run(GET, REFUND)
    assert words(result) == {1: "pass", 2: "pass", 3: "pass"}
    assert entry(result, 2).alternate is None


def test_an_alternate_that_fits_is_judged_in_its_turns_place_and_named() -> None:
    result = run(GET, FULL)
    assert words(result) == {1: "pass", 2: "pass", 3: "pass"}
    assert entry(result, 2).alternate == 2
    assert turn_object(entry(result, 2))["alternate"] == 2


def test_a_fault_inside_an_alternate_is_told_of_the_alternate() -> None:
    result = run(GET, Call("refunds.CreateFull", {"order_id": "A-9999"}, {"refund_id": "R-6"}))
    assert words(result)[2] == "root inconsistent_parameter_values"
    assert (entry(result, 2).alternate, entry(result, 2).fields) == (2, ("order_id",))


def test_references_inside_an_alternate_stand_for_the_runs_own_values() -> None:
    got = Call("orders.Get", {"order_id": "A-1042"}, {"total": 59.9, "customer": "C-88"})
    assert words(run(got, Call("vouchers.Create", {"customer": "C-88"}, {})))[2] == "pass"
    assert words(run(got, Call("vouchers.Create", {"customer": "C-7"}, {})))[2] == "root inconsistent_parameter_values"


def test_a_call_that_fits_neither_is_told_of_the_listed_turn() -> None:
    result = run(GET, Call("mails.Send", {"to": "shop"}, {}))
    assert words(result)[2] == "root tool_mismatch not_called"
    assert entry(result, 2).alternate is None


def test_another_reply_may_do() -> None:
    other = {"response": "I cannot refund order A-1042, but a colleague will call you."}
    dialog = golden([*LISTED[:3], agent(3, REPLY, depends_on=[2], alternates=[other])])
    result = judged(dialog, exchange(ASK, [GET, REFUND], other["response"]))
    assert words(result)[3] == "pass"
    assert entry(result, 3).alternate == 1


def test_the_variant_that_fits_best_is_scored_and_named() -> None:
    calls = [
        Call("customers.Find", {"order_id": "A-1042"}, {"customer": "C-31"}),
        Call("orders.List", {"customer": "C-31"}, {"total": 59.9}),
        REFUND,
    ]
    result = run(*calls, variants=[BY_CUSTOMER])
    assert result.variant == "by-customer"
    assert words(result) == {1: "pass", 2: "pass", 3: "pass", 4: "pass"}
    assert {turn.chain_length for turn in result.turns} == {3}
    assert result_object(result)["variant"] == "by-customer"
    assert run(GET, REFUND, variants=[BY_CUSTOMER]).variant is None


def test_one_fault_on_a_variant_is_one_fault_of_the_variant() -> None:
    calls = [
        Call("customers.Find", {"order_id": "A-1042"}, {"customer": "C-31"}),
        Call("orders.List", {"customer": "C-32"}, {"total": 12.0}),
        Call("refunds.Create", {"order_id": "A-1042", "amount": 12.0}, {"refund_id": "R-5"}),
    ]
    result = run(*calls, variants=[BY_CUSTOMER])
    assert result.variant == "by-customer"
    assert (words(result)[2], words(result)[3]) == ("root inconsistent_parameter_values", "cascade of 2")


def test_a_right_end_by_an_unlisted_path_is_a_class_of_its_own() -> None:
    calls = [Call("admin.Unlock", {}, {}), REFUND]
    result = run(*calls, outcome=[REFUNDED])
    assert (result.test_pass, result.outcome, result.another_path) == (False, True, True)
    assert result_object(result)["another_path"] is True
    counted = {one.metric for one in increments(result, ())}
    assert "aem_another_path_runs_total" in counted


def test_nothing_passes_that_did_not_reach_the_end_state() -> None:
    declined = Call("refunds.Create", {"order_id": "A-1042", "amount": 59.9}, {"status": "declined"})
    result = run(GET, declined, outcome=[REFUNDED])
    assert words(result) == {1: "pass", 2: "pass", 3: "pass"}
    assert (result.success_rate, result.test_pass, result.another_path) == (1.0, False, False)
    assert run(GET, REFUND, outcome=[REFUNDED]).test_pass is True


@pytest.mark.parametrize(
    ("calls", "reached"),
    [
        ([GET, REFUND], True),
        ([GET], False),
        ([GET, Call("refunds.Create", {"order_id": "A-1042"}, error="timeout")], False),
        ([GET, Call("refunds.Create", {"order_id": "B-1"}, {"status": "created"})], False),
        ([GET, REFUND, Call("refunds.Create", {"order_id": "A-1042"}, {"status": "reversed"})], False),
        ([GET, Call("refunds.Create", {"order_id": "A-1042"}, NOT_CAPTURED)], None),
        ([GET, Call("refunds.Create", None, {"status": "created"})], None),
    ],
)
def test_the_last_successful_call_tells_the_end_state(calls: list[Call], reached: bool | None) -> None:
    assert run(*calls, outcome=[REFUNDED]).outcome is reached


def test_what_is_not_known_to_have_ended_well_does_not_pass() -> None:
    unseen = Call("refunds.Create", {"order_id": "A-1042", "amount": 59.9}, NOT_CAPTURED)
    result = run(GET, unseen, outcome=[REFUNDED])
    assert (result.outcome, result.test_pass) == (None, None)


def test_an_incomplete_conversation_has_not_missed_its_end_state() -> None:
    (one,) = runs(golden(LISTED, outcome=[REFUNDED]), exchange(ASK, [GET], None, complete=False))
    assert one.conversation.key == conversation(*one.conversation.exchanges).key
    result = judged(golden(LISTED, outcome=[REFUNDED]), exchange(ASK, [GET], None, complete=False))
    assert result.outcome is None
