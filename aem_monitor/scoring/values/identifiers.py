"""Identifiers, addresses of mail and web: opaque names, equal or not."""

import re
from collections.abc import Iterator
from typing import Final

from aem_monitor.scoring.values.forms import Fact, IdentifierForm

_ADDRESS: Final = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}|\bhttps?://[^\s\"'<>)\]]{1,2000}[^\s\"'<>)\].,;:!?]"
)
_OPAQUE: Final = re.compile(r"(?<![\w.@/-])(?:#\s?[a-z\d]|[a-z\d])[a-z\d]*(?:[_.:/-][a-z\d]+)*(?![\w@])", re.IGNORECASE)
_HAS_DIGIT: Final = re.compile(r"\d")
_DIGIT_LETTER: Final = re.compile(r"[a-z_#]")
_ORDINARY: Final = re.compile(
    r"\d+(?:st|nd|rd|th|s|x|d|am|pm|a|p|k|m|b|mi|km|min|h|hr|hrs|ft|lb|kg|g|gb|mb|cm|mm)|(?:q|h)[1-4]"
)
_HOURS: Final = re.compile(r"\d{1,2}(?::\d{2})?(?:[ap]m)?-\d{1,2}(?::\d{2})?(?:[ap]m)?")
_COMPOUND: Final = re.compile(r"[a-z]+-\d{1,2}|\d{1,3}-[a-z]+(?:-[a-z]+)*")


def identifier_key(text: str) -> str:
    """The form in which identifiers are equal: no case, no blanks around, no leading number sign."""
    return text.strip().casefold().removeprefix("#").strip()


def looks_opaque(word: str) -> bool:
    """Whether a word without blanks is an identifier: digits mixed with letters or underscores, or a marked number.

    Units, ordinals and compounds with a number ("7pm", "5kg", "top-10", "30-minute") are not; in capitals the last
    kind is ("PNR-12").
    """
    folded = word.lower()
    if not _HAS_DIGIT.search(folded) or _ORDINARY.fullmatch(folded) or _HOURS.fullmatch(folded):
        return False
    if _COMPOUND.fullmatch(folded) and not word.isupper():
        return False
    if folded.startswith("#"):
        return True
    return bool(_DIGIT_LETTER.search(folded)) and len(folded) >= 3


def scan_identifiers(text: str, original: str) -> Iterator[Fact]:
    """Identifiers in a folded text."""
    for match in _ADDRESS.finditer(text):
        form = IdentifierForm(match[0].rstrip("/"))
        yield Fact("identifier", original[match.start() : match.end()], match.start(), match.end(), form)
    for match in _OPAQUE.finditer(text):
        said = original[match.start() : match.end()]
        if looks_opaque(said.replace(" ", "")):
            yield Fact("identifier", said, match.start(), match.end(), IdentifierForm(identifier_key(said)))
