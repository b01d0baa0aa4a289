"""Plain text as a value: spelling, word order, initials, and the evidence that it means the same."""

import re
from typing import Final

from aem_monitor.scoring.scorers.base import Scorer
from aem_monitor.scoring.values.lexicon import CUISINES, ESTABLISHMENTS, GENERIC, NEGATIONS, SYNONYMS
from aem_monitor.scoring.values.remember import remembered
from aem_monitor.scoring.values.words import STOPWORDS, flat, listed, stem, tokens, undotted

_SIGNIFICANT: Final = re.compile(
    r"[<>=≥≤+*/^%$€£¥₹~!|&\\@#¢]|(?<!\w)-(?=\.?\d)|^-(?= \.?\d)|(?<!\d)\.(?=\d)|(?<=\d)[.,](?=\d)|\d+"
    r"|[^\W\d_]+(?:'[^\W\d_]+)*"
)
_AIRPORT: Final = stem("airport")
_INTERNATIONAL: Final = stem("international")
PARTICLES: Final = frozenset(listed("in out on off up down over under to from before after with without into"))
_QUALIFIERS: Final = frozenset(listed("very too so all both any some each only"))
_WEIGHTY: Final = PARTICLES | _QUALIFIERS
_FEW: Final = 3
_COVERED_WORDS: Final = 80


@remembered(8192)
def surface(text: str) -> str:
    """What is left when case, white space and ordinary punctuation are ignored; signs that carry meaning stay."""
    return " ".join(piece.replace("'", "") for piece in _SIGNIFICANT.findall(undotted(flat(text))))


@remembered(8192)
def lemmas(text: str) -> tuple[str, ...]:
    """Stems of the content words with synonyms and spellings unified; negations stay."""
    return tuple(
        SYNONYMS.get(stem(token), stem(token)) for token in tokens(text) if token not in STOPWORDS or token in NEGATIONS
    )


def compact(text: str) -> str:
    """Letters and digits only."""
    return "".join(tokens(text))


def is_initialism(short: str, long: str) -> bool:
    """Whether ``short`` are the initials of ``long``, function words counted or not ("UAE", "U.S.A.", "NBA")."""
    letters = re.sub(r"[.\s]", "", short)
    if not (2 <= len(letters) <= 7 and letters.isalpha() and letters.isupper()):
        return False
    words = tokens(long)
    if len(words) < 2:
        return False
    initials = "".join(word[0] for word in words)
    strong = "".join(word[0] for word in words if word not in STOPWORDS)
    return letters.lower() in (initials, strong)


def same_initialised(a: str, b: str) -> bool:
    """Whether two names are the same once initials in one are written out as in the other ("LA Lakers", "NY
    Yankees")."""
    words_a, words_b = re.findall(r"[\w.']+", a), re.findall(r"[\w.']+", b)
    return _expands(words_a, words_b) or _expands(words_b, words_a)


def _expands(short: list[str], long: list[str]) -> bool:
    if not 2 <= len(short) < len(long) <= 12:
        return False
    for index, word in enumerate(short):
        letters = word.replace(".", "")
        if not (2 <= len(letters) <= 5 and letters.isalpha() and letters.isupper()):
            continue
        run = long[index : index + len(long) - len(short) + 1]
        rest = long[:index] + long[index + len(run) :]
        if is_initialism(letters, " ".join(run)) and tokens(" ".join(short[:index] + short[index + 1 :])) == tokens(
            " ".join(rest)
        ):
            return True
    return False


def coverage(a: str, b: str, scorer: Scorer) -> tuple[float, float]:
    """How far the content words of each text are covered by the other: a shared word counts fully, a word left over
    by its likeness to the nearest word left over on the other side."""
    words_a, words_b = lemmas(a)[:_COVERED_WORDS], lemmas(b)[:_COVERED_WORDS]
    only_a = sorted(set(words_a) - set(words_b))
    only_b = sorted(set(words_b) - set(words_a))
    nearest_a, nearest_b = [0.0] * len(only_a), [0.0] * len(only_b)
    if only_a and only_b:
        scores = iter(scorer.score([(one, other) for one in only_a for other in only_b]))
        for i in range(len(only_a)):
            for j in range(len(only_b)):
                alike = next(scores)
                nearest_a[i], nearest_b[j] = max(nearest_a[i], alike), max(nearest_b[j], alike)

    def covered(words: tuple[str, ...], nearest: list[float]) -> float:
        different = len(set(words))
        return (different - len(nearest) + sum(nearest)) / different if different else 0.0

    return covered(words_a, nearest_a), covered(words_b, nearest_b)


def names(text: str) -> list[str]:
    """Capitalised words inside a text that is not in title case throughout; the first word proves nothing."""
    words = re.findall(r"[^\W\d_][\w'.-]*", text)
    capitalised = [word for word in words[1:] if word[0].isupper()]
    return capitalised if len(capitalised) * 2 <= len(words) else []


def same_words(a: str, b: str) -> bool:
    """Whether two texts have the same content words, inflection, order and synonyms aside."""
    words_a, words_b = lemmas(a), lemmas(b)
    if not words_a or sorted(words_a) != sorted(words_b):
        return False
    if max(len(tokens(a)), len(tokens(b))) > _FEW:
        return True
    # In a phrase of few words a particle is half of the meaning: "opt in", "opt out"; "low", "very low".
    return _WEIGHTY.intersection(tokens(a)) == _WEIGHTY.intersection(tokens(b))


def differ_by_generic_words(a: str, b: str) -> bool:
    """Whether one text is the other with nouns added that only say what sort of thing is named ("Sheraton Hotel")."""
    words_a, words_b = set(lemmas(a)), set(lemmas(b))
    if words_a == words_b:
        return _WEIGHTY.intersection(tokens(a)) == _WEIGHTY.intersection(tokens(b))
    if not (words_a & words_b) - GENERIC:
        return False
    extra = words_a ^ words_b
    if _AIRPORT in words_a & words_b:
        extra.discard(_INTERNATIONAL)
    return extra <= GENERIC


def overlap(a: str, b: str) -> tuple[float, float]:
    """Shares of the content words of each text that the other has too."""
    words_a, words_b = set(lemmas(a)), set(lemmas(b))
    if not words_a or not words_b:
        return 0.0, 0.0
    shared = len(words_a & words_b)
    return shared / len(words_a), shared / len(words_b)


_ESTABLISHMENT: Final = re.compile(
    rf"(?P<name>\S.*?)[\s,]+(?P<tail>(?:(?:{'|'.join(CUISINES)})\s+)?(?:{'|'.join(ESTABLISHMENTS)})"
    rf"(?:\s*(?:&|and|,)?\s*(?:{'|'.join(ESTABLISHMENTS)}))*)",
    re.IGNORECASE,
)


def same_establishment(a: str, b: str) -> bool:
    """Whether two names are of one house, said with more or fewer of the words at its end that tell what sort of house
    it is ("Lotus", "Lotus Thai Bistro"). "Lotus Bar" is no "Lotus Hotel": the words of one side have to be among those
    of the other."""
    (name_a, tail_a), (name_b, tail_b) = _house(a), _house(b)
    return bool(tokens(name_a)) and tokens(name_a) == tokens(name_b) and (tail_a <= tail_b or tail_b <= tail_a)


def _house(text: str) -> tuple[str, frozenset[str]]:
    match = _ESTABLISHMENT.fullmatch(text.strip())
    if match is None:
        return text, frozenset()
    return match["name"], frozenset(lemmas(match["tail"]))
