"""Numbers in digits and in words, with money, percent and units of measure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from aem_monitor.scoring.values.forms import Fact, QuantityForm
from aem_monitor.scoring.values.number_words import (
    ABBREVIATED,
    DENOMINATORS,
    FROM_THE_END,
    ORDINALS,
    SCALES,
    SMALL,
    TENS,
    VULGAR,
)
from aem_monitor.scoring.values.units import currency_codes, unit_table

_DIGITS: Final = re.compile(
    r"(?:\d{1,3}(?:,\d{2,3})+(?:\.\d+)?(?!\d)|\d{1,3}(?:\.\d{3})+(?:,\d+)?(?!\d)"
    r"|\d{1,3}(?:[ '_]\d{3})+(?:[.,]\d+)?(?!\d)"
    r"|\d+[.,]\d+|[.,]?\d+)(?:\s?[x×*]\s?10\^?([+-]?\d{1,3})|e([+-]?\d{1,3})(?![a-z\d]))?"
)
_PIECE: Final = re.compile(
    rf"(?P<digits>{_DIGITS.pattern})|(?P<vulgar>[{''.join(VULGAR)}])|(?P<word>[a-z]+)|(?P<sign>[-+/%])"
)
_UNIT_BEFORE: Final = re.compile(
    r"(us\$|ca\$|au\$|nz\$|hk\$|mx\$|\bc ?\$|\ba\$|s\$|r\$|[$€£¥₹₩元]"
    r"|\b(?:dollars?|euros?|rs\.?|" + "|".join(currency_codes()) + r"))\s*$"
)
_UNIT_AFTER: Final = re.compile(
    r"\s*-?\s*(per cent|basis points|us\$|[$€£¥₹₩%元]|(?:us|american|canadian|australian|new zealand"
    r"|hong kong|singapore|taiwan) dollars?"
    r"|chinese yuan|japanese yen|indian rupees?|(?:british|egyptian) pounds?|swiss francs?|kuwaiti dinars?|turkish lira"
    r"|(?:swedish|norwegian|danish) kron(?:a|or|e|er)|czech koruna|philippine pesos?|(?:south )?korean won"
    r"|(?:miles?|kilomet(?:er|re)s?) (?:per|an) hour|met(?:er|re)s? per second|degrees? (?:fahrenheit|celsius|f|c)"
    r"|°\s?[cf]?|km/h|m/s|m²|[a-z]+[2²]?)(?![a-z\d])"
)
_EXPONENT_LIMIT: Final = 60
_LENGTH_LIMIT: Final = 60
_SHORT: Final = 12


@dataclass(frozen=True, slots=True)
class _Read:
    value: Fraction
    end: int
    also: tuple[Fraction, ...] = ()
    ordinal: bool = False
    worded: bool = False
    percent: bool = False


def read_digits(text: str) -> tuple[Fraction, ...]:
    """Readings of a numeral with separators, best first: "1,240" is 1240, "1.240" is 1.24 or else 1240, "5,00" is
    5."""
    text = re.sub(r"[ '_]", "", text)
    if "," in text and "." in text:
        decimal = max(text.rfind(","), text.rfind("."))
        other = "," if text[decimal] == "." else "."
        return (Fraction(text[:decimal].replace(other, "").replace(text[decimal], "") + "." + text[decimal + 1 :]),)
    for sign in ",.":
        if sign not in text:
            continue
        whole, *groups = text.split(sign)
        if len(groups) > 1:
            return (Fraction("".join((whole, *groups))),)
        if len(groups[0]) == 3 and whole and whole != "0":
            grouped, decimal_value = Fraction(whole + groups[0]), Fraction(f"{whole}.{groups[0]}")
            if sign == ",":
                # Nobody writes three noughts behind a decimal comma.
                return (grouped,) if groups[0] == "000" else (grouped, decimal_value)
            return decimal_value, grouped
        return (Fraction(f"{whole or 0}.{groups[0]}"),)
    return (Fraction(text),)


class _Reader:
    """Reads one number phrase of a folded text from a position on."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.pos = start

    def piece(self, pos: int) -> re.Match[str] | None:
        while pos < len(self.text) and self.text[pos] == " ":
            pos += 1
        return _PIECE.match(self.text, pos)

    def word(self, pos: int, joined: str = "-") -> tuple[str, int]:
        """The next word after blanks or hyphens, and its end; "" where something else follows."""
        while pos < len(self.text) and self.text[pos] in " " + joined:
            pos += 1
        match = re.compile(r"[a-z]+").match(self.text, pos)
        return (match[0], match.end()) if match else ("", pos)

    def integer_words(self, pos: int) -> tuple[int, int] | None:
        """A whole number in words ("two hundred and thirty-two thousand five"), its value and end."""
        total = current = 0
        seen = False
        last = 10**18
        end = pos
        while True:
            word, after = self.word(pos)
            if word == "and" and seen and (total or current >= 100):
                following, following_end = self.word(after)
                if following not in SMALL and following not in TENS:
                    break
                if self.word(following_end)[0] in DENOMINATORS and following in ("one", "two", "three"):
                    break  # "two million and one half": the half is a number of its own
                word, after = following, following_end
            if word in SMALL and (not seen or (last >= 20 and current % 10 == 0 and SMALL[word] > 0)):
                if last < 100 and SMALL[word] > 9:
                    break
                current += SMALL[word]
                last = 1
            elif word in TENS and (not seen or last >= 100):
                current += TENS[word]
                last = 20
            elif word in SCALES and word not in ABBREVIATED and (seen or word == "hundred" or SCALES[word] >= 1000):
                scale = SCALES[word]
                current = (current or 1) * scale
                if scale >= 1000:
                    total, current = total + current, 0
                last = scale
            else:
                break
            seen = True
            pos = end = after
        return (total + current, end) if seen else None

    def read(self) -> _Read | None:
        sign, pos = self._sign(self.pos)
        read = self._unsigned(pos)
        if read is None:
            return None
        return replace(read, value=sign * read.value, also=tuple(sign * value for value in read.also))

    def _sign(self, pos: int) -> tuple[int, int]:
        word, after = self.word(pos, "")
        if word in ("minus", "negative"):
            return -1, after
        if pos < len(self.text) and self.text[pos] in "+-":
            return (-1 if self.text[pos] == "-" else 1), pos + 1
        return 1, pos

    def _unsigned(self, pos: int) -> _Read | None:
        piece = self.piece(pos)
        if piece is None:
            return None
        if piece["digits"]:
            return self._after_digits(piece)
        if piece["vulgar"]:
            return self._scaled(_Read(VULGAR[piece["vulgar"]], piece.end()))
        if piece["word"]:
            return self._after_words(piece.start())
        return None

    def _after_digits(self, piece: re.Match[str]) -> _Read | None:
        digits = piece["digits"]
        exponent = int(next((group for group in piece.groups()[1:3] if group), "0"))
        if len(digits) > _LENGTH_LIMIT or abs(exponent) > _EXPONENT_LIMIT:
            return None
        mantissa = re.split(r"[x×*e]", digits)[0].strip()
        values = tuple(value * Fraction(10) ** exponent for value in read_digits(mantissa))
        end = piece.end()
        power = re.compile(r"\^([+-]?\d{1,2})(?![\w^])").match(self.text, end)
        if power and exponent == 0 and len(mantissa) <= _SHORT and values[0]:
            return _Read(values[0] ** int(power[1]), power.end())
        ordinal = re.compile(r"(?:st|nd|rd|th)(s?)\b").match(self.text, end)
        if ordinal and not ordinal[1]:
            return _Read(values[0], ordinal.end(), ordinal=True)
        vulgar = self.piece(end)
        if vulgar and vulgar["vulgar"]:
            return self._scaled(_Read(values[0] + VULGAR[vulgar["vulgar"]], vulgar.end()))
        worded = re.compile(r" and (?:a |an |one )?(half|quarter|third)\b").match(self.text, end)
        if worded and values[0].denominator == 1:
            return self._scaled(_Read(values[0] + Fraction(1, DENOMINATORS[worded[1]]), worded.end()))
        mixed = re.compile(r" (\d{1,3})/(\d{1,3})(?![\d/])").match(self.text, end)
        if mixed and int(mixed[2]):
            return self._scaled(_Read(values[0] + Fraction(int(mixed[1]), int(mixed[2])), mixed.end()))
        read = self._scaled(_Read(values[0], end, values[1:]))
        return self._ratio(read)

    def _after_words(self, start: int) -> _Read | None:
        word, after = self.word(start, "")
        article = word in ("a", "an")
        if article:
            word, next_end = self.word(after)
            if word in DENOMINATORS:
                return self._scaled(_Read(Fraction(1, DENOMINATORS[word]), self._skip_of(next_end), worded=True))
            ordinal = self.integer_words(after)
            if word in SCALES and word not in ABBREVIATED:
                return self._scaled(
                    (self._fraction_or_ordinal(Fraction(ordinal[0]), ordinal[1]) if ordinal else None)
                    or _Read(Fraction(1), after, worded=True)
                )
            below = (
                self._fraction_or_ordinal(Fraction(ordinal[0]), ordinal[1]) if ordinal and ordinal[0] >= 20 else None
            )
            if below is not None and below.ordinal:
                return _Read(1 / below.value, below.end, worded=True)
            if word == "couple":
                return _Read(Fraction(2), self._skip_of(next_end), worded=True)
            return None
        if word in ("half", "halves", "quarter"):
            return self._scaled(_Read(Fraction(1, DENOMINATORS[word]), self._skip_of(after), worded=True))
        whole = self.integer_words(start)
        if whole is None:
            return self._lone_ordinal(word, after)
        value, end = whole
        read = self._fraction_or_ordinal(Fraction(value), end)
        if read is None:
            read = self._point(Fraction(value), end) or _Read(Fraction(value), end, worded=True)
        return self._ratio(self._scaled(read))

    def _lone_ordinal(self, word: str, after: int) -> _Read | None:
        # "Second" is a length of time, unless it is all that is said.
        if word in ORDINALS and (word != "second" or self.text.strip() in ("second", "the second")):
            return _Read(Fraction(ORDINALS[word]), after, ordinal=True, worded=True)
        return None

    def _skip_of(self, end: int) -> int:
        """Past "of a" in "half of a million", "half a million"."""
        match = re.compile(r"(?: of)? +an?(?= +(?:hundred|thousand|million|billion|trillion|dozen))").match(
            self.text, end
        )
        return match.end() if match else end

    def _fraction_or_ordinal(self, value: Fraction, end: int) -> _Read | None:
        word, after = self.word(end)
        if word in ("and", "a") and (lead := re.compile(r" and (a|an|one)?[ -]?").match(self.text, end)):
            part, part_end = self.word(lead.end())
            numerator = Fraction(1)
            if part in SMALL:
                numerator = Fraction(SMALL[part])
                part, part_end = self.word(part_end)
            if part in DENOMINATORS:
                return _Read(value + numerator / DENOMINATORS[part], part_end, worded=True)
            return None
        if word in DENOMINATORS:
            denominator = Fraction(DENOMINATORS[word])
            if word.endswith("s") or value == 1 or word in ("half", "quarter"):
                return _Read(value / denominator, after, worded=True)
            return _Read(value + denominator, after, ordinal=True, worded=True)
        if word in ("first", "second") and value >= 20 and value % 10 == 0:
            return _Read(value + ORDINALS[word], after, ordinal=True, worded=True)
        return None

    def _point(self, value: Fraction, end: int) -> _Read | None:
        word, after = self.word(end, "")
        if word != "point":
            return None
        digits = ""
        while True:
            word, following = self.word(after, "")
            if word not in SMALL or SMALL[word] > 9:
                break
            digits += str(SMALL[word])
            after = following
        return _Read(value + Fraction(int(digits), 10 ** len(digits)), after, worded=True) if digits else None

    def _scaled(self, read: _Read) -> _Read:
        """Times the scale words that follow: "2 million", "100k", "3 dozen"."""
        while not read.ordinal:
            word, after = self.word(read.end)
            tight = after - len(word) == read.end
            if word not in SCALES or (
                word in ABBREVIATED
                and not (tight or word in ("mil", "mln", "bn", "bln", "tln", "tn", "mn", "dz", "dzs"))
            ):
                return read
            if word in ("m", "mm", "b", "t") and not (
                tight and _UNIT_BEFORE.search(self.text, max(0, self.pos - 10), self.pos)
            ):
                return read
            read = _Read(
                read.value * SCALES[word], after, tuple(v * SCALES[word] for v in read.also), worded=read.worded
            )
        return read

    def _ratio(self, read: _Read) -> _Read:
        """ "3/4", "one over three", "one out of three", "1 in twenty-one"."""
        match = re.compile(
            r"\s?/\s?(?=\d)| (?:over|out of) (?:a |an )?| in (?=twenty|thirty|a hundred|one hundred)"
        ).match(self.text, read.end)
        if not match or read.ordinal or read.value.denominator != 1:
            return read
        if "/" in match[0]:
            digits = re.compile(r"\d{1,9}(?![\d/]|\.\d)").match(self.text, match.end())
            if not digits or not int(digits[0]):
                return read
            return _Read(read.value / int(digits[0]), digits.end())
        below = _Reader(self.text, match.end())
        piece = below.piece(match.end())
        divisor: tuple[int, int] | None = None
        if piece and piece["digits"] and piece["digits"].isdigit():
            divisor = int(piece["digits"][:_LENGTH_LIMIT]), piece.end()
        else:
            divisor = below.integer_words(match.end())
        if divisor is None or divisor[0] == 0:
            return read
        if divisor[0] == 100 and "out of" in match[0]:
            return _Read(read.value, divisor[1], worded=read.worded, percent=True)
        return _Read(read.value / divisor[0], divisor[1], worded=read.worded)


_START: Final = re.compile(
    r"(?<![\w.,])[-+]?[.,]?\d|(?<=[a-z$€£¥₹₩ ])\d|["
    + "".join(VULGAR)
    + r"]|\b(?:minus|negative|a|an|half|quarter(?=[ -](?:of an? )?(?:million|billion|trillion|hour|day"
    r"|century|mile|pound))|"
    + "|".join([*SMALL, *TENS, *ORDINALS, "hundred", "thousand", "million", "billion", "trillion", "dozen"])
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
            and (text[start - 1].isalpha() and not _UNIT_BEFORE.search(text, max(0, start - 10), start))
        ):
            pos = match.end()
            continue
        read = _Reader(text, start).read()
        if read is None or read.end <= start:
            pos = match.end()
            continue
        fact = _with_unit(text, original, start, read, taken)
        taken = fact.end
        pos = max(fact.end, match.end())
        yield fact


def _with_unit(text: str, original: str, start: int, read: _Read, taken: int) -> Fact:
    end, dimension, unit = read.end, "", ""
    size = Fraction(1)
    before = _UNIT_BEFORE.search(text, max(taken, start - 10), start)
    if before and not read.ordinal:
        unit = before[1].replace(" ", "").rstrip(".")
        start = before.start()
    after = None if read.ordinal else _UNIT_AFTER.match(text, read.end)
    if after:
        name = after[1].replace("° ", "°")
        known = unit_table().get(name)
        loose = name in ("rs", "real", "won", "rand") and text[read.end : read.end + 1] == " "
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
