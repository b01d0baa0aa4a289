"""Days told by their distance: three business days from now, a year and three months ago, "Monday week", two Sundays
from now; and weekdays with a day of the month."""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Final

from aem_monitor.scoring.values.calendar import Calendar, last_day, one_day
from aem_monitor.scoring.values.datewords import (
    COUNT,
    DAY,
    EDGE,
    END,
    MONTH_AHEAD,
    WEEKDAY,
    WEEKDAYS,
    count_of,
    day_number,
    which_of,
)
from aem_monitor.scoring.values.forms import DateForm

Build = Callable[[Calendar, re.Match[str]], DateForm | None]

_WORKDAY: Final = r"(?:business day|working day|workday|week ?day)"
_IN_WEEKS: Final = (
    rf"(?:in (?P<count>{COUNT}) (?P<unit>week|fortnight)s?(?: time)?"
    rf"|(?P<count2>{COUNT}) (?P<unit2>week|fortnight)s? (?:from (?:now|today)|(?P<back>ago)))"
)
_AWAY: Final = r"(?P<back> ago| earlier)| from now| from today| later| hence"
_LENGTH: Final = r"(?:day|week|fortnight|month|year)s?"
_SUM_OF_TIME: Final = (
    rf"(?P<whole>{COUNT}) (?:(?P<half>and a half) (?P<unit3>{_LENGTH})|(?P<unit>{_LENGTH})"
    rf"(?:(?:,| and|, and)? (?P<part>{COUNT}) (?P<unit2>{_LENGTH})| and (?P<half2>a half)))"
)


def _business_days(calendar: Calendar, match: re.Match[str]) -> DateForm:
    """Working days counted from today; Saturdays and Sundays are none, holidays are not known."""
    groups = match.groupdict()
    count = count_of(groups.get("count") or "one")
    backward = bool(groups.get("back")) or which_of(groups.get("which")) == "last"
    if calendar.reference is None or count > 1000:
        return DateForm(key=f"{'-' if backward else ''}{count} business days")
    day = calendar.reference
    while count:
        day += timedelta(days=-1 if backward else 1)
        count -= day.weekday() < 5
    return one_day(day)


def _weekday_week(calendar: Calendar, match: re.Match[str]) -> DateForm:
    """ "Monday week" and "a week on Monday": a week after the coming one."""
    coming = calendar.weekday("", WEEKDAYS[match["wd"]], "")
    weeks = 2 if "fortnight" in match[0] else 1
    if not coming.spans:
        return DateForm(key=f"{match['wd'][:3]} in {weeks} weeks")
    return one_day(coming.spans[0][0] + timedelta(days=7 * weeks))


def _neighbour(calendar: Calendar, match: re.Match[str]) -> DateForm:
    """ "the next day", "the day before": counted from the day that is spoken of, which is today where none is."""
    return calendar.shifted(1 if match["way"] in ("next", "following", "after") else -1)


def _weekdays_away(calendar: Calendar, match: re.Match[str]) -> DateForm:
    """ "two Sundays from now": the second one that comes."""
    weekday, count = WEEKDAYS[match["wd"]], count_of(match["count"])
    reference = calendar.reference
    if reference is None or count > 500:
        return DateForm(key=match[0])
    if match.groupdict().get("back"):
        return one_day(reference - timedelta(days=((reference.weekday() - weekday) % 7 or 7) + 7 * (count - 1)))
    return one_day(reference + timedelta(days=((weekday - reference.weekday()) % 7 or 7) + 7 * (count - 1)))


def _weekday_in_weeks(calendar: Calendar, match: re.Match[str]) -> DateForm:
    """ "Monday in two weeks": of the week that lies so many weeks ahead."""
    count = count_of(match["count"] or match["count2"])
    weeks = count * (2 if (match["unit"] or match["unit2"]) == "fortnight" else 1) * (-1 if match["back"] else 1)
    weekday = WEEKDAYS[match["wd"]]
    if calendar.reference is None or abs(weeks) > 5000:
        return DateForm(key=f"{weekday} in {weeks} weeks")
    monday = calendar.reference - timedelta(days=calendar.reference.weekday())
    return one_day(monday + timedelta(days=7 * weeks + weekday))


def _weekday_and_day(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    """ "Monday the 21st": the next or last 21st that is a Monday, of those within a year."""
    weekday, day = WEEKDAYS[match["wd"]], day_number(match["d"])
    if not 1 <= day <= 31:
        return None
    fields = frozenset({("w", weekday), ("d", day)})
    if calendar.reference is None:
        return DateForm((), fields)
    found = []
    for months in range(-12, 13):
        year, month = divmod(calendar.reference.year * 12 + calendar.reference.month - 1 + months, 12)
        if 1 <= year <= 9998 and day <= last_day(year, month + 1).day:
            each = date(year, month + 1, day)
            if each.weekday() == weekday:
                found.append(each)
    near = [each for each in found if each >= calendar.reference][:1]
    near += [each for each in found if each < calendar.reference][-1:]
    return DateForm(tuple((each, each) for each in near), fields) if near else None


def _sum_away(calendar: Calendar, match: re.Match[str]) -> DateForm:
    """ "One year and three months ago", "in two and a half weeks"."""
    months, days = _length(count_of(match["whole"]), match["unit"] or match["unit3"])
    if match["part"]:
        more = _length(count_of(match["part"]), match["unit2"])
        months, days = months + more[0], days + more[1]
    if match["half"] or match["half2"]:
        unit_months, unit_days = _length(1, match["unit"] or match["unit3"])
        months, days = months + unit_months // 2, days + unit_days // 2 + 15 * (unit_months % 2)
    if match.groupdict().get("back"):
        months, days = -months, -days
    if calendar.reference is None:
        return DateForm(key=f"{months} months {days} days away" if months else f"{days} days away")
    year, month = divmod(calendar.reference.year * 12 + calendar.reference.month - 1 + months, 12)
    if not 1 <= year <= 9998:
        return DateForm(key=f"{months} months {days} days away")
    base = date(year, month + 1, min(calendar.reference.day, last_day(year, month + 1).day))
    return Calendar(base).shifted(days)


def _length(count: int, unit: str) -> tuple[int, int]:
    """Months and days."""
    months = {"month": count, "year": 12 * count}.get(unit.removesuffix("s"), 0)
    return months, {"day": count, "week": 7 * count, "fortnight": 14 * count}.get(unit.removesuffix("s"), 0)


_RULES: Final = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        (rf"{EDGE}(?:in|within) (?P<count>{COUNT}) {_WORKDAY}s?(?:'? time)?{END}", _business_days),
        (rf"{EDGE}(?:the )?(?P<which>next|following|coming|previous|last) {_WORKDAY}{END}", _business_days),
        (
            (
                rf"{EDGE}(?P<count>{COUNT}) {_WORKDAY}s? (?:(?P<back>ago|earlier)|from (?:now"
                rf"|today)|later|hence){END}"
            ),
            _business_days,
        ),
        (rf"{EDGE}a (?:week|fortnight) (?:on|from|after) (?:next |this )?(?P<wd>{WEEKDAY}){END}", _weekday_week),
        (rf"{EDGE}(?P<wd>{WEEKDAY}) (?:week|fortnight){END}", _weekday_week),
        (rf"{EDGE}(?:the )?(?P<way>next|following|previous|last) day(?! (?:of|in)\b){END}", _neighbour),
        (rf"{EDGE}(?:the )?day (?P<way>after|before)(?= *(?:$|[.,;!?])){END}", _neighbour),
        (
            rf"{EDGE}(?P<count>{COUNT}) (?P<wd>{WEEKDAY})s (?:from now|from today|later|(?P<back>ago)){END}",
            _weekdays_away,
        ),
        (rf"{EDGE}in (?P<count>{COUNT}) (?P<wd>{WEEKDAY})s(?: time)?{END}", _weekdays_away),
        (rf"{EDGE}(?:on )?(?P<wd>{WEEKDAY}),? {_IN_WEEKS}{END}", _weekday_in_weeks),
        (rf"{EDGE}{_IN_WEEKS},? (?:on )?(?P<wd>{WEEKDAY}){END}", _weekday_in_weeks),
        (
            (
                rf"{EDGE}(?:the )?(?P<wd>{WEEKDAY}),? (?:the )?(?P<d>{DAY})(?: day)?(?! ?(?:[ap]\.?m|(?:day )?"
                rf"(?:of )?{MONTH_AHEAD}|[/.:-]|o'? ?clock)){END}"
            ),
            _weekday_and_day,
        ),
        (rf"{EDGE}{_SUM_OF_TIME}(?:{_AWAY}){END}", _sum_away),
        (rf"{EDGE}in {_SUM_OF_TIME}(?P<back>(?!))?{END}", _sum_away),
    )
)


def distance_rules() -> Iterator[tuple[re.Pattern[str], Build]]:
    """The rules in order of precedence."""
    yield from _RULES
