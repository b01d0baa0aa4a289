"""Lengths of time."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Final

from aem_monitor.scoring.values.datewords import MONTH
from aem_monitor.scoring.values.forms import DurationForm, Fact, QuantityForm
from aem_monitor.scoring.values.numbers import scan_numbers
from aem_monitor.scoring.values.words import listed

_UNITS: Final = {
    name: (Fraction(months), Fraction(seconds))
    for names, months, seconds in (
        ("ms msec msecs millisecond milliseconds", 0, Fraction(1, 1000)),
        ("s sec secs second seconds", 0, 1),
        ("min mins minute minutes", 0, 60),
        ("h hr hrs hour hours", 0, 3600),
        ("d day days night nights", 0, 86400),
        ("w wk wks week weeks", 0, 7 * 86400),
        ("fortnight fortnights", 0, 14 * 86400),
        ("mo month months", 1, 0),
        ("quarter_year", 3, 0),
        ("y yr yrs year years", 12, 0),
        ("decade decades", 120, 0),
        ("century centuries", 1200, 0),
    )
    for name in names.split()
}
_YEAR_MONTHS: Final = 12
_FIRST_YEAR: Final = 1900
_LAST_YEAR: Final = 2100
_ONE_LETTER: Final = frozenset(listed("w y"))
"""Units of one letter that stand close to their number."""
_COMPACT: Final = re.compile(
    r"(?<![\w.:])(?=\d+(?:\.\d+)?[a-z]+\d)(?:(?P<y>\d+)y)?(?:(?P<w>\d+)w)?(?:(?P<d>\d+)d)?(?:(?P<h>\d+)h)?"
    r"(?:(?P<min>\d+)(?:min|m|(?<=h\d\d)))?(?:(?P<s>\d+)s)?(?![\w:])"
)
"""Units run together ("1h30m", "2h30", "1d2h")."""
_VAGUE: Final = {"few": 3, "a few": 3, "couple": 2, "couple of": 2, "a couple of": 2, "a couple": 2}
_COUNTING: Final = frozenset({*_VAGUE, "a", "an"})
_UNIT: Final = r"(?P<unit>" + "|".join(sorted(_UNITS, key=len, reverse=True)) + r")"
_AFTER: Final = re.compile(
    rf"\+?[\s-]*(?:(?P<working>business |working )|calendar |full |whole )?{_UNIT}(?![\w])(?!\s?/)"
)
_PART_OF: Final = re.compile(rf"[\s-]*(?:(?:of )?an? )?{_UNIT}(?![\w])")
_JOIN: Final = re.compile(r"(?:,| and|, and)? ?")
_FRACTION_AFTER: Final = re.compile(r" and (?:a |an |one )?(?P<part>half|quarter)\b")
_WORDED: Final = re.compile(
    rf"\b(?P<count>(?:an? |the |one )?(?:whole|entire|full|complete|all)|a few|few|a couple of|a couple"
    rf"|couple of|couple|an?|the|another|all|whole|per|each|every)[\s-]+"
    rf"(?P<unit>{'|'.join(sorted((name for name in _UNITS if len(name) > 3), key=len, reverse=True))})\b"
    rf"(?! of (?:the )?{MONTH}\b)"
)
_WHOLE_DAY: Final = re.compile(
    r"\b(?:all|(?:an? |the |one )?(?:whole|entire|full|complete))[ -](?P<unit>day)\b|^(?:for )?(?:a|the) day$"
)
_ONE_UNIT: Final = re.compile(
    r"(?:(?<=\blast )|(?<=\bpast )|(?<=\bprevious )|(?<=\bnext )|(?<=\bcoming ))(?P<unit>second|minute|hour)\b"
)
"""An hour counted from now, "the past hour"; days and longer are periods of the calendar."""
_ISO: Final = re.compile(
    r"(?<!\w)p(?=[\dt])(?:(?P<y>\d+)y)?(?:(?P<m>\d+)m)?(?:(?P<w>\d+)w)?(?:(?P<d>\d+)d)?"
    r"(?:t(?:(?P<h>\d+)h)?(?:(?P<min>\d+)m)?(?:(?P<s>\d+(?:\.\d+)?)s)?)?(?!\w)"
)
_FROM_NOW: Final = re.compile(r" (?:from now|later|hence)\b")
_SPEED: Final = re.compile(r"\b(?:miles?|km|kilomet(?:er|re)s?|met(?:er|re)s?|knots?)\s$")
_SPEED_REACH: Final = 12
_WORKING: Final = re.compile(r"\b(?:business|working)\b")
_HALVES: Final = {"half": Fraction(1, 2), "quarter": Fraction(1, 4)}


def _iso(match: re.Match[str]) -> DurationForm | None:
    if not any(match.groups()):
        return None

    def part(name: str) -> Fraction:
        return Fraction(match[name] or 0)

    return DurationForm(
        part("y") * 12 + part("m"),
        part("w") * 604800 + part("d") * 86400 + part("h") * 3600 + part("min") * 60 + part("s"),
    )


def _unit_after(text: str, number: Fact, in_minutes: bool) -> tuple[str, int] | None:
    """The unit of time behind a number and its end. Units of one letter stand close; "m" are minutes only behind
    hours."""
    form = number.form
    part = isinstance(form, QuantityForm) and 0 < form.value < 1
    unit = (_PART_OF if part else _AFTER).match(text, number.end)
    if unit is not None:
        apart = unit["unit"] in _ONE_LETTER and unit["unit"] != "h" and unit.start("unit") != number.end
        return None if apart else (unit["unit"], unit.end())
    if in_minutes and (number.text.endswith("m") or text.startswith("m", number.end)):
        return "min", number.end + (0 if number.text.endswith("m") else 1)
    return None


def _sum(text: str, original: str, numbers: list[Fact], expected: bool) -> Iterator[Fact]:
    """Number and unit, several of them joined ("1 hour and 30 minutes", "1h30m") added up."""
    start = end = -1
    months = seconds = Fraction(0)
    last = ""
    for number in numbers:
        form = number.form
        if not isinstance(form, QuantityForm) or form.dimension not in ("", "length") or form.ordinal:
            continue
        join = _JOIN.match(text, end) if end >= 0 else None
        joined = join is not None and join.end() == number.start
        found = _unit_after(text, number, expected or (joined and last.startswith("h")))
        if found is None:
            continue
        size_months, size_seconds = _UNITS[found[0]]
        if size_months == _YEAR_MONTHS and _FIRST_YEAR <= form.value <= _LAST_YEAR:
            continue  # "the 2015 year" is a date
        if not joined:
            if end >= 0:
                yield _ahead(text, original, start, end, DurationForm(months, seconds))
            start, months, seconds = number.start, Fraction(0), Fraction(0)
        last, end = found
        value = form.value
        # "one hour and a half" is a half of the unit, said after it.
        half = _FRACTION_AFTER.match(text, end)
        if half and not _AFTER.match(text, half.end()):
            value += _HALVES[half["part"]]
            end = half.end()
        months += value * size_months
        seconds += value * size_seconds
    if end >= 0:
        yield _ahead(text, original, start, end, DurationForm(months, seconds))


def _ahead(text: str, original: str, start: int, end: int, form: DurationForm) -> Fact:
    """A length of time, marked where it counts working days, with the words that count it from now on: "in 3 minutes"
    and "3 minutes from now" are one thing."""
    after = _FROM_NOW.match(text, end)
    end = after.end() if after else end
    if _WORKING.search(text, start, end):
        form = replace(form, working=True)
    return Fact("duration", original[start:end], start, end, form)


def length_of(unit: str) -> tuple[Fraction, Fraction] | None:
    """The months and seconds of one unit of time; None if the word is none."""
    return _UNITS.get(unit)


def scan_durations(text: str, original: str, *, expected: bool = False) -> Iterator[Fact]:
    """Lengths of time in a folded text. ``expected`` says that one is due, so that "30m" are minutes, no metres."""
    for match in _ISO.finditer(text):
        iso = _iso(match)
        if iso is not None:
            yield Fact("duration", original[match.start() : match.end()], match.start(), match.end(), iso)
    for match in _COMPACT.finditer(text):
        groups = {name: Fraction(value or 0) for name, value in match.groupdict().items()}
        if match[0]:
            seconds = groups["w"] * 604800 + groups["d"] * 86400 + groups["h"] * 3600 + groups["min"] * 60 + groups["s"]
            form = DurationForm(groups["y"] * 12, seconds)
            yield Fact("duration", original[match.start() : match.end()], match.start(), match.end(), form)
    yield from _sum(text, original, list(scan_numbers(text, original)), expected)
    for pattern in (_WHOLE_DAY, _ONE_UNIT):
        for match in pattern.finditer(text):
            months, seconds = _UNITS[match.groupdict().get("unit") or "day"]
            form = DurationForm(months, Fraction(seconds))
            yield Fact("duration", original[match.start() : match.end()], match.start(), match.end(), form)
    for match in _WORDED.finditer(text):
        count = match["count"]
        if _SPEED.search(text, max(0, match.start() - _SPEED_REACH), match.start()):
            continue
        if (count not in _COUNTING and match["unit"].endswith("s")) or match[0] == "the second":
            continue
        size_months, size_seconds = _UNITS[match["unit"]]
        factor = Fraction(_VAGUE.get(count, 1))
        end = match.end()
        half = _FRACTION_AFTER.match(text, end)
        if half:
            factor += _HALVES[half["part"]]
            end = half.end()
        form = DurationForm(factor * size_months, factor * size_seconds, vague=count in _VAGUE)
        yield _ahead(text, original, match.start(), end, form)
