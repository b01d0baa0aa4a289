"""Which conversations are recordings of the same script, and what a draft of them is called."""

import re
from collections.abc import Iterable
from typing import Final

from aem_monitor.bootstrap.recorded import Recording
from aem_monitor.golden.messages import same_user_message

_WORD: Final = re.compile(r"[^\W_]+")
_WORDS_OF_A_NAME: Final = 6
_LONGEST_NAME: Final = 60


def grouped(recordings: Iterable[Recording]) -> list[list[Recording]]:
    """Recordings with the same user messages together, in order of their first."""
    groups: list[list[Recording]] = []
    for recording in recordings:
        known = next((group for group in groups if same_script(group[0], recording)), None)
        if known is None:
            groups.append([recording])
        else:
            known.append(recording)
    return groups


def same_script(one: Recording, other: Recording) -> bool:
    """Whether the user says the same, message by message, and no two dialog ids speak against it."""
    if None not in (one.dialog_id, other.dialog_id) and one.dialog_id != other.dialog_id:
        return False
    return len(one.script) == len(other.script) and all(
        same_user_message(a, b) for a, b in zip(one.script, other.script, strict=True)
    )


def proposed_name(group: list[Recording]) -> str:
    """The dialog id that the spans carry, else the first words that the user says."""
    known = next((recording.dialog_id for recording in group if recording.dialog_id), None)
    if known is not None:
        return known
    words = _WORD.findall(group[0].script[0].lower())[:_WORDS_OF_A_NAME]
    return "-".join(words)[:_LONGEST_NAME].strip("-") or "draft"
