"""Which runs of two releases meet."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.canary.meeting import Alone, Play
from aem_monitor.canary.pairs import Paired, Played, Undecided, pair

SUITE = ("a", "b", "c", "d", "e")


def passed(dialog: str, conversation: str, order: float = 0.0, version: int | None = 1) -> Played:
    return Played(dialog, conversation, True, 1.0, order=order, version=version)


def undecided(one: Play) -> Undecided:
    return Undecided(one.dialog, one.conversation, order=one.order, version=one.version)


def suites(name: str, count: int = 60) -> list[Play]:
    """Conversations in each of which the whole suite is played."""
    return [passed(dialog, f"{name}{number}") for number in range(count) for dialog in SUITE]


def conversations(paired: Paired) -> list[tuple[str, str]]:
    return [(one.baseline.conversation, one.candidate.conversation) for one in paired.pairs]


def left(found: object) -> object:
    """What remained alone, without what is empty."""
    assert isinstance(found, dict)
    return {why: dialogs for why, dialogs in found.items() if dialogs}


def test_the_nth_run_of_a_dialog_meets_the_nth() -> None:
    baseline = [passed("a", "1"), passed("a", "2"), passed("b", "3"), passed("a", "4")]
    candidate = [passed("a", "5"), passed("b", "6"), passed("a", "7"), passed("b", "8")]
    paired = pair(baseline, candidate)
    assert conversations(paired) == [("1", "5"), ("3", "6"), ("2", "7")]
    assert left(paired.baseline_alone) == {Alone.RUN: {"a": 1}}
    assert left(paired.candidate_alone) == {Alone.RUN: {"b": 1}}


def test_an_undecided_run_takes_its_partner_with_it_and_shifts_nothing() -> None:
    baseline = [passed("a", str(number)) for number in range(4)]
    paired = pair([baseline[0], undecided(baseline[1]), *baseline[2:]], [*baseline[:2], undecided(baseline[2])])
    assert conversations(paired) == [("0", "0")]
    assert list(paired.undecided) == [0, -1, 1]
    assert left(paired.baseline_alone) == {Alone.RUN: {"a": 1}}


@pytest.mark.parametrize("place", [15, 16, 19])
@pytest.mark.parametrize("side", [0, 1])
def test_a_missing_run_of_a_conversation_joins_no_others(place: int, side: int) -> None:
    both = [suites("old"), suites("new")]
    del both[side][place]
    paired = pair(*both)
    assert len(paired.pairs) >= 295
    assert len(set(paired.clusters)) >= 59


def test_conversations_that_are_cut_otherwise_on_each_release_are_compared() -> None:
    several = suites("old", 1)
    single = [replace(one, conversation=f"new{number}") for number, one in enumerate(several)]
    for paired in (pair(several, single), pair(single, several)):
        assert (len(paired.pairs), len(set(paired.clusters))) == (5, 1)


def test_only_equal_versions_of_a_dialog_meet() -> None:
    baseline = [passed("a", "1", version=1), passed("a", "2", version=2), passed("b", "3", version=None)]
    candidate = [passed("a", "4", version=2), passed("a", "5", version=3), passed("b", "6", version=1)]
    paired = pair(baseline, candidate)
    assert conversations(paired) == [("2", "4")]
    assert left(paired.baseline_alone) == {Alone.VERSION: {"a": 1, "b": 1}}
    assert left(paired.candidate_alone) == {Alone.VERSION: {"a": 1, "b": 1}}


def test_dialogs_that_one_release_did_not_play_are_told_apart() -> None:
    paired = pair([passed("a", "1"), passed("b", "2"), undecided(passed("b", "3"))], [passed("a", "4")])
    assert left(paired.baseline_alone) == {Alone.DIALOG: {"b": 2}}


def test_runs_whose_conversations_met_others_are_told_apart() -> None:
    baseline = [passed("a", "1"), passed("b", "1"), passed("b", "2"), passed("c", "2")]
    candidate = [passed("a", "3"), passed("b", "4"), passed("c", "3")]
    paired = pair(baseline, candidate)
    assert conversations(paired) == [("1", "3"), ("2", "4")]
    assert left(paired.candidate_alone) == {Alone.CONVERSATION: {"c": 1}}
    assert left(paired.baseline_alone) == {Alone.RUN: {"b": 1}, Alone.CONVERSATION: {"c": 1}}


PLAYS = st.lists(
    st.tuples(st.sampled_from((0, 1)), st.sampled_from("abc"), st.sampled_from((1, 2)), st.sampled_from("stuvw")),
    max_size=40,
)


def paired_of(plays: Sequence[tuple[int, str, int, str]]) -> Paired:
    sides: tuple[list[Play], list[Play]] = ([], [])
    for order, (side, dialog, version, conversation) in enumerate(plays):
        sides[side].append(passed(dialog, conversation, order, version))
    return pair(*sides)


@given(PLAYS)
def test_clusters_share_no_conversation_and_are_of_one_conversation_on_one_side(
    plays: Sequence[tuple[int, str, int, str]],
) -> None:
    paired = paired_of(plays)
    clusters: dict[tuple[int, str], set[float]] = defaultdict(set)
    members: dict[float, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for one, cluster in zip(paired.pairs, paired.clusters, strict=True):
        assert (one.baseline.dialog, one.baseline.version) == (one.candidate.dialog, one.candidate.version)
        for side, play in enumerate((one.baseline, one.candidate)):
            clusters[side, play.conversation].add(cluster)
            members[cluster][side].add(play.conversation)
    assert all(len(found) == 1 for found in clusters.values())
    assert all(1 in (len(baseline), len(candidate)) for baseline, candidate in members.values())


@given(PLAYS, st.integers(0, 40))
def test_a_later_look_sees_all_that_met_before_and_sees_it_first(
    plays: Sequence[tuple[int, str, int, str]], look: int
) -> None:
    before, now = paired_of(plays[:look]), paired_of(plays)
    assert now.pairs[: len(before.pairs)] == before.pairs
    assert list(now.clusters[: len(before.pairs)]) == list(before.clusters)


@given(PLAYS)
def test_every_run_has_met_or_is_alone_for_one_reason(plays: Sequence[tuple[int, str, int, str]]) -> None:
    paired = paired_of(plays)
    for side, alone in enumerate((paired.baseline_alone, paired.candidate_alone)):
        ran = sum(one[0] == side for one in plays)
        assert ran == len(paired.pairs) + sum(sum(dialogs.values()) for dialogs in alone.values())
