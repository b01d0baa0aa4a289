"""Numbers whose unit is said elsewhere: results hold ``{"days_left": 7.5}`` where a text says "7.5 days"."""

import re
from fractions import Fraction
from typing import Final

from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.values.durations import length_of
from aem_monitor.scoring.values.forms import DurationForm, Fact, QuantityForm
from aem_monitor.scoring.values.strings import whole_value
from aem_monitor.scoring.values.words import flat

_LAST_WORD: Final = re.compile(r"[^\W\d_]+$")
_KEY_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_BARE: Final = re.compile(r"[+-]?\d{1,15}(\.\d{1,9})?")


def unit_said(text: str) -> str:
    """The unit of a text that is one number with a unit, else ""."""
    whole = whole_value(text, None, "")
    if whole is None or whole[1] or len(whole[0]) != 1:
        return ""
    form = whole[0][0].form
    if isinstance(form, QuantityForm):
        return form.unit
    word = _LAST_WORD.search(flat(text).strip())
    return word[0] if isinstance(form, DurationForm) and word and length_of(word[0]) is not None else ""


def counts(fact: Fact, path: tuple[str | int, ...], leaf: JSON, tiny: int) -> bool:
    """Whether a bare number of a result is the length of time that ``fact`` says, counted in the unit that it says.

    The unit stands in the key. Where it does not, whole numbers up to ``tiny`` prove nothing.
    """
    if not isinstance(fact.form, DurationForm) or isinstance(leaf, bool) or not _BARE.fullmatch(str(leaf)):
        return False
    unit = unit_said(fact.text)
    length = length_of(unit)
    if length is None:
        return False
    count = Fraction(str(leaf))
    if (fact.form.months, fact.form.seconds) != (count * length[0], count * length[1]):
        return False
    return count.denominator != 1 or abs(count) > tiny or any(length_of(word) == length for word in _words(path))


def _words(path: tuple[str | int, ...]) -> list[str]:
    keys = [part for part in path if isinstance(part, str)]
    return [word.lower() for word in _KEY_WORD.findall(keys[-1])] if keys else []
