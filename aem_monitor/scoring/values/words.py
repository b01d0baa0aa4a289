"""Folding of text, and tokens: what every other module of this package reads."""

import re
import unicodedata
from typing import Final

from aem_monitor.scoring.values.remember import remembered

_CHARS: Final = {
    **dict.fromkeys("‘’‛`´ʼ", "'"),
    **dict.fromkeys("“”„‟«»", '"'),
    **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
    **dict.fromkeys("\u00a0\u2007\u2009\u200a\u202f\u3000\t\r\n\u2028\u2029", " "),
    "ß": "s",
    "ø": "o",
    "đ": "d",
    "ł": "l",
    "ı": "i",
}

_DOTTED: Final = re.compile(r"(?<![\w.])(?:[a-z]\.){2,}(?!\w)|(?<![\w.])(?:[a-z]\.)+[a-z](?![\w.])")
_TOKEN: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def _flat_char(char: str) -> str:
    lower = char.lower()
    if len(lower) != 1:
        lower = lower[0]
    mapped = _CHARS.get(lower)
    if mapped is not None:
        return mapped
    if lower.isascii():
        return lower
    base = unicodedata.normalize("NFD", lower)[0]
    return base if base.isalpha() else lower


@remembered(4096)
def flat(text: str) -> str:
    """Lower case without accents, typographic quotes and dashes made plain. Keeps length, so that spans stay valid."""
    if text.isascii():
        return text.lower().translate(_ASCII_SPACE)
    return "".join(_flat_char(char) for char in text)


_ASCII_SPACE: Final = str.maketrans("\t\r\n`", "   '")


def listed(words: str) -> tuple[str, ...]:
    """The words of a list that is written as one text."""
    return tuple(words.split())


def tokens(text: str) -> tuple[str, ...]:
    """Words and numbers of a text, folded: the letters and digits between everything else."""
    return _tokens(text)


@remembered(8192)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(token.removesuffix("'s").replace("'", "") for token in _TOKEN.findall(undotted(flat(text))))


def undotted(folded: str) -> str:
    """A folded text with the points of initials left out: "u.n." reads as "un"."""
    return _DOTTED.sub(lambda match: match[0].replace(".", ""), folded)


def plain(text: str) -> str:
    """The tokens joined by single blanks: equal for texts that differ in case, punctuation and white space only."""
    return " ".join(tokens(text))


STOPWORDS: Final = frozenset(
    listed("""a an the of in on at to for from by with and or as is are was were be been being it its this that these
    those
    there here i you he she we they me my your his her our their them us do does did done have has had will would
    shall should can could may might must so than then also just please about into over under up out off very too
    which what who whom whose when where why how if but any some each both all let lets ll ve re s t d m
    am im youre its theres thats want like need""")
)
"""Function words: they carry no fact."""


@remembered(16384)
def stem(word: str) -> str:
    """A crude English stem: endings off, so that inflected forms of one word meet. Not for words with digits."""
    if len(word) <= 3 or not word.isalpha():
        return word
    word = _BRITISH.sub("e", word)
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


_BRITISH: Final = re.compile(
    r"(?<=p)ae(?=d)|(?<=h)ae(?=m)|(?<=an)ae(?=[ms])|(?<=gyn)ae|(?<=arch)ae|(?<=leuk)ae"
    r"|(?<=f)oe(?=t)|(?<=rrh)oe|^oe(?=s)|(?<=man)oeu(?=v)"
)
"""The digraphs of British spelling in words from Greek and Latin ("orthopaedic", "anaemia", "oesophagus")."""

_ENDINGS: Final = (
    ("ics", "ic"),
    ("ational", "ate"),
    ("ations", "ate"),
    ("ation", "ate"),
    ("ments", "ment"),
    ("ingly", ""),
    ("edly", ""),
    ("nesses", ""),
    ("ness", ""),
    ("sses", "ss"),
    ("ies", "y"),
    ("ied", "y"),
    ("ings", ""),
    ("ing", ""),
    ("ches", "ch"),
    ("shes", "sh"),
    ("xes", "x"),
    ("ed", ""),
    ("ers", "er"),
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("s", ""),
    ("ly", ""),
)
