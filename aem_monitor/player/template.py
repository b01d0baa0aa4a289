"""Texts with places for values: ``{{ message }}``. No code in them, and no names but those of ``PLACES``."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from aem_monitor.model.jsonvalue import JSON

PLACES: Final = ("message", "conversation_id", "dialog", "history")
"""What the user says; the id of the conversation, new for each play; the dialog's name; the messages before this one as
a list of ``{"role": .., "content": ..}``."""

NAMES: Final = ("conversation_id", "dialog")
"""The places whose values hold for a whole play."""

_PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F)))
_PLACE: Final = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Message:
    """What was said before. ``role``: ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Values:
    """What the places stand for in one exchange."""

    conversation_id: str
    dialog: str
    message: str = ""
    history: Sequence[Message] = ()

    @property
    def messages(self) -> list[JSON]:
        """The history as JSON."""
        return [{"role": one.role, "content": one.content} for one in self.history]

    def text(self, place: str) -> str:
        """The value of a place that stands in a text."""
        texts = {"message": self.message, "conversation_id": self.conversation_id, "dialog": self.dialog}
        return texts[place]


def places_in(value: JSON) -> frozenset[str]:
    """The places that the texts of a JSON value name."""
    return frozenset(found for text in _texts(value) for found in _PLACE.findall(text))


def fault_of(value: JSON, allowed: Sequence[str]) -> str | None:
    """What is wrong with the places of a template, None if nothing is."""
    for text in _texts(value):
        for place in _PLACE.findall(text):
            if place not in allowed:
                known = f"; known: {', '.join(allowed)}" if allowed else ""
                return f"{{{{ {place} }}}} stands for nothing here{known}"
            if place == "history" and not _PLACE.fullmatch(text.strip()):
                return "{{ history }} is a list; let it be the whole value of a key"
    return None


def filled(value: JSON, values: Values) -> JSON:
    """A JSON value with its places filled. What is put in is never read as a template again."""
    if isinstance(value, str):
        whole = _PLACE.fullmatch(value.strip())
        return values.messages if whole and whole[1] == "history" else filled_text(value, values)
    if isinstance(value, Mapping):
        return {key: filled(item, values) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [filled(item, values) for item in value]
    return value


def filled_text(text: str, values: Values) -> str:
    """A text with its places filled."""
    return _PLACE.sub(lambda found: values.text(found[1]), text)


def filled_url(url: str, values: Values) -> str:
    """A URL with its places filled, each value as one part of a path or query."""
    return _PLACE.sub(lambda found: quote(values.text(found[1]), safe=""), url)


def filled_header(text: str, values: Values) -> str:
    """The value of an HTTP header with its places filled; what a header cannot hold is percent-encoded."""
    return _PLACE.sub(lambda found: quote(values.text(found[1]), safe=_PRINTABLE), text)


def without_places(url: str) -> str:
    """A URL of the same form without places, to judge it by."""
    return _PLACE.sub("x", url)


def _texts(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)
