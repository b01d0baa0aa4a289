"""What several recordings of one conversation show together."""

from typing import Any

from aem_monitor.bootstrap.group import grouped, proposed_name
from aem_monitor.bootstrap.recorded import Recording
from aem_monitor.model.jsonvalue import JSON
from tests.bootstrap.drafting import drafted, loaded, notes, passes, recorded, text_of, turn
from tests.playing import Call, exchange


def one(*calls: Call, reply: str = "Done.", key: str = "c", said: str = "Do it") -> Recording:
    return recorded(exchange(said, calls, reply), key=key)


def test_a_step_that_not_all_recordings_take_is_optional() -> None:
    runs = [one(Call("save", {"x": "abc"}), Call("notify", {"to": "ops"})), one(Call("save", {"x": "abc"}))]
    sheet, _ = drafted(*runs)
    assert "presence" not in turn(sheet, 1)
    assert turn(sheet, 2)["presence"] == "optional"
    assert "1 of 2 recordings make" in notes(sheet, 2)
    assert passes(loaded(sheet), *runs) == [True, True]


def test_a_step_that_only_a_later_recording_takes_stands_where_it_was_taken() -> None:
    runs = [
        one(Call("save", {"x": "abc"}), Call("close")),
        one(Call("save", {"x": "abc"}), Call("notify"), Call("close")),
    ]
    sheet, _ = drafted(*runs)
    assert [turn(sheet, number)["gold_turn"]["tool_id"] for number in (1, 2, 3)] == ["save", "notify", "close"]
    assert passes(loaded(sheet), *runs) == [True, True]


def test_steps_whose_order_differs_are_tagged() -> None:
    save, close = Call("save", {"x": "abc"}), Call("close", {"y": "def"})
    runs = [one(save, close), one(close, save)]
    sheet, _ = drafted(*runs)
    tags = [turn(sheet, number)["tags"] for number in (1, 2)]
    assert tags[0] == tags[1]
    assert tags[0][0].startswith("OrderInvariant_")
    assert passes(loaded(sheet), *runs) == [True, True]


def test_steps_in_the_same_order_are_not_tagged() -> None:
    run = one(Call("save", {"x": "abc"}), Call("close", {"y": "def"}))
    assert "tags" not in turn(drafted(run, run)[0], 1)


def test_arguments_that_differ_become_alternatives_and_equivalent_ones_do_not() -> None:
    runs = [
        one(Call("filter", {"region": "EU", "day": "2026-11-02", "kind": "north"})),
        one(Call("filter", {"region": "EU", "day": "2 November 2026", "kind": "south"})),
    ]
    sheet, _ = drafted(*runs)
    assert turn(sheet, 1)["match"] == {"kind": {"any_of": ["south"]}, "day": {"date": True}}
    assert passes(loaded(sheet), *runs) == [True, True]


def test_nested_arguments_differ_by_path_and_lists_in_another_order_are_sets() -> None:
    runs = [
        one(Call("move", {"to": {"city": "Oslo", "zip": "0150"}, "ids": ["aa-11", "bb-22"]})),
        one(Call("move", {"to": {"city": "Bergen", "zip": "0150"}, "ids": ["bb-22", "aa-11"]})),
    ]
    sheet, _ = drafted(*runs)
    assert turn(sheet, 1)["match"] == {"to.city": {"any_of": ["Bergen"]}, "ids": {"set": True}}
    assert passes(loaded(sheet), *runs) == [True, True]


def test_an_argument_that_only_some_give_is_optional() -> None:
    runs = [one(Call("search.Find", {"q": "kettle"})), one(Call("search.Find", {"q": "kettle", "limit": 10}))]
    dialog = loaded(drafted(*runs)[0])
    assert list(dialog.optional_args("search", "Find")) == ["limit"]
    assert passes(dialog, *runs) == [True, True]


def paid(card: str, main: str, reply: str = "Paid.") -> Recording:
    calls = [
        Call("get_user", {}, {"card": card}),
        Call("get_account", {}, {"main": main}),
        Call("pay", {"with": card}, {"ok": True}),
    ]
    return one(*calls, reply=reply)


def test_a_second_recording_decides_between_two_places() -> None:
    runs = [paid("credit_card_4411", "credit_card_4411"), paid("credit_card_5522", "credit_card_9933")]
    sheet, _ = drafted(*runs)
    assert turn(sheet, 3)["gold_turn"]["args"] == {"with": "${1.result.card}"}
    assert "confirmed by 2 recordings" in notes(sheet, 3)
    assert passes(loaded(sheet), *runs, paid("credit_card_7744", "x")) == [True, True, True]


def test_a_reference_that_another_recording_does_not_bear_out_is_withdrawn() -> None:
    def run(card: str) -> Recording:
        return one(Call("get_user", {}, {"card": card}), Call("pay", {"with": "credit_card_4411"}, {"ok": True}))

    runs = [run("credit_card_4411"), run("credit_card_9933")]
    sheet, _ = drafted(*runs)
    assert turn(sheet, 2)["gold_turn"]["args"] == {"with": "credit_card_4411"}
    assert passes(loaded(sheet), *runs) == [True, True]


def told(reply: str) -> Recording:
    return one(Call("get_total", {}, {"total": 1240, "count": 37}), reply=reply)


def test_replies_that_do_not_agree_stand_beside_each_other() -> None:
    runs = [told("There were 37 orders for 1240 EUR."), told("The total is 1240.")]
    sheet, checked = drafted(*runs)
    assert turn(sheet, 2)["alternates"] == [{"response": "The total is ${1.result.total}."}]
    assert checked.failing == ()
    assert passes(loaded(sheet), *runs) == [True, True]
    assert passes(loaded(sheet), told("The total is 9999.")) == [False]


def test_what_not_every_good_reply_says_is_not_demanded() -> None:
    sheet, checked = drafted(told("There were 37 orders for 1240 EUR."), told("The total is 1240."))
    assert "${1.result.count}" not in turn(sheet, 2).get("must_mention", ())
    assert any("not demanded" in line for line in checked.loosened)


def test_replies_that_mean_the_same_need_no_alternative() -> None:
    sheet, _ = drafted(told("The total is 1240 EUR."), told("The total is EUR 1,240."))
    assert "alternates" not in turn(sheet, 2)


def test_another_tool_for_the_same_step_is_an_alternative() -> None:
    def run(name: str, made: str, **more: JSON) -> Recording:
        calls = [
            Call(name, {"order_id": "A-1042", **more}, {"id": made}),
            Call("notify", {"about": made}, {"ok": True}),
        ]
        return one(*calls, said="Make good for A-1042", reply=f"Done: {made}.")

    runs = [run("create_refund", "R-7781"), run("create_voucher", "V-4452", days=30)]
    sheet, _ = drafted(*runs)
    assert turn(sheet, 1)["alternates"] == [
        {"tool_id": "create_voucher", "args": {"order_id": "A-1042", "days": 30}, "result": {"id": "V-4452"}}
    ]
    assert "presence" not in turn(sheet, 1)
    assert turn(sheet, 2)["gold_turn"]["args"] == {"about": "${1.result.id}"}
    assert passes(loaded(sheet), *runs, run("create_voucher", "V-9001", days=30)) == [True, True, True]


def test_calls_with_invented_ids_are_the_same_step() -> None:
    def run(refund: str, other: str) -> Recording:
        return one(
            Call("create_refund", {"order": "A-1"}, {"id": refund}),
            Call("create_refund", {"order": "A-2"}, {"id": other}),
            Call("get_refund", {"id": refund}, {"state": "open"}),
            Call("get_refund", {"id": other}, {"state": "open"}),
            said="Refund A-1 and A-2",
        )

    runs = [run("R-1001", "R-1002"), run("R-2001", "R-2002")]
    sheet, _ = drafted(*runs)
    numbers = [number for number, one in sheet.numbered().items() if one.form["turn"] == "Tool"]
    assert numbers == [1, 2, 3, 4]
    assert passes(loaded(sheet), *runs, run("R-3001", "R-3002")) == [True, True, True]


def test_conversations_with_other_user_messages_are_other_dialogs() -> None:
    groups = grouped([one(key="a"), one(key="b", said="Do something else"), one(key="c")])
    assert [[recording.source for recording in group] for group in groups] == [["a", "c"], ["b"]]
    assert proposed_name(groups[1]) == "do-something-else"


def test_comments_do_not_depend_on_the_run() -> None:
    runs: list[Any] = [paid("credit_card_4411", "credit_card_4411"), paid("credit_card_5522", "credit_card_9933")]
    assert text_of(drafted(*runs)[0]) == text_of(drafted(*runs)[0])


def test_a_place_that_the_golden_result_does_not_have_is_no_reference() -> None:
    runs = [
        one(Call("get_user", {}, "unknown")),
        one(
            Call("get_user", {}, {"card": "credit_card_4411"}), Call("pay", {"with": "credit_card_4411"}, {"ok": True})
        ),
    ]
    sheet, _ = drafted(*runs)
    assert turn(sheet, 2)["gold_turn"]["args"] == {"with": "credit_card_4411"}
    assert False not in passes(loaded(sheet), *runs)
