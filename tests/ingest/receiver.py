"""Running OTLP sources, as the tests use them."""

import socket
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import grpc
import httpx

from aem_monitor.ingest.batch import Batch, EngineInput
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_grpc import OtlpGrpcSource
from aem_monitor.ingest.otlp_http import OtlpHttpSource
from aem_monitor.ingest.prefilter import Prefilter
from tests.ingest.requests import AGENTS

PROTOBUF: Final = "application/x-protobuf"
TRACES: Final = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
LOGS: Final = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"


class _Submitted:
    """What a source submitted and counted; ``room`` says whether the queue takes a batch, ``before`` comes first."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.counted: Counter[str] = Counter()
        self.room = True
        self.before: Callable[[], object] = lambda: None

    def _submit(self, item: EngineInput, timeout: float) -> bool:
        assert isinstance(item, Batch)
        self.before()
        if self.room:
            self.batches.append(item)
        return self.room

    def _count(self, cause: str, number: int) -> None:
        self.counted[cause] += number


class Receiver(_Submitted):
    """A running OTLP/HTTP source."""

    def __init__(self, limits: Limits, keep: Prefilter = AGENTS, **options: Any) -> None:
        super().__init__()
        self.keep = keep
        self.source = OtlpHttpSource("127.0.0.1", 0, limits, keep, self._submit, self._count, **options)
        self.source.start()
        host, port = self.source.address
        self.client = httpx.Client(base_url=f"http://{host}:{port}", timeout=20, trust_env=False)

    def post(
        self, body: Any, content_type: str | None = PROTOBUF, path: str = "/v1/traces", **headers: str
    ) -> httpx.Response:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if content_type is not None:
            sent["Content-Type"] = content_type
        return self.client.post(path, content=body, headers=sent)

    def connect(self) -> socket.socket:
        return socket.create_connection(self.source.address, timeout=20)

    def close(self) -> None:
        self.client.close()
        self.source.stop(5)
        self.source.close(5)


class GrpcReceiver(_Submitted):
    """A running OTLP/gRPC source."""

    def __init__(self, limits: Limits, keep: Prefilter = AGENTS, **options: Any) -> None:
        super().__init__()
        self.keep = keep
        self.source = OtlpGrpcSource("127.0.0.1", 0, limits, keep, self._submit, self._count, **options)
        self.source.start()
        self.target = "{}:{}".format(*self.source.address)
        self.channel = grpc.insecure_channel(self.target)

    def export(self, message: bytes, method: str = TRACES, compression: grpc.Compression | None = None) -> bytes:
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(method)
        return bytes(call(message, timeout=20, compression=compression))

    def close(self) -> None:
        self.channel.close()
        self.source.close(2)
