"""A server on loopback that is told things by POST: what stands in for receivers of others."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.services.process import free_port


class PostServer:
    """Keeps its port over ``stop`` and ``start``. ``_posted`` answers each request."""

    def __init__(self) -> None:
        self.port = free_port()
        self._server: ThreadingHTTPServer | None = None

    def start(self) -> Self:
        """Listen."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                receiver._take(self)

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self) -> None:
        """Listen no longer. Connections that were accepted are ended with their next request, also after ``start``."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def _take(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        if handler.server is not self._server:
            hang_up(handler)
            return
        self._posted(handler, body)

    def _posted(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        raise NotImplementedError


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    """End the connection without an answer."""
    handler.close_connection = True
    handler.connection.close()
