"""All typed facts of a text, without overlaps."""

import re
from dataclasses import replace
from datetime import date
from typing import Final

from aem_monitor.scoring.values.dates import scan_dates
from aem_monitor.scoring.values.durations import scan_durations
from aem_monitor.scoring.values.forms import DateForm, Fact, QuantityForm, TimeForm
from aem_monitor.scoring.values.identifiers import scan_identifiers
from aem_monitor.scoring.values.numbers import scan_numbers, scan_places_from_end
from aem_monitor.scoring.values.remember import remembered
from aem_monitor.scoring.values.times import scan_times
from aem_monitor.scoring.values.wording import Reworded, reworded
from aem_monitor.scoring.values.words import flat

MAX_CHARS: Final = 12_000
"""Longer texts are scanned up to here: scanning is linear, but a reply of this length is no reply."""

_ISO_JOIN: Final = re.compile(r"(?<=\d{4}-\d{2}-\d{2})t(?=\d{2}:)")
_PART_JOIN: Final = re.compile(r"(?:(?<=\bmid)|(?<=\blate)|(?<=\bearly)|(?<=\bpre)|(?<=\bpost))-(?=[a-z\d])")
_ADDRESS_HINT: Final = re.compile(r"[@#_]|https?:")


@remembered(4096)
def scan(text: str, reference: date | None = None, expected: str = "") -> tuple[Fact, ...]:
    """The typed facts of a text in order of place. ``expected`` (date, time, duration) reads bare numbers as that kind;
    "number" reads no dates and times ("5 to 10").

    Where recognisers overlap, dates go before times, durations, identifiers and numbers; an identifier that encloses
    another finding wins, so that the digits inside an order number are never a number.
    """
    if not text:
        return ()
    original = text[:MAX_CHARS]
    folded = _PART_JOIN.sub(" ", _ISO_JOIN.sub(" ", flat(original)))
    if not any(char.isdigit() for char in folded) and not _WORTH_SCANNING.search(folded):
        return ()
    other = reworded(folded, original, reference) if expected != "number" else None
    if other is None:
        return _scan(folded, original, reference, expected)
    return _in_place(_scan(other.folded, other.original, reference, expected), other, original)


def _in_place(facts: tuple[Fact, ...], text: Reworded, original: str) -> tuple[Fact, ...]:
    """Facts of a reworded text where their words stand in the first one. What stands among the words of another ("5
    tomorrow afternoon") takes no place of its own, so that facts never overlap."""
    placed: list[Fact] = []
    for fact in facts:
        start, end = text.starts[fact.start], text.ends[fact.end - 1]
        words = original[start:end]
        if placed and start < placed[-1].end:
            start, end = placed[-1].end, max(placed[-1].end, end)
        placed.append(replace(fact, text=words, start=start, end=end))
    return tuple(placed)


def _scan(folded: str, original: str, reference: date | None, expected: str) -> tuple[Fact, ...]:
    from_end = list(scan_places_from_end(folded, original))
    numbers = list(scan_numbers(folded, original))
    # "1.3e6", "115usd" and "2mil" look like identifiers but are numbers to the last character.
    in_numbers = _Extents(len(folded), numbers)
    identifiers = [fact for fact in scan_identifiers(folded, original) if not in_numbers.enclose(fact)]
    in_identifiers = _Extents(len(folded), identifiers)
    layers = (
        from_end,
        *(() if expected == "number" else _dates_and_times(folded, original, reference, expected)),
        list(scan_durations(folded, original, expected=expected == "duration")),
        identifiers,
        numbers,
    )
    found: list[Fact] = []
    taken = bytearray(len(folded))
    for layer in layers:
        for fact in layer:
            if any(taken[fact.start : fact.end]):
                continue
            if fact.kind != "identifier" and in_identifiers.enclose(fact, longer=True):
                continue
            found.append(fact)
            taken[fact.start : fact.end] = b"\1" * (fact.end - fact.start)
    found.sort(key=lambda fact: fact.start)
    return _with_years(tuple(found), reference)


class _Extents:
    """Which fact of a list covers a place; the facts are looked up in constant time, so that a long text costs no more
    than its length."""

    def __init__(self, length: int, facts: list[Fact]) -> None:
        self._ends: dict[int, tuple[int, int]] = {}
        for fact in facts if length else ():
            for place in range(fact.start, fact.end):
                known = self._ends.get(place)
                if known is None or known[1] - known[0] < fact.end - fact.start:
                    self._ends[place] = (fact.start, fact.end)

    def enclose(self, fact: Fact, *, longer: bool = False) -> bool:
        """Whether a fact of the list holds the whole of another; ``longer``: and more."""
        start, end = self._ends.get(fact.start, (0, -1))
        return fact.end <= end and (not longer or end - start > fact.end - fact.start)


_RUN_TOGETHER: Final = re.compile(r"\d{1,2}h\d\d", re.IGNORECASE)
"""A length of time where one is due ("2h30"), else a time."""


def _dates_and_times(
    folded: str, original: str, reference: date | None, expected: str
) -> tuple[list[Fact], list[Fact]]:
    """Dates before times, save that "tonight" is a part of "tonight at 8"."""
    times = list(scan_times(folded, original, bare_hours=expected == "time"))
    if expected == "duration":
        times = [time for time in times if not _RUN_TOGETHER.fullmatch(time.text)]
    clocks = [time for time in times if isinstance(time.form, TimeForm) and time.form.readings]
    in_clocks = _Extents(len(folded), clocks)
    found = scan_dates(folded, original, reference, expected=expected == "date")
    dates = [fact for fact in found if not in_clocks.enclose(fact)]
    return dates, times


_WORTH_SCANNING: Final = re.compile(
    r"[@½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]|https?:|\b(?:"
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w*t(?:y|ieth)|hundred|thousand|million"
    r"|billion"
    r"|trillion|dozen|half|zero|point|oh|naught|nil|nought|couple|an?|third|first|second|\w+th|quarters?|dollars?"
    r"|to(?:day|morrow|night)|tom+or+ow|yesterday|now|penultimate|antepenultimate"
    r"|moment|present(?:ly)?|current(?:ly)?|last|next|this|morning|afternoon|evening|night"
    r"|noon|mid[- ]?day|mid[- ]?night|sunup|sundown|daybreak|\w+time"
    r"|weeks?|weekend|months?|years?|decades?|hours?|minutes?|seconds?|days?|nights?"
    r"|christmas|past|prior|previous|following|coming|upcoming|same|whole|entire|all"
    r"|xmas|halloween|new year|(?:breakfast|lunch|dinner|supper)\w*|dawn|dusk|sunrise|sunset|end of|business hours"
    r"|\w+teenth|eo[dwmqy]|cob|close of business|asap|as soon as|right away|straight away|immediately"
    r"|[wmqy]td|(?:to|tomor?rows|tmr|tmrw)|fortnights?|quarters?"
    r"|spring|summer|autumn|winter|easter|thanksgiving|\w+ties|century|mid\w*|early|late|rest of|remainder"
    r"|daily|(?:bi-?)?weekly|(?:bi)?monthly|quarterly|yearly|annually|hourly|fortnightly|every|each|once|weekdays"
    r"|weekends?|new years?'?s?|nye|mardi gras|pentecost|cinco de mayo|april fools?|all saints|guy fawkes"
    r"|hallow\w*|x-mas|epiphany|ramadan|passover|hanukkah|chanukah|kwanzaa|whitsun|ascension|corpus christi|rosh"
    r"|yom|diwali|eid|purim|bonfire|per|twice|thrice|semi\w*|half|biennial\w*|annual|overmorrow|halfway|midway"
    r"|valentine'?s?|mon|tues?|weds?|thurs?|fri|sat|sun"
    r"|\w+days?|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
    r"|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b"
)
"""Cheap test that spares most texts without digits the recognisers: every word with which a worded value can begin."""


def _with_years(facts: tuple[Fact, ...], reference: date | None) -> tuple[Fact, ...]:
    """Give a quarter or month without a year the only year that the text names elsewhere.

    "third quarter revenue figures for 2024" names the same period as "Q3 2024".
    """
    years = [fact for fact in facts if _bare_year(fact) is not None]
    open_periods = [
        fact
        for fact in facts
        if isinstance(fact.form, DateForm)
        and len(fact.form.fields) == 1
        and next(iter(fact.form.fields))[0] in ("q", "h", "m")
    ]
    if len(years) != 1 or not open_periods:
        return facts
    undated = set(open_periods)
    year = _bare_year(years[0])
    dated = []
    for fact in facts:
        if fact in undated:
            name, number = next(iter(fact.form.fields))  # type: ignore[union-attr]
            words = {"q": f"q{number} {year}", "h": f"h{number} {year}", "m": f"{year}-{number:02d}"}[name]
            form = next(scan_dates(words, words, reference)).form
            dated.append(replace(fact, form=form))
        else:
            dated.append(fact)
    return tuple(dated)


def _bare_year(fact: Fact) -> int | None:
    form = fact.form
    if not isinstance(form, QuantityForm) or form.dimension or form.ordinal or not fact.text.isdigit():
        return None
    return int(fact.text) if len(fact.text) == 4 and 1900 <= form.value <= 2100 else None
