"""Query parameters of the API, checked."""

import base64
import binascii
import math
from typing import Final, TypeVar

from starlette.datastructures import QueryParams

from aem_monitor.metrics.increments import run_outcome
from aem_monitor.model.verdict import UNKNOWN, RunResult
from aem_monitor.store import RunFilter

T = TypeVar("T")

DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 500

_TEXTS: Final = ("agent", "release", "model", "dialog", "conversation_id")
_ONLY_FINAL: Final = ("since", "until", "cursor")
_KNOWN: Final = frozenset({*_TEXTS, "result", "draft", "limit", "state", *_ONLY_FINAL})
_RESULTS: Final = ("pass", "fail", "undecided")
_DRAFT: Final = {"true": True, "false": False}


class QueryError(Exception):
    """A parameter cannot be used; the message names it and what it takes."""


def run_filter(parameters: QueryParams) -> RunFilter:
    """The filter that the parameters describe.

    Raises:
        QueryError: a parameter is unknown, repeated or malformed. An unknown one is refused because a misspelt filter
            that is ignored shows runs that were not asked for.
    """
    each_once(parameters, _KNOWN)
    since, until = seconds_of(parameters, "since"), seconds_of(parameters, "until")
    if since is not None and until is not None and since > until:
        raise QueryError("until is before since, so that no run can be between them")
    return RunFilter(
        agent=parameters.get("agent"),
        release=parameters.get("release"),
        model=parameters.get("model"),
        dialog=parameters.get("dialog"),
        conversation_id=parameters.get("conversation_id"),
        outcome=_one_of(parameters, "result", {value: value for value in _RESULTS}),
        draft=_one_of(parameters, "draft", _DRAFT),
        since=since,
        until=until,
        limit=_limit(parameters),
        after=_cursor(parameters),
    )


def each_once(parameters: QueryParams, known: frozenset[str], several: frozenset[str] = frozenset()) -> None:
    """Raises ``QueryError`` when a parameter is not among those known, or repeated; those of ``several`` may be."""
    names = [name for name, _ in parameters.multi_items()]
    for name in names:
        if name not in known:
            raise QueryError(f"unknown parameter {name[:50]!r}; known are {', '.join(sorted(known))}")
        if name not in several and names.count(name) > 1:
            raise QueryError(f"{name} is given more than once")


def wants_provisional(parameters: QueryParams) -> bool:
    """Whether runs are asked for whose verdict may still change, instead of final ones.

    Raises:
        QueryError: the state is unknown, or another parameter has a meaning for final runs only.
    """
    provisional = _one_of(parameters, "state", {"final": False, "provisional": True}) or False
    for name in _ONLY_FINAL if provisional else ():
        if name in parameters:
            raise QueryError(f"{name} is of final runs; leave it out with state=provisional")
    return provisional


def matches(result: RunResult, wanted: RunFilter) -> bool:
    """Whether a run that is not stored as final meets a filter."""
    pairs = (
        (wanted.agent, result.agent),
        (wanted.release, result.release or UNKNOWN),
        (wanted.model, result.model or UNKNOWN),
        (wanted.dialog, result.dialog),
        (wanted.conversation_id, result.conversation_id),
        (wanted.draft, result.draft),
        (wanted.outcome, run_outcome(result)),
    )
    return all(asked is None or asked == has for asked, has in pairs)


def cursor_text(cursor: tuple[float, str]) -> str:
    """A cursor as clients see it: opaque, to be given back as it is."""
    at, run_id = cursor
    return base64.urlsafe_b64encode(f"{at!r} {run_id}".encode()).decode().rstrip("=")


def _one_of(parameters: QueryParams, name: str, choices: dict[str, T]) -> T | None:
    value = parameters.get(name)
    if value is None:
        return None
    if value not in choices:
        raise QueryError(f"{name} is one of {', '.join(choices)}")
    return choices[value]


def seconds_of(parameters: QueryParams, name: str) -> float | None:
    """A time in seconds since 1970, None where it is not given. Raises ``QueryError``."""
    value = parameters.get(name)
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds) or seconds < 0:
        raise QueryError(f"{name} is a time in seconds since 1970, such as 1764500000")
    return seconds


def _limit(parameters: QueryParams) -> int:
    value = parameters.get("limit")
    if value is None:
        return DEFAULT_LIMIT
    if not (value.isascii() and value.isdigit() and len(value) <= 4 and 1 <= int(value) <= MAX_LIMIT):
        raise QueryError(f"limit is a whole number from 1 to {MAX_LIMIT}")
    return int(value)


def _cursor(parameters: QueryParams) -> tuple[float, str] | None:
    value = parameters.get("cursor")
    if value is None:
        return None
    try:
        at, _, run_id = base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).decode().partition(" ")
        seconds = float(at)
    except (binascii.Error, ValueError):
        seconds, run_id = math.nan, ""
    if not math.isfinite(seconds) or not run_id:
        raise QueryError("cursor is the value of next of an earlier page, unchanged")
    return seconds, run_id
