"""User messages compared: which of them say the same.

Equality comes first and is of normal forms: letter case, white space, quotes and punctuation around words say nothing.
Similarity is asked only where equality fails, and never overrules a number or a negation that differs.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias

Similarity: TypeAlias = Callable[[str, str], float]
"""How close two texts are in meaning, in [0, 1]."""

_QUOTES: Final = str.maketrans(dict.fromkeys("‘’‚`´", "'") | dict.fromkeys("‐‑–—−", "-"))
_KEPT_SIGNS: Final = frozenset("%‰")
_ASCII_MARKS: Final = re.compile(
    r"""(?!(?<!\S)-[0-9])(?:(?<![0-9a-z])[!"#&'()*,\-./:;?@\[\\\]_{}]|[!"#&'()*,\-./:;?@\[\\\]_{}](?![0-9a-z]))"""
)
"""Punctuation that is neither inside a word nor the sign of a number, in a text of small ASCII letters."""
_LONGEST_REMEMBERED: Final = 1000
"""Characters of a text whose normal form is remembered: memory has to stay bounded."""
_NUMBER = re.compile(r"\d+")
_NEGATIONS: Final = frozenset({"not", "no", "never", "without", "cannot", "nor", "neither"})
_SHORTEST_PREFIX: Final = 20
"""A text that an exporter cut says too little to be compared when fewer characters than these are left."""


def normalise(text: str) -> str:
    """The normal form of a message: NFKC, case folded, white space collapsed, punctuation around words dropped.

    Punctuation inside a word or number stays (``a-1042``, ``1.5``, ``don't``), as do the sign of a number and per cent.
    A text of nothing but punctuation is its own normal form.
    """
    return _remembered_form(text) if len(text) <= _LONGEST_REMEMBERED else _normal_form(text)


def _normal_form(text: str) -> str:
    if text.isascii():
        # The same rules, for letters that have no other form.
        folded = text.lower().replace("`", "'")
        return " ".join(_ASCII_MARKS.sub(" ", folded).split()) or " ".join(folded.split())
    visible = "".join(char for char in text.translate(_QUOTES) if unicodedata.category(char) != "Cf")
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold()).translate(_QUOTES)
    kept = []
    for before, char, after in zip(f" {folded}", folded, f"{folded[1:]} ", strict=False):
        inside = after.isalnum() and before.isalnum()
        signed = char == "-" and before.isspace() and after.isdigit()
        mark = unicodedata.category(char)[0] == "P" and char not in _KEPT_SIGNS
        kept.append(" " if mark and not inside and not signed else char)
    return " ".join("".join(kept).split()) or " ".join(folded.split())


# Golden messages are compared with every live one, and a live one with several golden ones.
_remembered_form = lru_cache(maxsize=4096)(_normal_form)


def same_user_message(
    golden: str,
    live: str,
    similarity: Similarity | None = None,
    threshold: float = 0.85,
    *,
    truncated: bool = False,
) -> bool:
    """Whether a live message says what the golden one says; without ``similarity`` only equal normal forms do.

    Of a ``truncated`` live message only what is left is compared, if enough is left.
    """
    wanted, said = normalise(golden), normalise(live)
    if wanted == said or (truncated and begins_with(wanted, said)):
        return True
    return similarity is not None and comparable(wanted, said) and similarity(golden, live) >= threshold


def tells_enough(live: str, truncated: bool) -> bool:
    """Whether enough of a live message is there to say that it departs from a golden one."""
    return not truncated or len(normalise(live)) >= _SHORTEST_PREFIX


def begins_with(wanted: str, said: str) -> bool:
    """Whether ``said``, the normal form of a cut text, is a beginning of ``wanted`` long enough to tell."""
    return len(said) >= _SHORTEST_PREFIX and wanted.startswith(said)


def comparable(one: str, other: str) -> bool:
    """Whether similarity may decide between two normal forms: the same numbers, and both or neither negated.

    Two messages that differ by an order number are near in meaning and ask for different things.
    """
    return _numbers(one) == _numbers(other) and _negated(one) == _negated(other)


def _numbers(text: str) -> list[int]:
    return sorted(int(number) for number in _NUMBER.findall(text) if len(number) < 300)


def _negated(text: str) -> bool:
    return any(word in _NEGATIONS or word.endswith("n't") for word in text.split())
