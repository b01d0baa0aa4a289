"""Days that texts of dates name together: "7 and 8 December", and the two ends of "7-8 December"."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Final, TypeAlias

from aem_monitor.scoring.values.forms import DateForm, Fact, QuantityForm
from aem_monitor.scoring.values.lending import lent
from aem_monitor.scoring.values.words import flat

Day: TypeAlias = "date | tuple[int, int]"

_AND: Final = re.compile(r"\s*(?:and|or|&)\s*")
_ALONE: Final = re.compile(r"\s*(?:[.,;:!?)]|$|(?:at|for|from|in|to)\b)")
"""What may follow a day; "7 December and 2 rooms" counts rooms."""


def shared_month(text: str, found: Sequence[Fact], reference: date | None) -> list[Fact]:
    """The facts of a text, with "7" in "7 and 8 December" or "8" in "December 7 and 8" read as the day it is."""
    read = sorted(found, key=lambda fact: fact.start)
    folded = flat(text)
    for at in range(len(read) - 2, -1, -1):
        number, named = read[at], read[at + 1]
        if named.text[:1].isdigit() and _joined(folded, number, named):
            read[at] = _as_day(text, number, named, reference)
        elif _joined(folded, named, number) and _ALONE.match(folded, named.end):
            read[at + 1] = _as_day(text, named, number, reference)
    return read


def _joined(folded: str, number: Fact, named: Fact) -> bool:
    first, second = sorted((number, named), key=lambda fact: fact.start)
    return (
        isinstance(number.form, QuantityForm)
        and isinstance(named.form, DateForm)
        and not number.form.dimension
        and number.text.isdigit()
        and _AND.fullmatch(folded[first.end : second.start]) is not None
    )


def _as_day(text: str, number: Fact, named: Fact, reference: date | None) -> Fact:
    pair = sorted((number, named), key=lambda fact: fact.start)
    return next(fact for fact in lent(text, pair, reference) if fact.start == number.start)


def says_days(fact: Fact, others: Sequence[Fact]) -> bool:
    """Whether a day is the first or last one of a period that is said, or a period has both of its ends said.

    "7 and 8 December" are "7-8 December"; nothing is known of the days between.
    """
    if not isinstance(fact.form, DateForm):
        return False
    wanted = _ends(fact.form)
    told = {day for other in others if isinstance(other.form, DateForm) for day in _days(other.form, wanted)}
    return bool(wanted) and all(any(day in told for day in end) for end in wanted)


def _ends(form: DateForm) -> list[tuple[Day, ...]]:
    """The first and the last day, each in all forms known of it; one for a single day; none for a month or a year."""
    fields = dict(form.fields)
    if not {"d", "m"} <= fields.keys() and not (form.spans and not fields):
        return []
    ends: list[list[Day]] = [[], []]
    if form.spans:
        ends[0].append(form.spans[0][0])
        ends[1].append(form.spans[0][1])
    if {"d", "m"} <= fields.keys():
        ends[0].append((fields["m"], fields["d"]))
        ends[1].append((fields["m"], fields.get("to", fields["d"])))
    return [tuple(end) for end in (ends if ends[0] != ends[1] else ends[:1])]


def _days(form: DateForm, wanted: Sequence[tuple[Day, ...]]) -> list[Day]:
    """The days that a date says; of a period both ends, where single days are ``wanted``."""
    ends = _ends(form)
    return [day for end in ends for day in end] if len(ends) != len(wanted) else []
