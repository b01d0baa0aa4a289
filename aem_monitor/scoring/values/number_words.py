"""Words of numbers: cardinals, scales, ordinals, fractions."""

from fractions import Fraction
from typing import Final

from aem_monitor.scoring.values.words import listed

SMALL: Final = {
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
TENS: Final = {
    word: 10 * value
    for value, word in enumerate(listed("twenty thirty forty fifty sixty seventy eighty ninety"), start=2)
} | {"fourty": 40}
SCALES: Final = {
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
ABBREVIATED: Final = frozenset(listed("k mil mln mn mm m bn bln b tn tln t dz dzs"))
ORDINALS: Final = {
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
BIG_ORDINALS: Final = {"hundredth": 100, "thousandth": 1000, "millionth": 10**6, "billionth": 10**9}
DENOMINATORS: Final = (
    {"half": 2, "halves": 2, "quarter": 4, "quarters": 4}
    | {word + suffix: value for word, value in ORDINALS.items() if value > 2 for suffix in ("", "s")}
    | {word + suffix: value for word, value in BIG_ORDINALS.items() for suffix in ("", "s")}
)
VULGAR: Final = {
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

FROM_THE_END: Final = {
    2: "next to last|next to the last|second to last|second last|2nd to last|2nd last|penultimate|last but one"
    "|one before the last|one before last",
    3: "third to last|third last|3rd to last|3rd last|antepenultimate|last but two",
}
"""Places counted from the end."""
