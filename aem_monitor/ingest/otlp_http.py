"""OTLP/HTTP as a source: a uvicorn server in a thread of its own.

OTLP has no offsets to start again from: without a journal, what was acknowledged and not yet scored is lost when the
process dies.
"""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from aem_monitor.errors import ConfigError
from aem_monitor.httpserver import HEADER_SECONDS, START_SECONDS, HttpServer, listen
from aem_monitor.ingest.batch import Partition, Submit
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_door import OtlpDoor
from aem_monitor.ingest.otlp_endpoint import Count, OtlpEndpoint
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.journal.journal import Journal

_BODY_SECONDS: Final = 30.0
_IDLE_SECONDS: Final = 75
_MAX_CONNECTIONS: Final = 1024
_BACKLOG: Final = 256


class OtlpHttpSource:
    """Receives OTLP/HTTP on one address and submits one batch a request.

    ``count`` is told of refused requests by cause (``causes.Refused``); what was left out of taken ones is in each
    batch. With a ``journal``, a request is written there before it is acknowledged. The sender of a batch is the peer's
    address without its port. ``key`` names the setting in errors; ``body_seconds`` bounds how long one body may take to
    arrive.
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
        journal: Journal | None = None,
        key: str = "ingest.otlp_http.listen",
        body_seconds: float = _BODY_SECONDS,
        header_seconds: float = HEADER_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._host = host
        self._port = port
        self._key = key
        self._header_seconds = header_seconds
        door = OtlpDoor(submit, journal, clock)
        self._endpoint = OtlpEndpoint(self.name, limits, keep, door, count, body_seconds)
        self._server: HttpServer | None = None
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
        bound = listen(self._host, self._port, _BACKLOG, self._key)
        self._address = bound.getsockname()[:2]
        self._server = HttpServer(
            self._endpoint,
            connections=_MAX_CONNECTIONS,
            idle_seconds=_IDLE_SECONDS,
            header_seconds=self._header_seconds,
        )
        self._thread = self._server.serve_in_thread(bound, "otlp-http")
        if not self._server.serves():
            raise ConfigError(f"{self._key}: the OTLP/HTTP server did not start within {START_SECONDS:g} s")

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
        """Nothing to do: OTLP cannot send again, and a journal is told by its owner."""
