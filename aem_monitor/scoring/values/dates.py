"""Dates and periods as they are written and said, absolute and relative."""

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Final

from aem_monitor.scoring.values.calendar import Calendar, one_day
from aem_monitor.scoring.values.datewords import (
    AFTER_DAY,
    COUNT,
    DAY,
    EDGE,
    END,
    FULL_MONTH,
    MONTH,
    MONTHS,
    ORDINAL,
    WEEKDAY,
    WEEKDAYS,
    WHICH,
    WORDED_YEAR,
    YEAR,
    count_of,
    day_number,
    which_of,
    year_of,
)
from aem_monitor.scoring.values.forms import DateForm, Fact
from aem_monitor.scoring.values.holidays import PATTERN as HOLIDAYS
from aem_monitor.scoring.values.moves import MONTHS_OF, moved
from aem_monitor.scoring.values.periods import months_later
from aem_monitor.scoring.values.spoken_dates import late_spoken_rules, spoken_rules


def _numeric(calendar: Calendar, first: int, second: int, year: int | None) -> DateForm | None:
    """Day and month in unknown order: both readings where both are dates, the American one first."""
    month_first, day_first = calendar.day(year, first, second), calendar.day(year, second, first)
    if month_first is None or day_first is None or first == second:
        return month_first or day_first
    return DateForm(month_first.spans + day_first.spans, frozenset(), f"{first}/{second}/{year}", ambiguous=True)


Build = Callable[[Calendar, re.Match[str]], DateForm | None]


def _distance(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    unit = match["unit"]
    count = count_of(match["count"])
    if match.groupdict().get("back"):
        count = -count
    days = {"day": 1, "week": 7, "fortnight": 14}.get(unit.removesuffix("s"))
    if days:
        return calendar.shifted(count * days)
    months = count * MONTHS_OF[unit.removesuffix("s")]
    if calendar.reference is None:
        return DateForm(key=f"{months} months 0 days away")
    moved = months_later(calendar.reference, months)
    return None if moved is None else one_day(moved)


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
    year = year_of(groups.get("year") or groups.get("year2"))
    months = 6 if re.search(r"half|\bh[12]", match[0]) else 3
    if index > 12 // months:
        return None
    return calendar.period(year, (index - 1) * months + 1, months, "h" if months == 6 else "q")


_RELATIVE_DAYS: Final = {
    "today": 0,
    "todays": 0,
    "current date": 0,
    "the current date": 0,
    "the same day": 0,
    "tonight": 0,
    "tomorrow": 1,
    "tomorrows": 1,
    "tmrw": 1,
    "tmr": 1,
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
    r"(?<!from )(?:right |just |as of )?now|this (?:very )?moment"
    r"|now(?= (?:until|till?|to|on|through)\b)|at present|presently|currently"
    r"|at (?:the|this|the present|the current) (?:moment|time)"
)
_OPEN_YEAR: Final = rf"(?P<y>{YEAR}|'\d{{2}}|{WORDED_YEAR})"
_IN_PERIOD: Final = r"(?: of| in| for|,| -|/|-)? ?(?:the )?(?:fiscal )?(?:year |fy ?)?"
_QUARTER: Final = (
    r"(?:(?:the )?(?P<word>first|second|third|fourth|1st|2nd|3rd|4th) (?:fiscal )?(?:quarter|half)"
    r"|(?:q|quarter |qtr )(?P<number>[1-4])|h(?P<number2>[12])|(?P<number3>[1-4])q)"
)
_QUARTER_AFTER_YEAR: Final = (
    r"(?:q(?P<number>[1-4])|h(?P<number2>[12])|(?:'?s )?(?P<word>first|second|third|fourth) (?:quarter|half))"
)
_UNITS_AHEAD: Final = rf"(?P<count>{COUNT}) (?P<unit>days?|weeks?|fortnights?|months?|quarters?|years?|decades?)"

_YEAR_FIRST: Final = rf"{EDGE}(?P<y>\d{{4}})(?P<sep>[-/.]| )(?P<m>\d{{1,2}})(?P=sep)(?P<d>\d{{1,2}})(?![\d/-])"
_NUMERIC: Final = (
    rf"{EDGE}(?P<a>\d{{1,2}})(?P<sep>[-/.]| )(?P<b>\d{{1,2}})(?P=sep)(?P<y>\d{{4}}|'?\d{{2}})"
    r"(?![\w/-])(?!\.\d)(?!:)"
)
_MONTH_DAY: Final = (
    rf"(?:{EDGE}{WEEKDAY}[.,]*\s+)?(?<![\w/-])(?:the )?(?P<mon>{MONTH})\.?(?! ?- )[ /,-]*(?:the )?"
    rf"(?P<d>{DAY})(?![\w:])(?!,\d{{3}}(?!\d))(?:[\s,/-]*(?:of |in )?(?P<y>(?<!\d){YEAR}|'\d{{2}}"
    rf"|{WORDED_YEAR}))?(?![\w])"
)
_DAY_MONTH: Final = (
    rf"(?:{EDGE}{WEEKDAY}[.,]*\s+)?(?<![\w/.:$-])(?:the )?(?P<d>{DAY})[ /-]*(?:day )?(?:of )?"
    rf"(?P<mon>{MONTH})\.?(?![a-z])(?:[ ,/-]*(?:of |in )?{_OPEN_YEAR})?(?![\w])"
)
_DAY_OF_THIS_MONTH: Final = rf"{EDGE}(?:the )?(?P<d>{ORDINAL}) (?:day )?of (?:this|the|the current|the same) month{END}"
_NAMED_DAY: Final = (
    rf"(?:{EDGE}|{AFTER_DAY})(?P<pre>(?:this |the )?(?:{WHICH}) )?(?P<wd>{WEEKDAY})\.?"
    rf"(?:,? (?:of )?(?P<week>(?:the )?(?:{WHICH}) week))?{END}"
)
_NAMED_DAY_AFTER: Final = rf"{EDGE}(?P<week>{WHICH}) week,? (?:on )?(?P<wd>{WEEKDAY}){END}"
_PERIOD: Final = (
    rf"{EDGE}(?:the )?(?P<which>{WHICH}) (?P<unit>week|weekend|month|quarter|year|decade|century)(?! (?:of|in) ){END}"
)
_BACK: Final = r"(?:(?P<back>ago|earlier)|from now|later|from today(?! (?:to|until|till|through)\b)|hence)"
_BARE_DAY: Final = rf"{EDGE}the (?P<d>{ORDINAL})(?! (?!at|in the|on|from|to|until|and|or|for|of)\w){END}"
_RELATIVE_DAY: Final = rf"{EDGE}(?P<day>{'|'.join(sorted(_RELATIVE_DAYS, key=len, reverse=True))}){END}"


def _of_this_month(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    reference = calendar.reference
    year, month = (reference.year, reference.month) if reference else (None, None)
    return calendar.day(year, month, day_number(match["d"]))


def _month_and_day(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    return calendar.day(year_of(match["y"]), MONTHS[match["mon"]], day_number(match["d"]))


def _month_of_year(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    return calendar.month(year_of(match["y"]), MONTHS[match["mon"]])


def _full(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    return calendar.day(int(match["y"]), int(match["m"]), int(match["d"])) if int(match["y"]) else None


def _month_alone(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    return calendar.month(None, MONTHS[match["mon"]])


def _named_day(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    which = which_of(match.groupdict().get("pre"))
    return calendar.weekday(which, WEEKDAYS[match["wd"]], which_of(match["week"]))


def _relative_period(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    if match["unit"] == "weekend" and match["which"] in ("coming", "upcoming"):
        return calendar.coming_weekend()
    which = "next" if match["which"] in ("coming", "upcoming") else which_of(match["which"])
    return calendar.relative_period(which, match["unit"])


def _which_month(calendar: Calendar, match: re.Match[str]) -> DateForm:
    return calendar.which_month(which_of(match["which"]), MONTHS[match["mon"]])


def _now(calendar: Calendar, _: re.Match[str]) -> DateForm:
    return calendar.now()


def _periods(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    which = "last" if which_of(match["which"]) == "last" else "next"
    return calendar.periods(which, count_of(match["count"]), match["unit"])


def _one_period(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    which = "last" if which_of(match["which"]) == "last" else "next"
    return calendar.periods(which, *((1, "fortnight") if match["unit"] == "fortnight" else (6, "month")))


def _year_alone(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    year = year_of(match["y"])
    return None if year is None else calendar.year(year)


def _bare_day(calendar: Calendar, match: re.Match[str]) -> DateForm | None:
    return calendar.day(None, None, day_number(match["d"]))


def _compiled(*rules: tuple[str, Build]) -> tuple[tuple[re.Pattern[str], Build], ...]:
    return tuple((re.compile(pattern), build) for pattern, build in rules)


_RULES: Final = _compiled(
    (_YEAR_FIRST, _full),
    (
        rf"{EDGE}(?P<a>\d{{1,2}})/(?P<b>\d{{1,2}}), ?(?P<y>{YEAR}){END}",
        lambda c, m: _numeric(c, int(m["a"]), int(m["b"]), year_of(m["y"])),
    ),
    (rf"{EDGE}(?P<d>{ORDINAL}), ?(?P<mon>{MONTH}),? (?P<y>{YEAR}){END}", _month_and_day),
    (_NUMERIC, lambda c, m: _numeric(c, int(m["a"]), int(m["b"]), year_of(m["y"]))),
    (rf"{EDGE}(?P<y>{YEAR})[ ,/-]+(?P<mon>{MONTH})\.?[ ,/-]+(?:the )?(?P<d>{DAY}){END}", _month_and_day),
    (rf"{EDGE}(?P<d>\d{{1,2}})(?P<s>[-/.]?)(?P<mon>{MONTH})(?P=s)(?P<y>\d{{4}}|\d{{2}}){END}", _month_and_day),
    (rf"{EDGE}(?P<mon>{MONTH})(?P<s>[-/])(?P<d>\d{{1,2}})(?P=s)(?P<y>\d{{4}}|\d{{2}}){END}", _month_and_day),
    (rf"{EDGE}(?P<y>\d{{2}})(?P<s>[-/])(?P<mon>{MONTH})(?P=s)(?P<d>\d){END}", _month_and_day),
    (_MONTH_DAY, _month_and_day),
    (_DAY_MONTH, _month_and_day),
    (rf"{EDGE}(?:fy ?)?(?P<year>{YEAR})[ -]?/?{_QUARTER_AFTER_YEAR}{END}", _part_of_year),
    (
        (
            rf"{EDGE}{_QUARTER}(?! of (?:the )?(?:{FULL_MONTH}|march|may|month))"
            rf"(?:{_IN_PERIOD}(?P<year>{YEAR}|'\d{{2}}))?{END}"
        ),
        _part_of_year,
    ),
    (rf"(?:{EDGE}|{AFTER_DAY})(?P<mon>{MONTH})\.?[ ,/-]+(?:of |in )?{_OPEN_YEAR}{END}", _month_of_year),
    (rf"{EDGE}(?P<y>{YEAR})[ ,/-]+(?P<mon>{MONTH})\.?{END}(?!,? ?\d)", _month_of_year),
    (rf"{EDGE}(?P<m>0?[1-9]|1[0-2])[/-](?P<y>{YEAR}){END}", lambda c, m: c.month(int(m["y"]), int(m["m"]))),
    (rf"{EDGE}(?P<y>{YEAR})[-/](?P<m>0[1-9]|1[0-2]){END}", lambda c, m: c.month(int(m["y"]), int(m["m"]))),
    (_DAY_OF_THIS_MONTH, _of_this_month),
    (_NAMED_DAY_AFTER, _named_day),
    (_NAMED_DAY, _named_day),
    (rf"{EDGE}in {_UNITS_AHEAD}(?:'? time)?{END}", _distance),
    (rf"{EDGE}{_UNITS_AHEAD} {_BACK}{END}", _distance),
    (_RELATIVE_DAY, lambda c, m: c.shifted(_RELATIVE_DAYS[m["day"]])),
    (_PERIOD, _relative_period),
    (
        (
            rf"{EDGE}(?:the )?(?P<which>{WHICH}) (?P<count>{COUNT}) (?:full )?(?P<unit>day|week|weekend"
            rf"|fortnight|month|quarter|year|decade)s(?! (?:of|in)\b){END}"
        ),
        _periods,
    ),
    (
        (
            rf"{EDGE}(?:the )?(?P<count>{COUNT}) (?P<which>{WHICH}) (?P<unit>day|week|weekend|fortnight|month|quarter"
            rf"|year|decade)s{END}"
        ),
        _periods,
    ),
    (rf"{EDGE}(?:the )?(?P<which>{WHICH}) (?P<unit>fortnight|half[ -]year){END}", _one_period),
    (rf"{EDGE}(?:the )?(?P<which>{WHICH}) (?P<mon>{MONTH})(?! \d){END}", _which_month),
    (rf"{EDGE}(?:{_NOW}){END}", _now),
    (rf"{EDGE}(?P<d>\d{{1,2}})(?P<s>[-/ ])(?P<y>{YEAR})(?P=s)(?P<mon>{MONTH}){END}", _month_and_day),
    (rf"{EDGE}(?P<mon>{MONTH})(?P<s>[-/ ])(?P<y>{YEAR})(?P=s)(?P<d>\d{{1,2}}){END}", _month_and_day),
    (rf"(?<=(?:week|days) of )(?P<y>{YEAR}){END}", lambda c, m: c.year(int(m["y"]))),
    (_BARE_DAY, _bare_day),
    (rf"{EDGE}(?P<mon>{FULL_MONTH}){END}", _month_alone),
    (r"(?<=\b(?:in|of|by) )(?P<mon>march|may)(?= *(?:$|[.,;?!]))", _month_alone),
)

_EXPECTED_RULES: Final = _compiled(
    (rf"{EDGE}(?P<d>\d{{1,2}}) (?P<mon>{MONTH}) (?P<y>\d{{2}}){END}", _month_and_day),
    (rf"{EDGE}(?P<y>(?:19|20)\d{{2}})(?P<m>\d{{2}})(?P<d>\d{{2}}){END}", _full),
    (
        rf"{EDGE}(?P<a>\d{{1,2}})[-/.](?P<b>\d{{1,2}})(?![\w/.-])",
        lambda c, m: _numeric(c, int(m["a"]), int(m["b"]), None),
    ),
    (rf"{EDGE}(?:(?:in )?(?:the )?year )?(?P<y>{YEAR}|{WORDED_YEAR}){END}", _year_alone),
    (rf"{EDGE}(?P<d>{ORDINAL})(?! (?:{COUNT} )?(?:half|day|week|month|quarter|year)){END}", _bare_day),
    (rf"(?:{EDGE}|{AFTER_DAY})(?P<mon>{MONTH})\.?{END}", _month_alone),
    (r"(?<![\w])(?P<y>'\d{2})(?![\w'])", _year_alone),
)


def scan_dates(text: str, original: str, reference: date | None, *, expected: bool = False) -> Iterator[Fact]:
    """Dates and periods in a folded text, best rule first. ``expected`` also reads what is a date only where one is
    due ("8th", "3/7", "2024", "20161016")."""
    calendar = Calendar(reference)
    open_gates = {gate for gate, pattern in _GATES.items() if pattern.search(text)}
    for gate, pattern, build in _GATED_WHERE_EXPECTED if expected else _GATED:
        if gate not in open_gates:
            continue
        for match in pattern.finditer(text):
            found = _built(build, calendar, match, text)
            if found is not None:
                form, start = found
                yield Fact("date", original[start : match.end()], start, match.end(), form)


def _built(build: Build, calendar: Calendar, match: re.Match[str], text: str) -> tuple[DateForm, int] | None:
    """The form of a match and where its words begin; None for no date, and for one beyond the years 1 to 9999."""
    try:
        form = build(calendar, match)
        return None if form is None else moved(form, text, match.start())
    except (ValueError, OverflowError):
        return None


_GATES: Final = {
    "month": re.compile(rf"(?<![a-z])(?:{MONTH}|month)"),
    "weekday": re.compile(rf"\b{WEEKDAY}"),
    "digit": re.compile(r"\d"),
    "word": re.compile(
        r"\d{4}|\d(?:st|nd|rd|th)|\d[qs'’]|'\d\d|\b(?:[qhw]|fy|wk|cw) ?\d"
        rf"|\b(?:{WHICH}|{ORDINAL}|today|later|earlier|tomor|yester|tonight|tmr|now|moment|present|current|week|day|month"
        r"|quarter|qtr|half|year|decade|centur|fortnight|ago|spring|summer|autumn|fall|winter|eo[wmqy]|[ymqw]td|rest"
        r"|remain"
        r"|end|every|each|once|one time|times|twice|thrice|altern|semi|bienn|per"
        r"|daily|bi-?|hourly|annual|asap|as soon|right|straight|immediate|nineteen"
        rf"|eighteen|twent|two thousand|thirt|fort|fift|sixt|sevent|eight|ninet|fiscal|financial|fy|{HOLIDAYS})"
    ),
}
"""Cheap tests that spare most texts most rules: without the name of a month, no rule that needs one is tried."""


def _gate(source: str) -> str:
    if MONTH in source:
        return "month"
    if WEEKDAY in source:
        return "weekday"
    words = re.sub(r"\(\?P<\w+>|\(\?P=\w+\)|\\w", "", source)
    return "word" if re.search(r"[a-z]{2}", words) else "digit"


def _rules(*, expected: bool) -> Iterator[tuple[str, re.Pattern[str], Build]]:
    last = _EXPECTED_RULES if expected else ()
    everyday = (*spoken_rules(expected=expected), *_RULES, *late_spoken_rules(expected=expected), *last)
    return ((_gate(pattern.pattern), pattern, build) for pattern, build in everyday)


_GATED: Final = tuple(_rules(expected=False))
_GATED_WHERE_EXPECTED: Final = tuple(_rules(expected=True))
