"""JSON over HTTP to receivers of notifications: what each answer means."""

import http.client
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from aem_monitor import __version__
from aem_monitor.errors import NotifyError
from aem_monitor.httpclient import Deadline, connection_to, one_line, tls_context

_MOST_OF_AN_ANSWER: Final = 4096
_LONGEST_WISH: Final = 300.0
_FOR_GOOD: Final = frozenset({400, 413, 422})
_LATER: Final = frozenset({408, 429})
_WHO: Final = frozenset({401, 403, 407})
_SHORTEST_SECRET: Final = 6
"""Shorter words of an address stand in many an answer, and guard nothing."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where and how. ``timeout`` in seconds, for the whole exchange. ``key``: the place in the configuration, for
    messages, which have no path or query of the URL either: these may be secret, as headers and ``secrets`` are."""

    url: str
    key: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 10.0
    cafile: Path | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)


class Poster:
    """Sends JSON texts to one host."""

    def __init__(self, target: Target) -> None:
        """Raises ``ConfigError`` for a file of authorities that cannot be used."""
        self._target = target
        parts = urlsplit(target.url)
        self._parts = parts
        self._query = f"?{parts.query}" if parts.query else ""
        self._tls = tls_context(target.cafile, f"{target.key}.cafile") if parts.scheme == "https" else None
        words = (*target.secrets, *target.headers.values(), *parts.path.split("/"), *re.split("[&=]", parts.query))
        self._secret = tuple(part for word in words for part in word.split() if len(part) >= _SHORTEST_SECRET)

    def post(self, body: bytes, path: str = "", headers: Mapping[str, str] | None = None) -> None:
        """Return when it has been accepted (2xx). ``path`` is added to that of the target. Raises ``NotifyError``."""
        status, told, answer = self._exchange(body, path, headers or {})
        if 200 <= status < 300:
            return
        where = f"{self._where} answered {status}"
        if status in _FOR_GOOD:
            raise NotifyError(f"{where}: {self._told(answer)}", reason="rejected", final=True)
        if status in _LATER or status >= 500:
            raise NotifyError(where, reason="overloaded", retry_after=_wish(told.get("Retry-After")))
        if status in _WHO:
            raise NotifyError(f"{where}; check the credentials of {self._target.key}", reason="unauthorized")
        raise NotifyError(f"{where}; check the address of {self._target.key}", reason="refused")

    def _exchange(self, body: bytes, path: str, headers: Mapping[str, str]) -> tuple[int, http.client.HTTPMessage, str]:
        whole = f"{self._parts.path.rstrip('/')}{path}" if path else self._parts.path or "/"
        timeout = self._target.timeout
        connection, target = connection_to(self._parts, f"{whole}{self._query}", timeout, self._tls)
        done = Deadline(connection, timeout)
        own = {"Content-Type": "application/json", "User-Agent": f"aem-monitor/{__version__}", "Connection": "close"}
        try:
            connection.request("POST", target, body, {**self._target.headers, **headers, **own})
            with connection.getresponse() as response:
                answer = response.read(_MOST_OF_AN_ANSWER)
                return response.status, response.headers, one_line(answer[:300].decode("utf-8", "replace"))
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = "it took too long" if done.late else str(error) or type(error).__name__
            told = self._told(one_line(why[:200]))
            message = f"{self._where} does not answer: {told}"
            raise NotifyError(message, reason="unreachable") from error
        finally:
            done.over()
            connection.close()

    def _told(self, text: str) -> str:
        """What a receiver says, unless it repeats what must not be logged: some repeat the request in their answer."""
        if any(secret in text for secret in self._secret):
            return "(its answer repeats something secret and is not shown)"
        return text

    @property
    def _where(self) -> str:
        return f"{self._parts.scheme}://{self._parts.netloc}"


def _wish(text: str | None) -> float | None:
    """Seconds, at most five minutes; a date is left out of account."""
    if text is None or not text.strip().isdecimal():
        return None
    return min(_LONGEST_WISH, float(text.strip()[:9]))
