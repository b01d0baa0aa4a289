"""An HTTP listener in a thread of its own."""

import socket
import threading
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp

from aem_monitor.errors import ConfigError
from aem_monitor.httpserver import HEADER_SECONDS, WRITE_SECONDS, HttpServer, listen

_IDLE_SECONDS: Final = 5
_LAST_SECONDS: Final = 2
"""How long requests under way may take when stopping."""

MAX_CONNECTIONS: Final = 128
"""Connections and requests at once; more are answered 503. A scraper, a few people and a probe need a handful."""


class HttpListener:
    """Serves one application on one address.

    Each listener has its own event loop, so that a slow page cannot delay a scrape.
    """

    def __init__(
        self,
        app: ASGIApp,
        host: str,
        port: int,
        key: str,
        *,
        connections: int = MAX_CONNECTIONS,
        header_seconds: float = HEADER_SECONDS,
        write_seconds: float = WRITE_SECONDS,
    ) -> None:
        """Args:
        app: what is served.
        host: name or address to bind, IPv6 without brackets.
        port: TCP port; 0 takes a free one.
        key: the configuration key of the address (``metrics.listen``), named in errors.
        connections, header_seconds, write_seconds: bounds on what clients may hold, see ``HttpServer``.
        """
        self._host = host
        self._port = port
        self._key = key
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._server = HttpServer(
            app,
            connections=connections,
            idle_seconds=_IDLE_SECONDS,
            header_seconds=header_seconds,
            write_seconds=write_seconds,
        )
        self._server.config.timeout_graceful_shutdown = _LAST_SECONDS

    @property
    def port(self) -> int:
        """The port that is bound; before ``start`` the one asked for."""
        return self._port

    @property
    def url(self) -> str:
        """Where the listener can be reached, without a path."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    def start(self) -> None:
        """Bind and serve; returns when requests are answered.

        Raises:
            ConfigError: the address cannot be bound; names the configuration key.
        """
        self._socket = listen(self._host, self._port, MAX_CONNECTIONS, self._key)
        self._port = int(self._socket.getsockname()[1])
        self._thread = self._server.serve_in_thread(self._socket, f"http {self._key}")
        if not self._server.serves():
            self.stop(0.0)
            raise ConfigError(f"{self._key}: the listener on {self.url} did not start", reason="listener")

    def stop(self, timeout: float) -> None:
        """Finish the requests that run and stop, within ``timeout`` seconds. Idempotent."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(timeout)
            if self._thread.is_alive():
                self._server.force_exit = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.close()
