"""Normal forms of typed values, and whether two of them agree.

A form is what a text says, freed of how it says it: "half past 7 in the evening" and "19:30" have equal forms. Forms
are immutable and hashable; where a text can be read in several ways the form keeps all readings.
"""

from dataclasses import dataclass
from datetime import date
from enum import Enum
from fractions import Fraction
from typing import Final, TypeAlias

from aem_monitor.scoring.values.units import unit_factor

CONVERSION_TOLERANCE: Final = Fraction(1, 200)
"""Relative difference allowed between quantities in different units: people round what they convert (5 mi, 8.05 km)."""


class Agreement(Enum):
    """How two forms relate: PROBABLY and UNKNOWN are ambiguous, leaning to equal and to different."""

    SAME = "same"
    PROBABLY = "probably"
    UNKNOWN = "unknown"
    DIFFERENT = "different"

    @property
    def accepts(self) -> bool:
        return self in (Agreement.SAME, Agreement.PROBABLY)


@dataclass(frozen=True, slots=True)
class DateForm:
    """Days or periods, as closed intervals.

    ``spans`` are all readings, best first, empty where no reference date resolves the words. ``fields`` are the
    calendar fields said (y, m, d and w for the weekday, Monday 0). ``key`` is the unresolved wording. ``ambiguous``:
    the readings compete (05/10/2022), rather than being one reading with an open year.
    """

    spans: tuple[tuple[date, date], ...] = ()
    fields: frozenset[tuple[str, int]] = frozenset()
    key: str = ""
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class TimeForm:
    """A time of day: ``readings`` in seconds after midnight, best first; ``firm`` when the first is the usual one.

    ``offset`` is the zone's offset from UTC in seconds where one was said. A part of a day ("evening") has no
    readings and is its own ``key``.
    """

    readings: tuple[int, ...] = ()
    firm: bool = True
    offset: int | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class DurationForm:
    """A length of time: calendar ``months`` and ``seconds`` apart, since a month has no fixed length in seconds.

    ``vague`` marks "a few", ``working`` days of work: five of them are a week or so, not five days.
    """

    months: Fraction
    seconds: Fraction
    vague: bool = False
    working: bool = False


@dataclass(frozen=True, slots=True)
class QuantityForm:
    """A number in base units of its ``dimension`` ("" for a bare number, "money:usd", "percent", "length" ..).

    ``also`` are other readings of the same digits ("1.240"). ``unit`` is the unit said. ``ordinal`` marks "third".
    """

    value: Fraction
    dimension: str = ""
    unit: str = ""
    also: tuple[Fraction, ...] = ()
    ordinal: bool = False


@dataclass(frozen=True, slots=True)
class IdentifierForm:
    """An opaque name: equal or not, never similar. ``key`` is it without case and a leading number sign."""

    key: str


@dataclass(frozen=True, slots=True)
class NameForm:
    """A proper name or a quoted phrase, by its folded words. A shorter form of a name probably means the same."""

    words: tuple[str, ...]


Form: TypeAlias = DateForm | TimeForm | DurationForm | QuantityForm | IdentifierForm | NameForm


@dataclass(frozen=True, slots=True)
class Fact:
    """A typed value said in a text: ``kind`` (date, time, duration, number, money, quantity, identifier, name,
    quoted), the words, where they stand (``start`` and ``end`` in characters of the text) and their normal form."""

    kind: str
    text: str
    start: int
    end: int
    form: Form


def agree(a: Form, b: Form) -> Agreement:
    """Whether two forms say the same. Symmetric; forms of different types differ."""
    if isinstance(a, DateForm) and isinstance(b, DateForm):
        return _dates(a, b)
    if isinstance(a, TimeForm) and isinstance(b, TimeForm):
        return _times(a, b)
    if isinstance(a, DurationForm) and isinstance(b, DurationForm):
        return _durations(a, b)
    if isinstance(a, QuantityForm) and isinstance(b, QuantityForm):
        return _quantities(a, b)
    if isinstance(a, IdentifierForm) and isinstance(b, IdentifierForm):
        return Agreement.SAME if a.key == b.key else Agreement.DIFFERENT
    if isinstance(a, NameForm) and isinstance(b, NameForm):
        return _names(a, b)
    return Agreement.DIFFERENT


def _names(a: NameForm, b: NameForm) -> Agreement:
    if a.words == b.words:
        return Agreement.SAME
    words_a, words_b = set(a.words), set(b.words)
    return Agreement.PROBABLY if words_a <= words_b or words_b <= words_a else Agreement.DIFFERENT


def _dates(a: DateForm, b: DateForm) -> Agreement:
    if a == b:
        return Agreement.SAME
    if a.ambiguous and b.ambiguous and a.key and b.key:
        # 1/2 and 2/1 have the same readings, but one hand writes both in one order.
        return Agreement.SAME if a.key == b.key else Agreement.UNKNOWN
    if a.spans and b.spans:
        shared = set(a.spans) & set(b.spans)
        if not shared:
            return Agreement.DIFFERENT
        return Agreement.PROBABLY if a.ambiguous != b.ambiguous else Agreement.SAME
    if a.fields and b.fields:
        fields_a, fields_b = dict(a.fields), dict(b.fields)
        common = fields_a.keys() & fields_b.keys()
        if any(fields_a[name] != fields_b[name] for name in common):
            return Agreement.DIFFERENT
        if fields_a == fields_b:
            return Agreement.SAME
        if _finest(fields_a) != _finest(fields_b) or ("to" in fields_a) != ("to" in fields_b):
            return Agreement.DIFFERENT  # a month is none of its days, nor are its first five
        return Agreement.PROBABLY if common else Agreement.UNKNOWN
    return Agreement.UNKNOWN


def _finest(fields: dict[str, int]) -> str:
    """The smallest unit of time that fields name; "d" for a weekday as well."""
    if fields.keys() & {"d", "w"}:
        return "d"
    return next((unit for unit in ("week", "m", "q", "h", "season", "y") if unit in fields), "")


def _times(a: TimeForm, b: TimeForm) -> Agreement:
    if not a.readings or not b.readings:
        return Agreement.SAME if a.key == b.key and a.readings == b.readings else Agreement.DIFFERENT
    shift = 0 if a.offset is None or b.offset is None else a.offset - b.offset
    readings_b = tuple((reading + shift) % 86400 for reading in b.readings)
    if set(a.readings) == set(readings_b):
        return Agreement.SAME
    if not set(a.readings) & set(readings_b):
        return Agreement.DIFFERENT
    if a.readings[0] == readings_b[0] and a.firm and b.firm:
        return Agreement.SAME
    # One side left open which half of the day it means.
    loose = not a.firm or not b.firm
    return Agreement.PROBABLY if loose or a.readings[0] == readings_b[0] else Agreement.DIFFERENT


def _durations(a: DurationForm, b: DurationForm) -> Agreement:
    if a.working != b.working:
        return Agreement.UNKNOWN
    if a.months == b.months and a.seconds == b.seconds:
        return Agreement.SAME if a.vague == b.vague else Agreement.PROBABLY
    return Agreement.DIFFERENT


_SCALES_OF_DEGREES: Final = frozenset({"fahrenheit", "celsius"})


def _quantities(a: QuantityForm, b: QuantityForm) -> Agreement:
    if a.ordinal != b.ordinal:
        return Agreement.DIFFERENT
    if a.dimension and b.dimension and a.dimension != b.dimension:
        if {a.dimension.partition(":")[0], b.dimension.partition(":")[0]} == {"money"} and "money" in (
            a.dimension,
            b.dimension,
        ):
            return _magnitudes(a, b)
        if "angle" in (a.dimension, b.dimension) and {a.dimension, b.dimension} & _SCALES_OF_DEGREES:
            return _magnitudes(a, b)  # "82 degrees", of whichever scale
        return Agreement.DIFFERENT
    if bool(a.dimension) != bool(b.dimension):
        said = a if a.dimension else b
        bare = b if a.dimension else a
        if said.dimension == "percent" and said.value == 100 * bare.value:
            return Agreement.PROBABLY if bare.value else Agreement.SAME
        # A bare number means the unit that the other side names.
        return _magnitudes(QuantityForm(said.value / unit_factor(said.unit), "", "", said.also), bare)
    return _magnitudes(a, b)


def _magnitudes(a: QuantityForm, b: QuantityForm) -> Agreement:
    if a.value == b.value:
        return Agreement.SAME
    converted = a.unit != b.unit and a.dimension == b.dimension and a.dimension not in ("", "percent")
    if converted and abs(a.value - b.value) <= CONVERSION_TOLERANCE * max(abs(a.value), abs(b.value)):
        return Agreement.SAME
    if {a.value, *a.also} & {b.value, *b.also}:
        return Agreement.PROBABLY
    return Agreement.DIFFERENT
