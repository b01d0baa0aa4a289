"""The OTLP/HTTP endpoint as an ASGI application: one request in, one answer out.

Source: OTLP specification 1.11, "OTLP/HTTP". Decompression and decoding run in worker threads, waiting for the disk in
others; the event loop only moves bytes, so that one large or slow request does not hold up the others.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import anyio
from anyio import to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from aem_monitor.errors import DecodeError, NotTakenError, TooLargeError
from aem_monitor.ingest.causes import Refused, Skipped
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_door import OtlpDoor
from aem_monitor.ingest.otlp_reply import ContentType, RpcCode, logs_success, status_body, trace_success
from aem_monitor.ingest.otlp_request import OtlpRequest, Signal
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.journal.journal import Ticket

Count: TypeAlias = Callable[[str, int], None]
"""``count(cause, number)`` for whole requests that were refused; called from several threads."""

_RETRY_AFTER_SECONDS: Final = "5"
_DISCARDED_SECONDS: Final = 5.0
_DECODERS: Final = 2
"""Requests decoded at once. The interpreter runs one at a time anyway; a second one covers waiting for the queue."""

_WAITING: Final = 32
"""Requests that wait for the disk at once; they share its flushes."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Signal:
    name: Signal
    success: Callable[[int, str, ContentType], bytes]
    what: str


_SIGNALS: Final = {
    "/v1/traces": _Signal("traces", trace_success, "spans"),
    "/v1/logs": _Signal("logs", logs_success, "log records"),
}


class _Refusal(Exception):  # noqa: N818 - an answer, not a fault; never leaves this module
    def __init__(
        self, cause: Refused, http: int, rpc: RpcCode, message: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.cause = cause
        self.http = http
        self.rpc = rpc
        self.message = message
        self.headers = headers or {}


def _again(message: str, cause: Refused = Refused.OVERLOADED) -> _Refusal:
    headers = {"Retry-After": _RETRY_AFTER_SECONDS}
    return _Refusal(cause, 503, RpcCode.UNAVAILABLE, message, headers)


def _too_large(message: str) -> _Refusal:
    return _Refusal(Refused.TOO_LARGE, 413, RpcCode.RESOURCE_EXHAUSTED, message)


class OtlpEndpoint:
    """Answers ``POST /v1/traces`` and ``POST /v1/logs``.

    ``body_seconds`` bounds how long one body may take to arrive. The bodies under way together may hold four times
    the limit of one; what is over is told to come again.
    """

    def __init__(
        self, source: str, limits: Limits, keep: Prefilter, door: OtlpDoor, count: Count, body_seconds: float
    ) -> None:
        self.closing = False
        self._source = source
        self._limits = limits
        self._keep = keep
        self._door = door
        self._count = count
        self._body_seconds = body_seconds
        self._bytes_under_way = 0
        self._max_bytes_under_way = 4 * limits.max_body_bytes
        self._decoders: anyio.CapacityLimiter | None = None
        self._waiting: anyio.CapacityLimiter | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; whatever it holds, the connection or at least the process stays usable."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        content_type = _content_type(request)
        answer_type = content_type or ContentType.JSON
        try:
            response = await self._answer(request, content_type)
        except ClientDisconnect:
            self._count(Refused.ABORTED, 1)
            return
        except _Refusal as refusal:
            self._count(refusal.cause, 1)
            response = Response(
                status_body(refusal.rpc, refusal.message, answer_type),
                refusal.http,
                refusal.headers,
                media_type=answer_type,
            )
            if refusal.cause is not Refused.SLOW_CLIENT:
                await self._discard(request)
        except Exception:  # noqa: BLE001
            # The last line of defence: one request that no decoder foresaw must not be sent again and again.
            _log.exception("OTLP request failed unexpectedly")
            self._count(Refused.INTERNAL, 1)
            response = Response(
                status_body(RpcCode.INTERNAL, "internal error, see the log", answer_type), 500, media_type=answer_type
            )
        await response(scope, receive, send)

    async def _answer(self, request: Request, content_type: ContentType | None) -> Response:
        # Not request.url: that is built with the Host header, which may be anything.
        signal = _SIGNALS.get(request.scope["path"])
        if signal is None:
            known = " and ".join(_SIGNALS)
            raise _Refusal(Refused.UNKNOWN_PATH, 404, RpcCode.NOT_FOUND, f"unknown path; this receiver has {known}")
        if request.method != "POST":
            headers = {"Allow": "POST"}
            raise _Refusal(Refused.WRONG_METHOD, 405, RpcCode.UNIMPLEMENTED, "OTLP/HTTP is POST only", headers)
        if content_type is None:
            message = f"unsupported Content-Type; use {ContentType.PROTOBUF} or {ContentType.JSON}"
            raise _Refusal(Refused.UNSUPPORTED_TYPE, 415, RpcCode.INVALID_ARGUMENT, message)
        zipped = _is_gzip(request)
        if self.closing:
            raise _again("shutting down")
        self._check_length(request)
        received = bytearray()
        try:
            await self._receive(request, received)
            if self._decoders is None or self._waiting is None:
                self._decoders = anyio.CapacityLimiter(_DECODERS)
                self._waiting = anyio.CapacityLimiter(_WAITING)
            peer = request.client.host if request.client else "unknown"
            export = OtlpRequest(self._source, peer, signal.name, content_type, zipped, bytes(received))
            response, ticket = await to_thread.run_sync(self._take, signal, export, limiter=self._decoders)
            if ticket is not None:
                await to_thread.run_sync(self._keep_on_disk, ticket, limiter=self._waiting)
            return response
        finally:
            self._bytes_under_way -= len(received)

    def _check_length(self, request: Request) -> None:
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._limits.max_body_bytes:
            raise _too_large(f"body of {length} bytes is over the limit of {self._limits.max_body_bytes}")

    async def _receive(self, request: Request, received: bytearray) -> None:
        try:
            with anyio.fail_after(self._body_seconds):
                async for chunk in request.stream():
                    received += chunk
                    self._bytes_under_way += len(chunk)
                    if len(received) > self._limits.max_body_bytes:
                        raise _too_large(f"body is over the limit of {self._limits.max_body_bytes} bytes")
                    if self._bytes_under_way > self._max_bytes_under_way:
                        raise _again("too many large requests at once")
        except TimeoutError:
            message = f"body did not arrive within {self._body_seconds:g} s"
            raise _Refusal(
                Refused.SLOW_CLIENT, 408, RpcCode.DEADLINE_EXCEEDED, message, {"Connection": "close"}
            ) from None

    def _take(self, signal: _Signal, request: OtlpRequest) -> tuple[Response, Ticket | None]:
        """Decode and hand on; runs in a worker thread."""
        try:
            decoded = request.decode(self._limits, self._keep)
        except TooLargeError as error:
            raise _too_large(str(error)) from error
        except DecodeError as error:
            raise _Refusal(Refused.MALFORMED, 400, RpcCode.INVALID_ARGUMENT, str(error)) from error
        try:
            ticket = self._door.take(request, decoded)
        except NotTakenError as error:
            raise _again(str(error), Refused(error.reason)) from error
        rejected = decoded.skipped.get(Skipped.INVALID_ID, 0) + decoded.skipped_logs.get(Skipped.INVALID_ID, 0)
        reason = f"{rejected} {signal.what} without a valid trace and span id"
        body = signal.success(rejected, reason, request.content_type)
        return Response(body, media_type=request.content_type), ticket

    def _keep_on_disk(self, ticket: Ticket) -> None:
        """Wait for the journal; runs in a worker thread."""
        try:
            self._door.keep(ticket)
        except NotTakenError as error:
            raise _again(str(error), Refused(error.reason)) from error

    async def _discard(self, request: Request) -> None:
        """Read what the client is still sending: a reset connection would hide the answer from it."""
        if "expect" in request.headers:
            # The client waits for leave to send; the answer is what it gets instead.
            return
        left = self._limits.max_body_bytes
        with anyio.move_on_after(min(_DISCARDED_SECONDS, self._body_seconds)):
            try:
                more = not request._stream_consumed  # noqa: SLF001 - starlette keeps no public word for it
                while more and left > 0:
                    message = await request.receive()
                    more = message["type"] == "http.request" and message.get("more_body", False)
                    left -= len(message.get("body", b""))
            except ClientDisconnect:
                return


def _content_type(request: Request) -> ContentType | None:
    """The encoding of the request, whatever parameters (``charset``) follow it."""
    essence = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        return ContentType(essence)
    except ValueError:
        return None


def _is_gzip(request: Request) -> bool:
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding in ("gzip", "x-gzip"):
        return True
    if encoding in ("", "identity"):
        return False
    message = "unsupported Content-Encoding; use gzip or none"
    headers = {"Accept-Encoding": "gzip, identity"}
    raise _Refusal(Refused.UNSUPPORTED_ENCODING, 415, RpcCode.INVALID_ARGUMENT, message, headers)
