"""Whether a text is in the language that the rules know."""

from typing import Final

from aem_monitor.scoring.values.words import STOPWORDS, listed, tokens

_ENOUGH_WORDS: Final = 6
_COMMON: Final = STOPWORDS | frozenset(
    listed("not no yes order please thank thanks hello found available ticket time day")
)


def is_english(text: str) -> bool:
    """False for a text of some length with almost no English function words, or mostly in another script. Short texts
    count as English: names, numbers and codes have no language."""
    words = [word for word in tokens(text) if not any(char.isdigit() for char in word)]
    letters = [char for word in words for char in word]
    if letters and sum(char.isascii() for char in letters) < 0.7 * len(letters):
        return False
    if len(words) < _ENOUGH_WORDS:
        return True
    return sum(word in _COMMON for word in words) >= 0.12 * len(words)
