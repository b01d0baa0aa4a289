"""What a draft of one recording holds, and what it makes of other runs."""

from dataclasses import replace

from aem_monitor.bootstrap.definitions import ToolDefinition
from aem_monitor.bootstrap.recorded import Recording
from aem_monitor.model.jsonvalue import JSON
from tests.bootstrap.drafting import drafted, loaded, notes, passes, recorded, result_of, text_of, turn
from tests.playing import Call, exchange, words


def refund(refund_id: str = "R-7781", total: float = 59.9, order: str = "A-1042") -> Recording:
    return recorded(
        exchange(
            f"Where is my order {order}?",
            [Call("lookup_order", {"order_id": order}, {"status": "shipped", "total": total, "payment": "PP-4411"})],
            f"Your order has shipped; it cost {total:.2f} USD.",
        ),
        exchange(
            "Refund it, the box was damaged.",
            [
                Call(
                    "create_refund",
                    {"order_id": order, "amount": total, "to": "PP-4411"},
                    {"refund_id": refund_id, "state": "pending"},
                )
            ],
            f"Refund {refund_id} is open.",
            at=100,
        ),
    )


def test_values_that_one_result_holds_become_references() -> None:
    sheet, _ = drafted(refund())
    args = turn(sheet, 3)["gold_turn"]["args"]
    assert args == {"order_id": "A-1042", "amount": "${1.result.total}", "to": "${1.result.payment}"}
    assert turn(sheet, 4)["gold_turn"]["response"] == "Refund ${3.result.refund_id} is open."
    assert turn(sheet, 4)["must_mention"] == ["${3.result.refund_id}"]


def test_the_run_that_it_was_drafted_from_passes_and_nothing_had_to_be_loosened() -> None:
    sheet, checked = drafted(refund())
    assert passes(loaded(sheet), refund()) == [True]
    assert (checked.loosened, checked.failing) == ((), ())


def test_another_good_run_with_other_invented_values_passes() -> None:
    sheet, _ = drafted(refund())
    assert passes(loaded(sheet), refund("R-9023", 61.25)) == [True]


def test_a_run_that_refunds_something_else_fails_where_it_did() -> None:
    sheet, _ = drafted(refund())
    bad = recorded(
        exchange(
            "Where is my order A-1042?",
            [Call("lookup_order", {"order_id": "A-1042"}, {"status": "shipped", "total": 59.9, "payment": "PP-4411"})],
            "Your order has shipped; it cost 59.90 USD.",
        ),
        exchange(
            "Refund it, the box was damaged.",
            [
                Call(
                    "create_refund",
                    {"order_id": "A-1042", "amount": 49.9, "to": "PP-4411"},
                    {"refund_id": "R-1", "state": "pending"},
                )
            ],
            "Refund R-1 is open.",
            at=100,
        ),
    )
    assert words(result_of(loaded(sheet), bad))[3] == "root inconsistent_parameter_values"


def test_it_is_a_draft_that_names_its_source_its_day_and_its_first_message() -> None:
    sheet, _ = drafted(refund())
    dialog = loaded(sheet)
    assert dialog.draft
    assert dialog.review.note == "drafted from c"
    assert dialog.first_user == ("Where is my order A-1042?",)
    assert str(dialog.reference_date) == "1970-01-01"


def test_reads_are_optional_unless_something_refers_to_them() -> None:
    sheet, _ = drafted(
        recorded(
            exchange(
                "How is the weather?",
                [Call("get_weather", {"city": "Oslo"}, {"sky": "cloudy"}), Call("get_station", {}, {"id": "ST-8841"})],
                "The station is ST-8841.",
            )
        )
    )
    assert turn(sheet, 1)["presence"] == "optional"
    assert "presence" not in turn(sheet, 2)


def test_every_proposed_effect_says_what_it_rests_on_and_asks_for_confirmation() -> None:
    definitions = {
        "files.Sync": ToolDefinition("files.Sync", read_only=True),
        "zap": ToolDefinition("zap", description="Retrieve the state of a machine."),
    }
    calls = [Call("files.Sync"), Call("zap"), Call("create_refund"), Call("frobnicate")]
    text = text_of(drafted(recorded(exchange("Go", calls, "Done.")), definitions=definitions)[0])
    assert "# files.Sync: taken for a read because its annotation says readOnlyHint: true; confirm" in text
    assert "# zap: taken for a read because its description begins with retrieve; confirm" in text
    assert "create_refund (its name says create)" in text
    assert "frobnicate (neither its name nor its description tells)" in " ".join(text.replace("#", "").split())


def test_reads_that_the_agent_has_but_did_not_use_are_listed_for_runs_that_do() -> None:
    definitions = {"get_clock": ToolDefinition("get_clock"), "set_clock": ToolDefinition("set_clock")}
    dialog = loaded(drafted(recorded(exchange("Hello", [], "Hello.")), definitions=definitions)[0])
    assert dialog.read_only("get_clock", None)
    assert not dialog.read_only("set_clock", None)


def test_defaults_of_a_parameter_schema_become_optional_arguments() -> None:
    definition = ToolDefinition(
        "query", parameters={"metric": {}, "limit": {"default": 100}}, required=frozenset({"metric"})
    )
    dialog = loaded(
        drafted(
            recorded(exchange("Sales?", [Call("query", {"metric": "revenue"}, {"n": 1})], "One.")),
            definitions={"query": definition},
        )[0]
    )
    with_default = recorded(exchange("Sales?", [Call("query", {"metric": "revenue", "limit": 100}, {"n": 1})], "One."))
    assert passes(dialog, with_default) == [True]


def test_a_value_in_two_results_is_no_reference_but_a_comment_and_a_dependency() -> None:
    calls = [
        Call("get_user", {}, {"card": "credit_card_4411"}),
        Call("get_account", {}, {"main": "credit_card_4411"}),
        Call("pay", {"with": "credit_card_4411"}, {"ok": True}),
    ]
    sheet, _ = drafted(recorded(exchange("Pay it", calls, "Paid.")))
    assert turn(sheet, 3)["gold_turn"]["args"] == {"with": "credit_card_4411"}
    assert turn(sheet, 3)["depends_on"] == [1, 2]
    assert "${1.result.card} or ${2.result.main}" in notes(sheet, 3)


def test_a_result_that_gives_back_its_argument_is_not_where_the_value_comes_from() -> None:
    calls = [
        Call("get_user", {}, {"orders": ["W-2378156"]}),
        Call("get_order", {"id": "W-2378156"}, {"id": "W-2378156", "state": "open"}),
        Call("cancel_order", {"id": "W-2378156"}, {"ok": True}),
    ]
    sheet, _ = drafted(recorded(exchange("Cancel my order", calls, "Cancelled.")))
    assert turn(sheet, 3)["gold_turn"]["args"] == {"id": "${1.result.orders[0]}"}


def test_what_the_user_says_is_no_reference() -> None:
    calls = [
        Call("get_order", {"id": "A-1042"}, {"ref": "A-1042"}),
        Call("cancel_order", {"id": "A-1042"}, {"ok": True}),
    ]
    sheet, _ = drafted(recorded(exchange("Cancel A-1042", calls, "Cancelled.")))
    assert turn(sheet, 2)["gold_turn"]["args"] == {"id": "A-1042"}


def test_a_path_through_a_key_that_is_data_is_no_reference() -> None:
    calls = [
        Call("get_product", {"name": "kettle"}, {"variants": {"7747408585": {"item_id": "7747408585"}}}),
        Call("order_item", {"item": "7747408585"}, {"ok": True}),
    ]
    sheet, _ = drafted(recorded(exchange("Order a kettle", calls, "Ordered.")))
    assert turn(sheet, 2)["gold_turn"]["args"] == {"item": "7747408585"}
    assert turn(sheet, 2)["depends_on"] == [1]
    assert "from the result of turn 1, below a key that is data itself" in notes(sheet, 2)


def test_a_value_inside_a_longer_argument_is_a_reference_there() -> None:
    calls = [
        Call("book", {"room": "A"}, {"code": "BK-5521"}),
        Call("send_mail", {"body": "Your code is BK-5521."}, {"ok": 1}),
    ]
    sheet, _ = drafted(recorded(exchange("Book room A and mail the code", calls, "Done.")))
    assert turn(sheet, 2)["gold_turn"]["args"] == {"body": "Your code is ${1.result.code}."}


def test_nested_calls_handoffs_and_failed_attempts_are_no_turns() -> None:
    live = exchange(
        "Pay it",
        [
            Call("pay", {"amount": 5}, error="timeout"),
            Call("pay", {"amount": 5}, {"ok": True}),
            Call("inner", {}, {}),
            Call("transfer_to_billing", {}, {}),
        ],
        "Paid.",
    )
    calls = [*live.calls[:2], replace(live.calls[2], nested=True), replace(live.calls[3], handoff=True)]
    recording = recorded(replace(live, calls=tuple(calls)))
    sheet, _ = drafted(recording)
    assert [one.form.get("gold_turn", {}).get("tool_id") for one in sheet.turns] == [None, "pay", None]
    assert "a failed attempt at pay left out: a later one went through" in text_of(sheet)
    assert passes(loaded(sheet), recording) == [True]


def test_what_was_not_captured_is_left_open_and_said() -> None:
    sheet, _ = drafted(recorded(exchange("Pay it", [Call("pay", None)], None)))
    assert turn(sheet, 1)["gold_turn"] == {"tool_id": "pay"}
    assert "result" not in turn(sheet, 1)
    assert "The arguments were not captured whole" in text_of(sheet)
    assert "no reply was recorded in this exchange" in text_of(sheet)


def test_amounts_may_be_rounded_and_lists_that_are_pairs_come_in_any_order() -> None:
    args: dict[str, JSON] = {"amount": 12.5, "rate": 0.05, "item_ids": ["1", "2"], "new_item_ids": ["3", "4"]}
    sheet, _ = drafted(recorded(exchange("Exchange them", [Call("exchange_items", args, {"ok": 1})], "Done.")))
    assert turn(sheet, 1)["match"] == {"amount": {"number": {"abs": 0.005}}, "item_ids": {"parallel": ["new_item_ids"]}}
    loaded(sheet)


def order_and_return(item: str, other: str, args: JSON) -> Recording:
    result: JSON = {"items": [{"item_id": item}, {"item_id": other}], "fulfilments": [{"item_ids": [item, other]}]}
    calls = [Call("get_order", {"order_id": "A-1042"}, result), Call("return_items", {"item_ids": args}, {"ok": True})]
    return recorded(exchange("Return both lamps of A-1042", calls, "Both lamps are on their way back."))


def test_an_identifier_in_two_places_refers_to_the_first_and_names_the_others() -> None:
    sheet, checked = drafted(order_and_return("7441167885", "3478699712", ["7441167885", "3478699712"]))
    assert turn(sheet, 2)["gold_turn"]["args"] == {
        "item_ids": ["${1.result.items[0].item_id}", "${1.result.items[1].item_id}"]
    }
    assert "an identifier, which stands as well in ${1.result.fulfilments[0].item_ids[0]}" in notes(sheet, 2)
    assert checked.loosened == ()
    again = order_and_return("1111222233", "4444555566", ["1111222233", "4444555566"])
    wrong = order_and_return("1111222233", "4444555566", ["1111222233", "9999888877"])
    assert passes(loaded(sheet), again, wrong) == [True, False]


def test_identifiers_in_a_list_that_is_json_text_are_references_inside_the_text() -> None:
    sheet, _ = drafted(order_and_return("7441167885", "3478699712", '["7441167885","3478699712"]'))
    assert turn(sheet, 2)["gold_turn"]["args"] == {
        "item_ids": '["${1.result.items[0].item_id}","${1.result.items[1].item_id}"]'
    }
    again = order_and_return("1111222233", "4444555566", '["1111222233","4444555566"]')
    wrong = order_and_return("1111222233", "4444555566", '["1111222233","9999888877"]')
    assert passes(loaded(sheet), again, wrong) == [True, False]


def exchanged(ids: list[str], sent: list[JSON], new: list[JSON]) -> Recording:
    items: list[JSON] = [{"item_id": ids[0]}, {"item_id": ids[1]}]
    variants: JSON = {one: {"item_id": one, "price": price} for one, price in zip(ids[2:], (10.5, 20.5), strict=True)}
    calls = [
        Call("get_order", {"order_id": "A-1042"}, {"items": items}),
        Call("get_product", {"name": "lamp"}, {"variants": variants}),
        Call("exchange_items", {"item_ids": sent, "new_item_ids": new}, {"ok": True}),
    ]
    return recorded(exchange("Exchange both lamps of A-1042", calls, "Both lamps will be exchanged."))


def test_pairs_of_ids_that_every_run_makes_anew_pass_in_any_order_and_no_other_id_does() -> None:
    first = ["7441167885", "3478699712", "3815173328", "6017636844"]
    again = ["1111222233", "4444555566", "7777888899", "2222333344"]
    sheet, checked = drafted(exchanged(first, [*first[:2]], [*first[2:]]))
    assert checked.loosened == ()
    assert turn(sheet, 3)["match"]["item_ids"] == {"parallel": ["new_item_ids"]}
    same = exchanged(again, [*again[:2]], [*again[2:]])
    turned = exchanged(again, [again[1], again[0]], [again[3], again[2]])
    invented = exchanged(again, [*again[:2]], [again[2], "9999888877"])
    assert passes(loaded(sheet), same, turned, invented) == [True, True, False]
