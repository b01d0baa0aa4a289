"""Parts of dates to forms: which days a day, month, weekday or period may mean under a reference date.

A week begins on Monday (ISO 8601). "next Thursday" said on a Tuesday means the one in two days to some and the one in
nine days to others: both readings are kept and the form is ambiguous. A day and month without a year is the next one
or the last one.
"""

from calendar import monthrange
from datetime import date, timedelta
from typing import Final, TypeAlias

from aem_monitor.scoring.values.forms import DateForm

Span: TypeAlias = tuple[date, date]

WEEK: Final = 7


class Calendar:
    """Builds forms from parts of dates, with the reference date of one comparison."""

    def __init__(self, reference: date | None) -> None:
        self.reference = reference

    def day(self, year: int | None, month: int | None, day: int) -> DateForm | None:
        """A day of which year, or year and month, may be open."""
        if not 1 <= day <= 31 or (month is not None and not 1 <= month <= 12):
            return None
        if year is not None and month is not None:
            if day > monthrange(year, month)[1]:
                return None
            full = date(year, month, day)
            return DateForm(((full, full),), frozenset({("y", year), ("m", month), ("d", day), ("w", full.weekday())}))
        if month is not None:
            if day > 29 and day > monthrange(2023, month)[1]:
                return None
            return DateForm(self._yearless(month, day), frozenset({("m", month), ("d", day)}))
        return self._day_of_month(day)

    def _yearless(self, month: int, day: int) -> tuple[Span, ...]:
        if self.reference is None:
            return ()
        years = range(self.reference.year - 1, self.reference.year + 2)
        days = [date(year, month, day) for year in years if 1 <= year <= 9999 and day <= monthrange(year, month)[1]]
        coming = [found for found in days if found >= self.reference][:1]
        past = [found for found in days if found < self.reference][-1:]
        return tuple((found, found) for found in coming + past)

    def _day_of_month(self, day: int) -> DateForm | None:
        fields = frozenset({("d", day)})
        if self.reference is None:
            return DateForm((), fields)
        first = self.reference.replace(day=1)
        for _ in range(12):
            if day <= monthrange(first.year, first.month)[1]:
                found = first.replace(day=day)
                if found >= self.reference:
                    spans: tuple[Span, ...] = ((found, found),)
                    this_month = day < self.reference.day
                    if this_month:
                        past = self.reference.replace(day=day)
                        spans += ((past, past),)
                    return DateForm(spans, fields, ambiguous=this_month)
            first = _first_of_next_month(first)
        return None

    def month(self, year: int | None, month: int) -> DateForm:
        if year is not None:
            return DateForm((month_span(year, month),), frozenset({("y", year), ("m", month)}))
        fields = frozenset({("m", month)})
        if self.reference is None:
            return DateForm((), fields)
        this_year = month_span(self.reference.year, month)
        other = self.reference.year + (1 if this_year[1] < self.reference else -1)
        return DateForm((this_year, month_span(max(other, 1), month)), fields)

    def which_month(self, which: str, month: int) -> DateForm:
        """ "Next June", "last June", "this June": the next one may be of this year or the one after."""
        if self.reference is None:
            return DateForm((), frozenset({("m", month)}), f"{which} month {month}")
        this = self.reference.year
        if which == "this":
            return self.month(this, month)
        if which == "last":
            return self.month(max(this - (month >= self.reference.month), 1), month)
        if month <= self.reference.month:
            return self.month(this + 1, month)
        spans = (month_span(this + 1, month), month_span(this, month))
        return DateForm(spans, frozenset({("m", month)}), ambiguous=True)

    def coming_weekend(self) -> DateForm:
        """ "The coming weekend": this one to most, the next one to some."""
        if self.reference is None:
            return DateForm(key="coming weekend")
        this, following = (self.relative_period(which, "weekend").spans for which in ("this", "next"))
        return DateForm((*this, *following), ambiguous=True)

    def period(self, year: int | None, first_month: int, months: int, label: str) -> DateForm:
        """A quarter or half of a year, ``months`` long."""
        fields = {(label, (first_month - 1) // months + 1)}
        if year is None:
            if self.reference is None:
                return DateForm((), frozenset(fields))
            years = (self.reference.year, max(self.reference.year - 1, 1))
            return DateForm(tuple(months_span(each, first_month, months) for each in years), frozenset(fields))
        return DateForm((months_span(year, first_month, months),), frozenset(fields | {("y", year)}))

    def year(self, year: int) -> DateForm:
        return DateForm(((date(year, 1, 1), date(year, 12, 31)),), frozenset({("y", year)}))

    def weekday(self, which: str, weekday: int, week: str) -> DateForm:
        """A named day: ``which`` is "", this, next, last; ``week`` is "", this, next, last."""
        fields = frozenset({("w", weekday)})
        reference = self.reference
        if reference is None:
            return DateForm((), fields, f"{which} {week} {weekday}" if which in ("next", "last") or week else "")
        monday = reference - timedelta(days=reference.weekday())
        if week:
            shift = {"this": 0, "next": 7, "last": -7}[week]
            return one_day(monday + timedelta(days=shift + weekday))
        ahead = (weekday - reference.weekday()) % 7
        if which == "last":
            return one_day(reference - timedelta(days=(reference.weekday() - weekday) % 7 or 7))
        if which == "next":
            coming = reference + timedelta(days=ahead or 7)
            if coming <= monday + timedelta(days=6):
                later = coming + timedelta(days=7)
                return DateForm(((later, later), (coming, coming)), ambiguous=True)
            return one_day(coming)
        found = reference + timedelta(days=ahead)
        if which == "" and ahead == 0:
            later = found + timedelta(days=7)
            return DateForm(((found, found), (later, later)), ambiguous=True)
        return one_day(found)

    def shifted(self, days: int) -> DateForm:
        """So many days from today; the same key for the same distance where today is not known."""
        away = DateForm(key=f"{days} days away")
        if self.reference is None:
            return away
        try:
            return one_day(self.reference + timedelta(days=days))
        except OverflowError:
            return away

    def now(self) -> DateForm:
        """The moment of speaking: some time of the reference day, so it only probably means that day."""
        day = ((self.reference, self.reference),) if self.reference else ()
        return DateForm(day, key="now", ambiguous=True)

    def periods(self, which: str, count: int, unit: str) -> DateForm:
        """The next or last ``count`` days, weeks, months, quarters or years."""
        key = f"{which} {count} {unit}"
        if self.reference is None or not 0 < count < 1000:
            return DateForm(key=key)
        if unit == "weekend":
            return DateForm(key=key)
        if unit in ("day", "week", "fortnight"):
            days = timedelta(days=count * {"day": 1, "week": WEEK, "fortnight": 2 * WEEK}[unit])
            try:
                other = self.reference + days if which == "next" else self.reference - days
            except OverflowError:
                return DateForm(key=key)
            return DateForm((tuple(sorted((self.reference, other))),), key=key)  # type: ignore[arg-type]
        months = count * {"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit]
        index = self.reference.year * 12 + self.reference.month - 1 + (months if which == "next" else -months)
        if not 12 <= index < 9999 * 12:
            return DateForm(key=key)
        other = month_span(index // 12, index % 12 + 1)[0]
        return DateForm((tuple(sorted((self.reference, other))),), key=key)  # type: ignore[arg-type]

    def relative_period(self, which: str, unit: str) -> DateForm:
        """This, next or last week, weekend, month, quarter or year."""
        if self.reference is None:
            return DateForm(key=f"{which} {unit}")
        step = {"this": 0, "next": 1, "last": -1}[which]
        if unit in ("week", "weekend"):
            monday = self.reference - timedelta(days=self.reference.weekday()) + timedelta(days=7 * step)
            first = monday + timedelta(days=5 if unit == "weekend" else 0)
            return DateForm(((first, monday + timedelta(days=6)),))
        if unit in ("decade", "century"):
            years = 10 if unit == "decade" else 100
            opening = (self.reference.year - (unit == "century")) // years * years + (unit == "century") + step * years
            return (
                DateForm(((date(opening, 1, 1), date(opening + years - 1, 12, 31)),))
                if 1 <= opening < 9900
                else DateForm()
            )
        months = {"month": 1, "quarter": 3, "year": 12}[unit]
        index = (self.reference.year * 12 + self.reference.month - 1) // months + step
        year, month = divmod(index * months, 12)
        return DateForm((months_span(max(min(year, 9998), 1), month + 1, months),))


def one_day(day: date) -> DateForm:
    return DateForm(((day, day),), frozenset({("y", day.year), ("m", day.month), ("d", day.day), ("w", day.weekday())}))


def last_day(year: int, month: int) -> date:
    """The last day of a month."""
    return date(year, month, monthrange(year, month)[1])


def _first_of_next_month(day: date) -> date:
    return date(day.year + (day.month == 12), day.month % 12 + 1, 1)


def month_span(year: int, month: int) -> Span:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def months_span(year: int, first_month: int, months: int) -> Span:
    return date(year, first_month, 1), month_span(year, first_month + months - 1)[1]
