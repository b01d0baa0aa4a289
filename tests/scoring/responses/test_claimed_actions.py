"""What a reply says has been done, and facts in brackets."""

from datetime import date

import pytest

from aem_monitor.scoring.responses import facts, judge, supports
from aem_monitor.scoring.responses.claims import claimed_action, claims
from aem_monitor.scoring.scorers import EmbeddedScorer
from aem_monitor.scoring.values import ValueContext

CONTEXT = ValueContext(date(2026, 11, 30))
SCORER = EmbeddedScorer()


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("A confirmation letter has been mailed to your office as well.", "sent"),
        ("The money was transferred to your account.", "transferred"),
        ("The report has been forwarded to dana@example.com.", "forwarded"),
        ("Your seat has been changed.", "changed"),
        ("The form has been submitted.", "submitted"),
        ("I've moved the meeting.", "moved"),
        ("It has been arranged.", "arranged"),
        ("I have posted the note.", "posted"),
    ],
)
def test_an_action_is_claimed_with_or_without_where_to(text: str, action: str) -> None:
    assert claimed_action(text) == action


@pytest.mark.parametrize("text", ["The offer is set to expire.", "It is scheduled to arrive on Monday."])
def test_what_something_is_set_to_do_has_not_been_done(text: str) -> None:
    assert claimed_action(text) is None


def test_a_number_that_a_bracket_closes_over_is_a_fact_and_a_list_mark_is_none() -> None:
    assert [fact.text for fact in facts("the earbud (item 2757705742) for the other", CONTEXT)] == ["2757705742"]
    assert [fact.text for fact in facts("(158 + 141) + 300", CONTEXT)] == ["158", "141", "300"]
    assert facts("2) pay", CONTEXT) == ()


def test_another_number_in_brackets_is_another_fact() -> None:
    reference = "You are exchanging the earbud (item ID: 2757705742) for the other one"
    assert judge(reference, reference.replace("5742", "5745"), CONTEXT, SCORER).consistent is False


def test_a_large_result_does_not_bear_out_an_action_that_it_does_not_tell_of() -> None:
    (claim,) = claims("A confirmation letter has been mailed to your office as well.", CONTEXT)
    offers = {"products": ["office chair", "letter scale", "confirmation stamp", "mailbox"]}
    assert not supports(claim, offers, CONTEXT, SCORER)
    assert supports(claim, {"office": {"confirmation_letter": "sent"}}, CONTEXT, SCORER)


def test_the_mark_of_a_list_is_no_minus() -> None:
    text = "These are left:\n- 1000ml, black\n- 750ml, red"
    assert [claim.text for claim in claims(text, CONTEXT)] == ["These are left:", "1000ml, black", "750ml, red"]
    assert all(text[claim.start :].startswith(claim.text) for claim in claims(text, CONTEXT))
    assert judge(text, text.replace("These", "Those"), CONTEXT, SCORER).consistent is True
