"""A running OTLP/HTTP source, as the tests use one."""

import socket
from collections import Counter
from typing import Any, Final

import httpx

from aem_monitor.ingest.batch import Batch, EngineInput
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_http import OtlpHttpSource
from tests.ingest.requests import AGENTS

PROTOBUF: Final = "application/x-protobuf"


class Receiver:
    """A running source with what it submitted and counted; ``room`` says whether the queue takes a batch."""

    def __init__(self, limits: Limits, **options: Any) -> None:
        self.batches: list[Batch] = []
        self.counted: Counter[str] = Counter()
        self.room = True
        self.source = OtlpHttpSource("127.0.0.1", 0, limits, AGENTS, self._submit, self._count, **options)
        self.source.start()
        host, port = self.source.address
        self.client = httpx.Client(base_url=f"http://{host}:{port}", timeout=20, trust_env=False)

    def _submit(self, item: EngineInput, timeout: float) -> bool:
        assert isinstance(item, Batch)
        if self.room:
            self.batches.append(item)
        return self.room

    def _count(self, cause: str, number: int) -> None:
        self.counted[cause] += number

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
