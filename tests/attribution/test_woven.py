"""Texts into which results are woven: with own values where the earlier turn passed, real ones where it failed."""

import pytest

from tests.playing import Call, entry, exchange, golden, judged, tool, user, words

ASK = "Make a meeting with Kim on Friday and tell her its number."
MAKE = tool(1, "make_meeting", {"with": "Kim", "day": "Friday"}, result={"id": "MI-1214947837"})
LITERAL = "Your meeting MI-1214947837 is set, see you there"
REFERRED = "Your meeting ${1.result.id} is set, see you there"


def told(text: str, made: Call, sent: str, depends_on: tuple[int, ...] = ()) -> dict[int | None, str]:
    more = {"depends_on": list(depends_on)} if depends_on else {}
    dialog = golden([user(ASK), MAKE, tool(2, "send_sms", {"to": "Kim", "message": text}, **more)])
    return words(judged(dialog, exchange(ASK, [made, Call("send_sms", {"to": "Kim", "message": sent}, {"ok": True})])))


def made(number: str, day: str = "Friday") -> Call:
    return Call("make_meeting", {"with": "Kim", "day": day}, {"id": number})


@pytest.mark.parametrize("text", [LITERAL, REFERRED])
def test_a_text_has_the_runs_own_number_in_it(text: str) -> None:
    assert told(text, made("MI-55"), "Your meeting MI-55 is set, see you there") == {1: "pass", 2: "pass"}


@pytest.mark.parametrize("text", [LITERAL, REFERRED])
def test_a_text_with_the_golden_number_is_wrong_where_the_runs_own_is_another(text: str) -> None:
    found = told(text, made("MI-55"), LITERAL)
    assert found == {1: "pass", 2: "root inconsistent_parameter_values"}


@pytest.mark.parametrize("text", [LITERAL, REFERRED])
def test_a_text_with_the_real_number_of_a_failed_call_inherits_it(text: str) -> None:
    found = told(text, made("MI-66", "Monday"), "Your meeting MI-66 is set, see you there")
    assert found == {1: "root inconsistent_parameter_values", 2: "cascade of 1"}


@pytest.mark.parametrize("text", [LITERAL, REFERRED])
@pytest.mark.parametrize("sent", ["Your meeting MI-77 is set, see you there", "Call me about MI-66"])
def test_a_text_that_no_real_value_makes_is_wrong_by_itself(text: str, sent: str) -> None:
    found = told(text, made("MI-66", "Monday"), sent)
    assert found[2] == "root inconsistent_parameter_values"


def test_two_failed_calls_whose_values_one_text_holds_are_both_blamed() -> None:
    ask = "Refund the lower of both orders."
    orders = [
        tool(n, "get_order", {"id": f"#W{n}111"}, result={"total": total}) for n, total in ((1, 302.67), (2, 1319.43))
    ]
    sums = tool(3, "calculate", {"expression": "1319.43 - 302.67"}, result="1016.76")
    dialog = golden([user(ask), *orders, sums])
    calls = [
        Call("get_order", {"id": "#W1115"}, {"total": 400.5}),
        Call("get_order", {"id": "#W2225"}, {"total": 1500.25}),
    ]
    both = judged(dialog, exchange(ask, [*calls, Call("calculate", {"expression": "1500.25 - 400.5"}, "1099.75")]))
    assert words(both)[3] == "cascade of 1, 2"
    assert entry(both, 3).fields == ("expression",)
    one = judged(dialog, exchange(ask, [*calls, Call("calculate", {"expression": "1500.25 - 302.67"}, "1197.58")]))
    assert words(one)[3] == "cascade of 2"


def test_a_text_may_have_references_and_values_in_it() -> None:
    ask = "Pay order 3 as before."
    user_of = tool(1, "get_user", {"name": "Kim"}, result={"order": "#W5550", "paid": "paypal_807"})
    note = tool(2, "note", {"text": "Order ${1.result.order} goes to paypal_807"}, depends_on=[1])
    dialog = golden([user(ask), user_of, note])

    def said(name: str, text: str) -> str:
        calls = [
            Call("get_user", {"name": name}, {"order": "#W6661", "paid": "card_912"}),
            Call("note", {"text": text}, ""),
        ]
        return words(judged(dialog, exchange(ask, calls)))[2]

    assert said("Kim", "Order #W6661 goes to card_912") == "pass"
    assert said("Rosa", "Order #W6661 goes to card_912") == "cascade of 1"
    assert said("Rosa", "Order #W6661 goes to card_000") == "root inconsistent_parameter_values"


def test_a_number_that_the_user_said_is_not_taken_from_a_result() -> None:
    ask = "Tell Kim that meeting MI-1214947837 is set."
    dialog = golden([user(ask), MAKE, tool(2, "send_sms", {"to": "Kim", "message": LITERAL})])
    calls = [made("MI-55"), Call("send_sms", {"to": "Kim", "message": LITERAL}, {"ok": True})]
    assert words(judged(dialog, exchange(ask, calls))) == {1: "pass", 2: "pass"}
