"""A cache for functions of a text that cannot be made to hold much memory."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, Final, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

_SHORT: Final = 1_000
_LONG: Final = 20_000
_LONG_ENTRIES: Final = 128


def remembered(
    entries: int,
) -> Callable[[Callable[Concatenate[str, P], R]], Callable[Concatenate[str, P], R]]:
    """Remember the answers for the last ``entries`` short texts and a few long ones.

    Golden texts and tool results are looked at again and again, agent texts once. A plain cache would keep thousands
    of texts of any size alive: here at most some 2 MB of long ones a function, and none over 20,000 characters.
    """

    def decorate(function: Callable[Concatenate[str, P], R]) -> Callable[Concatenate[str, P], R]:
        kept = cast("Callable[Concatenate[str, P], R]", lru_cache(maxsize=entries)(function))
        kept_long = cast("Callable[Concatenate[str, P], R]", lru_cache(maxsize=_LONG_ENTRIES)(function))

        @wraps(function)
        def look_up(text: str, /, *args: P.args, **kwargs: P.kwargs) -> R:
            if len(text) <= _SHORT:
                return kept(text, *args, **kwargs)
            if len(text) <= _LONG:
                return kept_long(text, *args, **kwargs)
            return function(text, *args, **kwargs)

        return look_up

    return decorate
