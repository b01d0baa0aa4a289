"""The runs of two releases, from the store or from verdict files."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from aem_monitor.canary.played import Release, releases_of_lines
from aem_monitor.errors import UsageError
from aem_monitor.store import Store

_log = logging.getLogger(__name__)

_NAMED: Final = 10


def releases_of_store(store: Store, agent: str | None, names: tuple[str, str]) -> tuple[Release, Release]:
    """The final runs in a store. Raises ``StoreError``."""
    return store.played(agent, names[0]), store.played(agent, names[1])


def tell_missing(store: Store, found: tuple[Release, Release], agent: str | None, names: tuple[str, str]) -> None:
    """Say which releases there are where one has no run: a misspelt name looks like one of which nothing ran yet."""
    _tell_missing(found, agent, names, ((one.agent, one.release) for one in store.releases()))


def releases_of_files(paths: Sequence[Path], agent: str | None, names: tuple[str, str]) -> tuple[Release, Release]:
    """The runs in files of verdict lines; says which there are where a release has none.

    Raises:
        UsageError: a file cannot be read, or a line is no verdict; with its place.
    """
    there: dict[tuple[str, str], None] = {}

    def noted() -> Iterator[tuple[str, Mapping[str, Any]]]:
        for place, line in _lines(paths):
            if agent is not None and "agent" not in line:
                raise UsageError(
                    f"{place}: the line names no agent, as those of `replay --verdicts` do not: leave --agent out"
                )
            yield place, line
            there[str(line.get("agent", "")), str(line.get("release") or "unknown")] = None

    found = releases_of_lines(noted(), agent, names)
    both = (found[names[0]], found[names[1]])
    _tell_missing(both, agent, names, there)
    return both


def _tell_missing(
    found: tuple[Release, Release], agent: str | None, names: tuple[str, str], there: Iterable[tuple[str, str]]
) -> None:
    for role, name, release in zip(("baseline", "candidate"), names, found, strict=True):
        if not release.agents:
            known = dict.fromkeys(f"{other!r} of {of!r}" for of, other in there)
            listed = ", ".join(list(known)[-_NAMED:]) if known else "none"
            of = "" if agent is None else f" of agent {agent!r}"
            _log.warning(
                "canary: no final run of a reviewed dialog belongs to the %s %r%s yet; the last releases seen: %s",
                role,
                name,
                of,
                listed,
            )


def _lines(paths: Iterable[Path]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path in paths:
        try:
            with path.open("rb") as file:
                for number, text in enumerate(file, 1):
                    place = f"{path}:{number}"
                    if text.strip():
                        yield place, _object(place, text)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from error


def _object(place: str, text: bytes) -> Mapping[str, Any]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{place}: not valid JSON: {error.msg} (character {error.colno})") from error
    if not isinstance(value, dict):
        raise UsageError(f"{place}: not a JSON object")
    return value
