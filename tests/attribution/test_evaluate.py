"""Verdicts of runs: what passes, what breaks first, and what only inherits the break."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import Basis, NotScored
from tests.playing import Call, agent, entry, exchange, golden, judged, tool, user, words

ASK = "How much did we sell in the EU?"
REPORT = golden(
    [
        user(ASK),
        tool(1, "reports.Filter", {"metric": "revenue", "region": "EU"}, result={"report": "R-17", "total": 1240000}),
        tool(2, "reports.Chart", {"report": "${1.result.report}"}, result={"chart": "C-3"}),
        agent(3, "EU revenue was 1.24 million.", must_mention=["${1.result.total}"], depends_on=[1]),
    ],
    tools={"reports": {"read_only": ["Filter", "Chart", "List"]}},
)


def good_calls(report: str = "R-17", total: int = 1240000) -> list[Call]:
    return [
        Call("reports.Filter", {"metric": "revenue", "region": "EU"}, {"report": report, "total": total}),
        Call("reports.Chart", {"report": report}, {"chart": "C-9"}),
    ]


def test_a_run_as_written_passes() -> None:
    result = judged(REPORT, exchange(ASK, good_calls(), "EU revenue was 1.24 million."))
    assert (result.success_rate, result.test_pass, result.root_cause) == (1.0, True, None)


def test_a_runs_own_values_stand_in_for_the_golden_ones() -> None:
    reply = "EU revenue was 1.31 million."
    result = judged(REPORT, exchange(ASK, good_calls("R-99", 1310000), reply))
    assert words(result) == {1: "pass", 2: "pass", 3: "pass"}


def test_the_golden_value_is_wrong_where_the_runs_own_is_another() -> None:
    calls = [good_calls("R-99")[0], Call("reports.Chart", {"report": "R-17"}, {"chart": "C-9"})]
    result = judged(REPORT, exchange(ASK, calls, "EU revenue was 1.24 million."))
    assert words(result)[2] == "root inconsistent_parameter_values"


def test_a_wrong_argument_is_the_root_and_what_is_built_on_its_result_inherits() -> None:
    calls = [
        Call("reports.Filter", {"metric": "profit", "region": "EU"}, {"report": "R-18", "total": 310000}),
        Call("reports.Chart", {"report": "R-18"}, {"chart": "C-9"}),
    ]
    result = judged(REPORT, exchange(ASK, calls, "EU revenue was 310,000."))
    assert words(result) == {1: "root inconsistent_parameter_values", 2: "cascade of 1", 3: "cascade of 1"}
    assert entry(result, 1).fields == ("metric",)
    assert entry(result, 2).basis is Basis.PROVENANCE
    assert (result.first_failure_turn, result.root_cause_count, result.cascading_count) == (1, 1, 2)
    assert result.success_rate == 0.0


def test_a_second_own_fault_is_a_second_root() -> None:
    calls = [
        Call("reports.Filter", {"metric": "profit", "region": "EU"}, {"report": "R-18", "total": 310000}),
        Call("reports.Chart", {"report": "R-55"}, {"chart": "C-9"}),
    ]
    result = judged(REPORT, exchange(ASK, calls, "EU revenue was 310,000."))
    assert words(result)[2] == "root inconsistent_parameter_values"


def test_what_nothing_supports_is_the_replys_own_fault() -> None:
    result = judged(REPORT, exchange(ASK, good_calls(), "EU revenue was 1.24 million, up 17 percent on last year."))
    assert words(result)[3] == "root inconsistent_response"


def test_what_a_healthy_result_supports_is_true() -> None:
    reply = "EU revenue was 1.24 million, see report R-17."
    assert words(judged(REPORT, exchange(ASK, good_calls(), reply)))[3] == "pass"


def test_a_reply_that_leaves_out_the_fact_is_incomplete() -> None:
    assert words(judged(REPORT, exchange(ASK, good_calls(), "I have looked it up.")))[3] == "root incomplete_response"


def test_a_call_that_never_came_is_a_root_on_a_complete_exchange_only() -> None:
    done = exchange(ASK, good_calls()[:1], "EU revenue was 1.24 million.")
    assert words(judged(REPORT, done))[2] == "root tool_mismatch not_called"
    lost = replace(done, missing_parents=True)
    assert words(judged(REPORT, lost))[2] == "incomplete_trace"


def test_a_read_only_extra_call_is_ignored_and_a_write_is_not() -> None:
    read = [*good_calls(), Call("reports.List", {}, [])]
    assert judged(REPORT, exchange(ASK, read, "EU revenue was 1.24 million.")).test_pass is True
    write = [*good_calls(), Call("mail.send", {"to": "x@example.com"}, {"sent": True})]
    result = judged(REPORT, exchange(ASK, write, "EU revenue was 1.24 million."))
    assert words(result)[None] == "root tool_mismatch unexpected_call"
    assert (result.first_failure_turn, result.first_failure_extra) == (3, True)
    assert result.success_rate == pytest.approx(3 / 4)


def test_a_retry_after_an_error_passes_and_is_a_recovery() -> None:
    failed = Call("reports.Filter", {"metric": "revenue", "region": "EU"}, error="timeout")
    result = judged(REPORT, exchange(ASK, [failed, *good_calls()], "EU revenue was 1.24 million."))
    assert result.test_pass is True
    assert (entry(result, 1).attempts, entry(result, 1).recovered) == (2, True)


def test_a_broken_backend_is_not_the_agents_fault() -> None:
    failed = Call("reports.Filter", {"metric": "revenue", "region": "EU"}, error="timeout")
    result = judged(REPORT, exchange(ASK, [failed], "Sorry, the report service does not answer."))
    assert words(result) == {1: "tool_error", 2: "upstream_error", 3: "upstream_error"}
    assert (result.success_rate, result.test_pass) == (None, None)


def test_a_wrong_argument_is_the_agents_fault_even_if_the_call_then_fails() -> None:
    failed = Call("reports.Filter", {"metric": "profit", "region": "EU"}, error="no such metric")
    result = judged(REPORT, exchange(ASK, [failed], "Sorry, that did not work."))
    assert words(result)[1] == "root inconsistent_parameter_values"


def test_content_that_was_not_captured_never_passes_or_fails() -> None:
    calls = [Call("reports.Filter", None), Call("reports.Chart", None)]
    result = judged(REPORT, exchange(None, calls, None))
    assert set(words(result).values()) == {NotScored.CONTENT_MISSING}
    assert result.test_pass is None


def test_a_result_that_was_not_captured_leaves_what_is_lifted_from_it_open() -> None:
    calls = [Call("reports.Filter", {"metric": "revenue", "region": "EU"}), Call("reports.Chart", {"report": "R-17"})]
    result = judged(REPORT, exchange(ASK, calls, "EU revenue was 1.24 million."))
    assert words(result)[1] == "pass"
    assert words(result)[2] == NotScored.CONTENT_MISSING


def test_a_partial_run_is_scored_as_far_as_it_goes() -> None:
    result = judged(REPORT, exchange(ASK, good_calls()[:1], complete=False), partial=True)
    assert words(result) == {1: "pass", 2: "partial", 3: "partial"}
    assert result.test_pass is None


def test_a_reply_that_failed_is_not_a_wrong_reply() -> None:
    result = judged(REPORT, exchange(ASK, [], reply_error="429 rate limit"))
    assert set(words(result).values()) == {NotScored.UPSTREAM_ERROR}


WRITE = golden(
    [user("Cancel order A-1."), tool(1, "orders.cancel", {"order_id": "A-1", "reason": "no longer needed"}), agent(2)],
    tools={"orders": {"read_only": ["get"], "optional_args": {"cancel": {"notify": {"default": True}, "note": {}}}}},
    forbidden=[{"tool_id": "orders", "action": "delete"}],
)
CANCELLED = Call("orders.cancel", {"order_id": "A-1", "reason": "no longer needed"}, {"ok": True})


def run_write(*calls: Call) -> dict[int | None, str]:
    return words(judged(WRITE, exchange("Cancel order A-1.", calls, "Done.")))


def test_each_further_successful_write_is_an_extra_call() -> None:
    assert run_write(CANCELLED, CANCELLED) == {1: "pass", 2: "pass", None: "root tool_mismatch unexpected_call"}


def test_the_wrong_tool_on_the_right_target_is_one_turn() -> None:
    other = Call("orders.refund", {"order_id": "A-1"}, {"ok": True})
    assert run_write(other) == {1: "root action_mismatch", 2: "pass"}
    other = Call("shop.cancel_order", {"order_id": "A-1"}, {"ok": True})
    assert run_write(other) == {1: "root tool_mismatch wrong_tool", 2: "pass"}


def test_the_target_of_a_wrong_tool_may_be_the_runs_own_value() -> None:
    dialog = golden(
        [
            user("Refund it."),
            tool(1, "orders.find", {"mail": "x@example.com"}, result={"order_id": "A-1"}),
            tool(2, "shop.refund", {"order_id": "${1.result.order_id}", "amount": 5}),
        ],
        tools={"orders": {"read_only": ["find"]}},
    )
    found = Call("orders.find", {"mail": "x@example.com"}, {"order_id": "A-77"})
    voucher = Call("vouchers.create", {"order_id": "A-77"}, {"ok": True})
    assert words(judged(dialog, exchange("Refund it.", [found, voucher], "Done."))) == {
        1: "pass",
        2: "root tool_mismatch wrong_tool",
    }


def test_an_unrelated_write_is_another_turn() -> None:
    other = Call("mail.send", {"to": "x@example.com"}, {"ok": True})
    assert run_write(other) == {
        1: "root tool_mismatch not_called",
        2: "pass",
        None: "root tool_mismatch unexpected_call",
    }


def test_a_forbidden_call_fails_even_if_it_ended_in_an_error() -> None:
    deleted = Call("orders.delete", {"order_id": "A-1"}, error="not allowed")
    assert run_write(CANCELLED, deleted)[None] == "root tool_mismatch forbidden_call"


def test_missing_and_extra_keys_are_named() -> None:
    result = judged(WRITE, exchange("Cancel order A-1.", [Call("orders.cancel", {"order_id": "A-1"})], "Done."))
    assert (words(result)[1], entry(result, 1).fields) == ("root missing_parameters", ("reason",))
    extra = Call("orders.cancel", {"order_id": "A-1", "reason": "no longer needed", "force": True})
    result = judged(WRITE, exchange("Cancel order A-1.", [extra], "Done."))
    assert (words(result)[1], entry(result, 1).fields) == ("root extra_parameters", ("force",))


def test_an_optional_argument_may_carry_its_default() -> None:
    default = Call("orders.cancel", {"order_id": "A-1", "reason": "no longer needed", "notify": True})
    assert run_write(default)[1] == "pass"
    other = Call("orders.cancel", {"order_id": "A-1", "reason": "no longer needed", "notify": False})
    assert run_write(other)[1] == "root extra_parameters"


def test_an_identifier_is_never_fuzzy() -> None:
    other = Call("orders.cancel", {"order_id": "A-2", "reason": "no longer needed"})
    assert run_write(other)[1] == "root inconsistent_parameter_values"


ORDERED = golden(
    [
        user("Book it."),
        tool(1, "flights.search", {"to": "HND"}, result={"flight": "LH714"}, tags=["OrderInvariant_a"]),
        tool(2, "hotels.search", {"city": "Tokyo"}, result={"hotel": "H-1"}, tags=["OrderInvariant_a"]),
        tool(3, "flights.book", {"flight": "${1.result.flight}"}, depends_on=[1]),
    ],
    extra_calls="fail",
)
SEARCH_FLIGHT = Call("flights.search", {"to": "HND"}, {"flight": "LH714"})
SEARCH_HOTEL = Call("hotels.search", {"city": "Tokyo"}, {"hotel": "H-1"})
BOOK = Call("flights.book", {"flight": "LH714"}, {"pnr": "X"})


@pytest.mark.parametrize(
    "calls",
    [(SEARCH_FLIGHT, SEARCH_HOTEL, BOOK), (SEARCH_HOTEL, SEARCH_FLIGHT, BOOK), (SEARCH_FLIGHT, BOOK, SEARCH_HOTEL)],
)
def test_only_dependencies_order_turns(calls: tuple[Call, ...]) -> None:
    assert judged(ORDERED, exchange("Book it.", calls, "Done.")).test_pass is True


def test_a_consumer_before_its_producer_is_no_answer() -> None:
    result = judged(ORDERED, exchange("Book it.", [BOOK, SEARCH_FLIGHT, SEARCH_HOTEL], "Done."))
    assert result.test_pass is False
    assert result.root_cause_count == 2


def test_an_order_invariant_group_may_come_in_any_order_across_a_dependency() -> None:
    dialog = golden(
        [
            user("Go."),
            tool(1, "a.x", {"n": "alpha"}, tags=["OrderInvariant_g"]),
            tool(2, "a.y", {"n": "beta"}, tags=["OrderInvariant_g"], depends_on=[1]),
        ]
    )
    calls = [Call("a.y", {"n": "beta"}), Call("a.x", {"n": "alpha"})]
    assert judged(dialog, exchange("Go.", calls, "Done.")).test_pass is True


def test_an_optional_turn_may_be_absent_and_a_call_that_does_not_fit_it_is_another() -> None:
    dialog = golden(
        [user("Go."), tool(1, "a.look", {"id": "A-1"}, presence="optional"), agent(2)],
        tools={"a": {"read_only": ["look"]}},
    )
    assert words(judged(dialog, exchange("Go.", [], "Done."))) == {2: "pass"}
    other = Call("a.look", {"id": "A-2"}, {})
    assert words(judged(dialog, exchange("Go.", [other], "Done."))) == {2: "pass"}


def test_a_user_who_departs_leaves_only_what_depends_on_it_open() -> None:
    dialog = golden(
        [
            user("First."),
            tool(1, "a.one", {"k": "v1"}, result={"id": "I-1"}),
            agent(2, "One is done."),
            user("Second."),
            tool(3, "a.two", {"id": "${1.result.id}"}),
            tool(4, "a.three", {"k": "v3"}),
            agent(5, "All is done."),
        ]
    )
    result = judged(
        dialog,
        exchange("What is the weather on Mars?", [], "I do not know."),
        exchange("Second.", [Call("a.two", {"id": "I-9"}), Call("a.three", {"k": "v3"})], "All is done.", at=100),
    )
    assert words(result) == {1: "off_script", 2: "off_script", 3: "off_script", 4: "pass", 5: "pass"}
    assert result.test_pass is None


def test_an_open_dialog_judges_all_replies_together() -> None:
    dialog = golden([tool(1, "orders.cancel", {"order_id": "A-1"}), agent(2, must_mention=["$29.00"])])
    result = judged(
        dialog,
        exchange("Hi", [], "Hello, how can I help?"),
        exchange("Cancel A-1", [Call("orders.cancel", {"order_id": "A-1"})], "You get 29 dollars back.", at=100),
        exchange("Bye", [], "Goodbye.", at=200),
    )
    assert words(result) == {1: "pass", 2: "pass"}


def test_nothing_to_do_and_nothing_done_passes_on_a_complete_run() -> None:
    dialog = golden([tool(1, "orders.get", {"order_id": "A-1"}, presence="optional")])
    assert judged(dialog, exchange("Hi", [], "Hello.")).test_pass is True
    assert judged(dialog, exchange("Hi", [], "Hello.", complete=False)).test_pass is None


def test_the_call_of_a_failed_call_left_nothing_behind_is_declared() -> None:
    """Without anything captured of the failed turn, the author's word decides."""
    dialog = golden([user("Go."), tool(1, "a.one", {"k": "alpha"}), tool(2, "a.two", {"k": "beta"}, depends_on=[1])])
    calls = [Call("a.two", {"k": "gamma"}, NOT_CAPTURED)]
    result = judged(dialog, exchange("Go.", calls, "Done."))
    assert words(result) == {1: "root tool_mismatch not_called", 2: "cascade of 1"}
    assert entry(result, 2).basis is Basis.DECLARED


def test_a_call_without_arguments_that_never_came_is_not_called() -> None:
    dialog = golden([user("Go"), tool(1, "reset"), agent(2, "Done.")])
    result = judged(dialog, exchange("Go", [Call("wipe")], "Done."))
    assert words(result)[1] == "root tool_mismatch not_called"


SALES = golden(
    [
        user(ASK),
        tool(1, "query_sales", {"metric": "revenue", "limit": 100}, result={"total": 7}),
        agent(2, "Seven.", must_mention=["7"]),
    ]
)
SALES_SCHEMA: Mapping[str, JSON] = {
    "query_sales": {
        "properties": {
            "metric": {"type": "string", "enum": ["revenue", "net revenue", "profit"]},
            "limit": {"type": "integer", "default": 100},
            "group_by": {"type": ["string", "null"]},
            "currency": {"type": "string"},
        },
        "required": ["metric", "group_by"],
    }
}


@pytest.mark.parametrize(
    ("args", "with_schema", "without"),
    [
        ({"metric": "revenue"}, "pass", "root missing_parameters"),
        ({"metric": "revenue", "limit": 100, "group_by": None}, "pass", "root extra_parameters"),
        ({"metric": "revenue", "limit": 100, "group_by": "region"}, "root extra_parameters", "root extra_parameters"),
        ({"metric": "revenue", "limit": 100, "currency": None}, "root extra_parameters", "root extra_parameters"),
        ({"limit": 100}, "root missing_parameters", "root missing_parameters"),
    ],
)
def test_the_tools_schema_knows_what_leaving_an_argument_out_means(
    args: dict[str, JSON], with_schema: str, without: str
) -> None:
    live = exchange(ASK, [Call("query_sales", args, {"total": 7})], "7")
    assert words(judged(SALES, live, schemas=SALES_SCHEMA))[1] == with_schema
    assert words(judged(SALES, live))[1] == without


def test_what_a_dialog_says_of_optional_arguments_goes_before_the_schema() -> None:
    dialog = golden(
        [user(ASK), tool(1, "query_sales", {"metric": "revenue"}), agent(2, "Seven.")],
        tools={"query_sales": {"optional_args": {"limit": {"default": 5}}}},
    )
    live = exchange(ASK, [Call("query_sales", {"metric": "revenue", "limit": 100})], "Seven.")
    assert words(judged(dialog, live, schemas=SALES_SCHEMA))[1] == "root extra_parameters"


def test_another_member_of_a_closed_set_is_wrong_however_alike() -> None:
    live = exchange(ASK, [Call("query_sales", {"metric": "net revenue", "limit": 100}, {"total": 7})], "7")
    checks = [check for check in entry(judged(SALES, live, schemas=SALES_SCHEMA), 1).checks if check.field == "metric"]
    assert [(check.passed, check.rule) for check in checks] == [(False, "enum")]
