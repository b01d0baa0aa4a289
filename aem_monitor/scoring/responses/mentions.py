"""Whether a text says what it must say."""

import re
from typing import Final

from aem_monitor.scoring.scorers.base import Scorer
from aem_monitor.scoring.values.context import Comparison, ValueContext
from aem_monitor.scoring.values.forms import Agreement
from aem_monitor.scoring.values.places import agree_places, read_place
from aem_monitor.scoring.values.scan import scan
from aem_monitor.scoring.values.strings import agree_facts, whole_value
from aem_monitor.scoring.values.text import compact, lemmas, surface
from aem_monitor.scoring.values.words import tokens

_MAX_PLACE_WORDS: Final = 4


def mentions(text: str, wanted: str, context: ValueContext, scorer: Scorer) -> Comparison:  # noqa: ARG001
    """Whether ``wanted``, a typed value or literal words, is said in ``text`` in any equivalent form. Never by
    similarity: a required mention that is only nearly there is missing."""
    if not tokens(wanted) and surface(wanted) == "":
        return Comparison(True, 1.0, False, "empty")
    if _literally(text, wanted):
        return Comparison(True, 1.0, False, "exact")
    value = whole_value(wanted, context.reference_date, "")
    if value is not None and not value[1]:
        return _typed(text, wanted, context)
    if value is not None:
        typed = _typed(text, wanted, context)
        words = set(lemmas(" ".join(value[1])))
        return typed if words <= set(lemmas(text)) else Comparison(False, 0.3, False, "words")
    return _words(text, wanted)


def _literally(text: str, wanted: str) -> bool:
    said = surface(wanted)
    if not said or f" {said} " not in f" {surface(text)} ":
        return False
    if not (wanted.strip()[:1].isdigit() or wanted.strip()[-1:].isdigit()):
        return True
    return re.search(rf"(?<![\w.,-]){re.escape(wanted.strip())}(?![.,:]?\d)(?!\w|-\w)", text, re.IGNORECASE) is not None


def _typed(text: str, wanted: str, context: ValueContext) -> Comparison:
    expected = whole_value(wanted, context.reference_date, "")
    assert expected is not None
    rule = expected[0][0].kind
    uncertain = False
    for fact in expected[0]:
        candidates = scan(text, context.reference_date) + scan(text, context.reference_date, fact.kind)
        answers = {agree_facts(fact, other) for other in candidates}
        if Agreement.SAME in answers:
            continue
        if Agreement.PROBABLY not in answers:
            return Comparison(False, 0.0, Agreement.UNKNOWN in answers, rule)
        uncertain = True
    return Comparison(True, 0.75 if uncertain else 1.0, uncertain, rule)


def _words(text: str, wanted: str) -> Comparison:
    run, said = lemmas(wanted), lemmas(text)
    if run and any(said[at : at + len(run)] == run for at in range(len(said) - len(run) + 1)):
        return Comparison(True, 0.95, False, "words")
    if len(compact(wanted)) >= 5 and _bounded(text, wanted):
        return Comparison(True, 0.9, False, "spelling")
    if _names_place(text, wanted):
        return Comparison(True, 0.9, False, "place")
    share = len(set(run) & set(said)) / len(set(run)) if run else 0.0
    return Comparison(False, 0.49 * share, False, "words")


def _bounded(text: str, wanted: str) -> bool:
    """Whether the letters of ``wanted`` begin and end at word boundaries of the text ("Madmax" in "Mad Max today")."""
    words = tokens(text)
    target = compact(wanted)
    for start in range(len(words)):
        joined = ""
        for word in words[start:]:
            joined += word
            if joined == target:
                return True
            if len(joined) >= len(target):
                break
    return False


def _names_place(text: str, wanted: str) -> bool:
    place = read_place(wanted)
    if not place:
        return False
    words = re.findall(r"[^\W\d_][\w.'-]*", text)
    for size in range(1, _MAX_PLACE_WORDS + 1):
        for start in range(len(words) - size + 1):
            run = words[start : start + size]
            if not run[0][0].isupper():
                continue
            named = read_place(" ".join(run))
            if named and agree_places(place, named) is Agreement.SAME:
                return True
    return False
