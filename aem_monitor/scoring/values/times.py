"""Times of day."""

import re
from collections.abc import Iterator
from typing import Final

from aem_monitor.scoring.values.forms import Fact, TimeForm
from aem_monitor.scoring.values.words import listed

_HOURS: Final = {
    word: value
    for value, word in enumerate(listed("one two three four five six seven eight nine ten eleven twelve"), start=1)
}
_MINUTES: Final = _HOURS | {
    "fifteen": 15,
    "twenty": 20,
    "twenty-five": 25,
    "twenty five": 25,
    "thirty": 30,
    "forty": 40,
    "forty-five": 45,
    "forty five": 45,
    "fifty": 50,
    "quarter": 15,
    "a quarter": 15,
    "half": 30,
    **{
        f"{nought}{join}{word}": value
        for nought in ("oh", "o")
        for join in " -"
        for word, value in _HOURS.items()
        if value < 10
    },
}
_HOUR: Final = r"(?:" + "|".join(_HOURS) + r")"
_MINUTE: Final = r"(?:" + "|".join(sorted(_MINUTES, key=len, reverse=True)) + r")"
_HALF: Final = r"a\s?\.?\s?m\b\.?|p\s?\.?\s?m\b\.?|[ap]\b"
_PART: Final = (
    r"(?:(?:early |late )?(?:in the |at |this )?(?:early |late )?"
    r"(?:morning|afternoon|evening|night)|tonight|noon)"
)
_ZONES: Final = {
    "z": 0, "utc": 0, "gmt": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
    "cet": 1, "cest": 2, "bst": 1, "ist": 5.5, "jst": 9,
}  # fmt: skip
_ZONE: Final = r"(?P<zone>\s?(?:" + "|".join(_ZONES) + r")\b|\+\d{2}:?\d{2}\b|(?(second)-\d{2}:?\d{2}\b|(?!)))?"

_CLOCK: Final = re.compile(
    rf"(?:(?<![\w.:/$€£-])|(?<=\d-)|(?<=[ap]m-))(?:(?P<before>{_PART})[ ,]+(?:at |around |about |by )?)?"
    rf"(?:(?<!from )(?<!between )(?!(?:\d|1[0-2]) to \d{{1,2}} ?(?:{_HALF}))"
    r"(?!(?:[1-46-9]|1[12]) to \d)"
    rf"(?P<rel>{_MINUTE}|\d{{1,2}})(?: ?min(?:ute)?s?)?[ -]"
    rf"(?P<dir>past|to|after|till|before)[ -](?P<relhour>{_HOUR}|\d{{1,2}})(?!\d)"
    rf"|(?P<hour>\d{{1,2}})(?:(?P<sep>[:.h])(?P<minute>\d{{2}})(?::(?P<second>\d{{2}})(?:\.\d{{1,9}})?)?)(?![\d:])"
    rf"|(?P<bare>\d{{1,2}}|{_HOUR})"
    rf"(?:[ -](?P<spoken>{_MINUTE}|\d{{2}})(?=\s?(?:{_HALF}|o'?clock|in the|at night)))?(?![\d:])(?! mid| noon))"
    rf"(?P<oclock> ?o[\"']? ?clock)?\s?\.?(?P<half>{_HALF})?{_ZONE}"
    rf"(?:,? ?(?P<after>{_PART}))?(?![\w:/%])"
)
_NAMED: Final = re.compile(r"\b(?:(?:12|twelve|high) )?(?:(?P<noon>noon|mid[- ]?day)|(?P<midnight>mid[- ]?night))\b")
_VAGUE: Final = re.compile(
    r"(?<!per )(?<!\ba )(?<!each )(?<!every )(?<!/)(?<!\d-)\b(?:in the |during the |this )?"
    r"(?P<part>morning|afternoon|evening|night ?time|night|tonight|(?:breakfast|lunch|dinner|supper|tea) ?time|dawn"
    r"|daybreak|dusk|sunrise|sunset|sunup|sundown|day ?time|eod|cob"
    r"|(?:end|close) of (?:the )?(?:business )?(?:day|business)"
    r"|(?:business|working|office) hours)(?:(?<=ing|oon)s)?\b"
)

_MEAL: Final = re.compile(r"\b(?P<meal>breakfast|lunch|dinner|supper|tea)\b")
_MILITARY: Final = re.compile(
    r"(?<![\w.:/$-])(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d) ?(?:h|hrs?|hours)?(?![\w:/%-])"
)
_HOURS_ONLY: Final = re.compile(r"(?<![\w.:/$-])(?P<hour>1?\d|2[0-4])h(?!\w)")
"""As written in French, "17h"; a length of time unless a time is due."""

_LENGTH_BEHIND: Final = re.compile(r"\.\d|[ -]?(?:hours?|hrs?|min|days?|nights?|weeks?)")
_PART_NAMES: Final = {
    "endofday": "eod",
    "endofbusiness": "eod",
    "endofbusinessday": "eod",
    "closeofbusiness": "eod",
    "closeofbusinessday": "eod",
    "cob": "eod",
    "daybreak": "dawn",
    "workinghours": "businesshours",
    "officehours": "businesshours",
    "sunup": "sunrise",
    "sundown": "sunset",
    "supper": "dinner",
}


def _halves(hour: int, part: str) -> int | None:
    """The hour in 24 hours that an hour of 12 means in a part of the day; None where it cannot be one."""
    if hour > 12:
        return hour % 24
    if "morning" in part:
        return hour % 12
    if "noon" in part:
        return hour % 12 + 12 if hour != 12 else 12
    if "evening" in part:
        return hour % 12 + 12
    if "night" in part:
        return hour % 12 if hour == 12 or hour < 5 else hour + 12
    return None


def _offset(zone: str | None) -> int | None:
    if not zone:
        return None
    zone = zone.strip()
    if zone in _ZONES:
        return int(_ZONES[zone] * 3600)
    digits = zone[1:].replace(":", "")
    return (-1 if zone[0] == "-" else 1) * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)


def _form(match: re.Match[str], bare_hours: bool) -> TimeForm | None:
    part = " ".join(filter(None, (match["before"], match["after"])))
    half = re.sub(r"[\s.]", "", match["half"] or "")
    minute = second = 0
    marked = bool(part or half or match["oclock"])
    if match["rel"]:
        hour, minute = _relative(match)
    elif match["hour"]:
        hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
        if match["sep"] == "." and not marked and not bare_hours:
            return None
    else:
        if not marked and (not bare_hours or _LENGTH_BEHIND.match(match.string, match.end())):
            return None
        if match["bare"] in _HOURS and not marked:
            return None
        hour = _number(match["bare"])
        minute = _number(match["spoken"]) if match["spoken"] else 0
    if hour > 24 or minute > 59 or second > 59 or (hour == 24 and minute):
        return None
    rest = minute * 60 + second
    offset = _offset(match["zone"])
    if half:
        if not hour or hour > 12:
            if hour > 12 and half.startswith("p"):
                return TimeForm((hour % 24 * 3600 + rest,), offset=offset)
            return None
        return TimeForm(((hour % 12 + (12 if half.startswith("p") else 0)) * 3600 + rest,), offset=offset)
    fixed = _halves(hour, part) if part else None
    if fixed is not None:
        return TimeForm((fixed % 24 * 3600 + rest,), offset=offset)
    if hour > 12 or hour == 0 or (match["hour"] or "").startswith("0") or match["second"]:
        return TimeForm((hour % 24 * 3600 + rest,), offset=offset)
    other = (hour % 12 + (0 if hour == 12 else 12)) * 3600 + rest
    # "10:30" is the 24-hour form of the morning; "7:30" without a zero in front, or "7", leaves the half of the day
    # open.
    return TimeForm((hour * 3600 + rest, other), firm=bool(match["hour"]) and hour >= 10, offset=offset)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _MINUTES[text]


def _relative(match: re.Match[str]) -> tuple[int, int]:
    minutes, hour = _number(match["rel"]), _number(match["relhour"])
    if match["dir"] in ("to", "till", "before"):
        return (hour - 1 or 12, 60 - minutes) if 0 < minutes < 60 else (99, 0)
    return hour, minutes


def scan_times(text: str, original: str, *, bare_hours: bool = False) -> Iterator[Fact]:
    """Times of day in a folded text. A bare number is an hour only where ``bare_hours`` says that times are
    expected."""
    taken = 0
    for match in _CLOCK.finditer(text):
        form = _form(match, bare_hours)
        if form is None or match.start() < taken:
            continue
        taken = match.end()
        yield Fact("time", original[match.start() : taken].rstrip(), match.start(), taken, form)
    for match in _NAMED.finditer(text):
        form = TimeForm((12 * 3600 if match["noon"] else 0,))
        yield Fact("time", original[match.start() : match.end()], match.start(), match.end(), form)
    for match in _VAGUE.finditer(text):
        yield Fact(
            "time",
            original[match.start() : match.end()],
            match.start(),
            match.end(),
            TimeForm(key=_part_key(match["part"])),
        )
    if bare_hours:
        for match in _HOURS_ONLY.finditer(text):
            whole = TimeForm((int(match["hour"]) % 24 * 3600,))
            yield Fact("time", original[match.start() : match.end()], match.start(), match.end(), whole)
        for match in _MILITARY.finditer(text):
            whole = TimeForm((int(match["hour"]) * 3600 + int(match["minute"]) * 60,))
            yield Fact("time", original[match.start() : match.end()], match.start(), match.end(), whole)
        for match in _MEAL.finditer(text):
            form = TimeForm(key=_part_key(match["meal"]))
            yield Fact("time", original[match.start() : match.end()], match.start(), match.end(), form)


def _part_key(said: str) -> str:
    """The part of the day under one name: "dinner time" is dinner, "eod" and "close of business" the end of the day."""
    key = said.replace(" ", "").replace("the", "").removesuffix("time")
    return _PART_NAMES.get(key, key)
