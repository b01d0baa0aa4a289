"""JSON over HTTP to receivers of notifications.

The standard library's client is enough and adds no dependency: one short request now and then, no pool, and it never
follows a redirect, so that no secret goes where it was not sent. It keeps no time for a whole exchange, which is
done here: a receiver that sends a byte a second must not hold up the lease.
"""

import contextlib
import http.client
import re
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from aem_monitor import __version__
from aem_monitor.errors import ConfigError, NotifyError

_MOST_OF_AN_ANSWER: Final = 4096
_LONGEST_WISH: Final = 300.0
_FOR_GOOD: Final = frozenset({400, 413, 422})
_LATER: Final = frozenset({408, 429})
_WHO: Final = frozenset({401, 403, 407})
_SHORTEST_SECRET: Final = 6
"""Shorter words of an address stand in many an answer, and guard nothing."""
_AGAIN: Final = 0.1


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
        self._scheme, self._host, self._port = parts.scheme, parts.hostname or "", parts.port
        self._authority, self._path = parts.netloc, parts.path
        self._query = f"?{parts.query}" if parts.query else ""
        self._tls = _tls(target) if parts.scheme == "https" else None
        words = (*target.secrets, *target.headers.values(), *parts.path.split("/"), *re.split("[&=]", parts.query))
        self._secret = tuple(part for word in words for part in word.split() if len(part) >= _SHORTEST_SECRET)

    def post(self, body: bytes, path: str = "", headers: Mapping[str, str] | None = None) -> None:
        """Return when it has been accepted (2xx). ``path`` is added to that of the target. Raises ``NotifyError``."""
        status, told, answer = self._exchange(body, path, headers or {})
        if 200 <= status < 300:
            return
        where = f"{self._scheme}://{self._authority} answered {status}"
        if status in _FOR_GOOD:
            raise NotifyError(f"{where}: {self._told(answer)}", reason="rejected", final=True)
        if status in _LATER or status >= 500:
            raise NotifyError(where, reason="overloaded", retry_after=_wish(told.get("Retry-After")))
        if status in _WHO:
            raise NotifyError(f"{where}; check the credentials of {self._target.key}", reason="unauthorized")
        raise NotifyError(f"{where}; check the address of {self._target.key}", reason="refused")

    def _exchange(self, body: bytes, path: str, headers: Mapping[str, str]) -> tuple[int, http.client.HTTPMessage, str]:
        whole = f"{self._path.rstrip('/')}{path}" if path else self._path or "/"
        connection, target = self._connection(f"{whole}{self._query}")
        done = _Deadline(connection, self._target.timeout)
        own = {"Content-Type": "application/json", "User-Agent": f"aem-monitor/{__version__}", "Connection": "close"}
        try:
            connection.request("POST", target, body, {**self._target.headers, **headers, **own})
            with connection.getresponse() as response:
                answer = response.read(_MOST_OF_AN_ANSWER)
                return response.status, response.headers, _one_line(answer[:300].decode("utf-8", "replace"))
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = "it took too long" if done.late else str(error) or type(error).__name__
            told = self._told(_one_line(why[:200]))
            message = f"{self._scheme}://{self._authority} does not answer: {told}"
            raise NotifyError(message, reason="unreachable") from error
        finally:
            done.over()
            connection.close()

    def _told(self, text: str) -> str:
        """What a receiver says, unless it repeats what must not be logged: some repeat the request in their answer."""
        if any(secret in text for secret in self._secret):
            return "(its answer repeats something secret and is not shown)"
        return text

    def _connection(self, path: str) -> tuple[http.client.HTTPConnection, str]:
        """A connection that is not open yet, and what to ask it for; through the proxy that the environment names."""
        proxy = self._proxy()
        host, port = (self._host, self._port) if proxy is None else proxy
        if self._tls is None:
            plain = http.client.HTTPConnection(host, port, timeout=self._target.timeout)
            return plain, path if proxy is None else f"http://{self._authority}{path}"
        secure = http.client.HTTPSConnection(host, port, timeout=self._target.timeout, context=self._tls)
        if proxy is not None:
            secure.set_tunnel(self._host, self._port or 443)
        return secure, path

    def _proxy(self) -> tuple[str, int | None] | None:
        proxies = getproxies()
        named = proxies.get(self._scheme) or proxies.get("all")
        if not named or proxy_bypass(self._authority):
            return None
        parts = urlsplit(named if "://" in named else f"http://{named}")
        return (parts.hostname, parts.port) if parts.hostname else None


class _Deadline:
    """Ends an exchange that takes too long, whatever it waits for."""

    def __init__(self, connection: http.client.HTTPConnection, seconds: float) -> None:
        self._connection = connection
        self._seconds = seconds
        self._over = threading.Event()
        self.late = False
        threading.Thread(target=self._watch, name="deadline", daemon=True).start()

    def over(self) -> None:
        """The exchange has ended."""
        self._over.set()

    def _watch(self) -> None:
        if self._over.wait(self._seconds):
            return
        self.late = True
        # Again and again: in a TLS handshake the connection has a socket that is not the one in use.
        while not self._over.wait(_AGAIN):
            held = self._connection.sock
            if held is not None:
                with contextlib.suppress(OSError):
                    held.shutdown(socket.SHUT_RDWR)


def _tls(target: Target) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=target.cafile)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"{target.key}.cafile: {target.cafile} cannot be used: {error}") from error


def _wish(text: str | None) -> float | None:
    """Seconds, at most five minutes; a date is left out of account."""
    if text is None or not text.strip().isdecimal():
        return None
    return min(_LONGEST_WISH, float(text.strip()[:9]))


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)
