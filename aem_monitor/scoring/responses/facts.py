"""Facts of a reply: typed values, proper names and quoted phrases."""

import re
from collections.abc import Iterator
from typing import Final

from aem_monitor.scoring.responses.days import shared_month
from aem_monitor.scoring.values.context import ValueContext
from aem_monitor.scoring.values.forms import DateForm, Fact, NameForm, QuantityForm, TimeForm
from aem_monitor.scoring.values.remember import remembered
from aem_monitor.scoring.values.scan import MAX_CHARS, scan
from aem_monitor.scoring.values.words import STOPWORDS, flat, listed, tokens

_QUOTED: Final = re.compile(r"[\"“„]([^\"“”„\n]{2,80})[\"”“]")
_CAPITALISED: Final = re.compile(
    r"(?:[A-Z][\w.'’&-]*[\w]|[A-Z])(?:(?:\s+(?:of|the|and|de|la|del|van|von|&)){0,2}\s+(?:[A-Z][\w.'’&-]*[\w]|[A-Z]\b|\d+\b))*"
)
_LIST_MARK: Final = re.compile(r"\)\s")
_TITLE_WORDS: Final = 4
_RATE: Final = re.compile(r"\d[\d.,]*(?:\s+\w+)?\s+(?:for\s+)?$")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:;\n]\s*|[\"“(*•-]\s*)$")
_NOT_NAMES: Final = frozenset(
    listed("""i im ive ill id ok okay yes no sure sorry thanks thank please hello hi hey great good there here the a
    an your you my our we it its is are
    was were do does did would could can may should will what which who where when how why if so and but or also not
    all any some no
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november
    december am pm mr mrs ms dr miss usd eur gbp id url api pdf csv faq tv dj order confirmation note total let lets
    have has just
    enjoy anything first second third one two three ok confirmed confirming starting leaving booking search found""")
)


@remembered(2048)
def _facts(text: str, context: ValueContext) -> tuple[Fact, ...]:
    text = text[:MAX_CHARS]
    found = [fact for fact in scan(text, context.reference_date) if _states(fact, text)]
    named = [*_quoted(text), *_names(text)]
    inside = bytearray(len(text))
    for fact in named:
        inside[fact.start : fact.end] = b"\1" * (fact.end - fact.start)
    # "Toy Story 4" is one name, not a name and a number.
    found = [fact for fact in found if fact.kind != "number" or not all(inside[fact.start : fact.end])]
    taken = bytearray(len(text))
    for fact in found:
        taken[fact.start : fact.end] = b"\1" * (fact.end - fact.start)
    for fact in named:
        if not any(taken[fact.start : fact.end]):
            found.append(fact)
            taken[fact.start : fact.end] = b"\1" * (fact.end - fact.start)
    return tuple(shared_month(text, found, context.reference_date))


def facts(text: str, context: ValueContext) -> tuple[Fact, ...]:
    """The facts that a text states, in order of place: typed values first, then quoted phrases, then capitalised
    names."""
    return _facts(text, ValueContext(reference_date=context.reference_date))


def _is_function_word(word: str) -> bool:
    folded = flat(word).strip(".'")
    whole, stem_part = folded.replace("'", ""), folded.partition("'")[0]
    return any(form in _NOT_NAMES or form in STOPWORDS for form in (whole, stem_part))


def _states(fact: Fact, text: str) -> bool:
    """Whether a typed value is meant as one.

    "Found one" counts nothing and "first, .." opens a sentence; "$99 a night" and "per month" tell a rate, not a
    length; "at night" and "currently" are no points in time; "2)" numbers a list, "(item 2757705742)" does not.
    """
    said = flat(fact.text)
    if fact.kind == "number":
        if said == "one" or (said.isalpha() and _is_ordinal(fact)):
            return False
        return not (_LIST_MARK.match(text, fact.end) and text.count("(", 0, fact.end) <= text.count(")", 0, fact.end))
    if isinstance(fact.form, TimeForm):
        return bool(fact.form.readings)
    if isinstance(fact.form, DateForm):
        return fact.form.key != "now"
    if fact.kind != "duration":
        return True
    first = said.split()[0]
    if first in ("per", "each", "every", "the", "all", "whole", "another"):
        return False
    return first not in ("a", "an") or not _RATE.search(flat(text)[max(0, fact.start - 24) : fact.start])


def _is_ordinal(fact: Fact) -> bool:
    return isinstance(fact.form, QuantityForm) and fact.form.ordinal


def _quoted(text: str) -> Iterator[Fact]:
    for match in _QUOTED.finditer(text):
        words = tokens(match[1])
        if words:
            yield Fact("quoted", match[1], match.start(1), match.end(1), NameForm(words))


def _names(text: str) -> Iterator[Fact]:
    """Runs of capitalised words. A single one at the start of a sentence is no evidence of a name, and a text in
    title or upper case throughout names nothing this way."""
    letters = [word for word in re.findall(r"[^\W\d_]+", text) if len(word) > 3]
    if len(letters) > _TITLE_WORDS and sum(word[0].isupper() for word in letters) > 0.9 * len(letters):
        return
    for match in _CAPITALISED.finditer(text):
        start, end = match.span()
        words = text[start:end].split()
        at_start = _SENTENCE_START.search(text[:start]) is not None
        while words and (_is_function_word(words[0]) or (at_start and len(words) > 1 and words[0].endswith("ing"))):
            start += len(words[0])
            start += len(text[start:end]) - len(text[start:end].lstrip())
            words = words[1:]
            at_start = False
        if not words or (at_start and len(words) == 1):
            continue
        name = tokens(" ".join(words))
        if name and any(char.isalpha() for char in name[0]):
            yield Fact("name", text[start:end], start, end, NameForm(name))
