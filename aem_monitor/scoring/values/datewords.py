"""The words of dates: months, weekdays, ordinals, years and the patterns that find them."""

import re
from typing import Final

from aem_monitor.scoring.values.words import listed

_MONTH_NAMES: Final = listed("january february march april may june july august september october november december")
MONTHS: Final = (
    {name: number for number, name in enumerate(_MONTH_NAMES, start=1)}
    | {name[:3]: number for number, name in enumerate(_MONTH_NAMES, start=1)}
    | {"sept": 9}
)
_DAY_NAMES: Final = listed("monday tuesday wednesday thursday friday saturday sunday")
WEEKDAYS: Final = (
    {name: number for number, name in enumerate(_DAY_NAMES)}
    | {name[:3]: number for number, name in enumerate(_DAY_NAMES)}
    | {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}
)
DAY_NUMBERS: Final = {
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
_UNITS: Final = {
    word: number for number, word in enumerate(listed("one two three four five six seven eight nine"), start=1)
}
_TEENS: Final = {
    word: number
    for number, word in enumerate(
        listed("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"), start=10
    )
}
_TENS: Final = {
    word: 10 * number
    for number, word in enumerate(listed("twenty thirty forty fifty sixty seventy eighty ninety"), start=2)
}
_COUNTS: Final = (
    _UNITS
    | _TEENS
    | _TENS
    | {"a": 1, "an": 1, "a hundred": 100, "one hundred": 100}
    | {"a couple of": 2, "a couple": 2, "couple of": 2, "couple": 2, "few": 3, "a few": 3}
)

MONTH: Final = r"(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")"
MONTH_AHEAD: Final = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
"""How the name of a month begins, for rules that exclude one rather than need it."""
FULL_MONTH: Final = r"(?:" + "|".join(name for name in _MONTH_NAMES if name not in ("may", "march")) + r")"
WEEKDAY: Final = r"(?:" + "|".join(sorted(WEEKDAYS, key=len, reverse=True)) + r")"
ORDINAL: Final = (
    r"(?:\d{1,2}(?:st|nd|rd|th)|"
    + "|".join(word.replace("-", "[- ]") for word in sorted(DAY_NUMBERS, key=len, reverse=True))
    + r")"
)
DAY: Final = rf"(?:{ORDINAL}|\d{{1,2}})"
_BELOW_HUNDRED: Final = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(_UNITS)}))?|{'|'.join(_TEENS)}|(?:oh|o)[ -](?:{'|'.join(_UNITS)}))"
)
WORDED_YEAR: Final = (
    rf"(?:(?:seventeen|eighteen|nineteen|twenty)[ -]{_BELOW_HUNDRED}"
    rf"|(?:fourteen|fifteen|sixteen)[ -](?:sixty|seventy|eighty|ninety)(?:[ -](?:{'|'.join(_UNITS)}))?"
    rf"|(?:ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen) hundred"
    rf"(?: (?:and )?(?:{'|'.join(_UNITS)}|{_BELOW_HUNDRED}))?"
    rf"|two thousand(?:,? (?:and )?(?:{'|'.join(_UNITS)}|{_BELOW_HUNDRED}))?)(?![ -]?\w)"
)
YEAR: Final = r"(?:1[5-9]|2[01])\d{2}"
COUNT: Final = (
    rf"(?:\d{{1,4}}|(?:{'|'.join(_TENS)})[ -](?:{'|'.join(_UNITS)})\b|"
    + "|".join(sorted(_COUNTS, key=len, reverse=True))
    + r")"
)
WHICH: Final = r"next|this|last|following|coming|upcoming|previous|preceding|prior|past|current|present|same"
EDGE: Final = r"(?<![\w/.-])"
AFTER_DAY: Final = (
    r"(?<=(?:day|ues|urs|eds|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)-)"
)
"""Behind the hyphen of a range of weekdays or months ("Mon-Fri")."""

END: Final = r"(?![\w])(?!-\d)(?!/\d)"


def year_of(text: str | None) -> int | None:
    """The year that digits or words say; two digits are 1970 to 2069."""
    if not text:
        return None
    digits = text.lstrip("'")
    if not digits.isdigit():
        return _worded_year(digits)
    if len(digits) == 2:
        return int(digits) + (2000 if int(digits) < 70 else 1900)
    return int(digits)


def _worded_year(text: str) -> int:
    words = [word for word in re.split(r"[ ,-]+", text) if word not in ("and", "oh", "o", "hundred")]
    table = _UNITS | _TEENS | _TENS
    if words[:2] == ["two", "thousand"]:
        return 2000 + sum(table[word] for word in words[2:])
    return 100 * table[words[0]] + sum(table[word] for word in words[1:])


def day_number(text: str) -> int:
    """The day of a month that an ordinal or digits say."""
    digits = re.match(r"\d+", text)
    return int(digits[0]) if digits else DAY_NUMBERS[text.replace(" ", "-")]


def which_of(text: str | None) -> str:
    """ "next", "last" or "this" for the words that point to a period; "" where none does."""
    for word in (text or "").split():
        if word in ("next", "following"):
            return "next"
        if word in ("last", "previous", "preceding", "prior", "past"):
            return "last"
        if word in ("this", "coming", "upcoming", "current", "present", "same"):
            return "this"
    return ""


def count_of(text: str) -> int:
    """A small count in digits or words."""
    if text.isdigit():
        return int(text)
    known = _COUNTS.get(text)
    return sum(_COUNTS[word] for word in re.split(r"[ -]", text)) if known is None else known


def weekday_named(text: str) -> int | None:
    """The weekday (Monday 0) that a text is and nothing else; None if it is more or other."""
    return WEEKDAYS.get(text.strip(" .,").lower().removeprefix("on ").removeprefix("the "))
