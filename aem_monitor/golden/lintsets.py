"""Rules of ``golden lint`` about dialogs that recognition cannot tell apart."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from aem_monitor.document import KeyPath
from aem_monitor.golden.dialog import Dialog, UserTurn
from aem_monitor.golden.linting import Place, Remark, Semantics, SetRule
from aem_monitor.golden.messages import comparable, normalise

_MARGIN: Final = 0.1
_FIRST: Final[KeyPath] = ("recognise", "first_user")


def _shared_first_message(dialogs: Sequence[Dialog], place: Place, _: Semantics) -> Iterator[Remark]:
    """One hint a dialog and message, about a dialog before it that begins alike, preferably one of the same script."""
    first: dict[str, list[Dialog]] = {}
    for dialog in dialogs:
        for message in dict.fromkeys(normalise(text) for text in dialog.first_user):
            before = [other for other in first.get(message, ()) if _may_meet(dialog, other)]
            same = next((other for other in before if _script(other) == _script(dialog)), None)
            other = same or next(iter(before), None)
            if other is not None:
                if same is None:
                    effect = "until a later user message tells them apart, the outcome is ambiguous"
                else:
                    effect = "such runs are ambiguous and stay unrecognised unless spans name the dialog"
                text = f'"{message}" also starts {other.name} ({place(other.name, _FIRST)}); {effect}'
                yield Remark(dialog.name, _FIRST, "hint" if same is None else "warning", text)
            first.setdefault(message, []).append(dialog)


def _similar_first_message(dialogs: Sequence[Dialog], place: Place, semantics: Semantics) -> Iterator[Remark]:
    """First messages between which recognition's margin leaves no room for any other wording."""
    if semantics.similarity is None:
        return
    spellings = [(dialog, text, normalise(text)) for dialog in dialogs for text in dialog.first_user]
    for index, (dialog, text, said) in enumerate(spellings):
        for other, near, wanted in spellings[:index]:
            if other is dialog or said == wanted or not comparable(said, wanted) or not _may_meet(dialog, other):
                continue
            if _share_words(said, wanted) and semantics.similarity(near, text) > 1 - _MARGIN:
                message = (
                    f'"{text}" is nearly "{near}", which starts {other.name} ({place(other.name, _FIRST)}): any other '
                    "wording is ambiguous, so that only these very words, or spans that name the dialog, are recognised"
                )
                yield Remark(dialog.name, _FIRST, "hint", message)
                break


def _share_words(one: str, other: str) -> bool:
    """Whether it is worth asking: every pair of messages is looked at, and few are nearly the same."""
    here, there = set(one.split()), set(other.split())
    return 2 * len(here & there) >= min(len(here), len(there))


def _may_meet(one: Dialog, other: Dialog) -> bool:
    """Whether a conversation may be taken for either: of one agent, and from where both are recognised."""
    if None not in (one.agent, other.agent) and one.agent != other.agent:
        return False
    here, there = one.recognise.where, other.recognise.where
    if not isinstance(here, Mapping) or not isinstance(there, Mapping):
        return True
    shared = here.keys() & there.keys()
    return all({str(value) for value in here[name]} & {str(value) for value in there[name]} for name in shared)


def _script(dialog: Dialog) -> tuple[str, ...]:
    return tuple(normalise(turn.text) for turn in dialog.turns if isinstance(turn, UserTurn))[1:]


SET_RULES: Final[Mapping[str, SetRule]] = {
    "shared-first-message": _shared_first_message,
    "similar-first-message": _similar_first_message,
}
"""Rules about all dialogs together, by code."""
