"""What a reply has to say where the run's own values are others than the golden ones."""

import pytest

from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON
from tests.playing import Call, agent, exchange, golden, judged, tool, user, words

HOTEL = golden(
    [
        user("A hotel in Kyoto, please."),
        tool(
            1,
            "hotels.Book",
            {"city": "Kyoto"},
            result={"booking": "BK-4471-KY", "price": 28900, "amount_eur": 178.6, "hours_left": 2, "balance": 7.5},
        ),
        agent(
            2,
            "Your booking is BK-4471-KY. It costs 28,900 yen, about 178.60 euros. You have 7.5 days left, and 2 hours "
            "to cancel.",
            depends_on=[1],
        ),
    ]
)
OWN: JSON = {"booking": "BK-9008-KY", "price": 29400, "amount_eur": 181.69, "hours_left": 5, "balance": 6}


def reply_to(result: Captured, reply: str) -> str:
    """What is said of a reply to these results."""
    played = exchange("A hotel in Kyoto, please.", [Call("hotels.Book", {"city": "Kyoto"}, result)], reply)
    return words(judged(HOTEL, played))[2]


def reply(booking: str = "BK-9008-KY", price: str = "29,400 yen", days: str = "6 days", hours: str = "5 hours") -> str:
    return (
        f"Your booking is {booking}. It costs {price}, about 181.69 euros. You have {days} left, and {hours} to cancel."
    )


def test_its_own_numbers_in_the_units_of_the_reference() -> None:
    assert reply_to(OWN, reply()) == "pass"


@pytest.mark.parametrize(
    "wrong",
    [
        reply(price="29,400 euros"),
        reply(days="6 weeks"),
        reply(days="7.5 days"),
        reply(hours="2 hours"),
        reply(booking="BK-4471-KY"),
    ],
)
def test_neither_another_unit_nor_the_golden_value(wrong: str) -> None:
    assert reply_to(OWN, wrong).startswith("root")


def test_without_the_result_nobody_knows_whether_a_value_is_right() -> None:
    assert reply_to(NOT_CAPTURED, reply()) == "content_missing"


SHIFTS = golden(
    [
        user("Who can cover my shift?"),
        tool(1, "hr.FindCover", {}, result={"candidates": [{"name": "Tom Okafor"}, {"name": "Lena Vogt"}]}),
        agent(2, "Tom Okafor or Lena Vogt could.", depends_on=[1]),
        user("Ask Lena."),
        tool(3, "hr.Assign", {"to": "Lena"}),
        agent(4, "Lena Vogt has the shift.", depends_on=[1, 3]),
    ]
)


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("Lena Vogt has the shift.", "pass"),
        ("Tom Okafor has the shift.", "root incomplete_response"),
        ("Mia Berg has the shift.", "root inconsistent_response"),
    ],
)
def test_what_is_true_of_something_else_does_not_stand_for_what_is_to_be_said(said: str, verdict: str) -> None:
    found: JSON = {"candidates": [{"name": "Tom Okafor"}, {"name": "Lena Vogt"}]}
    first = exchange("Who can cover my shift?", [Call("hr.FindCover", {}, found)], "Tom Okafor or Lena Vogt could.")
    second = exchange("Ask Lena.", [Call("hr.Assign", {"to": "Lena"}, {"ok": True})], said, at=100)
    assert words(judged(SHIFTS, first, second))[4] == verdict


def test_in_an_open_dialog_either() -> None:
    dialog = golden([agent(1, "Lena Vogt has the shift.")])
    said = exchange("Who has my shift?", [], "Tom Okafor has the shift.")
    assert words(judged(dialog, said))[1] == "root incomplete_response"


MAIL = golden(
    [
        user("Book it."),
        tool(1, "hotels.Book", {}, result={"total": 86700}),
        tool(2, "mail.send", {"body": "Your room is booked, the total is 86,700 yen."}, depends_on=[1]),
    ]
)


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("Your room is booked, the total is 88,200 yen.", "pass"),
        ("Your room is booked, the total is 88,200 euros.", "root inconsistent_parameter_values"),
    ],
)
def test_the_unit_stays_in_texts_of_arguments(body: str, verdict: str) -> None:
    calls = [Call("hotels.Book", {}, {"total": 88200}), Call("mail.send", {"body": body}, {"ok": True})]
    assert words(judged(MAIL, exchange("Book it.", calls, "Done.")))[2] == verdict


def test_that_a_result_has_the_words_does_not_bear_out_their_opposite() -> None:
    dialog = golden(
        [user("Any refills?"), tool(1, "rx.Get", {}), agent(2, "You have one refill left.", depends_on=[1])]
    )
    played = exchange("Any refills?", [Call("rx.Get", {}, {"refills_left": 1})], "You have no refills left.")
    assert words(judged(dialog, played))[2] == "root inconsistent_response"
