"""Whether two strings mean the same."""

import re
from datetime import date
from typing import Final

from aem_monitor.scoring.scorers.base import Scorer
from aem_monitor.scoring.values.booleans import parse_boolean
from aem_monitor.scoring.values.context import Comparison, ValueContext
from aem_monitor.scoring.values.forms import Agreement, DateForm, Fact, QuantityForm, agree
from aem_monitor.scoring.values.formulas import formula_key
from aem_monitor.scoring.values.guards import guard
from aem_monitor.scoring.values.identifiers import identifier_key, looks_opaque
from aem_monitor.scoring.values.places import agree_places, read_place
from aem_monitor.scoring.values.remember import remembered
from aem_monitor.scoring.values.scan import scan
from aem_monitor.scoring.values.terms import Term, agree_part, read_terms
from aem_monitor.scoring.values.text import (
    compact,
    coverage,
    differ_by_generic_words,
    is_initialism,
    lemmas,
    names,
    overlap,
    same_establishment,
    same_initialised,
    same_words,
    surface,
)
from aem_monitor.scoring.values.units import same_unit
from aem_monitor.scoring.values.words import flat, listed, tokens

_TYPED_KINDS: Final = frozenset({"date", "time", "datetime", "duration", "number"})
_GLUE: Final = frozenset(
    listed(
        "t the a an of on at in for and to this that is it day date time year around oclock clock hours hour per "
        "total approximately about"
    )
)
"""Words beside a typed value that do not change it."""

_WHOLE: Final = 0.3
_EVEN: Final = 0.72
"""Weight of whole-text likeness against coverage, and the evidence at which half of the pairs are equivalent: fitted
by logistic regression on half of the STS headline and post-editing pairs (balanced accuracy 0.83, on the other half
0.81)."""

_CLIPPED: Final = 6
_MAX_FACTS: Final = 100
_SENTENCE: Final = 5
"""Content words from which a text is a sentence, told in other words, rather than an argument."""

_OR_MORE: Final = re.compile(
    r"\b(\w+)( or (?:more|less|fewer))( (?:minute|hour|day|week|month|year)s?(?: ago| from now)?)\b", re.IGNORECASE
)
"""What stands between a count and its unit, for an order in which the length is one piece."""

_ZONE: Final = re.compile(
    r"(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)/(?:\w+/)?(?P<city>[A-Za-z_-]+)"
)
_DECIMAL: Final = re.compile(r"\d[.,]\d")
_TELLING: Final = re.compile(r"[<>=+%^~≤≥]|(?<!\w)-(?= ?\.?\d)")
"""Signs that are half of the meaning: "> 2 hours", "< 2 hours"."""
_WORD: Final = re.compile(r"[^\W\d_]{2}")
_PRONOUN: Final = re.compile(r"(?<=[a-z]) ones?$")
_LENT_YEAR: Final = re.compile(r"(?<![\w-])(?:19|20)\d{2}(?![\w-])")
_SIGNS: Final = re.compile(r"[\W_]+")
_GLUE_PUNCTUATION: Final = re.compile(r"[\s,.;:!?()'\"\[\]-]+")


def compare_strings(a: str, b: str, context: ValueContext, scorer: Scorer, kind: str | None) -> Comparison:
    """Compare two strings; symmetric."""
    a, b = a.strip(), b.strip()
    if a == b or (flat(a) == flat(b)) or (surface(a) == surface(b) and surface(a)):
        return Comparison(True, 1.0, False, "exact")
    if not a or not b:
        return _different("empty")
    # A fixed order makes every rule below symmetric, whichever side is looked at first.
    a, b = sorted((a, b))
    if kind != "paraphrase":
        typed = _typed(a, b, context.reference_date, kind)
        if typed is not None:
            return typed
        named = _named(a, b, kind)
        if named is not None:
            return named
    return _free_text(a, b, context, scorer, kind)


def _different(rule: str, score: float = 0.0, *, uncertain: bool = False) -> Comparison:
    return Comparison(False, min(max(score, 0.0), 0.49), uncertain, rule)


def _from_agreement(agreement: Agreement, rule: str) -> Comparison:
    match agreement:
        case Agreement.SAME:
            return Comparison(True, 1.0, False, rule)
        case Agreement.PROBABLY:
            return Comparison(True, 0.75, True, rule)
        case Agreement.UNKNOWN:
            return _different(rule, 0.4, uncertain=True)
    return _different(rule)


@remembered(8192)
def whole_value(text: str, reference: date | None, expected: str) -> tuple[tuple[Fact, ...], tuple[str, ...]] | None:
    """The facts that make up a whole text, and the words beside them that may change them; None if there is no fact."""
    if len(text) > 120:
        return None
    facts = scan(text, reference, expected)
    if not facts:
        return None
    rest, position = [], 0
    for fact in facts:
        rest.append(text[position : fact.start])
        position = fact.end
    rest.append(text[position:])
    words = [word for part in rest for word in _GLUE_PUNCTUATION.split(flat(part)) if word]
    return facts, tuple(sorted(word for word in words if word not in _GLUE))


def _expected(a: str, b: str, reference: date | None, kind: str | None) -> str:
    """How bare numbers are to be read: as the kind hinted, else as the kind that the other side is."""
    if kind in ("date", "time", "duration", "number"):
        return kind
    for text in (a, b):
        value = whole_value(text, reference, "")
        if value and len(value[0]) == 1 and not value[1] and value[0][0].kind in ("date", "time"):
            return value[0][0].kind
    return ""


def _typed(a: str, b: str, reference: date | None, kind: str | None) -> Comparison | None:
    if kind in ("location", "entity"):
        return None
    a, b = _OR_MORE.sub(r"\1\3\2", a), _OR_MORE.sub(r"\1\3\2", b)
    expected = _expected(a, b, reference, kind)
    found = _read_as(expected, a, b, reference, kind)
    unhinted = kind not in _TYPED_KINDS and expected != "date" and (found is None or not found.equivalent)
    if unhinted and all(_WORD.search(text) for text in (a, b)):
        # "Daily" and "every day", "mid June" and "the middle of June" are dates only where one is due: here both are.
        values = whole_value(a, reference, "date"), whole_value(b, reference, "date")
        if all(value is not None and any(fact.kind == "date" for fact in value[0]) for value in values):
            dates = _read_as("date", a, b, reference, kind)
            return dates if dates is not None and dates.equivalent else found
    return found


def _read_as(expected: str, a: str, b: str, reference: date | None, kind: str | None) -> Comparison | None:
    """How two texts compare as typed values, bare numbers read as ``expected``; None where they are none."""
    value_a, value_b = whole_value(a, reference, expected), whole_value(b, reference, expected)
    if value_a is None or value_b is None:
        if kind in _TYPED_KINDS:
            return None
        if (_bare(value_a) or _bare(value_b)) and (len(tokens(a)) <= 3 or len(tokens(b)) <= 3):
            return _opposed_words(a, b)
        return None
    (terms_a, rest_a), (terms_b, rest_b) = (
        read_terms(text, facts, reference) for text, (facts, _) in ((a, value_a), (b, value_b))
    )
    if rest_a != rest_b:
        return None
    rule = value_a[0][0].kind
    if _said(terms_a) > len(terms_b) or _said(terms_b) > len(terms_a):
        return _different(rule) if not rest_a else None
    return _from_agreement(_agree_terms(terms_a, terms_b, kind), rule)


def _agree_terms(a: tuple[Term, ...], b: tuple[Term, ...], kind: str | None) -> Agreement:
    """How well the terms of two values agree, each with the best one left of the other side."""
    left = list(b)
    worst = Agreement.SAME
    for term in sorted(a, key=lambda term: term.implied):
        best, at = Agreement.DIFFERENT, -1
        for index, other in enumerate(left):
            found = _agree_term(term, other, kind)
            if _RANK[found] > _RANK[best]:
                best, at = found, index
        if at < 0 and term.implied:
            continue
        if at < 0:
            return Agreement.DIFFERENT
        left.pop(at)
        worst = min(worst, best, key=_RANK.__getitem__)
    return worst if all(term.implied for term in left) else Agreement.DIFFERENT


def _said(terms: tuple[Term, ...]) -> int:
    return sum(not term.implied for term in terms)


_RANK: Final = {Agreement.DIFFERENT: 0, Agreement.UNKNOWN: 1, Agreement.PROBABLY: 2, Agreement.SAME: 3}


def _agree_term(a: Term, b: Term, kind: str | None) -> Agreement:
    if a.relation != b.relation:
        return agree_part(a, b)
    return agree(a.fact.form, b.fact.form) if kind == "number" else agree_facts(a.fact, b.fact)


def agree_facts(a: Fact, b: Fact) -> Agreement:
    """Whether two facts say the same; a year stands as a number or as a period."""
    for one, other in ((a.form, b.form), (b.form, a.form)):
        if isinstance(one, DateForm) and isinstance(other, QuantityForm) and one.fields == {("y", int(other.value))}:
            return Agreement.SAME
    if isinstance(a.form, QuantityForm) and isinstance(b.form, QuantityForm):
        leading_zero = [re.match(r"0\d", fact.text) is not None for fact in (a, b)]
        if leading_zero[0] != leading_zero[1] and a.text.isdigit() and b.text.isdigit():
            return Agreement.UNKNOWN if agree(a.form, b.form).accepts else Agreement.DIFFERENT
    return agree(a.form, b.form)


def _bare(value: tuple[tuple[Fact, ...], tuple[str, ...]] | None) -> bool:
    return value is not None and not value[1]


def _opposed_words(a: str, b: str) -> Comparison | None:
    """One side is a typed value and nothing else, the other has none: they differ, unless the words are the same."""
    if same_words(a, b) or compact(a) == compact(b):
        return None
    return _different("type")


def _named(a: str, b: str, kind: str | None) -> Comparison | None:
    """Booleans, identifiers, places, initials."""
    truth_a, truth_b = parse_boolean(flat(a)), parse_boolean(flat(b))
    if truth_a is not None and truth_b is not None:
        return Comparison(True, 1.0, False, "boolean") if truth_a is truth_b else _different("boolean")
    formula = formula_key(a)
    if formula is not None and formula == formula_key(b):
        return Comparison(True, 0.95, False, "formula")
    if kind == "identifier" or any(_opaque(text) for text in (a, b)):
        if identifier_key(a) == identifier_key(b):
            return Comparison(True, 1.0, False, "identifier")
        return _different("identifier")
    if same_unit(a, b):
        return Comparison(True, 0.95, False, "unit")
    hinted = kind == "location"
    places_a, places_b = read_place(a, hinted=hinted), read_place(b, hinted=hinted)
    if bool(places_a) != bool(places_b) and not hinted:
        # "Lax" beside "Los Angeles": the other side says that a place is meant, so that a code need not be in capitals.
        places_a, places_b = read_place(a, hinted=True), read_place(b, hinted=True)
    if bool(places_a) != bool(places_b) and _clipped(a, b):
        return Comparison(True, 0.7, True, "clipped")
    if is_initialism(a, b) or is_initialism(b, a):
        return Comparison(True, 0.9, False, "initials")
    if places_a and places_b:
        return _from_agreement(agree_places(places_a, places_b), "place")
    return _zone_of(a, b) or _qualified(a, b)


def _zone_of(a: str, b: str) -> Comparison | None:
    """A zone of the time zone database and the city that it is named for ("Europe/London"): probably the same."""
    for zone, other in ((a, b), (b, a)):
        match = _ZONE.fullmatch(zone)
        if match and surface(match["city"].replace("_", " ")) == surface(other):
            return Comparison(True, 0.7, True, "zone")
    return None


def _clipped(a: str, b: str) -> bool:
    """Whether one text is the other broken off inside a word ("San Fran")."""
    short, long = sorted((flat(a), flat(b)), key=len)
    return len(short) >= _CLIPPED and long.startswith(short) and long[len(short)].isalpha() and short[-1].isalpha()


def _qualified(a: str, b: str) -> Comparison | None:
    """The same name, once with the place where it is: "Louvre Museum, Paris". Probably the same."""
    for longer, shorter in ((a, b), (b, a)):
        head, comma, tail = longer.partition(",")
        if comma and surface(head) == surface(shorter) and read_place(tail.strip(), hinted=True):
            return Comparison(True, 0.7, True, "qualified")
    return None


def _opaque(text: str) -> bool:
    return " " not in text and looks_opaque(text)


def _free_text(a: str, b: str, context: ValueContext, scorer: Scorer, kind: str | None) -> Comparison:
    if (
        len(compact(a)) >= 4
        and _same_letters(a, b)
        and _TELLING.findall(a) == _TELLING.findall(b)
        and not (_DECIMAL.search(a) or _DECIMAL.search(b))
    ):
        return Comparison(True, 0.95, False, "spelling")
    if same_initialised(a, b):
        return Comparison(True, 0.85, False, "initials")
    violated = guard(a, b, context.reference_date)
    if violated:
        return _different(violated, 0.2)
    rest_a, rest_b = _without_shared_facts(a, b, context.reference_date)
    rest_a, rest_b = _PRONOUN.sub("", rest_a), _PRONOUN.sub("", rest_b)
    if same_words(rest_a, rest_b):
        return Comparison(True, 0.95, False, "words")
    if kind in _TYPED_KINDS:
        # "in the morning", "at morning": no particle tells two times apart.
        if kind != "number" and lemmas(rest_a) and sorted(lemmas(rest_a)) == sorted(lemmas(rest_b)):
            return Comparison(True, 0.8, False, "words")
        return _different(kind or "", 0.2, uncertain=True)
    if _differ_in_sort_only(rest_a, rest_b):
        return Comparison(True, 0.8, False, "words")
    if kind == "entity" and same_establishment(a, b):
        # "Lotus", "Lotus Thai Bistro": a second one of that name would be told apart in the same way.
        return Comparison(True, 0.7, True, "words")
    if _value_beside_words(a, b, context.reference_date):
        return _different("facts", 0.3)
    content_a, content_b = lemmas(rest_a), lemmas(rest_b)
    if kind != "paraphrase" and min(len(content_a), len(content_b)) < _SENTENCE and _adds_fact(rest_a, rest_b, context):
        return _different("facts", 0.45, uncertain=True)
    if kind != "paraphrase" and (min(len(content_a), len(content_b)) < 2 or max(len(tokens(a)), len(tokens(b))) < 4):
        # Names, enum members and single words: similarity would take "ascending" for "descending".
        return _different("words", 0.4 * max(overlap(a, b)))
    return _similar(a, b, context, scorer)


def _value_beside_words(a: str, b: str, reference: date | None) -> bool:
    """Whether one text is nothing but typed values ("2023-10-26 09:00:00") and the other states none of those kinds:
    likeness of their characters says nothing."""
    for value, other in ((a, b), (b, a)):
        whole = whole_value(value, reference, "")
        if whole is not None and not whole[1]:
            kinds = {fact.kind for fact in whole[0]}
            if all(fact.kind not in kinds for fact in scan(other, reference)):
                return True
    return False


def _same_letters(a: str, b: str) -> bool:
    """Whether only blanks and signs differ ("mc donalds", "McDonald's")."""
    return compact(a) == compact(b) or _SIGNS.sub("", flat(a)) == _SIGNS.sub("", flat(b))


def _adds_fact(a: str, b: str, context: ValueContext) -> bool:
    """Whether one of two short texts says a typed value or a name of which the other says nothing. ("flights to
    Rome", "flights to Rome and Milan"): as an argument that asks for something else."""
    if scan(a, context.reference_date) or scan(b, context.reference_date):
        return True
    words_a, words_b = set(lemmas(a)), set(lemmas(b))
    return any(not set(lemmas(name)) & words_b for name in names(a)) or any(
        not set(lemmas(name)) & words_a for name in names(b)
    )


def _similar(a: str, b: str, context: ValueContext, scorer: Scorer) -> Comparison:
    """Free text by likeness of the whole and coverage of the words that each side leaves over."""
    covered_a, covered_b = coverage(a, b, scorer)
    evidence = _WHOLE * scorer.score([(a, b)])[0] + (1 - _WHOLE) * min(covered_a, covered_b)
    # The break-even of the evidence is put at 0.5, so that thresholds keep their meaning.
    score = 0.5 * evidence / _EVEN if evidence < _EVEN else 0.5 + 0.5 * (evidence - _EVEN) / (1 - _EVEN)
    equivalent = score >= context.threshold
    uncertain = abs(score - context.threshold) <= context.band
    score = max(score, 0.5) if equivalent else min(score, 0.49)
    return Comparison(equivalent, min(max(score, 0.0), 1.0), uncertain, "similarity")


def _without_shared_facts(a: str, b: str, reference: date | None) -> tuple[str, str]:
    """Both texts without the facts that both state: "Q3 2024 revenue" leaves "revenue"."""
    facts_a, facts_b = (
        [fact for fact in scan(text, reference)[:_MAX_FACTS] if not text[fact.end : fact.end + 1].isalnum()]
        for text in (a, b)
    )
    shared_a = [fact for fact in facts_a if any(agree_facts(fact, other) is Agreement.SAME for other in facts_b)]
    shared_b = [fact for fact in facts_b if any(agree_facts(fact, other) is Agreement.SAME for other in facts_a)]
    cut_a, cut_b = _cut(a, shared_a, reference), _cut(b, shared_b, reference)
    return (cut_a, cut_b) if tokens(cut_a) and tokens(cut_b) else (a, b)


def _cut(text: str, facts: list[Fact], reference: date | None) -> str:
    for fact in sorted(facts, key=lambda fact: -fact.start):
        text = text[: fact.start] + " " + text[fact.end :]
    # A year that was lent to a quarter said elsewhere ("third quarter .. for 2024") is said with it.
    if any(isinstance(fact.form, DateForm) for fact in facts):
        text = (
            _LENT_YEAR.sub(" ", text) if not any(fact.kind == "number" for fact in scan(text, reference)[1:]) else text
        )
    return text


def _differ_in_sort_only(a: str, b: str) -> bool:
    """Whether one side only adds what sort of thing is named; "Paris Hotel" is no Paris."""
    if not differ_by_generic_words(a, b):
        return False
    shorter = min((a, b), key=lambda text: len(lemmas(text)))
    return not read_place(shorter) or bool(overlap(a, b)[0] == overlap(a, b)[1] == 1.0)
