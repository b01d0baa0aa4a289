"""What a comparison needs to know besides the two values, and what it answers."""

from dataclasses import dataclass
from datetime import date
from typing import Final

KINDS: Final = frozenset(
    {
        *("date", "time", "datetime", "duration", "number", "boolean", "identifier"),
        *("location", "entity", "paraphrase", "param_value"),
    }
)
"""Hints that name the kind of a value. Any other hint is ignored, as if none had been given."""


@dataclass(frozen=True, slots=True)
class ValueContext:
    """The surroundings of a value.

    ``reference_date`` is the day that "today" means; without it relative dates stay ambiguous. ``given`` are texts of
    the user: what they say is known to both sides, so a reply need not repeat it and may repeat it freely.
    ``threshold`` is the similarity from which free text counts as the same, ``band`` the half width around it within
    which the answer is marked uncertain; both on the [0, 1] scale of the scorer.
    """

    reference_date: date | None = None
    given: tuple[str, ...] = ()
    threshold: float = 0.5
    band: float = 0.08


@dataclass(frozen=True, slots=True)
class Leeway:
    """How two dates, times or moments may differ: by ``tolerance`` seconds at most. ``zone`` is that of values which
    name none: ``UTC``, ``+02:00`` or a name of the tz database; None: that of the other side."""

    tolerance: float = 0.0
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether two values mean the same.

    ``score`` in [0, 1] is continuous and at least 0.5 exactly where ``equivalent`` is true. ``uncertain`` says that
    the values are ambiguous or that the similarity lies inside the band. ``rule`` names what decided, a bounded word.
    """

    equivalent: bool
    score: float
    uncertain: bool
    rule: str
