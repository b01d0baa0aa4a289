"""Dates that name a day by its place: the last Friday of June, the 3rd of next month, a holiday, a week by number, a
decade, three business days from now, "Monday week"."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from aem_monitor.scoring.values.calendar import Calendar, last_day, one_day
from aem_monitor.scoring.values.datewords import (
    DAY_NUMBERS,
    EDGE,
    END,
    MONTH,
    MONTHS,
    ORDINAL,
    WEEKDAY,
    WEEKDAYS,
    WHICH,
    YEAR,
    day_number,
    which_of,
    year_of,
)
from aem_monitor.scoring.values.distances import Build, distance_rules
from aem_monitor.scoring.values.forms import DateForm
from aem_monitor.scoring.values.holidays import PATTERN, fixed_day, holiday, holiday_key, known_day, nth_weekday
from aem_monitor.scoring.values.recurring import recurring_rules

_SEASONS: Final = {"spring": 1, "summer": 2, "autumn": 3, "fall": 3, "winter": 4}
_DECADES: Final = {
    "tens": 1, "twenties": 2, "thirties": 3, "forties": 4, "fifties": 5,
    "sixties": 6, "seventies": 7, "eighties": 8, "nineties": 9
}  # fmt: skip
_NTH: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1, "very last": -1, "final": -1,
    "penultimate": -2, "second to last": -2, "second-to-last": -2, "next to last": -2, "second last": -2,
    "last but one": -2,
}  # fmt: skip
_NTH_WORD: Final = (
    r"(?P<nth>second[ -]to[ -]last|next to last|second last|last but one|penultimate|first|1st|second|2nd|third|3rd"
    r"|fourth|4th|fifth|5th|(?:very )?last|final)"
)
_NTH_COMING: Final = r"(?P<nth>first|1st|second|2nd|third|3rd|fourth|4th|fifth|5th)"
_IN_MONTH: Final = (
    rf"(?:of|in) (?:(?P<mon>{MONTH})\.?(?:,? (?:of |in )?(?P<y>{YEAR}|'\d{{2}}))?|(?:the )?(?P<which>{WHICH}) month"
    r"|the month)"
)
_IN_YEAR: Final = rf"(?:of|in) (?:(?:the )?(?:year )?(?P<year>{YEAR})|(?:the )?(?P<whichyear>{WHICH}) year|the year)"
_ENDS: Final = {"eow": "week", "eom": "month", "eoq": "quarter", "eoy": "year"}


def _nth(text: str) -> int:
    return _NTH.get(text.replace("-", " ")) or DAY_NUMBERS.get(text) or int(text[0])


def _month_said(calendar: Calendar, match: re.Match[str]) -> tuple[tuple[int, int], ...]:
    """The months (year, month) that a match may mean, best first."""
    groups = match.groupdict()
    if groups.get("mon"):
        form = calendar.month(year_of(groups.get("y")), MONTHS[groups["mon"]])
    else:
        form = calendar.relative_period(which_of(groups.get("which")) or "this", "month")
    return tuple((first.year, first.month) for first, _ in form.spans)


def _year_told(calendar: Calendar, match: re.Match[str]) -> int | None:
    """The year in which a weekday is counted; None where it is counted in a month."""
    groups = match.groupdict()
    if groups.get("year"):
        return int(groups["year"])
    if calendar.reference is None or not match[0].endswith("year"):
        return None
    return calendar.reference.year + {"next": 1, "last": -1}.get(which_of(groups.get("whichyear")), 0)


def _weekday_of_month(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    year = _year_told(calendar, match)
    if year is not None:
        nth = _nth(match["nth"])
        if nth > 0:
            first = nth_weekday(year, 1, WEEKDAYS[match["wd"]], 1)
            return one_day(first + timedelta(days=7 * (nth - 1)))
        return one_day(nth_weekday(year, 12, WEEKDAYS[match["wd"]], -1) + timedelta(days=7 * (nth + 1)))
    days = []
    for year, month in _month_said(calendar, match):
        try:
            days.append(nth_weekday(year, month, WEEKDAYS[match["wd"]], _nth(match["nth"])))
        except ValueError:
            continue
    if not days:
        return DateForm(key=match[0])
    return DateForm(tuple((day, day) for day in days))


def _day_of_month(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    months = _month_said(calendar, match)
    if not months:
        return DateForm(key=match[0])
    said = match["d"]
    spans = []
    for year, month in months:
        last = last_day(year, month)
        day = last.day if said is None else day_number(said)
        if 1 <= day <= last.day:
            spans.append((date(year, month, day), date(year, month, day)))
    return DateForm(tuple(spans)) if spans else None


def _end_of(calendar: Calendar, match: re.Match[str]) -> DateForm:
    """The end of a current period: by itself its last days, so it only probably is the last one."""
    unit = _ENDS.get(match["short"] or "") or match["unit"] or match["unit2"]
    which = which_of(match["which"]) or "this"
    form = calendar.relative_period(which, unit)
    return DateForm(tuple((last, last) for _, last in form.spans), key=f"end of {which} {unit}", ambiguous=True)


def _holiday(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    name, year = holiday_key(match["day"]), year_of(match["y"])
    which = which_of(match["which"])
    if not known_day(name):
        told = f" {year}" if year else f" {which}" if which else ""
        return DateForm(key=name + told)
    try:
        if year is not None:
            return one_day(holiday(name, year))
        if which and calendar.reference is not None:
            return _holiday_told(calendar.reference, name, which)
        fixed = fixed_day(name)
        if fixed is not None:
            return calendar.day(None, *fixed)
        if calendar.reference is None:
            return DateForm(key=name)
        years = range(calendar.reference.year - 1, calendar.reference.year + 2)
        days = [holiday(name, each) for each in years]
    except ValueError:
        return None
    coming = [day for day in days if day >= calendar.reference][:1]
    past = [day for day in days if day < calendar.reference][-1:]
    return DateForm(tuple((day, day) for day in coming + past))


def _holiday_told(reference: date, name: str, which: str) -> DateForm:
    """ "Last Christmas", "this Christmas", "next Christmas": the last one past, that of this year, the next to come."""
    this = holiday(name, reference.year)
    if which == "last":
        return one_day(this if this < reference else holiday(name, reference.year - 1))
    if which == "this":
        return one_day(this)
    following = holiday(name, reference.year + 1)
    if this <= reference:
        return one_day(following)
    return DateForm(((this, this), (following, following)), ambiguous=True)


def _decade(_: Calendar, match: re.Match[str]) -> DateForm:
    digits = (match.groupdict().get("digits") or "").lstrip("'")
    if digits and len(digits) == 4:
        first = int(digits)
    else:
        tens = int(digits[0]) if digits else _DECADES[match["word"]]
        twenty = (match.groupdict().get("twenty") or "").startswith("twenty")
        first = (2000 if twenty or tens < 2 else 1900) + 10 * tens
    return DateForm(((date(first, 1, 1), date(first + 9, 12, 31)),), frozenset({("decade", first)}))


def _century(_: Calendar, match: re.Match[str]) -> DateForm | None:
    number = day_number(match["d"])
    if not 1 < number <= 30:
        return None
    return DateForm(((date(100 * number - 99, 1, 1), date(100 * number, 12, 31)),), frozenset({("century", number)}))


def _season(calendar: Calendar, match: re.Match[str]) -> DateForm:
    groups = match.groupdict()
    fields = {("season", _SEASONS[match["season"]])}
    year = year_of(groups.get("y"))
    if year is None and groups.get("which"):
        if calendar.reference is None:
            return DateForm(key=match[0])
        year = calendar.reference.year + {"next": 1, "last": -1}.get(which_of(groups["which"]), 0)
    return DateForm((), frozenset(fields | ({("y", year)} if year is not None else set())))


def _fiscal_year(_: Calendar, match: re.Match[str]) -> DateForm | None:
    year = year_of(match["y"])
    return None if year is None else DateForm((), frozenset({("fy", year)}))


def _numbered_week(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    """A week of the ISO calendar; the first and last of a year also by its first and last seven days."""
    groups = match.groupdict()
    word = groups.get("nth")
    number = int(match["number"]) if groups.get("number") else _nth(word or "first")
    year = year_of(groups.get("y") or groups.get("y2")) or (calendar.reference.year if calendar.reference else None)
    if year is None:
        return DateForm((), frozenset({("week", number)}))
    try:
        monday = date.fromisocalendar(year, number if number > 0 else date(year, 12, 28).isocalendar()[1], 1)
    except ValueError:
        return None
    spans = [(monday, monday + timedelta(days=6))]
    if word:
        first = date(year, 1, 1) + timedelta(days=7 * (number - 1)) if number > 0 else date(year, 12, 25)
        spans.append((first, first + timedelta(days=6)))
    return DateForm(tuple(spans))


def _after_next(calendar: Calendar, match: re.Match[str]) -> DateForm:
    if calendar.reference is None:
        return DateForm(key=match[0])
    unit = match["unit"]
    way = "next" if match["way"] == "after next" else "last"
    start, _ = calendar.relative_period(way, unit).spans[0]
    return Calendar(start).relative_period(way, unit)


def _rest_of(calendar: Calendar, match: re.Match[str]) -> DateForm:
    form = calendar.relative_period("this", match["unit"])
    if calendar.reference is None:
        return DateForm(key=f"rest of {match['unit']}")
    return DateForm(((calendar.reference, form.spans[0][1]),), key=f"rest of {match['unit']}")


def _to_date(calendar: Calendar, match: re.Match[str]) -> DateForm:
    unit = {"ytd": "year", "qtd": "quarter", "mtd": "month", "wtd": "week"}.get(match[0]) or match["unit"]
    form = calendar.relative_period("this", unit)
    if calendar.reference is None:
        return DateForm(key=f"{unit} to date")
    return DateForm(((form.spans[0][0], calendar.reference),), key=f"{unit} to date")


def _days_of_month(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    """ "June 5-7": from a day to another of one month."""
    year, month = year_of(match["y"]), MONTHS[match["mon"]]
    first = calendar.day(year, month, day_number(match["d1"]))
    last = calendar.day(year, month, day_number(match["d2"]))
    if first is None or last is None or day_number(match["d1"]) >= day_number(match["d2"]):
        return None
    if not first.spans:
        return DateForm((), frozenset({("m", month), ("d", day_number(match["d1"])), ("to", day_number(match["d2"]))}))
    return DateForm(tuple((a, b) for (a, _), (_, b) in zip(first.spans, last.spans, strict=False) if a <= b))


def _soon(_: Calendar, __: re.Match[str]) -> DateForm:
    return DateForm(key="asap")


def _current(calendar: Calendar, match: re.Match[str]) -> DateForm:
    return calendar.relative_period("this", match["unit"])


def _told_before(_: Calendar, match: re.Match[str]) -> DateForm:
    """ "That weekend": one of which the talk was, so no day can be told."""
    return DateForm(key=match[0])


def _years(_: Calendar, match: re.Match[str]) -> DateForm | None:
    """ "2016-2018", "2016-18"."""
    first, last = int(match["first"]), int(match["last"])
    last += first // 100 * 100 if last < 100 else 0
    return DateForm(((date(first, 1, 1), date(last, 12, 31)),)) if first < last else None


_MONTH_THEN: Final = rf"(?P<mon>{MONTH})\.? "
_THEN_YEAR: Final = rf"(?:,? (?:of |in )?(?P<y>{YEAR}))?"
_OF_MONTH: Final = rf"(?:of )?(?P<mon>{MONTH})\.?{_THEN_YEAR}"
_D1: Final = rf"(?P<d1>{ORDINAL}|\d{{1,2}})"
_D2: Final = rf"(?P<d2>{ORDINAL}|\d{{1,2}})"
_TO: Final = r" ?(?:-|to|till?|until|thru|through) ?(?:the )?"
_NO_TIME: Final = r"(?! ?[ap]\.?m\b)(?! ?o'? ?clock)(?!:)"

_RULES: Final = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        (rf"{EDGE}(?:from )?(?:the )?{_D1}{_TO}{_D2},? {_OF_MONTH}{END}", _days_of_month),
        (rf"{EDGE}between (?:the )?{_D1} and (?:the )?{_D2},? {_OF_MONTH}{END}", _days_of_month),
        (rf"{EDGE}{_MONTH_THEN}(?:from )?(?:the )?{_D1}{_TO}{_D2}{_NO_TIME}{_THEN_YEAR}{END}", _days_of_month),
        (rf"{EDGE}{_MONTH_THEN}between (?:the )?{_D1} and {_D2}{_NO_TIME}{_THEN_YEAR}{END}", _days_of_month),
        (rf"{EDGE}(?:the )?{_NTH_WORD} (?P<wd>{WEEKDAY}) {_IN_MONTH}{END}", _weekday_of_month),
        (rf"{EDGE}(?:the )?{_NTH_WORD} (?P<wd>{WEEKDAY}) {_IN_YEAR}{END}", _weekday_of_month),
        (rf"{EDGE}(?:the )?{_NTH_COMING} (?P<wd>{WEEKDAY})(?! (?:of|in|after|before) ){END}", _weekday_of_month),
        (
            (rf"{EDGE}(?:the )?(?:(?P<d>{ORDINAL})(?: day)?|(?:last|final) day) of (?:(?P<mon>{MONTH})\.?"
rf"(?:,? (?:of |in )?"
            rf"(?P<y>{YEAR}))?|(?:the )?(?P<which>{WHICH}) month|the month){END}"),
            _day_of_month,
        ),
        (
            (
                rf"{EDGE}(?:(?:the )?(?P<which>{WHICH}) )?(?P<day>{PATTERN})(?!'?s?'? (?:eve|day|monday)\b)"
                rf"(?:(?:,| of| in)? (?P<y>{YEAR}|'\d{{2}}))?{END}"
            ),
            _holiday,
        ),
        (rf"{EDGE}(?:the )?(?P<digits>(?:1[5-9]|20)\d0|'?[2-9]0)'?s{END}", _decade),
        (rf"{EDGE}(?:the )?(?P<twenty>twenty[ -])(?P<word>tens|twenties|thirties){END}", _decade),
        (rf"{EDGE}(?:the )(?:nineteen[ -])?(?P<word>{'|'.join(_DECADES)}){END}", _decade),
        (rf"{EDGE}(?:the )?(?P<d>{ORDINAL})[ -]century{END}", _century),
        (rf"{EDGE}(?:the )?(?P<season>{'|'.join(_SEASONS)})(?: of|,| in)? (?P<y>{YEAR}|'\d{{2}}){END}", _season),
        (rf"{EDGE}(?P<y>{YEAR}) (?P<season>{'|'.join(_SEASONS)}){END}", _season),
        (rf"{EDGE}(?:the )?(?P<which>{WHICH}) (?P<season>{'|'.join(_SEASONS)}){END}", _season),
        ((rf"{EDGE}(?:the )?(?:calendar )?(?:week|wk|cw) (?:no\.? |number |#)?(?P<number>\d{{1,2}})(?:(?:,| of| in)? "
rf"(?P<y>{YEAR}))?{END}"), _numbered_week),
        (
            (
                rf"{EDGE}(?:the )?(?P<number>\d{{1,2}})(?:st|nd|rd|th) week(?! (?:of|in) (?!the year|\d))"
                rf"(?: (?:of|in) (?:the year(?: (?P<y>{YEAR}))?|(?P<y2>{YEAR})))?{END}"
            ),
            _numbered_week,
        ),
        (rf"{EDGE}(?P<y>{YEAR})-?w(?P<number>\d{{2}}){END}", _numbered_week),
        ((rf"{EDGE}(?:the )?(?P<nth>first|1st|second|2nd|third|3rd|last) week (?:of|in) (?:the year )?"
rf"(?P<y>{YEAR}){END}"), _numbered_week),
        ((rf"{EDGE}(?:the )?(?P<unit>week|month|quarter|year|weekend) (?P<way>after next"
rf"|before last){END}"), _after_next),
        (rf"{EDGE}(?:the )?(?:rest|remainder) of (?:the |this )?(?P<unit>week|month|quarter|year){END}", _rest_of),
        (rf"{EDGE}(?:[ymqw]td|(?P<unit>year|month|quarter|week)[ -]to[ -]date){END}", _to_date),
        (
            (rf"{EDGE}(?:the )?(?:(?P<short>eow|eom|eoq|eoy)|end of (?:(?:the )?(?P<which>{WHICH}) |the )?"
            rf"(?P<unit>week|month|quarter|year)|(?P<unit2>month|quarter|year)[ -]end){END}"),
            _end_of,
        ),
    )
)  # fmt: skip

_LATE_RULES: Final = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        (rf"{EDGE}(?:(?:the )?(?:fiscal|financial) (?:year )?|fy ?)(?P<y>{YEAR}|'?\d{{2}}){END}", _fiscal_year),
        (rf"{EDGE}(?:the )?(?P<y>{YEAR}) (?:fiscal|financial) year{END}", _fiscal_year),
        (rf"{EDGE}(?:asap|as soon as possible|right away|immediately|straight away){END}", _soon),
        (rf"(?<=of the )(?P<unit>week|month|quarter|year){END}", _current),
    )
)

_EXPECTED_RULES: Final = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        (rf"{EDGE}(?:the )?(?P<season>{'|'.join(_SEASONS)}){END}", _season),
        (r"(?<=mid )(?P<unit>week|month|quarter|year)(?!\w)", _current),
        (r"^(?:(?:in|during|over) )?the (?P<unit>week|month|quarter|year)$", _current),
        (r"^(?:(?:at|on|over|during) )?(?:the )?(?P<unit>weekend)$", _current),
        (rf"{EDGE}(?:that|those) (?P<unit>day|week|weekend|month|year){END}", _told_before),
        (rf"{EDGE}(?P<word>{'|'.join(word for word in _DECADES if word != 'tens')}){END}", _decade),
        (rf"{EDGE}(?P<first>{YEAR}) ?- ?(?P<last>{YEAR}|\d\d){END}", _years),
    )
)  # fmt: skip


def spoken_rules(*, expected: bool) -> Iterator[tuple[re.Pattern[str], Build]]:
    """Rules that go before those of plain dates, in order of precedence; ``expected`` adds days that come again, which
    are dates only where one is due ("twice a week")."""
    if expected:
        yield from recurring_rules()
    yield from _RULES
    yield from distance_rules()


def late_spoken_rules(*, expected: bool) -> Iterator[tuple[re.Pattern[str], Build]]:
    """Rules that go behind them; ``expected`` adds what is a date only where one is due ("Mondays")."""
    yield from _LATE_RULES
    if expected:
        yield from _EXPECTED_RULES
