"""Replies of real agents in other words than the reference: right ones pass, wrong ones that look like them do not."""

from datetime import date

import pytest

from aem_monitor.scoring.responses import judge
from aem_monitor.scoring.values import ValueContext, compare_values
from tests.scoring.fixtures_scorer import embedded

TODAY = ValueContext(reference_date=date(2026, 11, 30))
LEAVE = "I filed leave request LR-240 for 7 and 8 December."
WARNING = "You should not take ibuprofen without asking your doctor."


def verdict(reference: str, response: str, context: ValueContext = TODAY) -> tuple[bool | None, bool | None]:
    judged = judge(reference, response, context, embedded())
    return judged.consistent, judged.complete


@pytest.mark.parametrize("context", [TODAY, ValueContext()])
@pytest.mark.parametrize(
    ("reference", "response"),
    [
        (LEAVE, "Your leave request LR-240 (Mon 7 Dec - Tue 8 Dec) has been submitted."),
        (LEAVE, "Your leave request LR-240 for 7-8 December has been submitted."),
        ("The visit is on December 7 and 8.", "The visit is on 7 December and 8 December."),
        ("Booked for 7 December and 2 rooms.", "2 rooms are booked for December 7."),
        (WARNING, "Please talk to your doctor before taking ibuprofen."),
        ("Shall I book it?", "Do you want me to reserve it?"),
        ("Shall I book it?", "Should I go ahead?"),
        ("You have one refill left.", "No, you have one refill left."),
    ],
)
def test_the_same_in_other_words(reference: str, response: str, context: ValueContext) -> None:
    assert verdict(reference, response, context) == (True, True)


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        (LEAVE, "Your leave request LR-240 for 7 and 9 December has been submitted."),
        (LEAVE, "Your leave request LR-240 for 8 December has been submitted."),
        ("You are away from 7 to 11 December.", "You are away 7 and 8 December."),
        ("You have one refill left.", "No refills are left."),
        ("Your refill is ordered.", "Your refill is ordered. I also signed you up for our newsletter."),
        ("Shall I book it?", "Shall I cancel it?"),
    ],
)
def test_what_only_looks_like_it(reference: str, response: str) -> None:
    assert verdict(reference, response) != (True, True)


@pytest.mark.parametrize(
    "reference",
    [
        "Ich habe 250 Euro an Jana überwiesen. Die Auftragsnummer ist TX-4.",
        "Der Flug wurde gebucht.",
        "Su pedido fue enviado ayer.",
        "La commande a été expédiée.",
    ],
)
def test_a_reference_in_another_language_is_not_judged(reference: str) -> None:
    assert verdict(reference, "I transferred 900 euros.") == (None, None)


@pytest.mark.parametrize("text", ["I booked a table at the café.", "The jalapeño burger at Café Über is ready."])
def test_borrowed_words_are_english(text: str) -> None:
    assert verdict("It is 5 pm.", text) != (None, None)


@pytest.mark.parametrize("unit", ["µg", "μg", "mcg", "micrograms"])
def test_micrograms(unit: str) -> None:
    assert compare_values(f"5000 {unit}", "5 mg", TODAY, embedded()).equivalent
    assert not compare_values(f"5 {unit}", "5 mg", TODAY, embedded()).equivalent
