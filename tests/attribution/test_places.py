"""Where a value comes from when it is a key of its own result, one of several names in a row, or an entry of a list."""

import pytest

from tests.playing import Call, agent, exchange, golden, judged, tool, user, words

ASK = "Return what I ordered last."
WHO = tool(
    1,
    "get_user",
    {"id": "kim_22"},
    result={"methods": {"paypal_807": {"id": "paypal_807"}, "card_115": {"id": "card_115"}}},
)


@pytest.mark.parametrize("method", ["paypal_807", "${1.result.methods.paypal_807.id}"])
def test_an_id_that_is_its_own_key_is_followed_through_other_keys(method: str) -> None:
    refund = tool(2, "refund", {"method": method}, depends_on=[1])
    dialog = golden([user(ASK), WHO, refund])

    def said(user_id: str, used: str) -> dict[int | None, str]:
        methods = {name: {"id": name} for name in ("paypal_912", "card_336")}
        calls = [
            Call("get_user", {"id": user_id}, {"methods": methods}),
            Call("refund", {"method": used}, {"ok": True}),
        ]
        return words(judged(dialog, exchange(ASK, calls)))

    wrong = "root inconsistent_parameter_values"
    assert said("rosa_33", "paypal_912") == {1: wrong, 2: "cascade of 1"}
    assert said("rosa_33", "paypal_000") == {1: wrong, 2: wrong}
    assert said("kim_22", "paypal_912") == {1: "pass", 2: "pass"}
    assert said("kim_22", "paypal_000")[2] != "pass"


def test_names_in_a_row_come_from_the_entries_of_a_result() -> None:
    order = tool(
        1, "get_order", {"id": "#W1111"}, result={"items": ["Electric Kettle", "Mechanical Keyboard", "Pet Bed"]}
    )
    dialog = golden([user(ASK), order, agent(2, "You return Electric Kettle and Mechanical Keyboard.")])
    right, wrong = {"id": "#W1111"}, {"id": "#W2222"}
    items = {"items": ["Water Bottle", "Smart Watch", "Pet Bed"]}
    other = "You return Water Bottle and Smart Watch."

    def said(args: dict[str, str], reply: str) -> str:
        return words(judged(dialog, exchange(ASK, [Call("get_order", args, items)], reply)))[2]

    assert said(right, other) == "pass"
    assert said(wrong, other) == "cascade of 1"
    assert said(wrong, "You return Garden Hose and Tea Pot.").startswith("root")


def test_the_wrong_tool_is_known_by_a_list_that_it_was_given() -> None:
    lock = tool(1, "lock_doors", {"unlock": False, "door": ["driver", "passenger"]})
    dialog = golden([user(ASK), lock])
    sent = Call("open_windows", {"unlock": False, "window": ["passenger", "driver"]}, "done")
    assert words(judged(dialog, exchange(ASK, [sent], "Done."))) == {1: "root tool_mismatch wrong_tool"}


@pytest.mark.parametrize(
    ("expected", "returned", "around"),
    [
        ("Adieu Monsieur Haffmann", "A Right Royale Tea", "Perhaps {}, it is well liked."),
        ("Alfa Romeo Stelvio", "Buick Regal", "There is a nice car for you. It's a {} SUV."),
    ],
)
def test_a_word_that_the_reference_has_around_a_name_does_not_make_the_name_the_replys_own(
    expected: str, returned: str, around: str
) -> None:
    find = tool(1, "find", {"city": "Oslo"}, result={"name": expected})
    dialog = golden([user("Find one in Oslo."), find, agent(2, around.format(expected), depends_on=[1])])

    def said(result: str) -> str:
        calls = [Call("find", {"city": "Bergen"}, {"name": result})]
        return words(judged(dialog, exchange("Find one in Oslo.", calls, around.format(returned))))[2]

    assert said(returned) == "cascade of 1"
    assert said("Something Else") == "root inconsistent_response"
