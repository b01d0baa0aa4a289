"""Reads one number phrase: digits with separators, words, fractions, ordinals, scales."""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from aem_monitor.scoring.values.number_words import (
    ABBREVIATED,
    BIG_ORDINALS,
    DENOMINATORS,
    ORDINALS,
    SCALES,
    SMALL,
    TENS,
    VULGAR,
)
from aem_monitor.scoring.values.units import currency_codes

_DIGITS: Final = re.compile(
    r"(?:\d{1,3}(?:,\d{2,3})+(?:\.\d+)?(?!\d)|\d{1,3}(?:\.\d{3})+(?:,\d+)?(?!\d)"
    r"|\d{1,3}(?:[ '_]\d{3})+(?:[.,]\d+)?(?!\d)"
    r"|\d+[.,]\d+|[.,]?\d+)(?:\s?[x×*]\s?10\^?([+-]?\d{1,3})|e([+-]?\d{1,3})(?![a-z\d]))?"
)
_PIECE: Final = re.compile(
    rf"(?P<digits>{_DIGITS.pattern})|(?P<vulgar>[{''.join(VULGAR)}])|(?P<word>[a-z]+)|(?P<sign>[-+/%])"
)
UNIT_BEFORE: Final = re.compile(
    r"(us\$|ca\$|au\$|nz\$|hk\$|mx\$|\bc ?\$|\ba\$|s\$|r\$|[$€£¥₹₩元]"
    r"|\b(?:dollars?|euros?|rs\.?|" + "|".join(currency_codes()) + r"))\s*$"
)
_EXPONENT_LIMIT: Final = 60
_LENGTH_LIMIT: Final = 60
_SHORT: Final = 12
_HUNDRED: Final = 100
_THOUSAND: Final = 1000
_SPOKEN_DIGITS: Final = {word: value for word, value in SMALL.items() if value <= 9} | {"oh": 0}


_REST: Final = re.compile(
    r" (?:and (?=\d{1,3}(?![\w.,/%:-])))?(?P<digits>\d{1,3})(?:(?<=and \d)|(?<=and \d\d)|(?<=and \d\d\d)"
    r"| (?P<scale>thousand|hundred)\b)"
)


@dataclass(frozen=True, slots=True)
class Read:
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


class Reader:
    """Reads one number phrase of a folded text from a position on."""

    def __init__(self, text: str, start: int, original: str = "") -> None:
        self.text = text
        self.pos = start
        self.original = original or text

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
            if not word and seen and last >= _THOUSAND and (comma := re.compile(r", ?(?=[a-z])").match(self.text, end)):
                following, following_end = self.word(comma.end())
                if following not in SMALL and following not in TENS:
                    break
                word, after = following, following_end
            if word in SMALL and (not seen or (last >= 20 and current % 10 == 0 and SMALL[word] > 0)):
                if last < 100 and SMALL[word] > 9:
                    break
                current += SMALL[word]
                last = 1
            elif word in TENS and (not seen or last >= 100):
                current += TENS[word]
                last = 20
            elif (
                word in SCALES and word not in ABBREVIATED and (seen or word == "hundred" or SCALES[word] >= _THOUSAND)
            ):
                scale = SCALES[word]
                if seen and scale >= _THOUSAND and last >= _THOUSAND and not current:
                    total, pos, end = total * scale, after, after  # "a thousand million"
                    continue
                current = (current or 1) * scale
                if scale >= 1000:
                    total, current = total + current, 0
                last = scale
            else:
                break
            seen = True
            pos = end = after
        return (total + current, end) if seen else None

    def read(self) -> Read | None:
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

    def _unsigned(self, pos: int) -> Read | None:
        piece = self.piece(pos)
        if piece is None:
            return None
        if piece["digits"]:
            return self._after_digits(piece)
        if piece["vulgar"]:
            return self._scaled(Read(VULGAR[piece["vulgar"]], piece.end()))
        if piece["word"] == "point":
            return self._scaled_point(piece.start())
        if piece["word"]:
            return self._after_words(piece.start())
        return None

    def _scaled_point(self, start: int) -> Read | None:
        """ "Point five million"."""
        read = self._point(Fraction(0), start)
        return self._scaled(read) if read else None

    def _after_digits(self, piece: re.Match[str]) -> Read | None:
        digits = piece["digits"]
        exponent = int(next((group for group in piece.groups()[1:3] if group), "0"))
        if len(digits) > _LENGTH_LIMIT or abs(exponent) > _EXPONENT_LIMIT:
            return None
        mantissa = re.split(r"[x×*e]", digits)[0].strip()
        values = tuple(value * Fraction(10) ** exponent for value in read_digits(mantissa))
        end = piece.end()
        power = re.compile(r"\^([+-]?\d{1,2})(?![\w^])").match(self.text, end)
        if power and exponent == 0 and len(mantissa) <= _SHORT and values[0]:
            return Read(values[0] ** int(power[1]), power.end())
        ordinal = re.compile(r"(?:st|nd|rd|th)(s?)\b").match(self.text, end)
        if ordinal and not ordinal[1]:
            return Read(values[0], ordinal.end(), ordinal=True)
        vulgar = self.piece(end)
        if vulgar and vulgar["vulgar"]:
            return self._scaled(Read(values[0] + VULGAR[vulgar["vulgar"]], vulgar.end()))
        worded = re.compile(
            r"[ -]and[ -](?P<many>a[ -]|an[ -]|one[ -]|two[ -]|three[ -])?(?P<part>hal(?:f|ves)|quarters?|thirds?)\b"
        ).match(self.text, end)
        if worded and values[0].denominator == 1:
            many = SMALL.get((worded["many"] or "one").strip(" -"), 1)
            return self._scaled(Read(values[0] + Fraction(many, DENOMINATORS[worded["part"]]), worded.end()))
        mixed = re.compile(r"[ -](\d{1,3})/(\d{1,3})(?![\d/])").match(self.text, end)
        if mixed and int(mixed[2]):
            return self._scaled(Read(values[0] + Fraction(int(mixed[1]), int(mixed[2])), mixed.end()))
        read = self._scaled(Read(values[0], end, values[1:]))
        return self._ratio(read)

    def _after_words(self, start: int) -> Read | None:
        word, after = self.word(start, "")
        article = word in ("a", "an")
        if article:
            word, next_end = self.word(after)
            if word in DENOMINATORS:
                return self._scaled(Read(Fraction(1, DENOMINATORS[word]), self._skip_of(next_end), worded=True))
            ordinal = self.integer_words(after)
            if word in SCALES and word not in ABBREVIATED:
                if half := re.compile(r"[ -]and[ -]a[ -]half\b").match(self.text, next_end):
                    # "A million and a half" are half a million more.
                    return Read(Fraction(3 * SCALES[word], 2), half.end(), worded=True)
                if ordinal:
                    count = Fraction(ordinal[0])
                    return self._fraction_or_ordinal(count, ordinal[1]) or Read(count, ordinal[1], worded=True)
                return self._scaled(Read(Fraction(1), after, worded=True))
            below = (
                self._fraction_or_ordinal(Fraction(ordinal[0]), ordinal[1]) if ordinal and ordinal[0] >= 20 else None
            )
            if below is not None and below.ordinal:
                return Read(1 / below.value, below.end, worded=True)
            if word == "couple":
                return self._scaled(Read(Fraction(2), self._skip_of(next_end), worded=True))
            return None
        if word == "dozen":
            return Read(Fraction(12), after, worded=True)
        if word in ("half", "halves", "quarter"):
            return self._scaled(Read(Fraction(1, DENOMINATORS[word]), self._skip_of(after), worded=True))
        whole = self.integer_words(start)
        if whole is None:
            return self._lone_ordinal(word, after)
        value, end = whole
        read = self._fraction_or_ordinal(Fraction(value), end)
        if read is None:
            read = self._point(Fraction(value), end) or Read(Fraction(value), end, worded=True)
        return self._ratio(self._scaled(read))

    def _lone_ordinal(self, word: str, after: int) -> Read | None:
        # "Second" is a length of time, unless it is all that is said.
        if word in BIG_ORDINALS:
            return Read(Fraction(BIG_ORDINALS[word]), after, ordinal=True, worded=True)
        if word in ORDINALS and (word != "second" or self.text.strip() in ("second", "the second")):
            return Read(Fraction(ORDINALS[word]), after, ordinal=True, worded=True)
        return None

    def _skip_of(self, end: int) -> int:
        """Past "of a" in "half of a million", "half a million", "a couple of dozen"."""
        match = re.compile(r"(?: of)?(?: +an?)?(?= +(?:hundred|thousand|million|billion|trillion|dozen))").match(
            self.text, end
        )
        return match.end() if match else end

    def _fraction_or_ordinal(self, value: Fraction, end: int) -> Read | None:
        word, after = self.word(end)
        if word in ("and", "a") and (lead := re.compile(r"[ -]and[ -](a\b|an\b|one\b)?[ -]?").match(self.text, end)):
            part, part_end = self.word(lead.end())
            if not lead[1] and part in ORDINALS and value >= _HUNDRED and value % 10 == 0:
                return Read(value + ORDINALS[part], part_end, ordinal=True, worded=True)
            numerator = Fraction(1)
            if part in SMALL:
                numerator = Fraction(SMALL[part])
                part, part_end = self.word(part_end)
            if part in DENOMINATORS:
                return Read(value + numerator / DENOMINATORS[part], part_end, worded=True)
            return None
        if word in DENOMINATORS:
            denominator = Fraction(DENOMINATORS[word])
            if word.endswith("s") or value == 1 or word in ("half", "quarter"):
                return Read(value / denominator, after, worded=True)
            return Read(value + denominator, after, ordinal=True, worded=True)
        if word in ("first", "second") and value >= 20 and value % 10 == 0:
            return Read(value + ORDINALS[word], after, ordinal=True, worded=True)
        return None

    def _point(self, value: Fraction, end: int) -> Read | None:
        word, after = self.word(end, "")
        if word != "point":
            return None
        digits = ""
        while True:
            word, following = self.word(after, "")
            if word not in _SPOKEN_DIGITS:
                break
            digits += str(_SPOKEN_DIGITS[word])
            after = following
        return Read(value + Fraction(int(digits), 10 ** len(digits)), after, worded=True) if digits else None

    def _scaled(self, read: Read) -> Read:
        """Times the scale words that follow: "2 million", "100k", "3 dozen"."""
        while not read.ordinal:
            word, after = self.word(read.end)
            if word == "k" and self.text[after:].strip() == "":
                return replace(read, value=read.value * 1000, end=after)
            tight = after - len(word) == read.end
            if word not in SCALES or (
                word in ABBREVIATED
                and not (tight or word in ("mil", "mln", "bn", "bln", "tln", "tn", "mn", "dz", "dzs"))
            ):
                return read
            if word in ("m", "mm", "b", "t") and not (
                tight
                and (
                    self.original[after - 1].isupper()  # "1.5M" are millions, "1.5m" metres
                    or UNIT_BEFORE.search(self.text, max(0, self.pos - 10), self.pos)
                )
            ):
                return read
            read = Read(
                read.value * SCALES[word], after, tuple(v * SCALES[word] for v in read.also), worded=read.worded
            )
            read = self._and_rest(read, SCALES[word])
        return read

    def _and_rest(self, read: Read, scale: int) -> Read:
        """ "1 million 500 thousand", "1 hundred and 5": what follows a scale word in digits."""
        match = _REST.match(self.text, read.end)
        if match is None or scale < _HUNDRED:
            return read
        more = int(match["digits"].replace(",", "")) * SCALES.get(match["scale"] or "", 1)
        return Read(read.value + more, match.end()) if more < scale else read

    def _ratio(self, read: Read) -> Read:
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
            return Read(read.value / int(digits[0]), digits.end())
        below = Reader(self.text, match.end())
        piece = below.piece(match.end())
        divisor: tuple[int, int] | None = None
        if piece and piece["digits"] and piece["digits"].isdigit():
            divisor = int(piece["digits"][:_LENGTH_LIMIT]), piece.end()
        else:
            divisor = below.integer_words(match.end())
        if divisor is None or divisor[0] == 0:
            return read
        if divisor[0] == 100 and "out of" in match[0]:
            return Read(read.value, divisor[1], worded=read.worded, percent=True)
        return Read(read.value / divisor[0], divisor[1], worded=read.worded)
