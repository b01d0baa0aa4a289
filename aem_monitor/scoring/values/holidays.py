"""Holidays with a day of their own: fixed ones, weekdays of a month, those that follow Easter, and those that follow
another; and feasts of other calendars, of which only the name is known.

Dates as observed in the United States where countries differ (the second Sunday of May for Mother's Day), since the
rest of this package reads English of that kind, too.
"""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from typing import Final

_S: Final = r"(?:'?s'?)?"
_SAINT: Final = r"(?:saint|st\.?) "
_DAY_OPEN: Final = "(?: day)?"

_FIXED: Final = (
    (rf"new year{_S}{_DAY_OPEN}", 1, 1),
    (r"epiphany|three kings'? day", 1, 6),
    (r"inauguration day", 1, 20),
    (r"burns night", 1, 25),
    (r"australia day", 1, 26),
    (r"ground ?hog day|candlemas", 2, 2),
    (r"waitangi day", 2, 6),
    (rf"(?:{_SAINT})?valentine{_S} day|valentine'?s", 2, 14),
    (r"leap day", 2, 29),
    (rf"{_SAINT}david{_S} day", 3, 1),
    (rf"(?:international )?wom[ea]n{_S} day", 3, 8),
    (r"pi day|white day", 3, 14),
    (rf"(?:{_SAINT})(?:patrick{_S}|paddy{_S}) day|paddy{_S} day", 3, 17),
    (rf"april fool{_S}{_DAY_OPEN}|all fools'? day", 4, 1),
    (r"tax day", 4, 15),
    (r"earth day", 4, 22),
    (rf"{_SAINT}george{_S} day", 4, 23),
    (r"anzac day", 4, 25),
    (r"may day|(?:international )?workers?'?s? day|international labou?r day", 5, 1),
    (r"star wars day", 5, 4),
    (r"cinco de mayo", 5, 5),
    (r"flag day", 6, 14),
    (r"juneteenth", 6, 19),
    (r"canada day", 7, 1),
    (r"(?:us |american )?independence day", 7, 4),
    (r"bastille day|french national day", 7, 14),
    (rf"boss{_S} day", 10, 16),
    (rf"hallowe'?en(?: (?:day|night))?|all hallow{_S} eve(?:ning)?", 10, 31),
    (rf"all saint{_S} day|all hallow{_S}(?: day)?", 11, 1),
    (rf"all soul{_S} day|day of the dead", 11, 2),
    (r"guy fawkes(?: night| day)?|bonfire night", 11, 5),
    (rf"veteran{_S} day|armistice day|remembrance day|single{_S} day", 11, 11),
    (rf"{_SAINT}andrew{_S} day", 11, 30),
    (rf"{_SAINT}nichola{_S} day", 12, 6),
    (r"pearl harbor(?: remembrance)? day", 12, 7),
    (r"(?:christmas|x-?mas) eve", 12, 24),
    (r"(?:christmas|x-?mas)(?: day)?", 12, 25),
    (rf"boxing day|{_SAINT}stephen{_S} day", 12, 26),
    (r"kwanzaa", 12, 26),
    (rf"new year{_S} eve|nye", 12, 31),
)
"""Name, month and day."""

_WEEKDAY_OF_MONTH: Final = (
    (rf"(?:(?:dr\.? )?martin luther king|mlk)(?:,? jr\.?)?{_S}(?: birthday| day)", 1, 0, 3),
    (rf"president{_S} day|washington{_S} birthday", 2, 0, 3),
    (r"patriots?'?s? day", 4, 0, 3),
    (r"arbor day", 4, 4, -1),
    (rf"mother{_S} day", 5, 6, 2),
    (r"memorial day", 5, 0, -1),
    (rf"father{_S} day", 6, 6, 3),
    (rf"parent{_S} day", 7, 6, 4),
    (r"labou?r day", 9, 0, 1),
    (r"columbus day|indigenous people'?s?'? day", 10, 0, 2),
    (r"canadian thanksgiving(?: day)?", 10, 0, 2),
    (r"(?:american )?thanksgiving(?: day)?", 11, 3, 4),
)
"""Name, month, weekday (Monday 0) and which one of the month; -1 is the last."""

_AFTER_EASTER: Final = (
    (r"shrove monday", -48),
    (r"mardi gras|shrove tuesday|fat tuesday|pancake (?:day|tuesday)", -47),
    (r"ash wednesday", -46),
    (r"palm sunday", -7),
    (r"(?:maundy|holy) thursday", -3),
    (r"good friday", -2),
    (r"holy saturday|easter (?:eve|saturday)", -1),
    (r"easter(?: sunday| day)?", 0),
    (r"easter monday", 1),
    (r"ascension(?: day| thursday)?", 39),
    (r"pentecost(?: sunday)?|whit ?sun(?: ?day)?", 49),
    (r"whit monday|pentecost monday", 50),
    (r"trinity sunday", 56),
    (r"corpus christi", 60),
)
_AFTER_THANKSGIVING: Final = (
    (r"thanksgiving eve", -1),
    (r"black friday", 1),
    (r"small business saturday", 2),
    (r"cyber monday", 4),
    (r"giving tuesday", 5),
)
_OTHER_CALENDARS: Final = (
    r"(?:chinese|lunar) new year(?:'s day)?|spring festival",
    r"ramadan",
    r"eid al[- ]fitr",
    r"eid al[- ]adha",
    r"(?:hanukkah|chanukah|hannukah)",
    r"(?:passover|pesach)",
    r"rosh hashan(?:ah|a)",
    r"yom kippur",
    r"purim",
    r"(?:diwali|deepavali)",
    r"holi",
)
"""Feasts of calendars that are not computed here."""


def _rules() -> dict[str, Callable[[int], date]]:
    def fixed(month: int, day: int) -> Callable[[int], date]:
        return lambda year: date(year, month, day)

    def counted(month: int, weekday: int, which: int) -> Callable[[int], date]:
        return lambda year: nth_weekday(year, month, weekday, which)

    def after_easter(days: int) -> Callable[[int], date]:
        return lambda year: easter(year) + timedelta(days=days)

    def after_thanksgiving(days: int) -> Callable[[int], date]:
        return lambda year: nth_weekday(year, 11, 3, 4) + timedelta(days=days)

    return {
        **{names: fixed(*rule) for names, *rule in _FIXED},
        **{names: counted(*rule) for names, *rule in _WEEKDAY_OF_MONTH},
        **{names: after_easter(days) for names, days in _AFTER_EASTER},
        **{names: after_thanksgiving(days) for names, days in _AFTER_THANKSGIVING},
        # The day after the first Monday of November.
        r"election day": lambda year: nth_weekday(year, 11, 0, 1) + timedelta(days=1),
        r"victoria day": lambda year: date(year, 5, 25) - timedelta(days=date(year, 5, 25).weekday() or 7),
    }


_RULES: Final = _rules()
PATTERN: Final = "|".join(sorted((*_RULES, *_OTHER_CALENDARS), key=lambda names: (-len(names), names)))
"""The names, with and without the apostrophes that people put into them."""


@cache
def holiday_key(said: str) -> str:
    """What stands for a holiday under all its names."""
    return next(names for names in (*_RULES, *_OTHER_CALENDARS) if re.fullmatch(names, said))


@cache
def fixed_day(key: str) -> tuple[int, int] | None:
    """Month and day of a holiday that has the same ones each year."""
    return next(((month, day) for names, month, day in _FIXED if names == key), None)


def known_day(key: str) -> bool:
    """Whether the day of a holiday can be told."""
    return key in _RULES


def holiday(key: str, year: int) -> date:
    """The day of a holiday in a year. ValueError for 29 February in a common year, KeyError for a feast of another
    calendar."""
    return _RULES[key](year)


def nth_weekday(year: int, month: int, weekday: int, which: int) -> date:
    """The first (1), second .., last (-1) or last but one (-2) weekday of a month. ValueError if the month has no such
    day."""
    days = monthrange(year, month)[1]
    if which < 0:
        last = date(year, month, days)
        return last - timedelta(days=(last.weekday() - weekday) % 7 + 7 * (-which - 1))
    first = date(year, month, 1)
    return first.replace(day=1 + (weekday - first.weekday()) % 7 + 7 * (which - 1))


def easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar (Meeus, Jones, Butcher)."""
    golden, century, rest = year % 19, year // 100, year % 100
    shift = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - shift - rest % 4) % 7
    late = (golden + 11 * shift + 22 * weekday) // 451
    month, day = divmod(shift + weekday - 7 * late + 114, 31)
    return date(year, month, day + 1)
