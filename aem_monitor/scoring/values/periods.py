"""Parts, neighbours and surroundings of spans of days: the last week of a month, the Friday after a day, the week of a
day."""

from calendar import monthrange
from datetime import date, timedelta
from typing import Final

from aem_monitor.scoring.values.calendar import WEEK, Span, month_span, months_span
from aem_monitor.scoring.values.forms import DateForm

_PLACES: Final = ("first", "second", "third", "fourth", "fifth")
_SATURDAY: Final = 5


def months_later(day: date, months: int) -> date | None:
    """The same day of a month so many months later, or the end of a shorter month; None beyond the calendar."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9998:
        return None
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def edge(span: Span, *, after: bool) -> Span:
    """The day before or after a span."""
    day = span[1] + timedelta(days=1) if after else span[0] - timedelta(days=1)
    return day, day


def weekends(spans: tuple[Span, ...], which: str) -> tuple[Span, ...]:
    """The first, second .. or last Saturday and Sunday of each span that is a month or longer."""
    found = []
    for first, last in spans:
        days = [first + timedelta(days=offset) for offset in range((last - first).days)]
        saturdays = [day for day in days if day.weekday() == _SATURDAY]
        place = -1 if which == "last" else _PLACES.index(which)
        if len(days) >= 4 * WEEK - 1 and place < len(saturdays):
            found.append((saturdays[place], saturdays[place] + timedelta(days=1)))
    return tuple(found)


def halves(spans: tuple[Span, ...], which: str) -> tuple[Span, ...]:
    """The first half, to the 15th, or the second one of each span that is a month; halves of a year are months."""
    found = []
    for first, last in spans:
        if first.day == 1 and (first.year, first.month) == (last.year, last.month) and last.day >= 4 * WEEK:
            middle = first.replace(day=15)
            found.append((first, middle) if which == "first" else (middle + timedelta(days=1), last))
        elif (first.month, first.day, last.month, last.day) == (1, 1, 12, 31) and first.year == last.year:
            found.append(months_span(first.year, 1 if which == "first" else 7, 6))
    return tuple(found)


def around(spans: tuple[Span, ...], unit: str) -> tuple[Span, ...]:
    """What lies around each single day: the week that it begins or is in, or its weekend."""
    found: list[Span] = []
    for first, last in spans:
        if unit == "weekend" and (last - first).days < WEEK:
            saturday = first - timedelta(days=first.weekday()) + timedelta(days=_SATURDAY)
            found.append((saturday, saturday + timedelta(days=1)))
        elif first != last:
            continue
        elif unit == "week":
            monday = first - timedelta(days=first.weekday())
            found += [(first, first + timedelta(days=6)), (monday, monday + timedelta(days=6))]
    return tuple(dict.fromkeys(found))


def weekday_beside(spans: tuple[Span, ...], weekday: int, *, after: bool) -> tuple[Span, ...]:
    """The nearest such weekday after or before each span."""
    found = []
    for first, last in spans:
        if after:
            day = last + timedelta(days=(weekday - last.weekday()) % WEEK or WEEK)
        else:
            day = first - timedelta(days=(first.weekday() - weekday) % WEEK or WEEK)
        found.append((day, day))
    return tuple(found)


def shifted_spans(spans: tuple[Span, ...], days: int) -> tuple[Span, ...]:
    """Spans moved by days; those that would leave the calendar stay out."""
    moved = []
    for first, last in spans:
        try:
            moved.append((first + timedelta(days=days), last + timedelta(days=days)))
        except OverflowError:
            continue
    return tuple(moved)


def part_spans(spans: tuple[Span, ...], which: str, days: int) -> tuple[Span, ...]:
    """The first, second .. or last ``days`` days of each span."""
    parts = []
    for first, last in spans:
        if which == "last":
            parts.append((last - timedelta(days=days - 1), last))
            continue
        start = first + timedelta(days=days * _PLACES.index(which))
        if start <= last:
            parts.append((start, start + timedelta(days=days - 1)))
    return tuple(parts)


def part_months(spans: tuple[Span, ...], which: str, months: int) -> tuple[Span, ...]:
    """The first, second .. or last ``months`` months of each span that is made of whole months."""
    parts = []
    for first, last in spans:
        end = last + timedelta(days=1) if last < date.max else last
        if first.day != 1 or end.day != 1:
            continue
        start, stop = first.year * 12 + first.month - 1, end.year * 12 + end.month - 1
        offset = stop - months if which == "last" else start + months * _PLACES.index(which)
        if start <= offset and offset + months <= stop:
            parts.append(months_span(offset // 12, offset % 12 + 1, 1)[:1] + _month_end(offset + months - 1))
    return tuple((first, last) for first, last in parts)


def _month_end(index: int) -> tuple[date]:
    return (month_span(index // 12, index % 12 + 1)[1],)


def on_weekday(form: DateForm, weekday: int) -> DateForm | None:
    """The readings of a day that fall on a weekday; None if none does, or the form is no day."""
    days = tuple(span for span in form.spans if span[0] == span[1] and span[0].weekday() == weekday)
    return DateForm(days, form.fields, form.key) if days else None


def in_week(form: DateForm, weekday: int) -> DateForm | None:
    """The weekday of a week; None if the form is no period of two to seven days that holds it once."""
    days = []
    for first, last in form.spans:
        if not 0 < (last - first).days < WEEK:
            continue
        day = first + timedelta(days=(weekday - first.weekday()) % WEEK)
        if day <= last:
            days.append((day, day))
    return DateForm(tuple(days)) if days else None
