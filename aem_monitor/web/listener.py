"""An HTTP listener in a thread of its own."""

import socket
import threading
from contextlib import suppress
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from aem_monitor.errors import ConfigError

_START_SECONDS: Final = 10.0

MAX_CONNECTIONS: Final = 128
"""Connections and requests at once; more are answered 503. A scraper, a few people and a probe need a handful."""


class HttpListener:
    """Serves one application on one address.

    Each listener has its own event loop, so that a slow page cannot delay a scrape.
    """

    def __init__(self, app: ASGIApp, host: str, port: int, key: str) -> None:
        """Args:
        app: what is served.
        host: name or address to bind, IPv6 without brackets.
        port: TCP port; 0 takes a free one.
        key: the configuration key of the address (``metrics.listen``), named in errors.
        """
        self._host = host
        self._port = port
        self._key = key
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._server = _Server(
            uvicorn.Config(
                app,
                loop="asyncio",
                http="h11",
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="error",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=MAX_CONNECTIONS,
                timeout_graceful_shutdown=2,
            )
        )

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
        self._socket = self._bind()
        self._port = int(self._socket.getsockname()[1])
        self._thread = threading.Thread(target=self._serve, name=f"http {self._key}", daemon=True)
        self._thread.start()
        if not self._server.ready.wait(_START_SECONDS) or not self._server.started:
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

    def _serve(self) -> None:
        assert self._socket is not None
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._server.ready.set()

    def _bind(self) -> socket.socket:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                self._host, self._port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            bound = socket.socket(family, kind, protocol)
        except OSError as error:
            raise ConfigError(f"{self._key}: {self._host} is no address to listen on: {error}") from error
        try:
            # A restart must not wait for the old process' connections to time out; a port in use stays an error.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen(MAX_CONNECTIONS)
        except OSError as error:
            bound.close()
            advice = "stop the process that uses it or set another address"
            raise ConfigError(f"{self._key}: cannot listen on {self._host}:{self._port}: {error}; {advice}") from error
        return bound


class _Server(uvicorn.Server):
    """Says when it serves, instead of being polled for it."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.ready.set()
