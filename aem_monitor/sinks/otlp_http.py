"""OTLP/HTTP for log records, as a client: protobuf, compressed, what each answer means.

Source: OpenTelemetry protocol specification, "OTLP/HTTP Response". The exporter of opentelemetry-sdk is not used: it
tries again by itself, keeps the status to itself, and takes a partial success for a success.
"""

import contextlib
import gzip
import http.client
import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)

from aem_monitor import __version__
from aem_monitor.errors import ConfigError, RefusedVerdictError, SinkError
from aem_monitor.ingest.complaints import Complaints

_LOG: Final = logging.getLogger(__name__)

_MOST_OF_AN_ANSWER: Final = 64 * 2**10
_LONGEST_WISH: Final = 300.0
_TRY_LATER: Final = frozenset({429, 502, 503, 504})
_NEVER: Final[Mapping[int, str]] = {400: "rejected", 413: "too_large"}
_WHO: Final = frozenset({401, 403, 407})


@dataclass(frozen=True, slots=True)
class OtlpHttpSettings:
    """``endpoint`` is the whole URL. ``timeout`` in seconds, for connecting and for each wait. ``cafile``: authorities
    to trust in place of the system's."""

    endpoint: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 10.0
    cafile: Path | None = None


class LogsReceiver:
    """One receiver, over a connection that is kept. Belongs to one thread."""

    def __init__(self, settings: OtlpHttpSettings) -> None:
        """Raises ``ConfigError`` for a file of authorities that cannot be used."""
        self._settings = settings
        parts = urlsplit(settings.endpoint)
        self._host, self._port = parts.hostname or "", parts.port
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._tls = _tls(settings.cafile) if parts.scheme == "https" else None
        self._connection: http.client.HTTPConnection | None = None
        self._complaints = Complaints(_LOG)

    def send(self, request: ExportLogsServiceRequest) -> None:
        """Return when it has been accepted. Raises ``SinkError``, ``RefusedVerdictError``."""
        body = gzip.compress(request.SerializeToString(), compresslevel=1, mtime=0)
        status, headers, answer = self._exchange(body)
        where = f"{self._settings.endpoint} answered {status}"
        if 200 <= status < 300:
            self._accepted(answer)
        elif status in _NEVER:
            raise RefusedVerdictError(where, reason=_NEVER[status])
        elif status in _TRY_LATER:
            wish = _retry_after(headers.get("Retry-After"))
            raise SinkError(f"{where}: it asks to try later", reason="overloaded", retry_after=wish)
        elif status in _WHO:
            raise SinkError(f"{where}; check sinks.otlp.headers and its _file", reason="unauthorized")
        else:
            raise SinkError(f"{where}; check that it takes OTLP log records as protobuf there", reason="refused")

    def close(self) -> None:
        """End the connection. Idempotent."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _exchange(self, body: bytes) -> tuple[int, http.client.HTTPMessage, bytes]:
        kept = self._connection is not None
        try:
            return self._once(body)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if not kept or isinstance(error, TimeoutError):
                raise self._unreachable(error) from error
        # The other side may have ended a connection that was kept, which says nothing of a new one.
        try:
            return self._once(body)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._unreachable(error) from error

    def _once(self, body: bytes) -> tuple[int, http.client.HTTPMessage, bytes]:
        if self._connection is None:
            self._connection = self._connected()
        headers = {
            "User-Agent": f"aem-monitor/{__version__}",
            **self._settings.headers,
            "Content-Type": "application/x-protobuf",
            "Content-Encoding": "gzip",
        }
        self._connection.request("POST", self._path, body, headers)
        with self._connection.getresponse() as response:
            answer = response.read(_MOST_OF_AN_ANSWER)
            status, told, more = response.status, response.headers, not response.isclosed()
        if more:
            self.close()
        return status, told, answer

    def _connected(self) -> http.client.HTTPConnection:
        if self._tls is not None:
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=self._settings.timeout, context=self._tls
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=self._settings.timeout)

    def _unreachable(self, error: Exception) -> SinkError:
        why = str(error) or type(error).__name__
        return SinkError(f"{self._settings.endpoint} does not answer: {why}", reason="unreachable")

    def _accepted(self, answer: bytes) -> None:
        response = ExportLogsServiceResponse()
        # What cannot be read, such as the page of a proxy, says nothing against the status.
        with contextlib.suppress(DecodeError):
            response.ParseFromString(answer)
        partly = response.partial_success
        if partly.rejected_log_records > 0:
            raise RefusedVerdictError(
                f"{self._settings.endpoint} rejected {partly.rejected_log_records} of its events: "
                f"{partly.error_message[:200]}",
                reason="rejected",
            )
        if partly.error_message:
            self._complaints.complain("warning", f"{self._settings.endpoint} warns: {partly.error_message[:200]}")


def _tls(cafile: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=cafile)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"sinks.otlp.cafile: {cafile} cannot be used: {error}") from error


def _retry_after(text: str | None) -> float | None:
    """Seconds, at most five minutes; a date is left out of account."""
    if text is None or not text.strip().isdecimal():
        return None
    return min(_LONGEST_WISH, float(text.strip()[:9]))
