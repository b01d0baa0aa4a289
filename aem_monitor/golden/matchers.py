"""How one argument of an expected call is compared where the default of its type is not what is wanted.

The forms and their meaning are those of ``deploy/docs/golden-dialogs.md``. An argument without a matcher is compared by
the type of its golden value. What is no matcher is refused, never ignored.
"""

from typing import Annotated, Any, Final, Literal, Self, TypeAlias

import re2
from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag, model_validator

from aem_monitor.config.units import Duration
from aem_monitor.model.zone import zone_named


class _Matcher(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)


class AnyOf(_Matcher):
    """One of these values, or the golden value itself; each compared like the golden value."""

    any_of: Annotated[tuple[JsonValue, ...], Field(strict=False, min_length=1)]


class InAnyOrder(_Matcher):
    """A list whose order says nothing; repeated entries count."""

    unordered: Literal[True] = Field(alias="set")


class Ignore(_Matcher):
    """The argument has to be there; its value is not compared."""

    ignore: Literal[True]


class Exact(_Matcher):
    """Equal as JSON: no normal forms, no similarity, letter case counts. 1 and 1.0 are equal."""

    exact: Literal[True]


class Tolerance(BaseModel):
    """How far a number may be off: by ``abs``, or by the share ``rel`` of the golden number; either suffices."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    abs: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    rel: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "Tolerance":
        if self.abs is None and self.rel is None:
            raise ValueError("a number matcher needs abs, rel or both, such as {number: {abs: 0.01}}")
        return self


class Number(_Matcher):
    """A number within a tolerance."""

    number: Tolerance


class Identifier(_Matcher):
    """An identifier: equal but for letter case and separators, never similar."""

    id: Literal[True]


def _is_zone(name: str) -> str:
    zone_named(name)
    return name


Zone: TypeAlias = Annotated[str, AfterValidator(_is_zone)]


class _Leeway(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("is empty; write true where any form will do and nothing else")
        return self


class DayLeeway(_Leeway):
    """How many days apart, as ``tolerance: 1d``."""

    tolerance: Duration


class TimeLeeway(_Leeway):
    """How far apart (``tolerance: 15m``), and the ``zone`` of values that name none."""

    tolerance: Duration = 0.0
    zone: Zone | None = None


def _allows(value: Any) -> str:
    """Which of the two forms of a date or time matcher is written, so that only that one is complained about."""
    return "leeway" if isinstance(value, dict | _Leeway) else "plain"


AnyForm: TypeAlias = Annotated[Literal[True], Tag("plain")]


class Day(_Matcher):
    """A date in any form; relative ones count from the reference date. Nothing but a date is equal."""

    date: Annotated[AnyForm | Annotated[DayLeeway, Tag("leeway")], Discriminator(_allows)]


class TimeOfDay(_Matcher):
    """A time of day in any form. Nothing but a time is equal."""

    time: Annotated[AnyForm | Annotated[TimeLeeway, Tag("leeway")], Discriminator(_allows)]


class PointInTime(_Matcher):
    """A day and a time of day together, in any form and zone. Nothing but the same point in time is equal."""

    moment: Annotated[AnyForm | Annotated[TimeLeeway, Tag("leeway")], Discriminator(_allows)] = Field(alias="datetime")


class Member(_Matcher):
    """The golden member of a closed set. Another member is wrong, however alike the words."""

    enum: Annotated[tuple[JsonValue, ...], Field(strict=False, min_length=1)]


class InOrder(_Matcher):
    """A list whose order matters, entry by entry; said where a reader might doubt it."""

    ordered: Literal[True] = Field(alias="list")


class SimilarFrom(BaseModel):
    """The least similarity of a text, in [0, 1]."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class FreeText(_Matcher):
    """Free text: similar in meaning, with a threshold of its own. Guards still hold: numbers, negation, roles."""

    text: Literal[True] | SimilarFrom


def _compiles(pattern: str) -> str:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        cause = error.args[0] if error.args else ""
        said = cause.decode("utf-8", "replace") if isinstance(cause, bytes) else str(cause)
        raise ValueError(f"is no regular expression of RE2: {said}") from error
    return pattern


class Pattern(_Matcher):
    """A text that an RE2 expression matches as a whole; RE2 never backtracks."""

    pattern: Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_compiles)]


class Parallel(_Matcher):
    """This list and the lists of the arguments named by ``parallel`` belong together entry by entry.

    The rows so formed may come in any order. With ``ignore_identity`` rows whose values are all equal are dropped on
    both sides before they are compared: exchanging an item for itself changes nothing.
    """

    parallel: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    ignore_identity: bool = False


Matcher: TypeAlias = (
    AnyOf
    | InAnyOrder
    | Ignore
    | Exact
    | Number
    | Identifier
    | Day
    | TimeOfDay
    | PointInTime
    | Member
    | InOrder
    | FreeText
    | Pattern
    | Parallel
)
"""Any matcher that is built."""

MATCHER_NAMES: Final = (
    "any_of",
    "set",
    "ignore",
    "exact",
    "number",
    "id",
    "date",
    "time",
    "datetime",
    "enum",
    "list",
    "text",
    "pattern",
    "parallel",
)
"""The key by which each matcher is known in a file."""


def _name_of(value: Any) -> str | None:
    """The matcher that a mapping asks for; None when it names none or several."""
    if isinstance(value, InAnyOrder):
        return "set"
    if isinstance(value, InOrder):
        return "list"
    if isinstance(value, PointInTime):
        return "datetime"
    keys = value if isinstance(value, dict) else getattr(value, "model_fields_set", ())
    names = [name for name in MATCHER_NAMES if name in keys]
    return names[0] if len(names) == 1 else None


MatcherForm: TypeAlias = Annotated[
    Annotated[AnyOf, Tag("any_of")]
    | Annotated[InAnyOrder, Tag("set")]
    | Annotated[Ignore, Tag("ignore")]
    | Annotated[Exact, Tag("exact")]
    | Annotated[Number, Tag("number")]
    | Annotated[Identifier, Tag("id")]
    | Annotated[Day, Tag("date")]
    | Annotated[TimeOfDay, Tag("time")]
    | Annotated[PointInTime, Tag("datetime")]
    | Annotated[Member, Tag("enum")]
    | Annotated[InOrder, Tag("list")]
    | Annotated[FreeText, Tag("text")]
    | Annotated[Pattern, Tag("pattern")]
    | Annotated[Parallel, Tag("parallel")],
    Discriminator(_name_of),
]
"""A matcher as a file writes it: a mapping with one of ``MATCHER_NAMES``."""
