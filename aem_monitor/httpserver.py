"""The HTTP server under every listener: what a client can hold of it is bounded.

The server only moves bytes; what is answered is the application's business, the thread's life its owner's.
"""

import asyncio
import errno
import socket
import threading
from typing import Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from aem_monitor.errors import ConfigError

HEADER_SECONDS: Final = 10.0
WRITE_SECONDS: Final = 60.0
START_SECONDS: Final = 10.0


class HttpServer(uvicorn.Server):
    """A server that says when it serves, instead of being polled for it.

    ``connections`` counts connections and requests at once; more are answered 503. ``idle_seconds`` bounds how long a
    connection is kept between requests, ``header_seconds`` how long a request line and its headers may take,
    ``write_seconds`` how long a client may take to read what was written.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        connections: int,
        idle_seconds: int,
        header_seconds: float = HEADER_SECONDS,
        write_seconds: float = WRITE_SECONDS,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=_protocol(header_seconds, write_seconds),
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                # Its warnings are one line for every request that is not HTTP.
                log_level="error",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=idle_seconds,
                limit_concurrency=connections,
            )
        )
        self._ready = threading.Event()

    def serve_in_thread(self, bound: socket.socket, name: str) -> threading.Thread:
        """Serve a listening socket in a thread of its own; see ``serves``."""
        # Off the main thread uvicorn leaves all signal handlers alone.
        thread = threading.Thread(target=self._serve_until_exit, args=(bound,), name=name, daemon=True)
        thread.start()
        return thread

    def serves(self) -> bool:
        """Wait until requests are answered; False when that does not come about."""
        return self._ready.wait(START_SECONDS) and self.started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, and tells those who wait."""
        await super().startup(sockets)
        self._ready.set()

    def _serve_until_exit(self, bound: socket.socket) -> None:
        try:
            self.run(sockets=[bound])
        finally:
            self._ready.set()


def listen(host: str, port: int, backlog: int, key: str) -> socket.socket:
    """A socket that listens there.

    Args:
        host: name or address to bind, IPv6 without brackets.
        port: TCP port; 0 takes a free one.
        backlog: connections that may wait to be accepted.
        key: the configuration key of the address (``metrics.listen``), named in errors.

    Raises:
        ConfigError: the address cannot be had.
    """
    place = f"{key}: cannot listen on {host}:{port}"
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ConfigError(f"{place}: {error.strerror or error}; name an address of this host") from error
    # Of a name with several addresses (localhost) the IPv4 one: that is what clients are mostly given.
    family, kind, protocol, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    try:
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigError(f"{place}: {error.strerror or error}; name an address of this host") from error
    try:
        # A restart must not wait for the old process' connections to time out; a port in use stays an error.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        # Listening here and not in the server's thread finds a second listener of the same address.
        bound.listen(backlog)
    except OSError as error:
        bound.close()
        raise ConfigError(f"{place}: {error.strerror or error}; {_advice(error)}") from error
    return bound


def _advice(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "stop the process that uses the port or configure another one"
    if error.errno == errno.EACCES:
        return "ports below 1024 need a privilege; configure a higher one"
    return "name an address of this host"


def _protocol(header_seconds: float, write_seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's protocol with a bound on the time for a request line with its headers, and for reading an answer.

    Without them, a client that connects and sends nothing, or half a header, or that never reads what it asked for,
    keeps its connection for ever.
    """

    class BoundedTimes(H11Protocol):
        _header: asyncio.TimerHandle | None = None
        _unread: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            # Anything that is not sent yet pauses, so that the last bytes of an answer are watched as well.
            transport.set_write_buffer_limits(0)
            self._watch_header()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch_header()

        def pause_writing(self) -> None:
            super().pause_writing()
            if self._unread is None:
                # Not close: that would wait for the client to read.
                self._unread = self.loop.call_later(write_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            self._unwatch_unread()

        def connection_lost(self, exc: Exception | None) -> None:
            self._unwatch_header()
            self._unwatch_unread()
            super().connection_lost(exc)

        def _watch_header(self) -> None:
            cycle: RequestResponseCycle | None = self.cycle
            waiting = cycle is None or cycle.response_complete
            if not waiting:
                self._unwatch_header()
            elif self._header is None:
                self._header = self.loop.call_later(header_seconds, self.transport.close)

        def _unwatch_header(self) -> None:
            if self._header is not None:
                self._header.cancel()
                self._header = None

        def _unwatch_unread(self) -> None:
            if self._unread is not None:
                self._unread.cancel()
                self._unread = None

    return BoundedTimes
