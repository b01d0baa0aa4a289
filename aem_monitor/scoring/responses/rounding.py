"""Whether a number said in a reply is another one rounded: "0.31 million" for 310,500, "31 %" for 30.84 %.

A claim states its precision by its last digit. It is the same fact as any value that rounds to it, if it reads as
rounded: by a decimal, a scale word, a word like "about", or by two significant digits for a value that has decimals.
Amounts of money in whole units are exact unless a word says otherwise: nobody is charged "$47" for $47.38.
"""

import re
from fractions import Fraction
from typing import Final

from aem_monitor.scoring.values.forms import Fact, QuantityForm
from aem_monitor.scoring.values.units import unit_factor
from aem_monitor.scoring.values.words import flat

_NUMERAL: Final = re.compile(r"(?P<whole>\d[\d,]*)(?:\.(?P<decimals>\d+))?")
_SCALE: Final = re.compile(r"(?<![a-z])(?P<scale>hundred|thousand|million|billion|trillion|mln|bn|k|m|b)(?![a-z])")
_SCALES: Final = {
    "hundred": 100, "thousand": 1000, "k": 1000, "million": 10**6, "mln": 10**6, "m": 10**6, "billion": 10**9,
    "bn": 10**9, "b": 10**9, "trillion": 10**12,
}  # fmt: skip
_ABOUT: Final = re.compile(
    r"\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|over|just (?:over|under))\s*$"
)
_REACH: Final = 20


def rounds_to(claim: Fact, exact: Fact, text: str = "") -> bool:
    """Whether ``exact``, stated more precisely, rounds to ``claim``. ``text`` is what the claim stands in."""
    said, known = claim.form, exact.form
    if not isinstance(said, QuantityForm) or not isinstance(known, QuantityForm) or said.ordinal or known.ordinal:
        return False
    if said.dimension and known.dimension and said.dimension != known.dimension:
        return False
    step, decimals, scaled, digits = _precision(claim, said)
    if not step:
        return False
    factor = unit_factor(said.unit) if said.dimension and not known.dimension else Fraction(1)
    value = known.value * factor
    finer = (value / step).denominator != 1
    if not finer or abs(value - said.value) > step / 2:
        return False
    if decimals or scaled:
        return True
    about = bool(_ABOUT.search(flat(text[max(0, claim.start - _REACH) : claim.start])))
    money = said.dimension.startswith("money") or known.dimension.startswith("money")
    return about or (digits > 1 and not money)


def _precision(claim: Fact, form: QuantityForm) -> tuple[Fraction, int, bool, int]:
    """Size of a step of the last digit in base units (0: none to be seen), decimals, whether a scale word stands
    there, and the significant digits."""
    match = _NUMERAL.search(claim.text)
    if match is None:
        return Fraction(0), 0, False, 0
    decimals = len(match["decimals"] or "")
    digits = (match["whole"].replace(",", "") + (match["decimals"] or "")).lstrip("0")
    scale = _SCALE.search(flat(claim.text), match.end())
    size = _SCALES[scale["scale"]] if scale else 1
    unit = unit_factor(form.unit)
    if abs(Fraction(match["whole"].replace(",", "") + "." + (match["decimals"] or "0"))) * size * unit != abs(
        form.value
    ):
        return Fraction(0), 0, False, 0
    return Fraction(size, 10**decimals) * unit, decimals, scale is not None, len(digits)
