"""Two versions of a dialog compared by what they mean for verdicts."""

import copy
from collections.abc import Iterator
from typing import Any, cast

import pytest

from aem_monitor.golden.diff import DialogDiff, compare_dialogs, compare_sets
from aem_monitor.golden.load import DialogFaultsError, dialog_from
from tests.golden.builders import agent, dialog, tool, user
from tests.golden.test_complete import VALUE

HELLO = user("Hello")
FIND = tool(1, args={"region": "EU"}, result={"id": "R-17", "total": 5})
CANCEL = tool(2, action="Cancel", args={"order": "${1.result.id}"})
REPLY = agent(3, "It is cancelled.", must_mention=["R-17"], depends_on=[1])


def changes(old: DialogDiff) -> list[tuple[str, str]]:
    return [(change.effect, change.message) for change in old.changes]


def between(old: list[dict[str, Any]], new: list[dict[str, Any]], **more: Any) -> list[tuple[str, str]]:
    return changes(compare_dialogs(dialog(*old), dialog(*new, **more)))


def changed(turn: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {**turn, **keys}


def with_args(**args: Any) -> dict[str, Any]:
    return tool(1, args=args, result=FIND["result"])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (FIND, changed(FIND, match={"region": {"any_of": ["EMEA"]}}), ("looser", 'region now also accepts "EMEA"')),
        (changed(FIND, match={"region": {"any_of": ["EMEA"]}}), FIND, ("stricter", 'region no longer accepts "EMEA"')),
        (
            changed(with_args(region="EMEA"), match={"region": {"any_of": ["EU"]}}),
            changed(FIND, match={"region": {"any_of": ["EMEA"]}}),
            ("none", 'region has "EU" for its golden value in the place of "EMEA"'),
        ),
        (with_args(region="US"), FIND, ("different", 'region is expected to be "EU", no longer "US"')),
        (with_args(region="EU", limit=5), FIND, ("different", "expects no limit any more (was 5)")),
        (FIND, with_args(region="EU", limit=5), ("different", "now expects limit: 5")),
        (
            FIND,
            changed(FIND, match={"region": {"ignore": True}}),
            ("looser", 'region the comparison by type became {"ignore": true}'),
        ),
        (
            changed(FIND, match={"region": {"text": {"threshold": 0.8}}}),
            changed(FIND, match={"region": {"exact": True}}),
            ("stricter", 'region {"text": {"threshold": 0.8}} became {"exact": true}'),
        ),
        (FIND, changed(FIND, presence="optional"), ("looser", "is optional, no longer required")),
        (changed(FIND, presence="optional"), FIND, ("stricter", "is required, no longer optional")),
        (
            FIND,
            changed(FIND, threshold=0.6),
            ("different", "takes texts from a similarity of 0.6, no longer the configured one"),
        ),
        (
            changed(FIND, threshold=0.8),
            changed(FIND, threshold=0.6),
            ("looser", "takes texts from a similarity of 0.6, no longer 0.8"),
        ),
        (FIND, changed(FIND, skip=True), ("looser", "is no longer scored")),
        (FIND, changed(FIND, weight=2), ("different", "weighs 2 in the score, no longer 1")),
        (FIND, changed(FIND, critical=True), ("different", "is critical now")),
        (FIND, changed(FIND, tags=["smoke"]), ("none", "has other labels")),
        (
            FIND,
            changed(FIND, result={"id": "R-17", "total": 6}),
            ("different", "result.total is 6 in the golden run, no longer 5"),
        ),
        (
            FIND,
            changed(FIND, result={"id": "R-17"}),
            ("different", "result.total is missing in the golden run, no longer 5"),
        ),
        (
            FIND,
            changed(FIND, alternates=[{"tool_id": "orders", "action": "Get", "args": {"region": "EU"}}]),
            ("looser", 'now also accepts the call orders.Get {"region": "EU"}'),
        ),
    ],
)
def test_a_changed_call_is_told_by_what_it_does_to_verdicts(
    old: dict[str, Any], new: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert between([HELLO, old], [HELLO, new]) == [(expected[0], f"turn 1: {expected[1]}")]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({}, {"must_mention": ["R-17"]}, [("stricter", 'must now mention "R-17"')]),
        ({"must_mention": ["R-17"]}, {}, [("looser", 'need no longer mention "R-17"')]),
        ({}, {"must_not_mention": ["sorry"]}, [("stricter", 'must now not mention "sorry"')]),
        (
            {},
            {"depends_on": [1]},
            [("different", "now depends on turn 1: its failures may be cascades of it, and it comes after it")],
        ),
        ({}, {"alternates": [{"response": "Gone."}]}, [("looser", 'now also accepts the reply "Gone."')]),
        ({"alternates": [{"response": "Gone."}]}, {}, [("stricter", 'no longer accepts the reply "Gone."')]),
        (
            {"thresholds": {"completeness": 0.8}},
            {"thresholds": {"completeness": 0.7, "truthfulness": 0.9}},
            [
                ("looser", "passes completeness from a share of 0.7, no longer 0.8"),
                ("different", "passes truthfulness from a share of 0.9, no longer the configured one"),
            ],
        ),
    ],
)
def test_a_changed_reply_is_told_by_what_it_does_to_verdicts(
    old: dict[str, Any], new: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    was, now = (agent(3, "It is cancelled.", **more) for more in (old, new))
    assert between([HELLO, FIND, was], [HELLO, FIND, now]) == [(effect, f"turn 3: {text}") for effect, text in expected]


def test_a_reference_text_that_differs_in_case_and_punctuation_says_the_same() -> None:
    assert between([HELLO, agent(1, "It's done")], [HELLO, agent(1, "it's done.")]) == [
        ("none", "turn 1: is worded alike: only letter case or punctuation differ")
    ]
    assert between([HELLO, agent(1, "It's done")], [HELLO, agent(1, "Refunded.")]) == [
        ("different", 'turn 1: should say "Refunded.", no longer "It\'s done"')
    ]


def test_an_inserted_turn_costs_only_itself_though_all_later_ones_are_renumbered() -> None:
    ask = tool(2, "users", "Get", args={"name": "Dana"}, presence="optional")
    later = [changed(CANCEL, turn_no=3), changed(REPLY, turn_no=4)]
    assert between([HELLO, FIND, CANCEL, REPLY], [HELLO, FIND, ask, *later]) == [
        ("looser", 'turn 2, the optional call users.Get {"name": "Dana"}, was added'),
        ("none", "turn 3 was turn 2"),
        ("none", "turn 4 was turn 3"),
    ]


def test_references_follow_the_turn_they_point_to() -> None:
    first = tool(1, "users", "Get")
    found = changed(FIND, turn_no=2)
    good = changed(
        CANCEL, turn_no=3, gold_turn={"tool_id": "orders", "action": "Cancel", "args": {"order": "${2.result.id}"}}
    )
    told = between([HELLO, FIND, CANCEL], [HELLO, first, found, good])
    assert [message for effect, message in told if effect != "none"] == ["turn 1, the call users.Get {}, was added"]
    other = changed(first, result={"id": "X"})
    wrong = changed(good, gold_turn={"tool_id": "orders", "action": "Cancel", "args": {"order": "${1.result.id}"}})
    told = between([HELLO, FIND, CANCEL], [HELLO, other, found, wrong])
    assert ("different", 'turn 3: order is expected to be "${1.result.id}", no longer "${2.result.id}"') in told


def test_a_call_that_moved_within_its_exchange_changes_no_verdict_and_to_another_does() -> None:
    other = tool(2, "users", "Get", args={"name": "Dana"})
    swapped = [changed(other, turn_no=1), changed(FIND, turn_no=2)]
    told = between([HELLO, FIND, other], [HELLO, *swapped])
    assert {effect for effect, _ in told} == {"none"}
    assert any("moved; only tags and dependencies order calls" in message for _, message in told)
    bye = user("Bye")
    told = between([HELLO, FIND, agent(2, "Hi"), bye], [HELLO, agent(1, "Hi"), bye, changed(FIND, turn_no=2)])
    assert ("different", "turn 2 moved to another user message") in told


def test_what_the_user_says_otherwise_takes_runs_off_script() -> None:
    told = between([user("Hello"), FIND], [user("Good morning"), FIND])
    assert (
        "different",
        'the user says "Good morning", no longer "Hello": runs with the old words are off script',
    ) in told
    assert between([user("Hello")], [user("hello!")]) == [("none", 'the user\'s "hello!" is spelled another way')]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({}, {"review": {"status": "draft"}}, ("none", "is a draft now: its runs count no longer")),
        ({}, {"agent": "shop"}, ("recognition", "is played by shop, no longer by any agent")),
        ({}, {"recognise": {"first_user": ["Hi"]}}, ("recognition", 'now also begins with "Hi"')),
        ({}, {"recognise": {"where": "any"}}, ("recognition", "is recognised where other attributes stand")),
        (
            {},
            {"reference_date": "2026-11-30"},
            ("different", "relative dates count from 2026-11-30, no longer from the day of each run"),
        ),
        ({}, {"extra_calls": "fail"}, ("stricter", "extra_calls is fail, no longer ignore_read_only")),
        ({"extra_calls": "fail"}, {"extra_calls": "ignore"}, ("looser", "extra_calls is ignore, no longer fail")),
        ({}, {"forbidden": [{"tool_id": "mail"}]}, ("stricter", "now forbids mail")),
        ({"forbidden": [{"tool_id": "mail", "action": "Send"}]}, {}, ("looser", "no longer forbids mail.Send")),
        ({}, {"tools": {"orders": {"read_only": ["Find"]}}}, ("looser", "orders.Find only reads now")),
        ({"tools": {"orders": {"read_only": True}}}, {}, ("stricter", "orders no longer only reads")),
        (
            {},
            {"tools": {"orders": {"optional_args": {"Find": ["limit"]}}}},
            ("looser", "argument limit may be left out of orders.Find"),
        ),
        (
            {"tools": {"orders": {"optional_args": {"Find": {"limit": {"default": 5}}}}}},
            {"tools": {"orders": {"optional_args": {"Find": {"limit": {"default": 6}}}}}},
            ("different", "the default is 6, no longer 5, for the optional argument limit of orders.Find"),
        ),
        (
            {},
            {"outcome": [{"tool_id": "orders", "action": "Find", "args": {}, "result": {"a": 1}}]},
            ("stricter", 'must now end with a call of orders.Find {} returning {"a": 1}'),
        ),
        ({}, {"variants": [{"name": "short", "turns": [HELLO]}]}, ("looser", "now also accepts the path short")),
        (
            {"variants": [{"name": "short", "turns": [HELLO]}]},
            {"variants": [{"name": "short", "turns": [HELLO, agent(1, "Hi")]}]},
            ("stricter", 'path short: turn 1, the reply "Hi", was added'),
        ),
    ],
)
def test_what_holds_for_the_whole_dialog_is_compared(
    old: dict[str, Any], new: dict[str, Any], expected: tuple[str, str]
) -> None:
    turns = [HELLO, FIND]
    assert changes(compare_dialogs(dialog(*turns, **old), dialog(*turns, **new))) == [expected]


@pytest.mark.parametrize(
    ("was", "now", "meaning", "fault"),
    [
        (1, 2, True, None),
        (1, 1, True, "not_raised"),
        (1, 2, False, "raised_for_nothing"),
        (1, 1, False, None),
        (2, 1, True, "went_back"),
        (2, 1, False, "went_back"),
    ],
)
def test_the_version_has_to_rise_exactly_when_verdicts_change(
    was: int, now: int, meaning: bool, fault: str | None
) -> None:
    other = changed(FIND, presence="optional") if meaning else changed(FIND, tags=["smoke"])
    found = compare_dialogs(dialog(HELLO, FIND, version=was), dialog(HELLO, other, version=now))
    assert found.version_fault == fault
    assert found.verdicts_change is meaning


def test_who_plays_a_dialog_is_no_change_of_verdicts() -> None:
    found = compare_dialogs(dialog(HELLO, FIND), dialog(HELLO, FIND, agent="shop"))
    assert not found.same
    assert found.version_fault is None


def test_sets_are_paired_by_name_and_one_against_one_may_be_renamed() -> None:
    a, b, c = (dialog(HELLO, name=name) for name in "abc")
    found = compare_sets([a, b], [b, c])
    assert [(one.name, one.old is None, one.new is None, one.same) for one in found] == [
        ("b", False, False, True),
        ("c", True, False, False),
        ("a", False, True, False),
    ]
    (renamed,) = compare_sets([a], [b])
    assert changes(renamed) == [("none", "is called b, no longer a: its runs count under the new name")]


def places(value: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*at, key)
        yield from places(item, (*at, key))


def other(value: Any) -> Any:
    """A value of the same kind that means something else."""
    kinds: dict[type, Any] = {bool: lambda: not value, int: lambda: value + 1, float: lambda: value / 2 + 0.01}
    if type(value) in kinds:
        return kinds[type(value)]()
    return f"{value} x" if isinstance(value, str) else value


SAID_ANYWAY = {
    ("recognise", "first_user", 0),  # the first User turn says it
    ("turns", 1, "alternates", 0, "result"),  # that of the turn's own call
    ("turns", 3, "depends_on"),  # the turn refers to it
    ("turns", 3, "depends_on", 0),
    ("turns", 5, "depends_on"),
    ("turns", 5, "depends_on", 0),
    ("turns", 2, "gold_turn", "args"),  # no arguments is the default
    ("turns", 6, "gold_turn", "args"),
    ("variants", 0, "turns", 1, "gold_turn", "args"),
    ("outcome", 0, "args"),
    ("turns", 7, "alternates", 0, "must_mention"),  # that of the turn itself
}
"""What may be left out without changing the meaning."""


@pytest.mark.parametrize("path", list(places(VALUE)), ids=lambda path: ".".join(map(str, path)))
def test_no_part_of_a_dialog_changes_unnoticed(path: tuple[str | int, ...]) -> None:
    """Every key and value of the file that has all keys: removed, and replaced by another of its kind."""
    before = dialog_from(VALUE)
    for remove in (True, False):
        new: Any = copy.deepcopy(cast("Any", VALUE))
        inside = new
        for step in path[:-1]:
            inside = inside[step]
        if remove:
            del inside[path[-1]]
        else:
            inside[path[-1]] = other(inside[path[-1]])
        try:
            after = dialog_from(new)
        except DialogFaultsError:
            continue
        unchanged = new == VALUE or (remove and path in SAID_ANYWAY)
        assert compare_dialogs(before, after).same is unchanged
