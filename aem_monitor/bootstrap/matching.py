"""Matchers that the kind of a value asks for, each with what it rests on."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aem_monitor.golden.messages import normalise
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.values.identifiers import looks_opaque

_CENT: Final = 0.005
"""Half of the last digit of an amount: rounding, and nothing more."""
_WORDS_OF_FREE_TEXT: Final = 4
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT: Final = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?")
_TIME: Final = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\.?)?", re.IGNORECASE)
_IDENTIFIES: Final = frozenset({"id", "ids", "code", "key", "uuid", "reference", "ref", "number", "no"})
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DEPTH: Final = 6


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A matcher for the argument, or dotted path into one, called ``name``."""

    name: str
    matcher: Mapping[str, Any]
    because: str


def suggestions(args: Mapping[str, JSON], schemas: Mapping[str, JSON], said: Sequence[str]) -> Iterator[Suggestion]:
    """One suggestion a value at most. ``schemas`` are the JSON Schemas of arguments, ``said`` what the user said."""
    known = " ".join(f" {normalise(text)} " for text in said)
    for name, value in args.items():
        companion = f"new_{name}"
        other = args.get(companion)
        if isinstance(value, list) and isinstance(other, list) and len(value) == len(other) > 1:
            yield Suggestion(
                name,
                {"parallel": [companion]},
                f"{name} and {companion} are pairs: their order says nothing. Add ignore_identity: true if exchanging "
                "an entry for itself changes nothing",
            )
        else:
            yield from _of(name, value, schemas.get(name), known, _DEPTH)


def _of(name: str, value: JSON, schema: JSON, said: str, depth: int) -> Iterator[Suggestion]:
    schema = schema if isinstance(schema, Mapping) else {}
    if isinstance(value, Mapping):
        inner = schema.get("properties")
        for key, item in value.items() if depth else ():
            if "." not in key and key:
                below = inner.get(key) if isinstance(inner, Mapping) else None
                yield from _of(f"{name}.{key}", item, below, said, depth - 1)
        return
    members = schema.get("enum")
    if isinstance(members, list) and value in members:
        yield Suggestion(name, {"enum": list(members)}, "the members that its parameter schema lists")
    elif isinstance(value, float) and _is_amount(value):
        yield Suggestion(name, {"number": {"abs": _CENT}}, "an amount with a fraction: allows for rounding")
    elif isinstance(value, str):
        yield from _of_text(name, value, said)


def _of_text(name: str, value: str, said: str) -> Iterator[Suggestion]:
    if _DATE.fullmatch(value):
        yield Suggestion(name, {"date": True}, "formed like a date: any form of it will do")
    elif _MOMENT.fullmatch(value):
        yield Suggestion(name, {"datetime": True}, "formed like a day and a time: any form of that moment will do")
    elif _TIME.fullmatch(value):
        yield Suggestion(name, {"time": True}, "formed like a time of day: any form of it will do")
    elif identifies(name, value):
        yield Suggestion(name, {"id": True}, "named and formed like an identifier: never similar")
    elif len(value.split()) >= _WORDS_OF_FREE_TEXT and f" {normalise(value)} " not in said:
        yield Suggestion(
            name,
            {"text": True},
            "free text, and not in the user's words: similar in meaning will do. ignore: true if it may say anything",
        )


def identifies(name: str, value: str) -> bool:
    """Whether a field or argument of that name with that value is named and formed like an identifier."""
    words = [word.lower() for word in _WORD.findall(name.rpartition(".")[2])]
    formed = " " not in value and (looks_opaque(value) or value.isdigit())
    return bool(words) and words[-1] in _IDENTIFIES and formed


def _is_amount(value: float) -> bool:
    """One or more, with one or two decimals: a rate or a coordinate is no amount, and half a cent matters to it."""
    return abs(value) >= 1 and not value.is_integer() and round(value, 2) == value
