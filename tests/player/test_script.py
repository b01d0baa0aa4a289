"""What the user says in a dialog, and which dialogs nobody can play by script."""

import pytest

from aem_monitor.errors import UsageError
from aem_monitor.player.script import NotPlayed, Script, script_of, scripts_of
from tests.playing import agent, golden, tool, user

READS = {"orders": {"read_only": ["Find"]}}


def test_a_script_is_what_the_user_says_and_what_it_changes() -> None:
    dialog = golden(
        [
            user("Where is A-1?"),
            tool(1, "orders.Find"),
            agent(2, "Shipped."),
            user("Cancel it."),
            tool(3, "orders.Cancel"),
            tool(4, "orders.Erase", presence="forbidden"),
            tool(5, "mail"),
        ],
        tools=READS,
    )
    assert script_of(dialog) == Script("d", 1, ("Where is A-1?", "Cancel it."), ("mail", "orders.Cancel"))


def test_an_open_dialog_has_no_script() -> None:
    found = script_of(golden([tool(1, "orders.Find")], recognise={"first_user": ["Hi"]}))
    assert found == NotPlayed("d", "an open dialog: it does not say what the user says")


def test_dialogs_are_chosen_by_name_and_by_tag() -> None:
    one = golden([user("a"), agent(1, "b", tags=["smoke"])], dialog="one")
    two = golden([user("c"), agent(1, "d", tags=["smoke", "nightly"])], dialog="two")
    three = golden([tool(1, "x", tags=["nightly"])], dialog="three")
    dialogs = (one, two, three)

    def chosen(*names: str, tags: tuple[str, ...] = ()) -> tuple[list[str], list[str]]:
        scripts, not_played = scripts_of(dialogs, names, tags)
        return [script.dialog for script in scripts], [other.dialog for other in not_played]

    assert chosen() == (["one", "two"], ["three"])
    assert chosen("one", "three") == (["one"], ["three"])
    assert chosen(tags=("nightly",)) == (["two"], ["three"])
    assert chosen("one", tags=("smoke", "nightly")) == (["one"], [])


@pytest.mark.parametrize(
    ("names", "tags", "said"),
    [
        (["oen"], [], "--dialog oen: no such golden dialog; did you mean 'one'?"),
        ([], ["smok"], "--tag smok: no turn has this tag; did you mean 'smoke'?"),
    ],
)
def test_a_name_or_tag_that_is_none_is_refused(names: list[str], tags: list[str], said: str) -> None:
    dialogs = [golden([user("a"), agent(1, "b", tags=["smoke"])], dialog="one")]
    with pytest.raises(UsageError) as caught:
        scripts_of(dialogs, names, tags)
    assert str(caught.value) == said
