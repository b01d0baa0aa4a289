"""An expected write that never came, where another one on the same target was tried and refused."""

from tests.playing import Call, entry, exchange, golden, judged, tool, user, words

ASK = "I want other shoes for order #W4967593."
ORDER = {"order_id": "#W4967593", "items": ["4168944673"]}
DIALOG = golden([user(ASK), tool(1, "modify_order", ORDER)], tools={"get_order": {"read_only": True}})
NOT_CALLED = "root tool_mismatch not_called"


def tried(name: str, order: str = "#W4967593", error: str | None = "Error: not delivered") -> Call:
    return Call(name, {"order_id": order, "to": "4274709903"}, error=error)


def test_the_refused_call_is_shown_where_the_right_one_never_came() -> None:
    result = judged(DIALOG, exchange(ASK, [tried("exchange_order")], "Done."))
    assert words(result) == {1: NOT_CALLED}
    assert entry(result, 1).called == "exchange_order"
    assert entry(result, 1).span_id == f"{1:016x}"
    assert entry(result, 1).attempts == 0


def test_a_refused_call_on_something_else_or_a_failed_read_shows_nothing() -> None:
    for call in (tried("exchange_order", "#W1"), tried("get_order")):
        result = judged(DIALOG, exchange(ASK, [call], "Done."))
        assert words(result) == {1: NOT_CALLED}
        assert entry(result, 1).span_id is None


def test_a_refused_call_beside_the_right_one_is_no_fault() -> None:
    right = Call("modify_order", ORDER, {"status": "ok"})
    assert words(judged(DIALOG, exchange(ASK, [tried("exchange_order"), right], "Done."))) == {1: "pass"}


def test_a_refused_call_makes_no_failure_of_a_call_whose_span_may_be_lost() -> None:
    lost = exchange(ASK, [tried("exchange_order")], "Done.", complete=False)
    assert words(judged(DIALOG, lost)) == {1: "incomplete_trace"}
