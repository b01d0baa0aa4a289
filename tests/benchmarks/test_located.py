"""Reported places on the hand-labelled runs, and what the figures are made of."""

from tests.benchmarks.faults.dialogs import BUNDLED
from tests.benchmarks.located import RULES, judged, labelled, near, played, reported

LABELLED = BUNDLED / "labelled"


def test_every_call_and_every_last_reply_of_an_exchange_has_a_message() -> None:
    for label in labelled(LABELLED):
        run = played(label)
        calls = sum(len(exchange.calls) for exchange in run.exchanges)
        replies = sum(exchange.reply is not None for exchange in run.exchanges)
        assert len(run.message_of) == calls + replies
        assert all(label.row["messages"][at]["role"] == "assistant" for at in run.message_of.values())


def test_near_counts_what_is_within_reach() -> None:
    labels = list(labelled(LABELLED))[:3]
    places = [labels[0].step, labels[1].step - 2, None]
    assert [near(labels, places, reach) for reach in (0, 1, 2)] == [1, 1, 2]


def test_the_reported_places_are_as_near_as_those_of_the_best_simple_rule() -> None:
    labels = list(labelled(LABELLED))
    assert len(labels) == 15
    runs = {label.name: played(label) for label in labels}
    found = judged(labels, runs, LABELLED)
    places = [reported(found[label.name], runs[label.name]) for label in labels]
    for reach in (0, 1, 3):
        best = max(near(labels, [rule(label) for label in labels], reach) for rule in RULES.values())
        assert near(labels, places, reach) >= best
