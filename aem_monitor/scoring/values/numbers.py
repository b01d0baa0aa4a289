"""Numbers in digits and in words, with money, percent and units of measure."""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from aem_monitor.scoring.values.forms import Fact, QuantityForm
from aem_monitor.scoring.values.number_reader import UNIT_BEFORE, Read, Reader
from aem_monitor.scoring.values.number_words import (
    BIG_ORDINALS,
    FROM_THE_END,
    ORDINALS,
    SMALL,
    TENS,
    VULGAR,
)
from aem_monitor.scoring.values.units import unit_table

_UNIT_AFTER: Final = re.compile(
    r"\s*-?\s*(per cent|basis points|us\$|[$€£¥₹₩%元¢]|(?:us|american|canadian|australian|new zealand"
    r"|hong kong|singapore|taiwan) dollars?"
    r"|chinese yuan|japanese yen|indian rupees?|(?:british|egyptian) pounds?|swiss francs?|kuwaiti dinars?|turkish lira"
    r"|(?:swedish|norwegian|danish) kron(?:a|or|e|er)|czech koruna|philippine pesos?|(?:south )?korean won"
    r"|pounds? sterling|(?:square|sq|cubic|cu) (?:met(?:er|re)s?|kilomet(?:er|re)s?|feet|foot|ft|inch(?:es)?"
    r"|miles?|mi|yards?|km|m|cm)|(?:miles?|kilomet(?:er|re)s?|km) (?:per|an) hour|met(?:er|re)s? per second"
    r"|deg(?:rees?)? (?:fahrenheit|celsius|centigrade|f|c)"
    r"|°\s?[cf]?|km/h|m/s|m²|[µμ]g|[a-z]+[2²]?)(?![a-z\d])"
)
_PART_OF_UNIT: Final = re.compile(r"(?: of)? (?:an?|one) ([a-z]+)(?![\w])")
"""What stands between a fraction and its unit: "half a percent", "a quarter of a liter"."""

_START: Final = re.compile(
    r"(?<![\w.,])[-+]?[.,]?\d|^- ?[.,]?\d|\bpoint(?= (?:zero|oh|one|two|three|four|five|six|seven|eight|nine)\b)"
    r"|(?<=[a-z$€£¥₹₩ ])\d|["
    + "".join(VULGAR)
    + r"]|\b(?:minus|negative|a|an|half|quarter(?=[ -](?:of an? )?(?:million|billion|trillion|hour|day"
    r"|century|mile|pound))|"
    + "|".join(
        [*SMALL, *TENS, *ORDINALS, *BIG_ORDINALS, "hundred", "thousand", "million", "billion", "trillion", "dozen"]
    )
    + r")\b"
)


_AND_CENTS: Final = re.compile(r",? (?:and )?")


def scan_numbers(text: str, original: str) -> Iterator[Fact]:
    """Numbers and amounts in a folded text; "13 dollars and 45 cents" is one amount."""
    held: Fact | None = None
    for fact in _numbers(text, original):
        whole = held and _with_cents(text, original, held, fact)
        if whole:
            yield whole
            held = None
            continue
        if held:
            yield held
        held = fact
    if held:
        yield held


_FROM_END: Final = {
    place: re.compile(rf"(?<![\w-])(?:the )?(?:{words.replace(' ', '[ -]')})(?: one)?(?! \w+day\b)(?![\w-])")
    for place, words in FROM_THE_END.items()
}


def scan_places_from_end(text: str, original: str) -> Iterator[Fact]:
    """Ordinals that count from the end: "second to last", "the last but one"."""
    for place, pattern in _FROM_END.items():
        for match in pattern.finditer(text):
            form = QuantityForm(Fraction(-place), ordinal=True)
            yield Fact("number", original[match.start() : match.end()], match.start(), match.end(), form)


def _with_cents(text: str, original: str, whole: Fact, cents: Fact) -> Fact | None:
    a, b = whole.form, cents.form
    if not isinstance(a, QuantityForm) or not isinstance(b, QuantityForm):
        return None
    join = _AND_CENTS.match(text, whole.end)
    if b.unit not in ("cent", "cents") or a.dimension not in ("money:usd", "money:eur") or a.unit in ("cent", "cents"):
        return None
    if join is None or join.end() != cents.start:
        return None
    form = QuantityForm(a.value + b.value, a.dimension, a.unit)
    return Fact("money", original[whole.start : cents.end], whole.start, cents.end, form)


def _numbers(text: str, original: str) -> Iterator[Fact]:
    """Numbers said in a folded text, left to right, with unit or currency. ``original`` gives the words of the
    facts."""
    pos = taken = 0
    while match := _START.search(text, pos):
        start = match.start()
        if (
            text[start].isdigit()
            and start
            and (text[start - 1].isalpha() and not UNIT_BEFORE.search(text, max(0, start - 10), start))
        ):
            pos = match.end()
            continue
        read = Reader(text, start, original).read()
        if read is None or read.end <= start:
            pos = match.end()
            continue
        fact = _with_unit(text, original, start, read, taken)
        taken = fact.end
        pos = max(fact.end, match.end())
        yield fact


def _with_unit(text: str, original: str, start: int, read: Read, taken: int) -> Fact:
    end, dimension, unit = read.end, "", ""
    size = Fraction(1)
    before = UNIT_BEFORE.search(text, max(taken, start - 10), start)
    if before and not read.ordinal:
        unit = before[1].replace(" ", "").rstrip(".")
        start = before.start()
    unit_at = read.end
    part_of = _PART_OF_UNIT.match(text, read.end) if 0 < read.value < 1 else None
    if part_of and (part_of[1] == "per" or part_of[1] in unit_table()):
        unit_at = part_of.start(1)
    after = None if read.ordinal else _UNIT_AFTER.match(text, unit_at)
    if after:
        name = after[1].replace("° ", "°")
        known = unit_table().get(name)
        loose = unit_at == read.end and name in ("rs", "real", "won", "rand") and text[read.end : read.end + 1] == " "
        if known and not loose and (not unit or known[0] != "money"):
            unit = unit or name
            end = after.end(1)
    if read.percent:
        unit = "percent"
    if unit:
        dimension, size = unit_table().get(unit, ("", Fraction(1)))
    form = QuantityForm(read.value * size, dimension, unit, tuple(value * size for value in read.also), read.ordinal)
    kind = "money" if dimension.startswith("money") else "quantity" if dimension else "number"
    return Fact(kind, original[start:end], start, end, form)
