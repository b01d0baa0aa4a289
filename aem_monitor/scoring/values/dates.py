"""Dates and periods as they are written and said, absolute and relative."""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import date
from typing import Final

from aem_monitor.scoring.values.calendar import Calendar, one_day, part_spans, shifted_spans
from aem_monitor.scoring.values.forms import DateForm, Fact
from aem_monitor.scoring.values.words import listed

_MONTH_NAMES: Final = listed("january february march april may june july august september october november december")
_MONTHS: Final = (
    {name: number for number, name in enumerate(_MONTH_NAMES, start=1)}
    | {name[:3]: number for number, name in enumerate(_MONTH_NAMES, start=1)}
    | {"sept": 9}
)
_DAY_NAMES: Final = listed("monday tuesday wednesday thursday friday saturday sunday")
_WEEKDAYS: Final = (
    {name: number for number, name in enumerate(_DAY_NAMES)}
    | {name[:3]: number for number, name in enumerate(_DAY_NAMES)}
    | {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}
)
_ORDINAL_WORDS: Final = {
    word: number
    for number, word in enumerate(
        listed(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
            "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third "
            "twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
        ),
        start=1,
    )
}
_COUNTS: Final = {
    word: number
    for number, word in enumerate(
        listed("a one two three four five six seven eight nine ten eleven twelve"),
        start=0,
    )
} | {"a": 1, "an": 1}

_MONTH: Final = r"(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")"
_FULL_MONTH: Final = r"(?:" + "|".join(name for name in _MONTH_NAMES if name not in ("may", "march")) + r")"
_WEEKDAY: Final = r"(?:" + "|".join(sorted(_WEEKDAYS, key=len, reverse=True)) + r")"
_ORDINAL: Final = (
    r"(?:\d{1,2}(?:st|nd|rd|th)|"
    + "|".join(word.replace("-", "[- ]") for word in sorted(_ORDINAL_WORDS, key=len, reverse=True))
    + r")"
)
_DAY: Final = rf"(?:{_ORDINAL}|\d{{1,2}})"
_YEAR: Final = r"(?:1[5-9]|2[01])\d{2}"
_COUNT: Final = r"(?:\d{1,3}|" + "|".join(_COUNTS) + r")"
_EDGE: Final = r"(?<![\w/.-])"
_END: Final = r"(?![\w])(?!-\d)(?!/\d)"


def _year(text: str | None) -> int | None:
    if not text:
        return None
    digits = text.lstrip("'")
    if len(digits) == 2:
        return int(digits) + (2000 if int(digits) < 70 else 1900)
    return int(digits)


def _day_number(text: str) -> int:
    digits = re.match(r"\d+", text)
    return int(digits[0]) if digits else _ORDINAL_WORDS[text.replace(" ", "-")]


def _numeric(calendar: Calendar, first: int, second: int, year: int | None) -> DateForm | None:
    """Day and month in unknown order: both readings where both are dates, the American one first."""
    month_first, day_first = calendar.day(year, first, second), calendar.day(year, second, first)
    if month_first is None or day_first is None or first == second:
        return month_first or day_first
    return DateForm(month_first.spans + day_first.spans, frozenset(), f"{first}/{second}/{year}", ambiguous=True)


Build = Callable[[Calendar, re.Match[str]], DateForm | None]


def _which(text: str | None) -> str:
    words = (text or "").split()
    for word in words:
        if word in ("next", "following"):
            return "next"
        if word in ("last", "previous", "past"):
            return "last"
        if word in ("this", "coming", "upcoming", "current"):
            return "this"
    return ""


def _count(text: str) -> int:
    return int(text) if text.isdigit() else _COUNTS[text]


def _distance(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    unit = match["unit"]
    count = _count(match["count"])
    if match.groupdict().get("back"):
        count = -count
    if unit.startswith(("day", "week")):
        return calendar.shifted(count * (7 if unit.startswith("week") else 1), match[0])
    if calendar.reference is None:
        return DateForm(key=match[0])
    index = calendar.reference.year * 12 + calendar.reference.month - 1 + count * (12 if unit.startswith("y") else 1)
    year, month = divmod(index, 12)
    if not 1 <= year <= 9998:
        return None
    day = min(calendar.reference.day, monthrange(year, month + 1)[1])
    return one_day(date(year, month + 1, day))


_QUARTER_WORDS: Final = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
}


def _part_of_year(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    groups = match.groupdict()
    number = next(
        (groups[name] for name in ("number", "number2", "number3") if groups.get(name)),
        None,
    )
    index = int(number) if number else _QUARTER_WORDS[match["word"]]
    year = _year(groups.get("year") or groups.get("year2"))
    months = 6 if re.search(r"half|\bh[12]", match[0]) else 3
    if index > 12 // months:
        return None
    return calendar.period(year, (index - 1) * months + 1, months, "h" if months == 6 else "q")


_RELATIVE_DAYS: Final = {
    "today": 0,
    "later today": 0,
    "earlier today": 0,
    "todays": 0,
    "the same day": 0,
    "tonight": 0,
    "tomorrow": 1,
    "yesterday": -1,
    "the day after tomorrow": 2,
    "day after tomorrow": 2,
    "the day before yesterday": -2,
    "day before yesterday": -2,
    "a week from today": 7,
    "a week from tomorrow": 8,
    "a week from now": 7,
}

_NOW: Final = (
    r"(?<!from )(?:right |just )?now|at present|presently|currently"
    r"|at (?:the|this|the present|the current) (?:moment|time)"
)
_HOLIDAYS: Final = {
    "christmas": (12, 25),
    "christmas day": (12, 25),
    "xmas": (12, 25),
    "christmas eve": (12, 24),
    "new year's eve": (12, 31),
    "new years eve": (12, 31),
    "new year's day": (1, 1),
    "new years day": (1, 1),
    "valentine's day": (2, 14),
    "valentines day": (2, 14),
    "halloween": (10, 31),
}
"""Holidays of a fixed day everywhere."""

_OPEN_YEAR: Final = rf"(?P<y>{_YEAR}|'\d{{2}})"
_WHICH: Final = r"next|this|last|following|coming|upcoming|previous|past|current"
_IN_PERIOD: Final = r"(?: of| in| for|,| -|/|-)? ?(?:the )?(?:fiscal )?(?:year |fy ?)?"
_QUARTER: Final = (
    r"(?:(?:the )?(?P<word>first|second|third|fourth|1st|2nd|3rd|4th) (?:fiscal )?(?:quarter|half)"
    r"|(?:q|quarter |qtr )(?P<number>[1-4])|h(?P<number2>[12])|(?P<number3>[1-4])q)"
)
_QUARTER_AFTER_YEAR: Final = (
    r"(?:q(?P<number>[1-4])|h(?P<number2>[12])|(?:'?s )?(?P<word>first|second|third|fourth) (?:quarter|half))"
)
_UNITS_AHEAD: Final = rf"(?P<count>{_COUNT}) (?P<unit>days?|weeks?|months?|years?)"

_YEAR_FIRST: Final = rf"{_EDGE}(?P<y>\d{{4}})(?P<sep>[-/.]| )(?P<m>\d{{1,2}})(?P=sep)(?P<d>\d{{1,2}})(?![\d/-])"
_NUMERIC: Final = (
    rf"{_EDGE}(?P<a>\d{{1,2}})(?P<sep>[-/.]| )(?P<b>\d{{1,2}})(?P=sep)(?P<y>\d{{4}}|'?\d{{2}})"
    r"(?![\w/-])(?!\.\d)(?!:)"
)
_MONTH_DAY: Final = (
    rf"(?:{_EDGE}{_WEEKDAY}[.,]*\s+)?(?<![\w/-])(?:the )?(?P<mon>{_MONTH})\.?[ /,-]*(?:the )?"
    rf"(?P<d>{_DAY})(?![\w:])(?!,\d{{3}}(?!\d))(?:[\s,/-]*(?:of |in )?(?P<y>(?<!\d){_YEAR}|'\d{{2}}))?(?![\w])"
)
_DAY_MONTH: Final = (
    rf"(?:{_EDGE}{_WEEKDAY}[.,]*\s+)?(?<![\w/.:$-])(?:the )?(?P<d>{_DAY})[ /-]*(?:day )?(?:of )?"
    rf"(?P<mon>{_MONTH})\.?(?![a-z])(?:[ ,/-]*(?:of |in )?{_OPEN_YEAR})?(?![\w])"
)
_DAY_OF_THIS_MONTH: Final = (
    rf"{_EDGE}(?:the )?(?P<d>{_ORDINAL}) (?:day )?of (?:this|the|the current|the same) month{_END}"
)
_NAMED_DAY: Final = (
    rf"{_EDGE}(?P<pre>(?:this |the )?(?:{_WHICH}) )?(?P<wd>{_WEEKDAY})\.?"
    rf"(?:,? (?:of )?(?P<week>(?:the )?(?:{_WHICH}) week))?{_END}"
)
_NAMED_DAY_AFTER: Final = rf"{_EDGE}(?P<week>{_WHICH}) week,? (?:on )?(?P<wd>{_WEEKDAY}){_END}"
_PERIOD: Final = (
    rf"{_EDGE}(?:the )?(?P<which>{_WHICH}) (?P<unit>week|weekend|month|quarter|year)(?! of (?!the\b)){_END}"
)
_BACK: Final = r"(?:(?P<back>ago|earlier)|from now|later|from today|hence)"
_BARE_DAY: Final = rf"{_EDGE}the (?P<d>{_ORDINAL})(?! (?!at|in the|on|from|to|until|and|or|for|of)\w){_END}"
_RELATIVE_DAY: Final = rf"{_EDGE}(?P<day>{'|'.join(sorted(_RELATIVE_DAYS, key=len, reverse=True))}){_END}"


def _of_this_month(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    reference = calendar.reference
    year, month = (reference.year, reference.month) if reference else (None, None)
    return calendar.day(year, month, _day_number(match["d"]))


def _month_and_day(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    return calendar.day(_year(match["y"]), _MONTHS[match["mon"]], _day_number(match["d"]))


def _month_of_year(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    return calendar.month(_year(match["y"]), _MONTHS[match["mon"]])


def _full(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    return calendar.day(int(match["y"]), int(match["m"]), int(match["d"])) if int(match["y"]) else None


def _month_alone(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    return calendar.month(None, _MONTHS[match["mon"]])


def _named_day(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    which = _which(match.groupdict().get("pre"))
    return calendar.weekday(which, _WEEKDAYS[match["wd"]], _which(match["week"]), match[0])


def _relative_period(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    which = "next" if match["which"] in ("coming", "upcoming") else _which(match["which"])
    return calendar.relative_period(which, match["unit"], match[0])


def _now(calendar: Calendar, _: re.Match[str]) -> DateForm:
    return calendar.now()


def _periods(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    which = "last" if _which(match["which"]) == "last" else "next"
    return calendar.periods(which, _count(match["count"]), match["unit"])


def _holiday(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    month, day = _HOLIDAYS[match["day"]]
    return calendar.day(None, month, day)


def _bare_day(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    return calendar.day(None, None, _day_number(match["d"]))


def _compiled(*rules: tuple[str, Build]) -> tuple[tuple[re.Pattern[str], Build], ...]:
    return tuple((re.compile(pattern), build) for pattern, build in rules)


_RULES: Final = _compiled(
    (_YEAR_FIRST, _full),
    (_NUMERIC, lambda c, m: _numeric(c, int(m["a"]), int(m["b"]), _year(m["y"]))),
    (_MONTH_DAY, _month_and_day),
    (_DAY_MONTH, _month_and_day),
    (rf"{_EDGE}(?:fy ?)?(?P<year>{_YEAR})[ -]?/?{_QUARTER_AFTER_YEAR}{_END}", _part_of_year),
    (rf"{_EDGE}{_QUARTER}(?:{_IN_PERIOD}(?P<year>{_YEAR}|'\d{{2}}))?{_END}", _part_of_year),
    (rf"{_EDGE}(?P<mon>{_MONTH})\.?[ ,/-]+(?:of |in )?{_OPEN_YEAR}{_END}", _month_of_year),
    (rf"{_EDGE}(?P<y>{_YEAR})[-/](?P<m>0[1-9]|1[0-2]){_END}", lambda c, m: c.month(int(m["y"]), int(m["m"]))),
    (_DAY_OF_THIS_MONTH, _of_this_month),
    (_NAMED_DAY_AFTER, _named_day),
    (_NAMED_DAY, _named_day),
    (_RELATIVE_DAY, lambda c, m: c.shifted(_RELATIVE_DAYS[m["day"]], m[0])),
    (rf"{_EDGE}in {_UNITS_AHEAD}(?: time)?{_END}", _distance),
    (rf"{_EDGE}{_UNITS_AHEAD} {_BACK}{_END}", _distance),
    (_PERIOD, _relative_period),
    (
        rf"{_EDGE}(?:the )?(?P<which>{_WHICH}) (?P<count>{_COUNT}) (?P<unit>day|week|month|quarter|year)s{_END}",
        _periods,
    ),
    (rf"{_EDGE}(?:{_NOW}){_END}", _now),
    (rf"{_EDGE}(?P<y>{_YEAR})(?P<s>[-/ ])(?P<mon>{_MONTH})(?P=s)(?P<d>\d{{1,2}}){_END}", _month_and_day),
    (rf"{_EDGE}(?P<d>\d{{1,2}})(?P<s>[-/ ])(?P<y>{_YEAR})(?P=s)(?P<mon>{_MONTH}){_END}", _month_and_day),
    (rf"{_EDGE}(?P<mon>{_MONTH})(?P<s>[-/ ])(?P<y>{_YEAR})(?P=s)(?P<d>\d{{1,2}}){_END}", _month_and_day),
    (rf"{_EDGE}(?P<day>{'|'.join(sorted(_HOLIDAYS, key=len, reverse=True))}){_END}", _holiday),
    (rf"(?<=(?:week|days) of )(?P<y>{_YEAR}){_END}", lambda c, m: c.year(int(m["y"]))),
    (_BARE_DAY, _bare_day),
    (rf"{_EDGE}(?P<mon>{_FULL_MONTH}){_END}", _month_alone),
    (r"(?<=\b(?:in|of|by) )(?P<mon>march|may)(?= *(?:$|[.,;?!]))", _month_alone),
)

_EXPECTED_RULES: Final = _compiled(
    (rf"{_EDGE}(?P<y>(?:19|20)\d{{2}})(?P<m>\d{{2}})(?P<d>\d{{2}}){_END}", _full),
    (
        rf"{_EDGE}(?P<a>\d{{1,2}})[-/.](?P<b>\d{{1,2}})(?![\w/.-])",
        lambda c, m: _numeric(c, int(m["a"]), int(m["b"]), None),
    ),
    (rf"{_EDGE}(?P<d>{_ORDINAL}){_END}", _bare_day),
    (rf"{_EDGE}(?P<y>{_YEAR}){_END}", lambda c, m: c.year(int(m["y"]))),
    (rf"{_EDGE}(?P<mon>{_MONTH})\.?{_END}", _month_alone),
)


_PART_BEFORE: Final = re.compile(
    rf"\b(?:the )?(?P<which>first|second|third|fourth|last)(?: (?P<count>{_COUNT}))?"
    r" (?P<unit>day|week)s? (?:of|in) (?:the )?$"
)
_SHIFT_BEFORE: Final = re.compile(
    rf"\b(?P<count>{_COUNT}) (?P<unit>day|week)s? (?P<way>after|from|following|before|prior to) (?:the )?$"
)
_BACKWARD: Final = frozenset({"before", "prior to"})


def _moved(form: DateForm, text: str, start: int) -> tuple[DateForm, int]:
    """A form with the words before it that choose a part of it or move it: "last week of", "2 days after"."""
    before = text[max(0, start - 40) : start]
    part, shift = _PART_BEFORE.search(before), _SHIFT_BEFORE.search(before)
    match = part or shift
    if match is None or not form.spans:
        return form, start
    days = _count(match["count"] or "one") * (7 if match["unit"] == "week" else 1)
    if shift:
        days = -days if shift["way"] in _BACKWARD else days
        spans = shifted_spans(form.spans, days)
    else:
        spans = part_spans(form.spans, match["which"], days)
    return DateForm(spans, frozenset(), form.key, form.ambiguous), start - (len(before) - match.start())


def scan_dates(text: str, original: str, reference: date | None, *, expected: bool = False) -> Iterator[Fact]:
    """Dates and periods in a folded text, best rule first. ``expected`` also reads what is a date only where one is
    due ("8th", "3/7", "2024", "20161016")."""
    calendar = Calendar(reference)
    for pattern, build in _RULES + (_EXPECTED_RULES if expected else ()):
        for match in pattern.finditer(text):
            form = build(calendar, match)
            if form is not None:
                form, start = _moved(form, text, match.start())
                yield Fact("date", original[start : match.end()], start, match.end(), form)
