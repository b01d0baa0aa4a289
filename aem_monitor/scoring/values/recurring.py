"""Days and times that come again: "every other Friday", "biweekly on Friday", "twice a week".

What comes again is a set rather than a day: its form has no spans, only a key, the same for every wording.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from aem_monitor.scoring.values.calendar import Calendar
from aem_monitor.scoring.values.datewords import COUNT, EDGE, END, WEEKDAY, WEEKDAYS, count_of
from aem_monitor.scoring.values.forms import DateForm

Build = Callable[[Calendar, re.Match[str]], DateForm | None]

_UNIT: Final = (
    r"(?:minute|hour|day|night|weekday|weekend|week|fortnight|month|quarter|half[ -]year|year|decade|morning|afternoon"
    r"|evening|lunch ?time|working day|business day|workday)"
)
_OTHER: Final = r"other|second|alternate|alternating|2nd"
_EACH: Final = r"(?:(?:once|one time|1x?) )?(?:every|each)(?: single)?"
_ADVERBS: Final = {
    "every minute": "minutely",
    "every hour": "hourly",
    "every 30 minute": "half-hourly|half hourly",
    "every day": "daily|everyday|day by day|all days",
    "every night": "nightly",
    "every week": "weekly",
    "every 2 week": "biweekly|bi-weekly|fortnightly|every fortnight",
    "every month": "monthly",
    "every 2 month": "bimonthly|bi-monthly",
    "every quarter": "quarterly|trimonthly",
    "every 6 month": "semiannually|semi-annually|semiannual|semi-annual|half-yearly|half yearly|every half[ -]year",
    "every year": "yearly|annually|annual",
    "every 2 year": "biennially|biennial",
    "every decade": "decennially",
    "2 a month": "semimonthly|semi-monthly",
    "2 a week": "semiweekly|semi-weekly",
}
_TIMES: Final = rf"(?P<often>once|one time|twice|thrice|(?P<times>{COUNT})(?: times|x))"
_OFTEN: Final = {"once": 1, "one time": 1, "twice": 2, "thrice": 3}
_ADVERB_UNITS: Final = {
    "hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year",
    "annually": "year",
}  # fmt: skip
_BASE_UNITS: Final = {
    "fortnight": (2, "week"), "quarter": (3, "month"), "half year": (6, "month"), "half-year": (6, "month"),
    "working day": (1, "weekday"), "business day": (1, "weekday"), "workday": (1, "weekday"),
}  # fmt: skip


def _every(count: int, unit: str) -> DateForm:
    many, base = _BASE_UNITS.get(unit, (1, unit))
    count *= many
    if base == "month" and count % 12 == 0:
        count, base = count // 12, "year"
    if base == "day" and count % 7 == 0:
        count, base = count // 7, "week"
    return DateForm(key=f"every {count} {base}")


def _said(_: Calendar, match: re.Match[str]) -> DateForm:
    groups = match.groupdict()
    other = groups.get("other")
    return _every(2 if other else count_of(groups.get("n") or "one"), match["unit"])


def _adverb(_: Calendar, match: re.Match[str]) -> DateForm:
    key = next(key for key, words in _ADVERBS.items() if re.fullmatch(words, match["set"]))
    every = re.fullmatch(r"every (?:(\d+) )?([a-z]+)", key)
    return _every(int(every[1] or 1), every[2]) if every else DateForm(key=key)


def _often(_: Calendar, match: re.Match[str]) -> DateForm:
    """ "Twice a week"; once a week is every week."""
    groups = match.groupdict()
    unit = groups.get("unit") or _ADVERB_UNITS[match["adverb"]]
    often = _OFTEN.get(match["often"]) or count_of(match["times"])
    return _every(1, unit) if often == 1 else DateForm(key=f"{often} a {unit}")


def _weekdays(_: Calendar, match: re.Match[str]) -> DateForm:
    groups = match.groupdict()
    count = 2 if groups.get("other") else count_of(groups.get("n") or "one")
    return on_weekdays(count, WEEKDAYS[match["wd"]])


def on_weekdays(count: int, weekday: int) -> DateForm:
    """Each, or each second .. , such weekday."""
    return DateForm(key=f"every {count} wd{weekday}" if count > 1 else f"every {weekday}")


def _workweek(_: Calendar, __: re.Match[str]) -> DateForm:
    return _every(1, "weekday")


def _part_of_each(_: Calendar, match: re.Match[str]) -> DateForm:
    return DateForm(key=f"{match['d'].replace('1st', 'first')} of every {match['unit']}")


def _per(_: Calendar, match: re.Match[str]) -> DateForm:
    return _every(1, match["unit"].replace("annum", "year"))


def _group(_: Calendar, match: re.Match[str]) -> DateForm:
    return DateForm(key=f"every 1 {match['days'].removesuffix('s')}")


def _half_hour(_: Calendar, match: re.Match[str]) -> DateForm:
    return _every(30 if match["part"].startswith("half") else 15, "minute")


_ON: Final = rf"(?:,? on)? (?P<wd>{WEEKDAY})s?"
_RULES: Final = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        (rf"{EDGE}monday (?:to|through|thru|till?|until|-) friday (?:every|each) week{END}",
         _workweek),
        (rf"{EDGE}(?:{_EACH}|on) (?:(?P<other>{_OTHER})|(?P<n>{COUNT})) (?P<wd>{WEEKDAY})s?{END}", _weekdays),
        (rf"{EDGE}(?P<other>alternate|alternating) (?P<wd>{WEEKDAY})s{END}", _weekdays),
        (rf"{EDGE}(?P<other>biweekly|bi-weekly|fortnightly|every (?:other|second|2|two) weeks?){_ON}{END}", _weekdays),
        (rf"{EDGE}(?:weekly|{_EACH} week|once a week){_ON}{END}", _weekdays),
        (rf"{EDGE}(?:on )?(?P<wd>{WEEKDAY})s? (?:of )?(?:weekly|{_EACH} week){END}", _weekdays),
        (rf"{EDGE}{_EACH} (?P<wd>{WEEKDAY})s?{END}", _weekdays),
        (rf"{EDGE}(?:on )?(?P<wd>{WEEKDAY})(?<=day)s(?: only)?(?! (?:from|ago|later|hence)\b){END}", _weekdays),
        (rf"{EDGE}{_EACH} (?P<part>half[ -](?:an )?hour|quarter[ -](?:of an )?hour){END}", _half_hour),
        (rf"{EDGE}{_TIMES} (?:an?|per|each|every|in an?) (?P<unit>{_UNIT}){END}", _often),
        (rf"{EDGE}{_TIMES} (?P<adverb>{'|'.join(_ADVERB_UNITS)}){END}", _often),
        (
            (
                rf"{EDGE}(?:(?:on )?the )?(?P<d>first|1st|last)(?: day)? of (?:every|each)"
                rf" (?P<unit>week|month|quarter|year){END}"
            ),
            _part_of_each,
        ),
        (rf"{EDGE}(?P<set>{'|'.join(_ADVERBS.values())}){END}", _adverb),
        (
            (
                rf"{EDGE}{_EACH} (?:(?P<other>{_OTHER}) |(?P<n>{COUNT}) )?(?P<unit>{_UNIT})s?{END}"
                r"(?! (?:of|on) (?:the )?\w+day)"
            ),
            _said,
        ),
        (rf"{EDGE}(?:on )?(?P<other>alternate|alternating) (?P<unit>{_UNIT})s{END}", _said),
        (rf"{EDGE}per (?P<unit>{_UNIT}|annum){END}", _per),
        (rf"{EDGE}(?:(?:every|each|on|all|at) )?(?P<days>weekdays|weekends){END}", _group),
    )
)  # fmt: skip


def recurring_rules() -> Iterator[tuple[re.Pattern[str], Build]]:
    """The rules in order of precedence."""
    yield from _RULES
