"""Which golden dialog a conversation plays, if any. Pure, and never a guess.

An explicit dialog id on the spans decides alone. Else the user's words do, where they are allowed to: attributes must
say that the conversation comes from where canaries are sent, so that a customer who happens to say a golden sentence
is not taken for one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from aem_monitor.golden.dialog import Dialog, UserTurn
from aem_monitor.golden.messages import Similarity, begins_with, comparable, normalise
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.jsonvalue import JSON, AttributeValue

Where: TypeAlias = Mapping[str, Sequence[JSON]] | Literal["any"] | None
"""Attributes with the values any of which will do; ``"any"`` restricts nothing, None leaves the question open."""

Outcome: TypeAlias = Literal["recognised", "none", "ambiguous", "unknown_id", "not_allowed"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("recognised", "none", "ambiguous", "unknown_id", "not_allowed")
"""All outcomes, as they are counted."""

_MAX_EXCHANGES: Final = 200
"""Messages of one conversation that are looked at; longer ones are no canaries."""


@dataclass(frozen=True, slots=True)
class Recognition:
    """The outcome for one conversation.

    ``dialog`` is given exactly if the outcome is ``recognised``; ``by`` says what told: ``id``, ``text`` (equal normal
    forms) or ``similar``. ``candidates`` are the names that an ambiguous or not allowed outcome is about.
    """

    outcome: Outcome
    dialog: Dialog | None = None
    by: Literal["id", "text", "similar"] | None = None
    candidates: tuple[str, ...] = ()


NONE: Final = Recognition("none")


def starts(dialog: Dialog, text: str) -> bool:
    """Whether ``text`` is one of the messages that start a run of ``dialog``."""
    said = normalise(text)
    return any(normalise(spelling) == said for spelling in dialog.first_user)


class Recogniser:
    """Recognises conversations against one set of golden dialogs; holds an index of their messages and no state.

    ``default_where`` holds for dialogs that state none. With ``require_where`` (the daemon) words count only where a
    restriction exists, or is lifted by ``any``; without it (``replay``) an absent restriction restricts nothing.
    ``similarity`` is asked where no message is equal: the best dialog must reach ``threshold`` and lead the second best
    by ``margin``.
    """

    def __init__(
        self,
        dialogs: Iterable[Dialog],
        default_where: Where = None,
        require_where: bool = True,
        *,
        similarity: Similarity | None = None,
        threshold: float = 0.85,
        margin: float = 0.1,
    ) -> None:
        self._dialogs = {dialog.name: dialog for dialog in dialogs}
        self._where = {
            dialog.name: default_where if dialog.recognise.where is None else dialog.recognise.where
            for dialog in self._dialogs.values()
        }
        self._require_where = require_where
        self._similarity = similarity
        self._threshold = threshold
        self._margin = margin
        self._spellings = {
            dialog.name: tuple((text, normalise(text)) for text in dialog.first_user)
            for dialog in self._dialogs.values()
        }
        self._scripts = {
            dialog.name: [normalise(turn.text) for turn in dialog.turns if isinstance(turn, UserTurn)]
            for dialog in self._dialogs.values()
        }
        self._by_message: dict[str, list[Dialog]] = {}
        for dialog in self._dialogs.values():
            for message in {normal for _, normal in self._spellings[dialog.name]}:
                self._by_message.setdefault(message, []).append(dialog)

    @property
    def attributes(self) -> frozenset[str]:
        """The attribute names that some restriction reads; a conversation must carry them."""
        return frozenset(name for where in self._where.values() if isinstance(where, Mapping) for name in where)

    def recognise(self, conversation: Conversation) -> Recognition:
        """The dialog that a conversation plays, or why there is none."""
        if conversation.dialog_ids:
            return self._by_id(conversation)
        messages = [(exchange.user.text, exchange.user.truncated) for exchange in conversation.exchanges]
        texts = [(normalise(text) if text is not None else None, cut) for text, cut in messages[:_MAX_EXCHANGES]]
        for index, (said, cut) in enumerate(texts):
            equal = self._equal(said, cut, conversation.agent) if said is not None else []
            if equal:
                return self._choose(equal, conversation, [text for text, _ in texts[index:]])
        return self._similar(messages[0][0], conversation) if messages else NONE

    def _by_id(self, conversation: Conversation) -> Recognition:
        known = [self._dialogs[name] for name in dict.fromkeys(conversation.dialog_ids) if name in self._dialogs]
        if not known:
            return Recognition("unknown_id")
        names = tuple(dialog.name for dialog in known)
        allowed = [dialog for dialog in known if dialog.agent in (None, conversation.agent)]
        if not allowed:
            return Recognition("not_allowed", candidates=names)
        if len(allowed) > 1:
            return Recognition("ambiguous", candidates=names)
        return Recognition("recognised", allowed[0], "id")

    def _equal(self, said: str, cut: bool, agent: str) -> list[Dialog]:
        found = self._by_message.get(said, [])
        if not found and cut:
            found = [
                dialog
                for dialog in self._dialogs.values()
                if any(begins_with(normal, said) for _, normal in self._spellings[dialog.name])
            ]
        return [dialog for dialog in found if dialog.agent in (None, agent)]

    def _choose(self, equal: list[Dialog], conversation: Conversation, texts: Sequence[str | None]) -> Recognition:
        names = tuple(dialog.name for dialog in equal)
        allowed = [dialog for dialog in equal if self._allowed(dialog, conversation)]
        if not allowed:
            return Recognition("not_allowed", candidates=names)
        agreement = {dialog.name: _agreement(self._scripts[dialog.name], texts) for dialog in allowed}
        best = max(agreement.values())
        leading = [dialog for dialog in allowed if agreement[dialog.name] == best]
        if len(leading) > 1:
            return Recognition("ambiguous", candidates=tuple(dialog.name for dialog in leading))
        return Recognition("recognised", leading[0], "text")

    def _similar(self, text: str | None, conversation: Conversation) -> Recognition:
        if text is None or self._similarity is None:
            return NONE
        said = normalise(text)
        scores: list[tuple[float, Dialog]] = []
        for dialog in self._dialogs.values():
            if dialog.agent not in (None, conversation.agent) or not self._allowed(dialog, conversation):
                continue
            near = [
                self._similarity(spelling, text)
                for spelling, normal in self._spellings[dialog.name]
                if comparable(normal, said)
            ]
            if near:
                scores.append((max(near), dialog))
        scores.sort(key=lambda item: -item[0])
        if not scores or scores[0][0] < self._threshold:
            return NONE
        if len(scores) > 1 and scores[0][0] - scores[1][0] < self._margin:
            return Recognition("ambiguous", candidates=(scores[0][1].name, scores[1][1].name))
        return Recognition("recognised", scores[0][1], "similar")

    def _allowed(self, dialog: Dialog, conversation: Conversation) -> bool:
        where = self._where[dialog.name]
        if where is None:
            return not self._require_where
        if isinstance(where, str):
            return True
        return all(_carries(conversation.attributes.get(name), wanted) for name, wanted in where.items())


def _agreement(script: Sequence[str], texts: Sequence[str | None]) -> int:
    """How many of a dialog's user messages, from its second on, follow word for word until one departs.

    Dialogs that begin alike are told apart by it. Messages that were not captured agree with nothing.
    """
    count = 0
    for wanted, said in zip(script[1:], texts[1:], strict=False):
        if wanted != said:
            break
        count += 1
    return count


def _carries(value: AttributeValue, wanted: Sequence[JSON]) -> bool:
    values = value if isinstance(value, list | tuple) else (value,)
    said = {_plain(one) for one in values if one is not None}
    return any(_plain(one) in said for one in wanted)


def _plain(value: AttributeValue) -> str:
    """A scalar as text: attributes of the same meaning come as boolean, number or text, as their writer liked."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
