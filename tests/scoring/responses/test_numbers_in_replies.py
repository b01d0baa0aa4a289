"""Numbers in replies: rounded ones, and ones that are said of something else; answers in other languages."""

from typing import Final

import pytest

from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.responses import claims, judge, supports
from aem_monitor.scoring.responses.language import is_english
from aem_monitor.scoring.scorers import EmbeddedScorer
from aem_monitor.scoring.values import ValueContext
from aem_monitor.scoring.values.guards import antonyms

SCORER: Final = EmbeddedScorer()
CONTEXT: Final = ValueContext()


def consistent(reference: str, response: str) -> bool | None:
    return judge(reference, response, CONTEXT, SCORER).consistent


@pytest.mark.parametrize(
    ("result", "reply"),
    [
        (310_500, "Profit was 0.31 million."),
        (1_243_000, "Revenue was 1.24 million."),
        (30.84, "The share is 31 %."),
        (30.84, "The share is 30.8 %."),
        ("310500.00 USD", "It comes to $0.31 million."),
        (1_243_000, "Revenue was about 1.2 million."),
        (47.38, "It costs about $47."),
    ],
)
def test_a_result_bears_out_a_number_that_rounds_it_to_the_precision_stated(result: JSON, reply: str) -> None:
    assert supports(claims(reply, CONTEXT)[0], {"value": result}, CONTEXT, SCORER)


@pytest.mark.parametrize(
    ("result", "reply"),
    [
        (310_500, "Profit was 0.32 million."),
        (1_243_000, "Revenue was 1.25 million."),
        (30.84, "The share is 30 %."),
        (4.1, "The rating is 4."),
        (47.38, "It costs $47."),
        (12, "There are 10 rooms."),
        (0.31, "Profit was 0.31 million."),
    ],
)
def test_a_result_does_not_bear_out_a_number_that_does_not_round_it(result: JSON, reply: str) -> None:
    assert not supports(claims(reply, CONTEXT)[0], {"value": result}, CONTEXT, SCORER)


def test_a_number_said_of_another_measure_is_inconsistent() -> None:
    assert consistent("EU revenue was 1.24 million.", "The EU made a profit of 1.24 million.") is False
    assert consistent("The profit was $310,500 on sales of $1.24 million.", "Revenue came to $310,500.") is False
    assert consistent("The humidity is 31 percent and the wind 5 mph.", "The chance of rain is 31 percent.") is False


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("EU revenue was 1.24 million.", "Sales in the EU came to 1.24 million."),
        ("It costs $47 a day.", "The fare is $47 per day."),
        ("EU revenue was 1.24 million.", "In the EU it was 1.24 million."),
        ("Winds of 6 miles an hour are expected.", "The wind speed will be 6 mph."),
        ("It will be 82 degrees Fahrenheit.", "The temperature is 82 degrees."),
    ],
)
def test_other_words_for_one_measure_are_consistent(reference: str, response: str) -> None:
    assert consistent(reference, response) is True


def test_a_yes_does_not_answer_as_a_no_does() -> None:
    assert consistent("Unfortunately, you cannot.", "Yup, you can.") is False
    assert consistent("Yes, they serve wine.", "No, they serve beer.") is False
    assert consistent("Yes, they serve wine.", "Yeah, they serve wine.") is True


@pytest.mark.parametrize(
    "text",
    [
        "Siparişiniz iptal edildi ve para iadesi üç gün içinde hesabınıza yatacaktır, başka bir isteğiniz var mı?",
        "Pesanan anda sudah dibatalkan dan uang akan kembali dalam tiga hari untuk anda.",
        "Tilauksesi on peruutettu, ja rahat palautetaan tilillesi kolmen päivän kuluessa; muuta ei tarvita.",
        "Ваш заказ отменён.",
        "您的订单已取消。",
        "注文はキャンセルされました。",
    ],
)
def test_a_reply_in_another_language_is_not_judged(text: str) -> None:
    assert not is_english(text)
    judged = judge("Your order has been cancelled.", text, CONTEXT, SCORER)
    assert (judged.consistent, judged.complete, judged.uncertain) == (None, None, True)


@pytest.mark.parametrize(
    "text", ["Order A-1042: shipped.", "El Paso, San Jose, Los Gatos", "Done.", "Your café is open."]
)
def test_short_english_and_names_are_judged(text: str) -> None:
    assert is_english(text)


def test_a_claim_says_which_action_it_claims() -> None:
    said = claims("Your order has been cancelled. Shall I refund it? It will be shipped.", CONTEXT)
    assert [claim.action for claim in said] == ["cancelled", None, None]


def test_what_is_undone_is_the_opposite() -> None:
    assert consistent("The apps he installed are not working.", "The apps he uninstalled are not working.") is False
    assert antonyms("the less they know", "unless they know") is None


def test_a_table_is_not_judged() -> None:
    table = ", ".join(str(number * 7) for number in range(1, 400))
    judged = judge(table, f"{table}.5", CONTEXT, SCORER)
    assert (judged.consistent, judged.complete, judged.uncertain) == (None, None, True)
