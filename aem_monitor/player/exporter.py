"""The player's spans over OTLP/HTTP. The same span may arrive twice: the monitor counts it once."""

import time
from typing import Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from aem_monitor.player.client import Answer
from aem_monitor.player.faults import ExchangeError, Outcome
from aem_monitor.player.plan import Endpoint

_TRY_LATER: Final = frozenset({429, 502, 503, 504})
"""OpenTelemetry protocol specification, "Retryable Response Codes"."""
_AGAIN: Final = frozenset({Outcome.UNREACHABLE, Outcome.TIMEOUT})
_PAUSES: Final = (0.5, 1.0, 2.0)


class Exporter:
    """Sends each span by itself. Safe to share between threads."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def check(self) -> None:
        """Raises ``ExchangeError`` unless the receiver takes a request without any span."""
        self._once(ExportTraceServiceRequest())

    def send(self, request: ExportTraceServiceRequest) -> None:
        """Return when it was accepted. Raises ``ExchangeError``."""
        for pause in _PAUSES:
            try:
                return self._once(request)
            except ExchangeError as error:
                if error.status not in _TRY_LATER and error.outcome not in _AGAIN:
                    raise
            time.sleep(pause)
        return self._once(request)

    def _once(self, request: ExportTraceServiceRequest) -> None:
        headers = {**self._endpoint.headers, "Content-Type": "application/x-protobuf"}
        answer = self._endpoint.client.post(self._endpoint.url, request.SerializeToString(), headers)
        rejected = _rejected(answer)
        if rejected is not None:
            raise ExchangeError(Outcome.STATUS, f"{self._endpoint.url} rejected the span: {rejected}", answer.status)


def _rejected(answer: Answer) -> str | None:
    response = ExportTraceServiceResponse()
    try:
        response.ParseFromString(answer.body)
    except DecodeError:
        # What cannot be read, such as the page of a proxy, says nothing against the status.
        return None
    partly = response.partial_success
    return (partly.error_message[:200] or "without a reason") if partly.rejected_spans > 0 else None
