"""Holidays with a day of their own: fixed ones, weekdays of a month, and those that follow Easter.

Dates as observed in the United States where countries differ (the second Sunday of May for Mother's Day), since the
rest of this package reads English of that kind, too.
"""

import re
from calendar import monthrange
from datetime import date, timedelta
from types import MappingProxyType
from typing import Final

_FIXED: Final = {
    "new years day": (1, 1),
    "new years": (1, 1),
    "new year": (1, 1),
    "groundhog day": (2, 2),
    "valentines day": (2, 14),
    "valentines": (2, 14),
    "leap day": (2, 29),
    "st patricks day": (3, 17),
    "saint patricks day": (3, 17),
    "april fools day": (4, 1),
    "april fools": (4, 1),
    "earth day": (4, 22),
    "may day": (5, 1),
    "cinco de mayo": (5, 5),
    "juneteenth": (6, 19),
    "canada day": (7, 1),
    "independence day": (7, 4),
    "bastille day": (7, 14),
    "halloween": (10, 31),
    "all saints day": (11, 1),
    "guy fawkes night": (11, 5),
    "veterans day": (11, 11),
    "armistice day": (11, 11),
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "christmas": (12, 25),
    "xmas eve": (12, 24),
    "xmas day": (12, 25),
    "xmas": (12, 25),
    "boxing day": (12, 26),
    "new years eve": (12, 31),
    "nye": (12, 31),
}
_WEEKDAY_OF_MONTH: Final = {
    "martin luther king day": (1, 0, 3),
    "mlk day": (1, 0, 3),
    "presidents day": (2, 0, 3),
    "mothers day": (5, 6, 2),
    "memorial day": (5, 0, -1),
    "fathers day": (6, 6, 3),
    "labor day": (9, 0, 1),
    "columbus day": (10, 0, 2),
    "thanksgiving day": (11, 3, 4),
    "thanksgiving": (11, 3, 4),
}
"""Month, weekday (Monday 0) and which one of the month; -1 is the last."""

_AFTER_EASTER: Final = {
    "mardi gras": -47,
    "ash wednesday": -46,
    "palm sunday": -7,
    "good friday": -2,
    "easter": 0,
    "easter sunday": 0,
    "easter monday": 1,
    "pentecost": 49,
}
_AFTER_THANKSGIVING: Final = {"black friday": 1, "cyber monday": 4}

NAMES: Final = tuple(
    sorted((*_FIXED, *_WEEKDAY_OF_MONTH, *_AFTER_EASTER, *_AFTER_THANKSGIVING), key=lambda name: (-len(name), name))
)
PATTERN: Final = "|".join(
    re.sub(r"(?<=[a-z]{3})s(?= |$)", "'?s'?", name) if name.endswith((" day", " eve", "years", "fools", "valentines"))
    else name
    for name in NAMES
)  # fmt: skip
"""The names, with and without the apostrophes that people put into them."""

FIXED: Final = MappingProxyType(_FIXED)
"""Name to month and day."""


def holiday_key(said: str) -> str:
    """The name under which a holiday is listed."""
    return said.replace("'", "")


def holiday(name: str, year: int) -> date:
    """The day of a movable or fixed holiday in a year; ``name`` without apostrophes. ValueError for 29 February in a
    common year."""
    if name in _FIXED:
        month, day = _FIXED[name]
        return date(year, month, day)
    if name in _AFTER_EASTER:
        return easter(year) + timedelta(days=_AFTER_EASTER[name])
    if name in _AFTER_THANKSGIVING:
        return nth_weekday(year, 11, 3, 4) + timedelta(days=_AFTER_THANKSGIVING[name])
    return nth_weekday(year, *_WEEKDAY_OF_MONTH[name])


def nth_weekday(year: int, month: int, weekday: int, which: int) -> date:
    """The first (1), second .. or last (-1) weekday of a month. ValueError if the month has no such day."""
    days = monthrange(year, month)[1]
    if which < 0:
        last = date(year, month, days)
        return last - timedelta(days=(last.weekday() - weekday) % 7)
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
