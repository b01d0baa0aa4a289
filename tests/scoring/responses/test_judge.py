"""A reply is judged by its facts, not by its words."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aem_monitor.scoring.responses import claims, facts, judge, mentions, supports
from aem_monitor.scoring.values import ValueContext
from tests.scoring.fixtures_scorer import embedded

TODAY = ValueContext(reference_date=date(2026, 11, 30))
SHIPPED = "Your order A-1042 has shipped and should arrive on 2026-12-03."
ASKED = ValueContext(reference_date=date(2026, 11, 30), given=("Where is my order A-1042?",))


def verdict(reference: str, response: str, context: ValueContext = TODAY) -> tuple[bool | None, bool | None]:
    judged = judge(reference, response, context, embedded())
    return judged.consistent, judged.complete


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("Which region should the report cover?", "Sure, which region would you like the report for?"),
        ("EU revenue was 1.24 million.", "Revenue in the EU came to 1,240,000."),
        ("Your order has been cancelled.", "Done! I've cancelled your order."),
        ("The table is booked for 7:30 pm.", "I booked the table for half past seven in the evening."),
        (
            "The flight to Boston costs $320.",
            "It's 320 dollars for the flight to Boston. Anything else I can help with?",
        ),
        (SHIPPED, SHIPPED),
    ],
)
def test_a_faithful_reply_in_other_words_passes(reference: str, response: str) -> None:
    assert verdict(reference, response) == (True, True)


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("Revenue was 1.2 million in 2024.", "In 2024 it was 1.3 million."),
        (SHIPPED, "Your order A-1042 has shipped and should arrive on December 5."),
        (SHIPPED, "Your order A-1043 has shipped and should arrive on 2026-12-03."),
        ("Your order has been cancelled.", "Your order could not be cancelled."),
        ("The train goes from Paris to London.", "The train goes from London to Paris."),
        ("Your request is pending review.", "Your refund of $20 has been issued."),
        ("Sales increased in the north.", "Sales decreased in the north."),
    ],
)
def test_a_contradiction_or_an_unknown_fact_is_inconsistent(reference: str, response: str) -> None:
    judged = judge(reference, response, TODAY, embedded())
    assert judged.consistent is False
    assert judged.unsupported
    assert judged.score < 0.5


def test_saying_less_is_consistent_and_incomplete() -> None:
    judged = judge(SHIPPED, "It has shipped and arrives Dec 3.", TODAY, embedded())
    assert (judged.consistent, judged.complete) == (True, False)
    assert [fact.text for claim in judged.missing for fact in claim.facts] == ["A-1042"]


def test_what_the_user_said_need_not_be_repeated_and_may_be() -> None:
    assert verdict(SHIPPED, "It has shipped and arrives Dec 3.", ASKED) == (True, True)
    assert verdict("It has shipped.", "A-1042 has shipped.", ASKED) == (True, True)


def test_unsupported_claims_name_the_facts_at_fault() -> None:
    judged = judge("Revenue was 1.2 million in 2024.", "In 2024 it was 1.3 million.", TODAY, embedded())
    assert [fact.text for claim in judged.unsupported for fact in claim.facts] == ["1.3 million"]


@pytest.mark.parametrize(
    "text",
    [
        "Su pedido ha sido enviado y llegará el jueves a su casa.",
        "Votre commande a été expédiée et arrivera jeudi dans votre ville.",
        "您的订单已经发货，将于周四送达。",
        "Ваш заказ отправлен и прибудет в четверг.",
    ],
)
def test_no_other_language_fails_a_reply(text: str) -> None:
    assert verdict(SHIPPED, text) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        "You'll get $20 back within five days.",
        "Departure: 19:30, JFK airport.",
        "Done.",
        "El Paso, La Jolla, Los Gatos",
    ],
)
def test_short_english_and_names_are_judged(text: str) -> None:
    assert verdict(text + " Goodbye!", text)[0] is True


def test_another_language_cannot_be_judged() -> None:
    judged = judge(SHIPPED, "Ihre Bestellung wurde heute verschickt und kommt bald bei Ihnen an.", TODAY, embedded())
    assert (judged.consistent, judged.complete, judged.uncertain) == (None, None, True)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("We close at half past seven in the evening.", "7:30 pm"),
        ("That makes 29 dollars.", "$29.00"),
        ("Your refund is $226.11.", "226.11"),
        ("I found 10 items.", "10"),
        ("There are ten of them.", "10"),
        ("Revenue was 1,240,000.", "1.24 million"),
        ("It arrives on December 3rd.", "2026-12-03"),
        ("The train to NYC leaves soon.", "New York City"),
        ("Your order #W123 is on its way.", "W123"),
        ("The order has been CANCELLED.", "cancelled"),
    ],
)
def test_a_mention_counts_in_any_equivalent_form(text: str, wanted: str) -> None:
    assert mentions(text, wanted, TODAY, embedded()).equivalent


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("We close at 7:30 am.", "7:30 pm"),
        ("That makes 290 dollars.", "$29.00"),
        ("The rate is 1.5.", "5"),
        ("I found 100 items.", "10"),
        ("Order W1234 is on its way.", "W123"),
        ("It was uncancelled.", "cancelled"),
        ("", "10"),
    ],
)
def test_a_mention_that_is_only_nearly_there_is_missing(text: str, wanted: str) -> None:
    assert not mentions(text, wanted, TODAY, embedded()).equivalent


def test_a_claim_is_supported_by_a_result_that_holds_its_facts() -> None:
    (claim,) = claims("The total is $59.90 for order A-1042.", TODAY)
    assert supports(claim, {"id": "A-1042", "total": 59.9}, TODAY, embedded())
    assert not supports(claim, {"id": "A-1042", "total": 59.8}, TODAY, embedded())
    assert not supports(claim, None, TODAY, embedded())


def test_claims_carry_polarity_action_and_whether_they_assert() -> None:
    text = "Hello! I have cancelled order A-1042. It was not refunded. Would you like a receipt?"
    read = claims(text, TODAY)
    assert [claim.action for claim in read] == [None, "cancelled", "refunded", None]
    assert [claim.negated for claim in read] == [False, False, True, False]
    assert [claim.asks for claim in read] == [False, False, False, True]
    assert read[0].phatic
    assert all(text[claim.start :].startswith(claim.text) for claim in read)


def test_facts_know_their_place() -> None:
    text = 'Dana paid $29.00 on March 3rd for order A-1042 at "Café Luna".'
    assert [(fact.kind, text[fact.start : fact.end]) for fact in facts(text, TODAY)] == [
        ("money", "$29.00"),
        ("date", "March 3rd"),
        ("identifier", "A-1042"),
        ("quoted", "Café Luna"),
    ]


@given(st.text(max_size=120), st.text(max_size=120))
@settings(max_examples=100, deadline=None)
def test_no_text_breaks_the_judgement(reference: str, response: str) -> None:
    judged = judge(reference, response, TODAY, embedded())
    assert 0 <= judged.score <= 1
    assert mentions(response, reference, TODAY, embedded()).score <= 1


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_every_text_is_consistent_with_itself(text: str) -> None:
    assert verdict(text, text) == (True, True)


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("The room is $99 a night.", "It costs $99 per night."),
        ("It has a rating of 95 out of 100.", "Its rating is 95 percent."),
        (
            "We expect Q3 revenue of $3 million for the full year 2024.",
            "For 2024 a $3 million revenue is expected in Q3.",
        ),
        ("It opened on Jan. 18.", "The opening was on January 18th."),
        ("They're at 28 Bute Gardens.", "The address is 28 Bute Gardens, and it is currently open."),
        ("I found 3 hotels.", "I found 3 hotels for you, one of them is very popular."),
        ("It is not furnished and pets are not allowed.", "No, it's not furnished, and no pets are allowed."),
        ("Your table has been reserved.", "Great, your table has been booked."),
        ("Please confirm: 2 tickets for Toy Story 4.", "You want 2 tickets for Toy Story 4, is that correct?"),
    ],
)
def test_ways_of_saying_the_same_fact_are_no_new_facts(reference: str, response: str) -> None:
    assert verdict(reference, response)[0] is True


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("Your order has been cancelled.", "Your order has been refunded."),
        ("Which order is it?", "Sure, I've cancelled your order."),
        ("Please confirm: 2 tickets for Toy Story 4.", "You want 2 tickets for Toy Story 3, is that correct?"),
        ("I can cancel it for you. Shall I?", "It has been cancelled."),
        ("The room is $99 a night. Smoking is not allowed.", "The room is $99 a night and smoking is permitted."),
        (
            "Your order has shipped.",
            "Your order has shipped. Engineers discovered leaking batteries inside several warehouse forklifts.",
        ),
        ("The meeting is with Anna Weber.", "The meeting is with Carl Weber."),
        ("You'll get $20 back.", "You'll get $20 back within the week, and I've also upgraded your account."),
    ],
)
def test_a_politely_wrapped_or_half_right_claim_is_still_wrong(reference: str, response: str) -> None:
    assert verdict(reference, response)[0] is False


def test_a_wrong_value_in_the_place_of_the_right_one_is_inconsistent_and_not_missing() -> None:
    assert verdict("The hotel is at 12 Hill Road and costs $90.", "The hotel is at 14 Lake Road and costs $90.") == (
        False,
        True,
    )


@pytest.mark.parametrize(
    "text", ["Hello!", "Thanks, have a great day!", "Is there anything else I can help you with?", "Sure."]
)
def test_greetings_and_offers_neither_add_nor_miss_anything(text: str) -> None:
    assert verdict(f"{text} It has shipped.", "It has shipped.") == (True, True)
    assert verdict("It has shipped.", f"It has shipped. {text}") == (True, True)
