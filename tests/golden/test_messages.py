import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.golden.messages import normalise, same_user_message


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Where is my order?", "where is  my order"),
        ("Don’t refund it!", "don't refund it"),
        ("“EU” revenue – please", "EU revenue, please"),
        ("Ｏｒｄｅｒ ①", "order 1"),
        ("It's 5%.", "it's 5%"),
        ("zero\u200bwidth", "zerowidth"),
        ("line\nbreak\t", "line break"),
        ("STRASSE", "straße"),
        ("Is it A-1042?", "is it a‑1042"),
    ],
)
def test_case_space_quotes_and_punctuation_around_words_say_nothing(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.5 kg", "15 kg"), ("-5 degrees", "5 degrees"), ("5%", "5"), ("A-1042", "A 1042"), ("$5", "€5"), ("?", "!")],
)
def test_signs_inside_words_and_numbers_count(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@given(st.text())
def test_the_normal_form_is_its_own_normal_form(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(st.text(st.characters(max_codepoint=127)))
def test_a_letter_beyond_ascii_changes_nothing_about_the_words_beside_it(text: str) -> None:
    assert normalise(f"a {text} z").split(" ")[1:-1] == normalise(f"\u00e9 {text} \u4e2d").split(" ")[1:-1]


def always(_: str, __: str) -> float:
    return 1.0


def test_without_similarity_only_equal_messages_are_the_same() -> None:
    assert same_user_message("Show revenue.", "show revenue")
    assert not same_user_message("Show revenue.", "show the revenue")


def test_similar_messages_are_the_same_above_the_threshold() -> None:
    assert same_user_message("Show revenue.", "show the revenue", always)
    assert same_user_message("Show revenue.", "show the revenue", lambda *_: 0.9, 0.9)
    assert not same_user_message("Show revenue.", "show the revenue", lambda *_: 0.89, 0.9)


@pytest.mark.parametrize(
    ("golden", "live"),
    [
        ("Where is my order A-1042?", "Where is my order A-1043?"),
        ("Refund order 7", "Refund my order"),
        ("Refund the order", "Do not refund the order"),
        ("Refund it", "Don't refund it"),
        ("Send it with receipt", "Send it without receipt"),
    ],
)
def test_similarity_never_overrules_a_number_or_a_negation(golden: str, live: str) -> None:
    assert not same_user_message(golden, live, always)


def test_a_cut_message_is_compared_as_far_as_it_goes() -> None:
    golden = "Where is my order A-1042, and when will it arrive?"
    assert same_user_message(golden, "Where is my order A-1042, an", truncated=True)
    assert not same_user_message(golden, "Where is my order A-1042, an")
    assert not same_user_message(golden, "Where is my order B-1042, an", truncated=True)
    assert not same_user_message(golden, "Where is", truncated=True)
