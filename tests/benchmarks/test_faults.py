"""Faults are what they say, their truth follows from how they were made, and the sample is told right."""

import random
from collections.abc import Mapping

import pytest

from aem_monitor.golden.dialog import ToolTurn
from tests.benchmarks.faults.__main__ import measured
from tests.benchmarks.faults.changing import Pools, changed, follow, other_digits, says
from tests.benchmarks.faults.dialogs import BUNDLED, Call, Exchange, GoodDialog, read_dialogs
from tests.benchmarks.faults.goldens import Golden, draft, without_links
from tests.benchmarks.faults.harmless import HARMLESS
from tests.benchmarks.faults.kinds import FAULTS, Run, Truth, Workshop
from tests.benchmarks.faults.outcome import ALL, Case, Said, figures

BOOKING = GoodDialog(
    "made up",
    "booking",
    (
        Exchange(
            "Book a table for 4 at Amakai on 2024-06-01",
            (
                Call("search.find", {"name": "Amakai", "day": "2024-06-01"}, {"venue": "V-4711", "phone": "555-0101"}),
                Call("search.book", {"venue": "V-4711", "people": 4}, {"code": "BK-90210"}),
            ),
            "Your table is booked. The code is BK-90210.",
        ),
        Exchange("Thanks, and the number to call?", (), "You reach V-4711 under 555-0101."),
    ),
)


@pytest.fixture(scope="module")
def golden() -> Golden:
    found = draft(BOOKING)
    assert found is not None
    return found


def shop(seed: int = 1) -> Workshop:
    calls = [call for exchange in BOOKING.exchanges for call in exchange.calls]
    other = Call("search.cancel", {"code": "BK-1"}, "done")
    return Workshop(Pools.of([BOOKING]), {"made up": (*calls, other)}, random.Random(seed))


def made(golden: Golden, kind: str, seed: int = 1) -> Run:
    run = {**FAULTS, **HARMLESS}[kind](golden, shop(seed))
    assert run is not None
    return run


def test_the_golden_dialog_has_a_turn_for_every_call_and_reply(golden: Golden) -> None:
    assert dict(golden.numbers) == {(0, 0): 1, (0, 1): 2, (0, None): 3, (1, None): 4}


def test_without_links_no_turn_refers_to_another(golden: Golden) -> None:
    turns = without_links(golden).dialog.scored_turns
    assert all(not turn.dependencies for turn in turns)
    book = next(turn for turn in turns if turn.turn_no == 2)
    assert isinstance(book, ToolTurn)
    assert book.args == {"venue": "V-4711", "people": 4}


def test_a_changed_result_is_followed_to_all_that_it_brings() -> None:
    followed = follow(BOOKING, 0, 0, Pools.of([BOOKING]), random.Random(1))
    found, booked = followed.exchanges[0].calls
    assert isinstance(found.result, Mapping)
    assert found.result["venue"] != "V-4711"
    assert booked.args == {"venue": found.result["venue"], "people": 4}
    assert followed.calls == ((0, 1),)
    assert followed.replies == (1,)
    assert followed.exchanges[0].reply == BOOKING.exchanges[0].reply
    assert says(followed.exchanges[1].reply, found.result["venue"])


def test_a_value_that_the_user_said_is_not_followed() -> None:
    asked = Exchange("Is v 4711 free?", BOOKING.exchanges[0].calls, "V-4711 is free.")
    followed = follow(GoodDialog("made up", "x", (asked,)), 0, 0, Pools.of([BOOKING]), random.Random(1))
    assert "V-4711" in str(followed.exchanges)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "text", ["BK-90210", "7:30", "2024-06-01", "$29.00", "1", "0", "10:00 AM", "2024-02-30 09:00:00"]
)
def test_other_digits_are_other_digits(text: str, seed: int) -> None:
    new = other_digits(text, random.Random(seed))
    assert new != text
    assert len(new) == len(text) or "2031" in new


def test_only_whole_words_change() -> None:
    assert changed(["V-1", "V-12 and V-1.", {"n": 12.5}, 12], {"V-1": "X", "12": "13"}) == [
        "X",
        "V-12 and X.",
        {"n": 12.5},
        13,
    ]


def test_the_truth_of_consequences_is_one_root_and_what_took_from_it(golden: Golden) -> None:
    truths = [made(golden, "with consequences", seed).truth for seed in range(8)]
    found = {(*truth.roots, *sorted(truth.cascades)) for truth in truths}
    assert found == {(1, 2, 4), (2, 3)}


def test_a_second_fault_downstream_makes_the_heir_a_root(golden: Golden) -> None:
    run = made(golden, "second in an heir")
    assert set(run.truth.roots) == {1, 2}
    assert run.truth.cascades == {4}
    assert run.exchanges[0].calls[1].args["people"] != 4


@pytest.mark.parametrize("kind", sorted(FAULTS))
def test_a_fault_changes_the_run_and_says_where(golden: Golden, kind: str) -> None:
    run = FAULTS[kind](golden, shop())
    if run is None:
        pytest.skip("does not apply to this dialog")
    assert run.exchanges != BOOKING.exchanges
    assert run.truth.roots or run.truth.extras


@pytest.mark.parametrize("kind", sorted(HARMLESS))
def test_a_non_fault_has_no_root(golden: Golden, kind: str) -> None:
    run = HARMLESS[kind](golden, shop())
    assert run is None or run.truth == Truth()


def test_rules_are_held_against_the_same_truth() -> None:
    one = Case("s", "k", "n", Truth({2: "tool_mismatch"}, frozenset({3})), (1, 2, 3), None)
    told = Said({2: "tool_mismatch"}, frozenset({3}), ())
    both = Said({2: "tool_mismatch", 3: "tool_mismatch"}, frozenset(), ())
    assert not one.roots_right
    cases = [one, _told(one, told), _told(one, both)]
    assert [case.roots_right for case in cases] == [False, True, False]
    assert [case.cascades_right for case in cases] == [False, True, False]
    assert [case.first_is_root for case in cases] == [False, True, True]
    row = figures(cases)[ALL, "k"]
    assert (row.cases, row.roots, row.first, row.constant, row.reasons, row.found) == (3, 1, 2, 3, 2, 2)


def _told(case: Case, said: Said) -> Case:
    return Case(case.source, case.kind, case.name, case.truth, case.turns, said)


def test_the_sample_is_told_right_but_for_few() -> None:
    cases = list(measured(read_dialogs(BUNDLED), values_only=False, seed=1))
    faults = [case for case in cases if not case.harmless]
    assert {case.kind for case in faults} == set(FAULTS)
    assert sum(case.roots_right for case in faults) >= 0.97 * len(faults)
    harmless = [case for case in cases if case.harmless]
    assert sum(case.flagged for case in harmless) <= 0.01 * len(harmless)
