"""An author's file with what changed: the rest stays to the letter."""

from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from aem_monitor.bootstrap.rewrite import in_order, rewritten
from aem_monitor.golden.write import Comments, write_yaml
from aem_monitor.yamlfile import parse_document

AUTHORS = """\
# What we promise about refunds.
turns:
  - {turn: User, text: "Refund A-1042"}   # the customer is logged in

  # The order has to be looked up.
  - turn_no: 2  # two, since one was taken away
    turn: Tool
    gold_turn:
      tool_id: get_order
      args: {id: 'A-1042'}
    result:
      note: |
        # not a comment
        but text

  - turn_no: 5
    turn: Agent
    must_mention:
    # the amount
    - "59.90"
review: {status: human}  # seen by Dana
version: 3
dialog: refund
# That is all.
"""


def value_of(text: str) -> Any:
    return parse_document(text.encode(), "x.yaml").value


def changed(text: str, new: Any, comments: Comments | None = None, moved: dict[int, int] | None = None) -> str:
    made = rewritten(text, value_of(text), new, comments or {}, {("turns",): moved} if moved is not None else {})
    assert made is not None
    assert value_of(made) == new
    return made


def test_what_does_not_change_stays_to_the_letter() -> None:
    assert changed(AUTHORS, value_of(AUTHORS)) == AUTHORS


def test_a_value_changes_in_its_line_and_keeps_the_comments_around_it() -> None:
    new = value_of(AUTHORS) | {"version": 4}
    assert changed(AUTHORS, new) == AUTHORS.replace("version: 3", "version: 4")


def test_a_comment_inside_what_is_written_anew_stands_above_it() -> None:
    new = value_of(AUTHORS)
    new["review"] = {"status": "draft"}
    assert "# seen by Dana\nreview:\n  status: draft\nversion: 3\n" in changed(AUTHORS, new)


def test_a_turn_that_comes_in_leaves_comments_with_the_turns_that_they_are_about() -> None:
    new = value_of(AUTHORS)
    new["turns"].insert(1, {"turn_no": 1, "turn": "Tool", "gold_turn": {"tool_id": "notify"}})
    made = changed(AUTHORS, new, {("turns", 1): ["In 1 of 2 recordings."]}, {0: 0, 2: 1, 3: 2})
    put_in = "  # In 1 of 2 recordings.\n  - turn_no: 1\n    turn: Tool\n    gold_turn:\n      tool_id: notify\n"
    assert made == AUTHORS.replace("logged in\n", f"logged in\n{put_in}")


def test_a_key_comes_in_after_the_one_that_it_follows() -> None:
    new = value_of(AUTHORS)
    new["turns"][2] = {"turn_no": 5, "turn": "Agent", "must_mention": ["59.90"], "depends_on": [2]}
    made = changed(AUTHORS, new, {}, {0: 0, 1: 1, 2: 2})
    assert made == AUTHORS.replace('    - "59.90"\n', '    - "59.90"\n    depends_on:\n      - 2\n')


def test_a_first_key_that_changes_keeps_the_dash_and_the_comment_in_its_line() -> None:
    new = value_of(AUTHORS)
    new["turns"][1]["turn_no"] = 3
    made = changed(AUTHORS, new, {}, {0: 0, 1: 1, 2: 2})
    assert made == AUTHORS.replace(
        "  - turn_no: 2  # two, since one was taken away\n", "  # two, since one was taken away\n  - turn_no: 3\n"
    )


def test_a_comment_that_stands_in_the_file_is_not_said_again() -> None:
    once = changed(AUTHORS, value_of(AUTHORS), {(): ["word " * 40], ("turns", 1, "gold_turn"): ["confirm this"]})
    assert once.count("# confirm this") == 1
    assert "    # confirm this\n    gold_turn:\n" in once
    assert changed(once, value_of(once), {(): ["word " * 40], ("turns", 1, "gold_turn"): ["confirm this"]}) == once


def test_windows_lines_stay_windows_lines() -> None:
    text = AUTHORS.replace("\n", "\r\n")
    assert changed(text, value_of(text) | {"version": 4}) == text.replace("version: 3", "version: 4")


def test_a_file_in_flow_style_cannot_be_changed_in_parts() -> None:
    assert rewritten('{"a": 1}', {"a": 1}, {"a": 2}, {}, {}) is None
    assert rewritten("a: 1\n...\n", {"a": 1}, {"a": 1, "b": 2}, {}, {}) is None


def test_keys_of_the_author_keep_their_order() -> None:
    assert in_order({"a": 1, "b": 2, "new": 3, "c": 4}, ["c", "b", "gone"]) == ["a", "c", "b", "new"]


names = st.sampled_from(["a", "b", "turns", "x y", "note"])
scalars = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "no", "# x", "a\n# b\n", "19:30", "é: -"])
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=12
)
objects = st.dictionaries(names, values, min_size=1, max_size=4)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for key, item in items for place in places(item, (*path, key))]


@settings(deadline=None)
@given(objects, objects, st.data())
def test_any_change_gives_the_new_value_and_keeps_the_comments(old: Any, new: Any, data: st.DataObject) -> None:
    commented = data.draw(st.lists(st.sampled_from(places(old)), max_size=4, unique=True))
    text = write_yaml(old, {place: [f"c{number}."] for number, place in enumerate(commented)})
    said = data.draw(st.lists(st.sampled_from(places(new)), max_size=3, unique=True))
    made = rewritten(text, old, new, {place: [f"new{number}."] for number, place in enumerate(said)}, {})
    assert made is not None
    assert value_of(made) == new
    for word in [*(f"# c{number}." for number in range(len(commented))), *(f"# new{n}." for n in range(len(said)))]:
        assert made.count(word) == 1
