"""Plays of a dialog in a conversation, and what a message that an exporter cut says about them."""

from dataclasses import replace

import pytest

from aem_monitor.model.conversation import Exchange, UserMessage
from tests.playing import agent, exchange, golden, judged, runs, user, words

LONG = "Create a sales report for last quarter and send it to the board of directors"
DIALOG = golden([user(LONG), agent(1, "Which region?"), user("Show revenue of the EU"), agent(2, "Done.")])


def _cut(text: str, reply: str, at: int = 0) -> Exchange:
    made = exchange(text, reply=reply, at=at)
    return replace(made, user=replace(made.user, truncated=True))


def test_a_message_that_was_cut_is_on_script_if_what_is_left_of_it_is() -> None:
    result = judged(DIALOG, _cut(LONG[:40], "Which region?"), exchange("Show revenue of the EU", reply="Done.", at=60))
    assert words(result) == {1: "pass", 2: "pass"}


def test_the_same_beginning_of_a_whole_message_is_another_message() -> None:
    (run,) = runs(DIALOG, exchange(LONG[:40], reply="Which region?"))
    assert not run.exchanges[0].on_script


def test_a_cut_message_that_begins_otherwise_is_off_script() -> None:
    (run,) = runs(DIALOG, _cut("Cancel the order with the number", "Which region?"))
    assert not run.exchanges[0].on_script


def test_a_message_cut_too_short_to_tell_is_not_called_off_script() -> None:
    (run,) = runs(DIALOG, exchange(LONG, reply="Which region?"), _cut("Show re", "Done.", at=60))
    assert run.exchanges[1].on_script
    assert run.all_present


def test_a_first_message_that_was_cut_starts_the_next_play() -> None:
    one = (exchange(LONG, reply="Which region?"), exchange("Show revenue of the EU", reply="Done.", at=60))
    two = (_cut(LONG[:40], "Which region?", at=200), exchange("Show revenue of the EU", reply="Done.", at=260))
    assert [run.play for run in runs(DIALOG, *one, *two)] == [1, 2]


def test_the_first_message_in_the_middle_of_a_play_does_not_start_another() -> None:
    first = exchange(LONG, reply="Which region?")
    again = exchange(LONG, reply="Which region, please?", at=30)
    (run,) = runs(DIALOG, first, again, exchange("Show revenue of the EU", reply="Done.", at=60))
    assert run.exchanges[1].present
    assert run.exchanges[1].on_script


def test_after_a_long_gap_it_does() -> None:
    assert len(runs(DIALOG, exchange(LONG, reply="Which?"), exchange(LONG, reply="Which?", at=4000))) == 2


@pytest.mark.parametrize("text", [None, "Show revenue of the EU"])
def test_a_message_that_was_not_captured_pairs_by_position(text: str | None) -> None:
    second = replace(exchange("x", reply="Done.", at=60), user=UserMessage(text, 60))
    (run,) = runs(DIALOG, exchange(LONG, reply="Which region?"), second)
    assert run.exchanges[1].on_script
    assert run.all_present


def test_any_spelling_of_the_first_message_is_on_script_and_of_later_ones_only_the_golden_words() -> None:
    spelled = golden(
        [user(LONG), agent(1, "Which region?"), user("The EU")], recognise={"first_user": ["Numbers please"]}
    )
    (run,) = runs(spelled, exchange("numbers, please", reply="Which region?"), exchange("The EU", reply="Ok", at=60))
    assert [played.on_script for played in run.exchanges] == [True, True]
    (run,) = runs(spelled, exchange(LONG, reply="Which region?"), exchange("Numbers please", reply="Ok", at=60))
    assert [played.on_script for played in run.exchanges] == [True, False]
