"""OTLP/gRPC as a source: the trace and logs services on one port.

Source: OTLP specification 1.11, "OTLP/gRPC". Needs the extra ``grpc``. Messages are taken as bytes and decoded by the
same code as HTTP bodies; grpcio bounds them by their decompressed size before anything here sees them.
"""

import logging
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, NoReturn

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from aem_monitor.errors import ConfigError, DecodeError, NotTakenError, TooLargeError
from aem_monitor.ingest.batch import Partition, Submit
from aem_monitor.ingest.causes import Refused, Skipped
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_door import OtlpDoor
from aem_monitor.ingest.otlp_endpoint import Count
from aem_monitor.ingest.otlp_reply import ContentType, logs_success, trace_success
from aem_monitor.ingest.otlp_request import OtlpRequest, Signal
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.journal.journal import Journal

_LOG = logging.getLogger(__name__)

_RETRY_SECONDS: Final = 5
_THREADS: Final = 8
"""Requests under way at once, each with its message in memory. Most of them wait for the disk, whose flushes they
share."""

_WAITING: Final = 64
"""Requests under way or waiting for a thread; more are refused by grpcio."""

_PEER: Final = re.compile(r"^(?:ipv[46]:)?\[?(?P<host>[^\]]*?)\]?(?::\d+)?$")


@dataclass(frozen=True, slots=True)
class _Signal:
    service: str
    name: Signal
    success: Callable[[int, str, ContentType], bytes]
    what: str


_SIGNALS: Final = (
    _Signal("opentelemetry.proto.collector.trace.v1.TraceService", "traces", trace_success, "spans"),
    _Signal("opentelemetry.proto.collector.logs.v1.LogsService", "logs", logs_success, "log records"),
)


class OtlpGrpcSource:
    """Receives OTLP/gRPC on one address and submits one batch a request; the counterpart of ``OtlpHttpSource``."""

    name: str = "otlp_grpc"

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
        key: str = "ingest.otlp_grpc.listen",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._host = host
        self._port = port
        self._limits = limits
        self._keep = keep
        self._door = OtlpDoor(submit, journal, clock)
        self._count = count
        self._key = key
        self._closing = False
        self._server: grpc.Server | None = None
        self._bound: int | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens: (host, port), with the real port where 0 was asked for."""
        return self._host, self._bound if self._bound is not None else self._port

    @property
    def up(self) -> bool:
        """Whether requests are taken now."""
        return self._server is not None and not self._closing

    def start(self) -> None:
        """Listen. Raises ConfigError, naming the setting, when the address cannot be had."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        server = grpc.server(
            ThreadPoolExecutor(_THREADS, thread_name_prefix="otlp-grpc"),
            options=(
                ("grpc.max_receive_message_length", self._limits.max_body_bytes),
                # Two processes on one port would each see half of the spans, and neither would say so.
                ("grpc.so_reuseport", 0),
            ),
            maximum_concurrent_rpcs=_WAITING,
        )
        server.add_generic_rpc_handlers([_service(signal, self._handler(signal)) for signal in _SIGNALS])
        try:
            bound = server.add_insecure_port(f"{host}:{self._port}")
        except RuntimeError as error:
            bound, why = 0, str(error)
        else:
            why = "the address is taken or not this host's"
        if not bound:
            message = f"{self._key}: cannot listen on {self._host}:{self._port}: {why}; configure another port"
            raise ConfigError(message)
        self._bound = bound
        server.start()
        self._server = server

    def stop(self, timeout: float) -> None:
        """Take no further request, answer those under way. Idempotent."""
        self._closing = True
        if self._server is not None:
            self._server.stop(timeout).wait(timeout)

    def close(self, timeout: float) -> None:
        """Wait for the server to end."""
        self.stop(timeout)

    def release(self, offsets: Mapping[Partition, int]) -> None:
        """Nothing to do: OTLP cannot send again, and a journal is told by its owner."""

    def _handler(self, signal: _Signal) -> Callable[[bytes, grpc.ServicerContext], bytes]:
        def export(message: bytes, context: grpc.ServicerContext) -> bytes:
            peer = _host(context.peer())
            request = OtlpRequest(self.name, peer, signal.name, ContentType.PROTOBUF, zipped=False, body=message)
            try:
                decoded = request.decode(self._limits, self._keep)
            except TooLargeError as error:
                self._refuse(context, Refused.TOO_LARGE, grpc.StatusCode.RESOURCE_EXHAUSTED, str(error))
            except DecodeError as error:
                self._refuse(context, Refused.MALFORMED, grpc.StatusCode.INVALID_ARGUMENT, str(error))
            except Exception:  # noqa: BLE001 - one request that no decoder foresaw must not be sent again and again
                _LOG.exception("OTLP request failed unexpectedly")
                self._refuse(context, Refused.INTERNAL, grpc.StatusCode.INTERNAL, "internal error, see the log")
            if self._closing:
                self._again(context, Refused.OVERLOADED, "shutting down")
            try:
                ticket = self._door.take(request, decoded)
                if ticket is not None:
                    self._door.keep(ticket)
            except NotTakenError as error:
                self._again(context, Refused(error.reason), str(error))
            rejected = decoded.skipped.get(Skipped.INVALID_ID, 0) + decoded.skipped_logs.get(Skipped.INVALID_ID, 0)
            reason = f"{rejected} {signal.what} without a valid trace and span id"
            return signal.success(rejected, reason, ContentType.PROTOBUF)

        return export

    def _again(self, context: grpc.ServicerContext, cause: Refused, message: str) -> NoReturn:
        """Retryable, with a hint when: UNAVAILABLE with RetryInfo, as the specification asks for."""
        retry = RetryInfo(retry_delay=Duration(seconds=_RETRY_SECONDS))
        details = Any()
        details.Pack(retry)
        status = Status(code=grpc.StatusCode.UNAVAILABLE.value[0], message=message, details=[details])
        context.set_trailing_metadata(
            (
                ("grpc-status-details-bin", status.SerializeToString()),
                # Where the exporter of the OpenTelemetry SDK for Python looks instead.
                ("google.rpc.retryinfo-bin", retry.SerializeToString()),
            )
        )
        self._refuse(context, cause, grpc.StatusCode.UNAVAILABLE, message)

    def _refuse(self, context: grpc.ServicerContext, cause: Refused, code: grpc.StatusCode, message: str) -> NoReturn:
        self._count(cause, 1)
        context.abort(code, message)
        raise AssertionError("abort raises")


def _host(peer: str) -> str:
    found = _PEER.match(peer)
    return found["host"] if found else "unknown"


def _service(signal: _Signal, export: Callable[[bytes, grpc.ServicerContext], bytes]) -> grpc.GenericRpcHandler:
    # Without a deserializer the handler gets the message's bytes as they came.
    method: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(export)
    return grpc.method_handlers_generic_handler(signal.service, {"Export": method})
