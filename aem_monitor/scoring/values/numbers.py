"""Numbers in digits and in words, with money, percent and units of measure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from aem_monitor.scoring.values.forms import Fact, QuantityForm
from aem_monitor.scoring.values.units import unit_table
from aem_monitor.scoring.values.words import listed

_SMALL: Final = {
    word: value
    for value, words in enumerate(
        [
            "zero naught nought nil",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
    for word in words.split()
}
_TENS: Final = {
    word: 10 * value
    for value, word in enumerate(listed("twenty thirty forty fifty sixty seventy eighty ninety"), start=2)
} | {"fourty": 40}
_SCALES: Final = {
    "hundred": 10**2,
    "hundreds": 10**2,
    "thousand": 10**3,
    "thousands": 10**3,
    "k": 10**3,
    "grand": 10**3,
    "million": 10**6,
    "millions": 10**6,
    "mil": 10**6,
    "mln": 10**6,
    "mn": 10**6,
    "mm": 10**6,
    "m": 10**6,
    "billion": 10**9,
    "billions": 10**9,
    "bn": 10**9,
    "bln": 10**9,
    "b": 10**9,
    "trillion": 10**12,
    "trillions": 10**12,
    "tn": 10**12,
    "tln": 10**12,
    "t": 10**12,
    "lakh": 10**5,
    "crore": 10**7,
    "dozen": 12,
    "dozens": 12,
    "dz": 12,
    "dzs": 12,
}
_ABBREVIATED: Final = frozenset(listed("k mil mln mn mm m bn bln b tn tln t dz dzs"))
_ORDINALS: Final = {
    word: value
    for value, word in enumerate(
        listed(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
            "fifteenth sixteenth seventeenth eighteenth nineteenth"
        ),
        start=1,
    )
} | {
    word: 10 * value
    for value, word in enumerate(
        listed("twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"), start=2
    )
}
_BIG_ORDINALS: Final = {"hundredth": 100, "thousandth": 1000, "millionth": 10**6, "billionth": 10**9}
_DENOMINATORS: Final = (
    {"half": 2, "halves": 2, "quarter": 4, "quarters": 4}
    | {word + suffix: value for word, value in _ORDINALS.items() if value > 2 for suffix in ("", "s")}
    | {word + suffix: value for word, value in _BIG_ORDINALS.items() for suffix in ("", "s")}
)
_VULGAR: Final = {
    "½": Fraction(1, 2),
    "⅓": Fraction(1, 3),
    "⅔": Fraction(2, 3),
    "¼": Fraction(1, 4),
    "¾": Fraction(3, 4),
    "⅕": Fraction(1, 5),
    "⅖": Fraction(2, 5),
    "⅗": Fraction(3, 5),
    "⅘": Fraction(4, 5),
    "⅙": Fraction(1, 6),
    "⅚": Fraction(5, 6),
    "⅛": Fraction(1, 8),
    "⅜": Fraction(3, 8),
    "⅝": Fraction(5, 8),
    "⅞": Fraction(7, 8),
}

_DIGITS: Final = re.compile(
    r"(?:\d{1,3}(?:,\d{2,3})+(?:\.\d+)?(?!\d)|\d{1,3}(?:\.\d{3})+(?:,\d+)?(?!\d)"
    r"|\d{1,3}(?:[ '_]\d{3})+(?:[.,]\d+)?(?!\d)"
    r"|\d+[.,]\d+|[.,]?\d+)(?:\s?[x×*]\s?10\^?([+-]?\d{1,3})|e([+-]?\d{1,3})(?![a-z\d]))?"
)
_PIECE: Final = re.compile(
    rf"(?P<digits>{_DIGITS.pattern})|(?P<vulgar>[{''.join(_VULGAR)}])|(?P<word>[a-z]+)|(?P<sign>[-+/%])"
)
_UNIT_BEFORE: Final = re.compile(
    r"(us\$|ca\$|au\$|nz\$|hk\$|mx\$|c ?\$|a ?\$|s\$|r\$|[$€£¥₹₩]"
    r"|\b(?:usd|eur|gbp|jpy|cny|rmb|inr|cad|aud|chf|rs\.?))\s*$"
)
_UNIT_AFTER: Final = re.compile(
    r"\s*-?\s*(per cent|basis points|us\$|[$€£¥₹₩%]|°\s?[cf]?|km/h|m/s|m²|[a-z]+[2²]?)(?![a-z\d])"
)
_EXPONENT_LIMIT: Final = 60
_LENGTH_LIMIT: Final = 60


@dataclass(frozen=True, slots=True)
class _Read:
    value: Fraction
    end: int
    also: tuple[Fraction, ...] = ()
    ordinal: bool = False
    worded: bool = False


def read_digits(text: str) -> tuple[Fraction, ...]:
    """Readings of a numeral with separators, best first: "1,240" is 1240, "1.240" is 1.24 or else 1240, "5,00" is 5."""
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
            return (grouped, decimal_value) if sign == "," else (decimal_value, grouped)
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
                if following not in _SMALL and following not in _TENS:
                    break
                word, after = following, following_end
            if word in _SMALL and (not seen or (last >= 20 and current % 10 == 0 and _SMALL[word] > 0)):
                if last < 100 and _SMALL[word] > 9:
                    break
                current += _SMALL[word]
                last = 1
            elif word in _TENS and (not seen or last >= 100):
                current += _TENS[word]
                last = 20
            elif word in _SCALES and word not in _ABBREVIATED and (seen or word == "hundred" or _SCALES[word] >= 1000):
                scale = _SCALES[word]
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
        return _Read(sign * read.value, read.end, tuple(sign * value for value in read.also), read.ordinal, read.worded)

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
            return self._scaled(_Read(_VULGAR[piece["vulgar"]], piece.end()))
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
        ordinal = re.compile(r"(?:st|nd|rd|th)(s?)\b").match(self.text, end)
        if ordinal and not ordinal[1]:
            return _Read(values[0], ordinal.end(), ordinal=True)
        vulgar = self.piece(end)
        if vulgar and vulgar["vulgar"]:
            return self._scaled(_Read(values[0] + _VULGAR[vulgar["vulgar"]], vulgar.end()))
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
            if word in _DENOMINATORS:
                return self._scaled(_Read(Fraction(1, _DENOMINATORS[word]), self._skip_of(next_end), worded=True))
            if word in _SCALES and word not in _ABBREVIATED:
                return self._scaled(_Read(Fraction(1), after, worded=True))
            if word == "couple":
                return _Read(Fraction(2), self._skip_of(next_end), worded=True)
            return None
        if word in ("half", "halves"):
            return self._scaled(_Read(Fraction(1, 2), self._skip_of(after), worded=True))
        whole = self.integer_words(start)
        if whole is None:
            return self._lone_ordinal(word, after)
        value, end = whole
        read = self._fraction_or_ordinal(Fraction(value), end)
        if read is None:
            read = self._point(Fraction(value), end) or _Read(Fraction(value), end, worded=True)
        return self._ratio(self._scaled(read))

    def _lone_ordinal(self, word: str, after: int) -> _Read | None:
        if word in _ORDINALS and word != "second":
            return _Read(Fraction(_ORDINALS[word]), after, ordinal=True, worded=True)
        return None

    def _skip_of(self, end: int) -> int:
        """Past "of a" in "half of a million", "half a million"."""
        match = re.compile(r"(?: of)? an?(?= (?:hundred|thousand|million|billion|trillion|dozen))").match(
            self.text, end
        )
        return match.end() if match else end

    def _fraction_or_ordinal(self, value: Fraction, end: int) -> _Read | None:
        word, after = self.word(end)
        if word in ("and", "a") and (lead := re.compile(r" and (a|an|one)?[ -]?").match(self.text, end)):
            part, part_end = self.word(lead.end())
            numerator = Fraction(1)
            if part in _SMALL:
                numerator = Fraction(_SMALL[part])
                part, part_end = self.word(part_end)
            if part in _DENOMINATORS:
                return _Read(value + numerator / _DENOMINATORS[part], part_end, worded=True)
            return None
        if word in _DENOMINATORS:
            denominator = Fraction(_DENOMINATORS[word])
            if word.endswith("s") or value == 1 or word in ("half", "quarter"):
                return _Read(value / denominator, after, worded=True)
            return _Read(value + denominator, after, ordinal=True, worded=True)
        if word in ("first", "second") and value >= 20 and value % 10 == 0:
            return _Read(value + _ORDINALS[word], after, ordinal=True, worded=True)
        return None

    def _point(self, value: Fraction, end: int) -> _Read | None:
        word, after = self.word(end, "")
        if word != "point":
            return None
        digits = ""
        while True:
            word, following = self.word(after, "")
            if word not in _SMALL or _SMALL[word] > 9:
                break
            digits += str(_SMALL[word])
            after = following
        return _Read(value + Fraction(int(digits), 10 ** len(digits)), after, worded=True) if digits else None

    def _scaled(self, read: _Read) -> _Read:
        """Times the scale words that follow: "2 million", "100k", "3 dozen"."""
        while not read.ordinal:
            word, after = self.word(read.end)
            tight = after - len(word) == read.end
            if word not in _SCALES or (
                word in _ABBREVIATED
                and not (tight or word in ("mil", "mln", "bn", "bln", "tln", "tn", "mn", "dz", "dzs"))
            ):
                return read
            if word in ("m", "mm", "b", "t") and not (tight and _UNIT_BEFORE.search(self.text, 0, self.pos)):
                return read
            read = _Read(
                read.value * _SCALES[word], after, tuple(v * _SCALES[word] for v in read.also), worded=read.worded
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
            digits = re.compile(r"\d{1,9}(?![\d/.])").match(self.text, match.end())
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
        return _Read(read.value / divisor[0], divisor[1], worded=read.worded)


_START: Final = re.compile(
    r"(?<![\w.,])[-+]?[.,]?\d|(?<=[a-z$€£¥₹₩ ])\d|["
    + "".join(_VULGAR)
    + r"]|\b(?:minus|negative|a|an|half|"
    + "|".join([*_SMALL, *_TENS, *_ORDINALS, "hundred", "thousand", "million", "billion", "trillion", "dozen"])
    + r")\b"
)


def scan_numbers(text: str, original: str) -> Iterator[Fact]:
    """Numbers said in a folded text, left to right, with unit or currency. ``original`` gives the words of the
    facts."""
    pos = 0
    while match := _START.search(text, pos):
        start = match.start()
        if text[start].isdigit() and start and (text[start - 1].isalpha() and not _UNIT_BEFORE.search(text, 0, start)):
            pos = match.end()
            continue
        read = _Reader(text, start).read()
        if read is None or read.end <= start:
            pos = match.end()
            continue
        fact = _with_unit(text, original, start, read)
        pos = max(fact.end, match.end())
        yield fact


def _with_unit(text: str, original: str, start: int, read: _Read) -> Fact:
    end, dimension, unit = read.end, "", ""
    size = Fraction(1)
    before = _UNIT_BEFORE.search(text, max(0, start - 6), start)
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
    if unit:
        dimension, size = unit_table().get(unit, ("", Fraction(1)))
    form = QuantityForm(read.value * size, dimension, unit, tuple(value * size for value in read.also), read.ordinal)
    kind = "money" if dimension.startswith("money") else "quantity" if dimension else "number"
    return Fact(kind, original[start:end], start, end, form)
