"""The runs of two releases, from the store or from verdict files."""

import json
import logging
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from gzip import GzipFile
from pathlib import Path
from typing import IO, Any, Final, NoReturn

import orjson

from aem_monitor.canary.played import Release, releases_of_lines
from aem_monitor.config.units import format_size
from aem_monitor.errors import UsageError
from aem_monitor.store import Store

_log = logging.getLogger(__name__)

MAX_LINE: Final = 64 * 2**20
"""Bytes; a file of something else may be one line."""

_GZIP: Final = b"\x1f\x8b"

_NAMED: Final = 10


def releases_of_store(
    store: Store, agent: str | None, names: tuple[str, str], since: float | None
) -> tuple[Release, Release]:
    """The final runs in a store. Raises ``StoreError``."""
    return store.played(agent, names[0], since), store.played(agent, names[1], since)


def tell_missing(store: Store, found: tuple[Release, Release], agent: str | None, names: tuple[str, str]) -> None:
    """Say which releases there are where one has no run: a misspelt name looks like one of which nothing ran yet."""
    _tell_missing(found, agent, names, ((one.agent, one.release) for one in store.releases()))


def releases_of_files(
    paths: Sequence[Path], agent: str | None, names: tuple[str, str], since: float | None
) -> tuple[Release, Release]:
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

    found = releases_of_lines(noted(), agent, names, since)
    both = (found[names[0]], found[names[1]])
    _tell_missing(both, agent, names, there)
    return both


def _tell_missing(
    found: tuple[Release, Release], agent: str | None, names: tuple[str, str], there: Iterable[tuple[str, str]]
) -> None:
    for role, name, release in zip(("baseline", "candidate"), names, found, strict=True):
        if not release.agents and not release.before:
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
        number = 0
        try:
            with _opened(path) as file:
                while text := file.readline(MAX_LINE + 1):
                    number += 1
                    if len(text) > MAX_LINE:
                        raise UsageError(f"{path}:{number}: longer than {format_size(MAX_LINE)}")
                    if text.strip():
                        yield f"{path}:{number}", _object(f"{path}:{number}", text)
        except (OSError, EOFError, zlib.error) as error:
            where = f"{path}:{number + 1}" if number else str(path)
            raise UsageError(f"{where}: {getattr(error, 'strerror', None) or error}") from error


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes] | GzipFile]:
    """A file that was rotated is often gzipped, whatever its name."""
    with path.open("rb") as file:
        if file.peek(len(_GZIP))[: len(_GZIP)] == _GZIP:
            with GzipFile(fileobj=file) as unpacked:
                yield unpacked
        else:
            yield file


def _object(place: str, text: bytes) -> Mapping[str, Any]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = _any_json(place, text)
    if not isinstance(value, dict):
        raise UsageError(f"{place}: not a JSON object")
    return value


def _any_json(place: str, text: bytes) -> object:
    """Also halves of characters, which tools return and verdicts quote."""
    try:
        return json.loads(text.decode(), parse_constant=_refused)
    except UnicodeDecodeError as error:
        raise UsageError(f"{place}: not valid UTF-8 (byte {error.start + 1})") from error
    except json.JSONDecodeError as error:
        raise UsageError(f"{place}: not valid JSON: {error.msg} (character {error.colno})") from error
    except RecursionError as error:
        raise UsageError(f"{place}: not valid JSON: nested too deeply") from error


def _refused(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is no JSON", "", 0)
