"""Verdicts as events over OTLP/HTTP, beside the spans that were judged."""

import random
from collections.abc import Sequence
from typing import Final, Protocol

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from aem_monitor.errors import RefusedVerdictError, SinkError
from aem_monitor.sinks.evaluation import request_of
from aem_monitor.sinks.faults import OTLP
from aem_monitor.store.records import StoredRun

_FIRST_PAUSE: Final = 3.0
_LONGEST_PAUSE: Final = 60.0


class Receiver(Protocol):
    """Where requests go; see ``sinks.otlp_http.LogsReceiver``."""

    def send(self, request: ExportLogsServiceRequest) -> None:
        """Return when it has been accepted. Raises ``SinkError``, ``RefusedVerdictError``."""

    def close(self) -> None:
        """End."""


class OtlpEvents:
    """The sink ``otlp``: one request a verdict, so that one that is refused takes no other with it.

    Pauses grow while the receiver fails, with some chance in them, unless it says itself how long to wait (OTLP
    specification, "OTLP/HTTP Throttling").
    """

    name: Final = OTLP

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._failures = 0
        self._chance = random.Random()  # noqa: S311  spreads attempts, keeps no secret

    def open(self) -> None:
        """Nothing: a receiver that is away at the start keeps no daemon from starting."""

    def take(self, verdicts: Sequence[StoredRun]) -> None:
        """Return when the receiver has accepted all. Raises ``SinkError``, ``RefusedVerdictError``."""
        for number, verdict in enumerate(verdicts):
            try:
                self._receiver.send(request_of(verdict))
            except SinkError as error:
                error.taken = number
                error.retry_after = error.retry_after or self._pause()
                self._failures += 1
                raise
            except RefusedVerdictError as error:
                error.taken = number
                self._failures = 0
                raise
            self._failures = 0

    def close(self) -> None:
        """End the connection."""
        self._receiver.close()

    def _pause(self) -> float:
        longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(self._failures, 10))
        return longest * self._chance.uniform(0.75, 1.0)
