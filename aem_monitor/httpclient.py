"""Connections of the standard library's HTTP client, through the environment's proxy, with a time for a whole exchange.

The standard library's client is enough and adds no dependency where one short request is sent now and then. It never
follows a redirect, so that no secret goes where it was not sent and nothing is done twice. It keeps no time for a
whole exchange, which is done here: one who sends a byte a second must hold nothing up.
"""

import contextlib
import http.client
import socket
import ssl
import threading
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from aem_monitor.errors import ConfigError

_AGAIN: Final = 0.1


class Plain(http.client.HTTPConnection):
    """``opened`` stays known: the standard library forgets its socket where an answer ends with the connection, and
    reads the body from it all the same."""

    opened: socket.socket | None = None

    def connect(self) -> None:
        """As the standard library."""
        super().connect()
        self.opened = self.sock


class Secure(http.client.HTTPSConnection):
    """The same over TLS."""

    opened: socket.socket | None = None

    def connect(self) -> None:
        """As the standard library."""
        super().connect()
        self.opened = self.sock


class Deadline:
    """Ends an exchange over ``connection`` that takes longer than ``seconds``, whatever it waits for."""

    def __init__(self, connection: Plain | Secure, seconds: float) -> None:
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
            held = self._connection.sock or self._connection.opened
            if held is not None:
                with contextlib.suppress(OSError):
                    held.shutdown(socket.SHUT_RDWR)


def connection_to(
    parts: SplitResult, target: str, timeout: float, tls: ssl.SSLContext | None
) -> tuple[Plain | Secure, str]:
    """A connection that is not open yet, and what to ask it for: ``target`` is path and query. ``tls`` counts for
    https only."""
    proxy = _proxy(parts)
    host, port = (parts.hostname or "", parts.port) if proxy is None else proxy
    if parts.scheme != "https":
        plain = Plain(host, port, timeout=timeout)
        return plain, target if proxy is None else f"http://{parts.netloc}{target}"
    secure = Secure(host, port, timeout=timeout, context=tls)
    if proxy is not None:
        secure.set_tunnel(parts.hostname or "", parts.port or 443)
    return secure, target


def tls_context(cafile: Path | None, key: str) -> ssl.SSLContext:
    """What trusts ``cafile`` in place of the system's authorities. Raises ``ConfigError`` that names ``key``."""
    try:
        return ssl.create_default_context(cafile=cafile)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"{key}: {cafile} cannot be used: {error}") from error


def show_certificate(context: ssl.SSLContext, certfile: Path, keyfile: Path | None, key: str) -> None:
    """Have ``context`` show a certificate to servers that ask for one; ``keyfile`` None: its key is in the same file.

    Raises ``ConfigError`` that names ``key``.
    """

    def locked() -> str:
        # Without this the terminal would be asked.
        raise ConfigError(f"{key}: the key of {certfile} is locked by a password; give it without")

    try:
        context.load_cert_chain(certfile, keyfile, locked)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"{key}: {certfile} and its key cannot be used: {error}") from error


def one_line(text: str) -> str:
    """What another process said, fit for a log line."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _proxy(parts: SplitResult) -> tuple[str, int | None] | None:
    proxies = getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all")
    if not named or proxy_bypass(parts.netloc):
        return None
    proxy = urlsplit(named if "://" in named else f"http://{named}")
    return (proxy.hostname, proxy.port) if proxy.hostname else None
