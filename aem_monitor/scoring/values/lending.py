"""Bare numbers that take what they count from the value beside them: "two to three hours", "from 3 to 5 pm", "june 5 or
6", "the 5th or 6th of June", "$5 to 10"."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Final

from aem_monitor.scoring.values.calendar import Calendar
from aem_monitor.scoring.values.forms import DateForm, DurationForm, Fact, QuantityForm, TimeForm
from aem_monitor.scoring.values.numbers import scan_numbers
from aem_monitor.scoring.values.units import unit_factor
from aem_monitor.scoring.values.words import flat

_JOIN: Final = re.compile(r"[ ,]*(?:-|to|and|or|until|till?|&|through|,)(?: (?:the|on|at))*[ ,]*")
_LAST_DAY: Final = 31
_LAST_HOUR: Final = 24


def lent(text: str, facts: Sequence[Fact], reference: date | None) -> tuple[Fact, ...]:
    """The facts of a text, with the bare numbers among them read as their neighbour is."""
    read = list(facts)
    folded = flat(text)
    for at, fact in enumerate(read):
        if not isinstance(fact.form, QuantityForm) or fact.form.dimension or fact.form.ordinal:
            continue
        for other in (at + 1, at - 1):
            if not 0 <= other < len(read):
                continue
            first, second = sorted((at, other))
            if not _JOIN.fullmatch(folded[read[first].end : read[second].start]):
                continue
            form = _alike(fact.form.value, read[other], other > at, reference)
            if form is not None:
                read[at] = replace(fact, kind=read[other].kind, form=form)
                break
    return tuple(read)


def _alike(
    number: Fraction, other: Fact, before: bool, reference: date | None
) -> DateForm | TimeForm | DurationForm | QuantityForm | None:
    """A number as a value of the kind of its neighbour; None where it cannot be one."""
    form = other.form
    if isinstance(form, DateForm) and number.denominator == 1 and 1 <= number <= _LAST_DAY:
        fields = dict(form.fields)
        if "m" in fields and "d" in fields and "to" not in fields:
            year = fields.get("y") if "w" in fields else None
            return Calendar(reference).day(year, fields["m"], int(number))
    if not before:
        return None
    if isinstance(form, TimeForm) and number.denominator == 1 and 1 <= number <= _LAST_HOUR and form.readings:
        hour = int(number) % 24
        readings = (hour * 3600,) if hour > 12 else (hour * 3600, (hour + 12) % 24 * 3600)
        return TimeForm(readings, firm=False, offset=form.offset)
    if isinstance(form, DurationForm):
        count = _leading(other.text)
        if count is None:
            return None
        return replace(form, months=form.months / count * number, seconds=form.seconds / count * number)
    if isinstance(form, QuantityForm) and form.dimension:
        size = unit_factor(form.unit)
        return QuantityForm(number * size, form.dimension, form.unit)
    return None


def _leading(text: str) -> Fraction | None:
    """The number with which a length of time begins; None where it has no single one."""
    numbers = [fact.form for fact in scan_numbers(flat(text), text)]
    if len(numbers) != 1 or not isinstance(numbers[0], QuantityForm) or not numbers[0].value:
        return None
    return numbers[0].value
