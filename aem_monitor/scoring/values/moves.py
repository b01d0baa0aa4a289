"""Words before a date that choose a part of it, move it or take what lies around it: "the last week of June", "two days
after Christmas", "the week of June 5", "the Friday before Easter"."""

import re
from typing import Final

from aem_monitor.scoring.values.calendar import Span
from aem_monitor.scoring.values.datewords import COUNT, WEEKDAY, WEEKDAYS, count_of
from aem_monitor.scoring.values.forms import DateForm
from aem_monitor.scoring.values.periods import (
    around,
    edge,
    halves,
    months_later,
    part_months,
    part_spans,
    shifted_spans,
    weekday_beside,
    weekends,
)

MONTHS_OF: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
"""Units of time that are so many months."""

_PART_BEFORE: Final = re.compile(
    r"\b(?:the )?(?P<which>(?:very )?(?:first|second|third|fourth|fifth|last|final|1st|2nd|3rd|4th|5th))"
    rf"(?: (?P<count>{COUNT}))? (?P<unit>day|week|weekend|month|quarter|half|year)s? (?:of|in) (?:the )?$"
)
_SHIFT_BEFORE: Final = re.compile(
    rf"(?<!any )(?<!some )(?<!each )\b(?:the )?(?:(?P<count>{COUNT}) )?(?P<unit>day|week|fortnight|month|year)s?"
    r" (?P<way>after|from|following|before|preceding|prior to) (?:the )?$"
)
_WEEK_BEFORE: Final = re.compile(
    r"\b(?:the )?(?P<unit>week|weekend) (?:of|beginning|starting|commencing|containing|including)(?: on)?"
    r" (?:the )?$"
)
_WEEKDAY_BEFORE: Final = re.compile(
    rf"\b(?:the )?(?:(?P<nth>first|last|1st) )?(?P<wd>{WEEKDAY}) (?P<way>after|following|before|preceding) (?:the )?$"
)
_BACKWARD: Final = frozenset({"before", "preceding", "prior to"})
_REACH: Final = 45


def moved(form: DateForm, text: str, start: int) -> tuple[DateForm, int]:
    """A form with the words before it that choose a part of it, move it or take the week around it: "last week of",
    "2 days after", "the week of", "the Friday after"."""
    before = text[max(0, start - _REACH) : start]
    for pattern, move in _MOVES:
        match = pattern.search(before)
        if match and form.spans:
            spans = move(form.spans, match)
            if spans:
                return DateForm(spans, frozenset(), form.key, form.ambiguous), start - (len(before) - match.start())
    return form, start


def _part(spans: tuple[Span, ...], match: re.Match[str]) -> tuple[Span, ...]:
    which = _PLACE_WORDS.get(match["which"].removeprefix("very "), match["which"].removeprefix("very "))
    count = count_of(match["count"] or "one")
    unit = match["unit"]
    if unit == "weekend":
        return weekends(spans, which)
    if unit == "half":
        return halves(spans, which)
    if unit in MONTHS_OF:
        return part_months(spans, which, MONTHS_OF[unit] * count)
    return part_spans(spans, which, count * (7 if unit == "week" else 1))


def _shift(spans: tuple[Span, ...], match: re.Match[str]) -> tuple[Span, ...]:
    unit, count = match["unit"], count_of(match["count"] or "one")
    count = -count if match["way"] in _BACKWARD else count
    if unit in MONTHS_OF:
        days = [months_later(first, count * MONTHS_OF[unit]) for first, last in spans if first == last]
        return tuple((day, day) for day in days if day is not None)
    if unit == "day" and len(spans) >= 1 and not match["count"] and spans[0][0] != spans[0][1]:
        # "The day after next week" follows its last day.
        return tuple(edge(span, after=count > 0) for span in spans)
    return shifted_spans(spans, count * {"day": 1, "week": 7, "fortnight": 14}[unit])


def _week_around(spans: tuple[Span, ...], match: re.Match[str]) -> tuple[Span, ...]:
    return around(spans, match["unit"])


def _weekday_beside(spans: tuple[Span, ...], match: re.Match[str]) -> tuple[Span, ...]:
    return weekday_beside(spans, WEEKDAYS[match["wd"]], after=match["way"] not in _BACKWARD)


_MOVES: Final = (
    (_PART_BEFORE, _part),
    (_SHIFT_BEFORE, _shift),
    (_WEEK_BEFORE, _week_around),
    (_WEEKDAY_BEFORE, _weekday_beside),
)
_PLACE_WORDS: Final = {
    "1st": "first", "2nd": "second", "3rd": "third", "4th": "fourth", "5th": "fifth", "final": "last"
}  # fmt: skip
