"""Moments: a day and a time of day together, in a zone that may be said. A moment is one point in time, so that
"2026-11-02T23:30Z" and "2026-11-03T00:30+01:00" are equal though neither day nor time is.
"""

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final

from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.zone import offset_at
from aem_monitor.scoring.values.context import Comparison, Leeway
from aem_monitor.scoring.values.forms import DateForm, TimeForm
from aem_monitor.scoring.values.remember import remembered
from aem_monitor.scoring.values.strings import whole_value

_DAY_SECONDS: Final = 86_400
_LONGEST: Final = 80
_BASIC: Final = re.compile(r"(\d{4})(\d{2})(\d{2})[Tt](\d{2})(\d{2})(?:(\d{2})(?:[.,]\d{1,9})?)?(?=[Zz+-]|$)")
"""The basic format of ISO 8601, as calendars write it: 20261102T140000Z."""
_NO_SECONDS: Final = re.compile(r"(?<=\d[Tt]\d\d:\d\d)(?=-\d\d:\d\d$)")
"""Where 14:00-05:00 is no span of hours: behind a date and its T."""
_ZONE_NAME: Final = re.compile(
    r"[\s(\[]*\b(?P<zone>(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)"
    r"/[A-Za-z_]+(?:[/-][A-Za-z_]+)*)[)\]]*\s*$"
)
_EPOCH: Final = re.compile(r"(?P<seconds>[12]\d{9})(?:\.\d{1,9})?|(?P<millis>[12]\d{12})")
"""Seconds or milliseconds since 1970, of the years 2001 to 2065."""


@dataclass(frozen=True, slots=True)
class Moment:
    """``points`` are its readings in seconds since 1970, in its own zone; ``firm``: there is but one. ``offset`` is
    that zone's in seconds, None where none was said."""

    points: tuple[int, ...]
    firm: bool
    offset: int | None

    def in_utc(self) -> "Moment":
        """The same with the zone taken out; without a zone as it is."""
        if not self.offset:
            return self
        return replace(self, points=tuple(point - self.offset for point in self.points), offset=0)

    def located(self, zone: str | None) -> "Moment":
        """The same in ``zone`` where it names none itself."""
        if zone is None or self.offset is not None:
            return self
        local = datetime(1970, 1, 1) + timedelta(seconds=self.points[0])  # noqa: DTZ001 - the zone is put on below
        return replace(self, offset=offset_at(zone, local))


@remembered(4096)
def read_moment(text: str, reference: date | None, *, epoch: bool = False) -> Moment | None:
    """The moment that a whole text says; None where it says less, or more. ``epoch``: bare numbers count from 1970."""
    if len(text) > _LONGEST:
        return None
    if epoch and (match := _EPOCH.fullmatch(text)):
        return Moment((int(match["seconds"] or int(match["millis"]) // 1000),), firm=True, offset=0)
    name = _ZONE_NAME.search(text)
    text = _BASIC.sub(_extended, text[: name.start()] if name else text)
    moment = _read(_NO_SECONDS.sub(":00", text), reference)
    if moment is None or name is None or moment.offset is not None:
        return moment
    try:
        return moment.located(name["zone"])
    except (ValueError, OverflowError):
        return None


def _extended(basic: re.Match[str]) -> str:
    year, month, day, hour, minute, second = basic.groups(default="00")
    return f"{year}-{month}-{day}T{hour}:{minute}:{second}"


def _read(text: str, reference: date | None) -> Moment | None:
    whole = whole_value(text, reference, "")
    if whole is None or whole[1] or len(whole[0]) != 2:
        return None
    days = next((fact.form for fact in whole[0] if isinstance(fact.form, DateForm)), None)
    time = next((fact.form for fact in whole[0] if isinstance(fact.form, TimeForm)), None)
    if days is None or time is None or not time.readings:
        return None
    if not days.spans or any(first != last for first, last in days.spans):
        return None
    points = tuple(
        (day - date(1970, 1, 1)).days * _DAY_SECONDS + reading for day, _ in days.spans for reading in time.readings
    )
    return Moment(points, firm=(time.firm or len(time.readings) == 1) and not days.ambiguous, offset=time.offset)


def agree_moments(a: str, b: str, reference: date | None, *, epoch: bool = False) -> Comparison | None:
    """Two texts as points in time; None unless both are. A side without a zone is in the other's."""
    one = read_moment(a, reference, epoch=epoch)
    other = read_moment(b, reference, epoch=epoch) if one is not None else None
    if one is None or other is None:
        return None
    if one.offset is not None and other.offset is not None:
        one, other = one.in_utc(), other.in_utc()
    if one.points == other.points or (one.points[0] == other.points[0] and one.firm and other.firm):
        return Comparison(True, 1.0, False, "datetime")
    if set(one.points) & set(other.points):
        # One side left open which half of the day it means, or day and month.
        return Comparison(True, 0.75, True, "datetime")
    return Comparison(False, 0.0, False, "datetime")


def compare_with_leeway(
    actual: JSON, expected: JSON, kind: str, leeway: Leeway, reference: date | None
) -> Comparison | None:
    """Two dates, times or moments that may be ``leeway.tolerance`` apart; None where one side is none.

    ``kind`` is ``date``, ``time`` or ``datetime``. Of ambiguous values the nearest readings count.
    """
    one, other = (_points(_text(value), kind, leeway.zone, reference) for value in (actual, expected))
    if not one or not other:
        return None
    apart = min(_distance(a, b, kind) for a in one for b in other)
    near = apart <= leeway.tolerance
    return Comparison(near, float(near), False, kind)


def _text(value: JSON) -> str:
    """A scalar as text, empty for anything else."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _points(text: str, kind: str, zone: str | None, reference: date | None) -> tuple[int, ...]:
    """The readings of a value in seconds: since 1970 for days and moments, since midnight UTC for times."""
    if kind == "datetime":
        moment = read_moment(text, reference, epoch=True)
        return () if moment is None else moment.located(zone).in_utc().points
    whole = whole_value(text, reference, kind)
    if whole is None or whole[1] or len(whole[0]) != 1:
        return ()
    form = whole[0][0].form
    if kind == "date" and isinstance(form, DateForm):
        return tuple(_DAY_SECONDS * (first - date(1970, 1, 1)).days for first, last in form.spans if first == last)
    if kind == "time" and isinstance(form, TimeForm):
        day = datetime.combine(reference or date(1970, 1, 1), datetime.min.time())
        offset = form.offset
        if offset is None and zone is not None and form.readings:
            offset = offset_at(zone, day + timedelta(seconds=form.readings[0]))
        return tuple(reading - (offset or 0) for reading in form.readings)
    return ()


def _distance(a: int, b: int, kind: str) -> int:
    """Seconds between two points; times of day go round."""
    apart = abs(a - b)
    return min(apart % _DAY_SECONDS, -apart % _DAY_SECONDS) if kind == "time" else apart
