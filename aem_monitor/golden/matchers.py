"""How one argument of an expected call is compared where the default of its type is not what is wanted.

The forms and their meaning are those of ``deploy/docs/golden-dialogs.md``. An argument without a matcher is compared by
the type of its golden value. A matcher that is not built is refused, never ignored.
"""

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag, model_validator

NOT_BUILT_MATCHERS: Final = ("date", "time", "id", "enum", "list", "text", "pattern")
"""Named by the format, not built yet."""


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


class Parallel(_Matcher):
    """This list and the lists of the arguments named by ``parallel`` belong together entry by entry.

    The rows so formed may come in any order. With ``ignore_identity`` rows whose values are all equal are dropped on
    both sides before they are compared: exchanging an item for itself changes nothing.
    """

    parallel: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    ignore_identity: bool = False


Matcher: TypeAlias = AnyOf | InAnyOrder | Ignore | Exact | Number | Parallel
"""Any matcher that is built."""

MATCHER_NAMES: Final = ("any_of", "set", "ignore", "exact", "number", "parallel")
"""The key by which each matcher is known in a file."""


def _name_of(value: Any) -> str | None:
    """The matcher that a mapping asks for; None when it names none or several."""
    if isinstance(value, InAnyOrder):
        return "set"
    keys = value if isinstance(value, dict) else getattr(value, "model_fields_set", ())
    names = [name for name in MATCHER_NAMES if name in keys]
    return names[0] if len(names) == 1 else None


MatcherForm: TypeAlias = Annotated[
    Annotated[AnyOf, Tag("any_of")]
    | Annotated[InAnyOrder, Tag("set")]
    | Annotated[Ignore, Tag("ignore")]
    | Annotated[Exact, Tag("exact")]
    | Annotated[Number, Tag("number")]
    | Annotated[Parallel, Tag("parallel")],
    Discriminator(_name_of),
]
"""A matcher as a file writes it: a mapping with one of ``MATCHER_NAMES``."""
