"""What the user says in a golden dialog, and which dialogs nobody can play by script."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from aem_monitor.errors import UsageError
from aem_monitor.golden.dialog import Dialog, ToolTurn, UserTurn
from aem_monitor.validation import did_you_mean


@dataclass(frozen=True, slots=True)
class Script:
    """The user's messages of one dialog, in their order. ``effects`` are the tools whose calls change something."""

    dialog: str
    version: int
    messages: tuple[str, ...]
    effects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotPlayed:
    """A dialog that cannot be played by script, and why."""

    dialog: str
    why: str


def script_of(dialog: Dialog) -> Script | NotPlayed:
    """The script of a dialog, or why it has none."""
    messages = tuple(turn.text for turn in dialog.turns if isinstance(turn, UserTurn))
    if not messages:
        return NotPlayed(dialog.name, "an open dialog: it does not say what the user says")
    return Script(dialog.name, dialog.version, messages, _effects(dialog))


def scripts_of(
    dialogs: Iterable[Dialog], names: Collection[str], tags: Collection[str]
) -> tuple[tuple[Script, ...], tuple[NotPlayed, ...]]:
    """The scripts of the chosen dialogs, and what of them cannot be played.

    ``names``: these only, all where empty; ``tags``: those with a turn of one of these tags only.

    Raises:
        UsageError: a name or tag that no dialog has.
    """
    listed = list(dialogs)
    known = {dialog.name for dialog in listed}
    worn = {dialog.name: _tags(dialog) for dialog in listed}
    for name in names:
        if name not in known:
            raise UsageError(f"--dialog {name}: no such golden dialog{did_you_mean(name, known)}")
    for tag in tags:
        if not any(tag in found for found in worn.values()):
            raise UsageError(f"--tag {tag}: no turn has this tag{did_you_mean(tag, frozenset().union(*worn.values()))}")
    chosen = [
        script_of(dialog)
        for dialog in listed
        if (not names or dialog.name in names) and (not tags or not worn[dialog.name].isdisjoint(tags))
    ]
    return tuple(one for one in chosen if isinstance(one, Script)), tuple(
        one for one in chosen if isinstance(one, NotPlayed)
    )


def _tags(dialog: Dialog) -> frozenset[str]:
    return frozenset(tag for path in dialog.paths for turn in path.scored_turns for tag in turn.tags)


def _effects(dialog: Dialog) -> tuple[str, ...]:
    calls = (turn for path in dialog.paths for turn in path.scored_turns if isinstance(turn, ToolTurn))
    named = (
        (turn.tool_id, turn.action)
        for turn in calls
        if turn.presence != "forbidden" and not dialog.read_only(turn.tool_id, turn.action)
    )
    return tuple(sorted({tool if action is None else f"{tool}.{action}" for tool, action in named}))
