"""OTLP/HTTP as a source: a uvicorn server in a thread of its own.

What was acknowledged and not yet scored is lost when the process dies: OTLP has no offsets to start again from.
"""

import asyncio
import errno
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from aem_monitor.errors import ConfigError
from aem_monitor.ingest.batch import Batch, Decoded, Partition, Submit
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_endpoint import Count, OtlpEndpoint
from aem_monitor.ingest.prefilter import Prefilter

_SUBMIT_SECONDS: Final = 2.0
"""How long a request waits for room in the engine's queue; exporters give up after 10 s by default."""

_BODY_SECONDS: Final = 30.0
_HEADER_SECONDS: Final = 10.0
_IDLE_SECONDS: Final = 75
_MAX_CONNECTIONS: Final = 1024
_START_SECONDS: Final = 10.0
_BACKLOG: Final = 256


class OtlpHttpSource:
    """Receives OTLP/HTTP on one address and submits one batch a request.

    ``count`` is told of refused requests by cause (``causes.Refused``); what was left out of taken ones is in each
    batch. The sender of a batch is the peer's address without its port. ``key`` names the setting in errors;
    ``body_seconds`` bounds how long one body may take to arrive.
    """

    name: str = "otlp_http"

    def __init__(
        self,
        host: str,
        port: int,
        limits: Limits,
        keep: Prefilter,
        submit: Submit,
        count: Count,
        *,
        key: str = "sources.otlp_http.listen",
        body_seconds: float = _BODY_SECONDS,
        header_seconds: float = _HEADER_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._host = host
        self._port = port
        self._submit = submit
        self._key = key
        self._clock = clock
        self._header_seconds = header_seconds
        self._endpoint = OtlpEndpoint(limits, keep, self._deliver, count, body_seconds)
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None
        self._address: tuple[str, int] | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens: (host, port), with the real port where 0 was asked for."""
        return self._address or (self._host, self._port)

    @property
    def up(self) -> bool:
        """Whether requests are taken now."""
        thread = self._thread
        return thread is not None and thread.is_alive() and not self._endpoint.closing

    def start(self) -> None:
        """Listen. Raises ConfigError, naming the setting, when the address cannot be had."""
        listener = self._listen()
        self._address = listener.getsockname()[:2]
        config = uvicorn.Config(
            self._endpoint,
            http=_protocol(self._header_seconds),
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            # Its warnings are one line for every request that is not HTTP.
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_IDLE_SECONDS,
            limit_concurrency=_MAX_CONNECTIONS,
        )
        self._server = _Server(config)
        # Off the main thread uvicorn leaves all signal handlers alone.
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, name="otlp-http", daemon=True
        )
        self._thread.start()
        if not self._server.ready.wait(_START_SECONDS):
            raise ConfigError(f"{self._key}: the OTLP/HTTP server did not start within {_START_SECONDS:g} s")

    def stop(self, timeout: float) -> None:
        """Take no further request, answer those under way. Idempotent."""
        self._endpoint.closing = True
        if self._server is None or self._thread is None:
            return
        # uvicorn declares whole seconds and hands the value to asyncio.wait_for, which takes fractions.
        self._server.config.timeout_graceful_shutdown = timeout  # type: ignore[assignment]
        self._server.should_exit = True
        self._thread.join(timeout)

    def close(self, timeout: float) -> None:
        """Wait for the thread to end."""
        self.stop(timeout)
        if self._server is not None and self._thread is not None and self._thread.is_alive():
            self._server.force_exit = True
            self._thread.join(timeout)

    def release(self, offsets: Mapping[Partition, int]) -> None:
        """Nothing to do: OTLP cannot send again."""

    def _deliver(self, peer: str, decoded: Decoded) -> bool:
        return self._submit(Batch(self.name, peer, decoded, self._clock()), _SUBMIT_SECONDS)

    def _listen(self) -> socket.socket:
        place = f"{self._key}: cannot listen on {self._host}:{self._port}"
        try:
            found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except OSError as error:
            raise ConfigError(f"{place}: {error.strerror or error}; name an address of this host") from error
        # Of a name with several addresses (localhost) the IPv4 one: that is what exporters are mostly given.
        family, kind, protocol, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            # Listening here and not in the server's thread finds a second listener of the same address.
            listener.listen(_BACKLOG)
        except OSError as error:
            listener.close()
            raise ConfigError(f"{place}: {error.strerror or error}; {_advice(error)}") from error
        return listener


def _advice(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "stop the process that uses the port or configure another one"
    if error.errno == errno.EACCES:
        return "ports below 1024 need a privilege; configure a higher one"
    return "name an address of this host"


class _Server(uvicorn.Server):
    """A server that says when it takes requests."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


def _protocol(header_seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's protocol with a bound on how long a request line and its headers may take.

    Without one, a client that connects and sends nothing, or half a header, keeps its connection for ever.
    """

    class BoundedHeaders(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._unwatch()
            super().connection_lost(exc)

        def _watch(self) -> None:
            cycle: RequestResponseCycle | None = self.cycle
            waiting = cycle is None or cycle.response_complete
            if not waiting:
                self._unwatch()
            elif self._deadline is None:
                self._deadline = self.loop.call_later(header_seconds, self.transport.close)

        def _unwatch(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return BoundedHeaders
